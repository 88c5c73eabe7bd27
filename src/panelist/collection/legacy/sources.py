"""Which program wrote a file, and the files of one study read into one sheet."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from panelist.collection.legacy.label_studio import is_label_studio, read_label_studio
from panelist.collection.legacy.mapping import SOURCES
from panelist.collection.legacy.mturk import is_mturk, read_mturk
from panelist.collection.legacy.potato import is_potato, read_potato
from panelist.collection.legacy.prolific import is_prolific, read_prolific
from panelist.collection.legacy.sheet import Sheet, join_sheets
from panelist.collection.legacy.text_tables import decode, read_bytes, read_text_table
from panelist.collection.legacy.wide import read_wide
from panelist.core.errors import BadFile, UnknownName, did_you_mean

READERS: dict[str, Callable[[Path, bytes], Sheet]] = {
    "mturk": read_mturk,
    "potato": read_potato,
    "label-studio": read_label_studio,
    "prolific": read_prolific,
    "wide": read_wide,
}


@dataclass(frozen=True)
class Read:
    """What the files hold: submissions, and apart from them what a panel knows of its people."""

    sheet: Sheet | None
    people: Sheet | None


def read_sources(files: Sequence[Path], source: str | None = None) -> Read:
    """Return the submissions of all files together, which must be of one kind, and the people if any."""
    if not files:
        raise BadFile("No file is named. Name the files to import.")
    if source is not None and source not in SOURCES:
        raise UnknownName(f"No source is called {source!r}. {did_you_mean(source, SOURCES)}")
    contents = {path: read_bytes(path) for path in files}
    _refuse_twice(files, contents)
    kinds = {path: _find_kind(path, contents[path], source) for path in files}
    sheets = [READERS[kind](path, contents[path]) for path, kind in kinds.items()]
    people = [sheet for sheet in sheets if sheet.source == "prolific"]
    submissions = [sheet for sheet in sheets if sheet.source != "prolific"]
    if len({sheet.source for sheet in submissions}) > 1:
        listed = ", ".join(f"{path.name} ({kind})" for path, kind in kinds.items() if kind != "prolific")
        raise BadFile(f"The files come from different programs: {listed}. Import each kind by itself.")
    return Read(join_sheets(submissions) if submissions else None, join_sheets(people) if people else None)


def _refuse_twice(files: Sequence[Path], contents: dict[Path, bytes]) -> None:
    seen: dict[str, Path] = {}
    if len(contents) < len(files):
        again = next(path for place, path in enumerate(files) if path in files[:place])
        raise BadFile(f"{again} is named twice. Nothing was imported; name each file once.")
    for path, content in contents.items():
        first = seen.setdefault(hashlib.sha256(content).hexdigest(), path)
        if first is not path:
            raise BadFile(f"{first} and {path} are the same file. Nothing was imported; leave one out.")


def _find_kind(path: Path, content: bytes, source: str | None) -> str:
    """Return what wrote a file: as it says itself, else as the user says."""
    if path.suffix.casefold() in (".json", ".jsonl", ".ndjson"):
        if source in ("potato", "label-studio"):
            return source
        try:
            data = json.loads(decode(content, path.name)[0])
        except ValueError:
            return "potato"
        return "label-studio" if is_label_studio(data) else "potato"
    header = read_text_table(content, path.name).header
    if is_prolific(header):
        return "prolific"
    if source is not None:
        return source
    if is_mturk(header):
        return "mturk"
    return "potato" if is_potato(header) else "wide"
