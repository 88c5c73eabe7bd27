"""A repeat begins: a study folder, from an original's study file or archive, ratings, or datasheet."""

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from panelist.collection.export.tables_of_study import write_export
from panelist.collection.study_files import StudyFiles
from panelist.core.errors import BadFile
from panelist.core.tables.readers import READERS
from panelist.reports.archive.verify import unpack_archive
from panelist.reports.repeat.from_datasheet import read_sheet_study
from panelist.reports.repeat.from_ratings import Row, read_ratings_study, write_outputs
from panelist.study.file_names import RATINGS_FILE, STUDY_FILE, is_study
from panelist.study.reading.json_schema import SCHEMA_NAME, write_schema
from panelist.study.reading.load import find_study_file, load_study
from panelist.study.start import check_new_folder

FOLDER = "original"
HEAD = f"# yaml-language-server: $schema={SCHEMA_NAME}\n"


@dataclass(frozen=True)
class Begun:
    """What was made: the files, what kind of original was recognised, and notes."""

    kind: str
    files: tuple[Path, ...]
    notes: tuple[str, ...] = field(default=())


def begin_repeat(folder: str | Path, original: str | Path, columns: Mapping[str, str] | None = None) -> Begun:
    """Return the files of a repeat in a folder that is new or empty; nothing is ever overwritten.

    ``original`` is a study file or its folder, an archive, a table of ratings (``columns`` says which column
    is what), or a HEDS sheet as JSON. What it knows is taken over; what it leaves open is marked in the file.
    """
    target, source = Path(folder), Path(original)
    check_new_folder(target)
    if not source.exists():
        raise BadFile(f"There is no {source} to repeat. Name a study, an archive, ratings or a HEDS sheet.")
    try:
        near = next(one for one in target.absolute().parents if one.is_dir())
        with tempfile.TemporaryDirectory(prefix=".panelist-repeat-", dir=near) as place:
            draft = Path(place) / "study"
            draft.mkdir()
            kind, notes = _take_over(draft, source, columns)
            (draft / SCHEMA_NAME).write_text(write_schema(), encoding="utf-8")
            load_study(draft)  # the new study must run
            names = sorted(path.relative_to(draft) for path in draft.rglob("*") if path.is_file())
            if target.is_dir():
                target.rmdir()  # it is empty, as was checked; if it were not, this would refuse
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.rename(target)
    except OSError as error:
        raise BadFile(f"The repeat cannot be written to {target}: {error.strerror or error}.") from None
    return Begun(kind, tuple(target / name for name in names), tuple(notes))


def _take_over(draft: Path, source: Path, columns: Mapping[str, str] | None) -> tuple[str, list[str]]:
    """Fill the folder from the original; return what kind of original was recognised, and notes."""
    ending = source.suffix.casefold()
    if is_study(source):
        return "study", _from_study(draft, find_study_file(source))
    if ending == ".zip":
        with tempfile.TemporaryDirectory(prefix="panelist-original-") as place:
            unpack_archive(source, Path(place))
            return "archive", _from_study(draft, Path(place) / STUDY_FILE)
    if ending == ".json" and _is_sheet(source):
        file, rows, notes = read_sheet_study(source)
        _write_made(draft, file, rows, source, "heds.json")
        return "datasheet", notes
    if ending in READERS:
        file, rows, notes = read_ratings_study(source, columns)
        _write_made(draft, file, rows, source, f"ratings{ending}")
        return "ratings", notes
    raise BadFile(
        f"{source} ends in {ending or 'nothing'!r}. A repeat begins from a study (.yaml or its folder), an "
        f"archive (.zip), a table of ratings ({', '.join(READERS)}) or a HEDS sheet (.json)."
    )


def _from_study(draft: Path, path: Path) -> list[str]:
    """Copy an original's study: once as it is, into original/, and once as the repeat, with its steps."""
    study = load_study(path)
    notes = []
    sample = study.file.sample
    scores = (sample.strata.judges,) if sample and sample.strata and sample.strata.judges else ()
    for name in (study.file.outputs.file, *scores, *study.files):
        source = (path.parent / name).resolve()
        if not source.is_relative_to(path.parent.resolve()):
            raise BadFile(f"{name} is outside the folder of {path.name}; move it there first.")
        if not source.is_file():
            notes.append(f"{name}, which the outputs name, does not exist.")
            continue
        for place in (draft, draft / FOLDER):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place / name)
    shutil.copyfile(path, draft / FOLDER / STUDY_FILE)
    found, table = StudyFiles(study).find_ratings(), draft / FOLDER / RATINGS_FILE
    if found is None or found.empty:
        notes.append("The original's ratings were not beside it; put them into original/ratings.csv.")
    elif isinstance(found.table, Path):
        shutil.copyfile(found.table, table)
    else:
        write_export(found.table, table)
    text = path.read_text(encoding="utf-8-sig")
    for section in ("repeat", "preregistration"):
        text = _drop_section(text, section)
    text = text.rstrip("\n") + "\n\n" + _write_repeat(f"{FOLDER}/{STUDY_FILE}")
    (draft / STUDY_FILE).write_text(text, encoding="utf-8")
    return notes


def _drop_section(text: str, key: str) -> str:
    """Return a study file without a top-level section that belongs to the original alone."""
    return re.sub(rf"^{key}:.*\n?(?:[ \t#-].*\n?|\n)*", "", text, flags=re.MULTILINE)


def _write_repeat(of: str) -> str:
    return (
        "# How this repeat differs, and how far it has come; panelist check shows what is next.\n"
        "# reasons: {pay: why, design.order: why}; steps: {ethics: {state: done, note: what, when}}\n"
        f"repeat:\n  of: {of}\n  reasons: {{}}\n  steps: {{}}\n"
    )


def _write_made(draft: Path, file: dict[str, Any], rows: list[Row], source: Path, name: str) -> None:
    """Write a study that was read from data or from a sheet, and keep that beside it."""
    (draft / FOLDER).mkdir()
    shutil.copyfile(source, draft / FOLDER / name)
    write_outputs(rows, draft / "outputs.csv")
    text = yaml.safe_dump(file, allow_unicode=True, sort_keys=False, width=100)
    whole = HEAD + text + "\n" + _write_repeat(f"{FOLDER}/{name}")
    (draft / STUDY_FILE).write_text(whole, encoding="utf-8")


def _is_sheet(path: Path) -> bool:
    """Return whether a JSON file is a datasheet rather than a table."""
    try:
        with path.open("rb") as file:
            start = file.read(4096).decode("utf-8-sig", "ignore").lstrip()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from None
    return start.startswith("{") and '"cells"' not in start
