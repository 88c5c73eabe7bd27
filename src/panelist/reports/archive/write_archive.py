"""The archive: everything that is needed to repeat a study, in one zip file with checksums."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import panelist
from panelist.collection.study_files import StudyFiles
from panelist.core.display.markdown import markdown
from panelist.core.display.result import NamedValues, Part, Result, Sentence
from panelist.core.errors import BadFile, BadPlan, BadRatings, BadStudy
from panelist.core.progress import OnProgress, Progress, ignore
from panelist.design.plan_files import read_plan, write_plan, write_sample
from panelist.reports.archive.anonymised import Gathered, gather_ratings
from panelist.reports.archive.environment import describe_environment, write_requirements
from panelist.reports.archive.zip_content import MANIFEST, make_manifest, write_zip
from panelist.reports.datasheet.write_datasheet import save_sheet, write_datasheet
from panelist.reports.report.write_report import write_report
from panelist.study.file_names import (
    JUDGES_FILE,
    PLAN_RECORD,
    PLAN_TABLE,
    POWER_FILE,
    RATINGS_FILE,
    SAMPLE_FILE,
    STUDY_FILE,
)
from panelist.study.preregistration import FILE as PREREGISTRATION
from panelist.study.reading.load import load_study
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis
    from panelist.design.plan import Plan


README, ENVIRONMENT, REQUIREMENTS = "README.md", "environment.json", "requirements.txt"
SHEET, PAGE = "heds.json", "heds.html"
REPORT = "report/report.html"
ANALYSIS = "report/report_files/analysis.json"
RESERVED = {README, MANIFEST, ENVIRONMENT, REQUIREMENTS, SHEET, PAGE}
RESERVED |= {STUDY_FILE, PLAN_TABLE, PLAN_RECORD, SAMPLE_FILE, RATINGS_FILE}
"""Names that are taken in an archive, besides those in report/."""
BESIDE = (PREREGISTRATION, POWER_FILE, "study.schema.json")
"""Files that are packed where they are beside the study file."""


@dataclass(frozen=True, kw_only=True)
class Archive(Result):
    """What was packed, and what is worth knowing about it."""

    path: Path
    title_of_study: str
    files: tuple[tuple[str, int], ...]
    sha256: str
    notes: tuple[str, ...] = field(default=())

    def title(self) -> str:
        """Return the heading."""
        return f"Archive of {self.title_of_study}"

    def parts(self) -> list[Part]:
        """Return what is in it, and the notes."""
        groups: dict[str, list[int]] = {}
        for name, size in self.files:
            first, _, rest = name.partition("/")
            groups.setdefault(f"{first}/" if rest else first, []).append(size)
        rows = [
            (name, f"{sum(sizes):,} bytes" + (f" in {len(sizes):,} files" if name.endswith("/") else ""))
            for name, sizes in groups.items()
        ]
        return [NamedValues(rows), *(Sentence(f"Note: {note}") for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the path, the files and the SHA-256 of the zip file itself."""
        return {
            "archive": str(self.path),
            "title": self.title_of_study,
            "sha256": self.sha256,
            "files": [{"path": name, "bytes": size} for name, size in self.files],
            "notes": list(self.notes),
        }


def write_archive(
    study: Study | str | PathLike[str],
    path: str | PathLike[str],
    *,
    ratings: str | PathLike[str] | None = None,
    db: str | None = None,
    ids: bool = False,
    columns: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Archive:
    """Return the record of an archive written to ``path``: study, plan, ratings, report, sheets, versions.

    Ratings are those that ``panelist report`` would take. Without ``ids`` nothing in it says who raters are.
    The same study, plan, ratings and versions give the same bytes; the report has the date of the last
    answer or, where ratings have no times, that of SOURCE_DATE_EPOCH or today.
    """
    loaded = load_study(study)  # type: ignore[arg-type]
    target = _check_target(Path(path))
    tell = on_progress or ignore
    tell(Progress(0, 4, "ratings"))
    files = StudyFiles(loaded, None if ratings is None else Path(ratings), db)
    gathered = gather_ratings(files, ids=ids, columns=columns)
    with tempfile.TemporaryDirectory(prefix="panelist-archive-") as place:
        folder = Path(place)
        notes = _copy_study(loaded, folder)
        plan, said = _find_plan(files, gathered)
        notes += said
        if plan is not None:
            _put_plan(loaded, plan, folder)
        about = _describe(loaded, plan, gathered, ids, {"resamples": resamples, "seed": seed})
        _write_environment(folder)
        if gathered is None:
            notes.append("The study has no ratings yet, so the archive has neither ratings nor a report.")
        else:
            (folder / RATINGS_FILE).write_bytes(gathered.table)
            notes += gathered.notes
            tell(Progress(1, 4, "report"))
            if missing := _make_report(folder, resamples, seed, gathered.last_day):
                notes.append(f"The archive has no report: {missing}")
                about["report"] = None
        tell(Progress(2, 4, "sheets"))
        notes += _write_sheets(folder, plan, gathered is not None, resamples)
        tell(Progress(3, 4, "packing"))
        contents = _read_all(folder)
        contents[README] = write_readme(about, sorted([*contents, README, MANIFEST]), notes).encode()
        contents[MANIFEST] = make_manifest(contents, about)
    write_zip(contents, target)
    sizes = tuple((name, len(contents[name])) for name in sorted(contents))
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    return Archive(path=target, title_of_study=loaded.title, files=sizes, sha256=digest, notes=tuple(notes))


def analyse_archive(folder: Path, resamples: int, seed: int) -> "Analysis":
    """Return the analysis of an archive that is unpacked in a folder."""
    from panelist.analysis.analyse import analyse

    return analyse(load_study(folder / STUDY_FILE), folder / RATINGS_FILE, resamples=resamples, seed=seed)


def _check_target(path: Path) -> Path:
    if path.suffix.casefold() != ".zip":
        raise BadFile(f"An archive is a zip file, such as study.zip; {str(path)!r} does not end in .zip.")
    if path.is_dir():
        raise BadFile(f"{path} is a folder; name a file in it, such as study.zip.")
    if not path.parent.is_dir():
        raise BadFile(f"There is no folder {path.parent} for the archive. Make it first.")
    return path


def _copy_study(study: Study, folder: Path) -> list[str]:
    """Copy the study file and every file it names; return notes about them."""
    if study.path is None:
        raise BadStudy("Only a study that is in a file can be archived. Write it to study.yaml first.")
    notes = []
    try:
        shutil.copyfile(study.path, folder / STUDY_FILE)
        for name, what in _list_inputs(study):
            _copy_inside(study, name, folder, what)
        for name in study.files:
            if (study.folder / name).is_file():
                _copy_inside(study, name, folder, "a picture, sound or film")
            else:
                notes.append(f"The file {name} that the outputs name does not exist, so it was not packed.")
        for name in BESIDE:
            if (study.folder / name).is_file():
                shutil.copyfile(study.folder / name, folder / name)
        scores = study.folder / JUDGES_FILE
        if scores.is_file() and not (folder / JUDGES_FILE).exists():  # it may be there as that of the strata
            shutil.copyfile(scores, folder / JUDGES_FILE)
    except OSError as error:
        raise BadFile(f"{error.filename} cannot be read: {error.strerror or error}.") from None
    outcomes = study.file.collecting.outcomes
    if any(one.code for one in (outcomes.finished, outcomes.screened_out, outcomes.declined)):
        notes.append("study.yaml holds completion codes; share the archive only once nobody can use them.")
    return notes


def _list_inputs(study: Study) -> list[tuple[str, str]]:
    """Return the files that the study names, each with what it is: its outputs, or those of an old HIT."""
    hit = study.file.hit
    if hit is None:
        sample = study.file.sample
        scores = sample.strata.judges if sample and sample.strata else ""
        return [(study.file.outputs.file, "the outputs"), *([(scores, "the scores")] if scores else [])]
    named = [(hit.template, "the template"), (hit.input, "the input"), (hit.mapping, "the mapping")]
    return [(name, f"{what} of the HIT") for name, what in named if name]


def _copy_inside(study: Study, name: str, folder: Path, what: str) -> None:
    source = (study.folder / name).resolve()
    if PurePosixPath(name).is_absolute() or not source.is_relative_to(study.folder.resolve()) or "\\" in name:
        raise BadFile(
            f"{name}, {what} of the study, lies outside the folder of study.yaml, so an archive cannot hold "
            "it where the study expects it. Put it beside study.yaml and name it there."
        )
    inside = source.relative_to(study.folder.resolve()).as_posix()
    if inside in RESERVED or inside in BESIDE or inside.startswith("report/"):
        raise BadFile(
            f"{name}, {what} of the study, has a name that an archive needs for something else. Rename it, "
            "and change its name in study.yaml."
        )
    target = folder / inside
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _find_plan(files: StudyFiles, gathered: Gathered | None) -> tuple["Plan | None", list[str]]:
    """Return the plan that ratings were collected by, else the one beside the study, and notes about it."""
    plan = gathered.plan if gathered else None
    plan = files.find_plan(stale=True) if plan is None else plan
    if plan is None:
        return None, ["The study has no plan yet, so the archive has none."]
    if plan.study_hash != files.study.hash:
        return plan, ["The study file was changed after its plan was made; the plan is of the older one."]
    return plan, []


def _put_plan(study: Study, plan: "Plan", folder: Path) -> None:
    """Put the plan into the archive: the files beside the study, if they are the same plan."""
    try:
        same = read_plan(study.folder).hash == plan.hash
    except BadPlan:
        same = False
    if same:
        for name in (PLAN_TABLE, PLAN_RECORD):
            shutil.copyfile(study.folder / name, folder / name)
    else:
        write_plan(plan, folder)
    write_sample(plan, study, folder)


def _describe(
    study: Study, plan: "Plan | None", gathered: Gathered | None, ids: bool, settings: Mapping[str, int]
) -> dict[str, Any]:
    """Return what the manifest says about the whole."""
    return {
        "title": study.title,
        "panelist": panelist.__version__,
        "study_hash": study.hash,
        "plan_hash": plan.hash if plan else None,
        "plan_study_hash": plan.study_hash if plan else None,
        "ratings": gathered is not None,
        "report": dict(settings) if gathered else None,
        "ids": ids,
    }


def _write_environment(folder: Path) -> None:
    found = describe_environment()
    text = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    (folder / ENVIRONMENT).write_text(text, encoding="utf-8")
    (folder / REQUIREMENTS).write_text(write_requirements(found["packages"]), encoding="utf-8")


def _make_report(folder: Path, resamples: int, seed: int, day: date | None) -> str:
    """Write the report, or return why these ratings allow none: the archive is still worth keeping."""
    try:
        analysis = analyse_archive(folder, resamples, seed)
    except BadRatings as error:
        return str(error)
    page = folder / REPORT
    page.parent.mkdir()
    write_report(analysis, page, made=day)
    return ""


def _write_sheets(folder: Path, plan: "Plan | None", rated: bool, resamples: int) -> list[str]:
    """Write the datasheet from what is in the archive; return a note on what is still open in it."""
    ratings = folder / RATINGS_FILE if rated else None
    study = load_study(folder / STUDY_FILE)
    sheet = write_datasheet(study, plan, ratings, folder / SHEET, resamples=resamples)
    save_sheet(sheet, [folder / PAGE])
    blank = len(sheet.open())
    return [f"{SHEET} has {blank} open questions: panelist heds fill STUDY lists them."] if blank else []


def _read_all(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


_FILES = {
    "README.md": "this text",
    "manifest.json": "every other file with its size and SHA-256, and the hashes of study and plan",
    "study.yaml": "the study: criteria, questions, scales, design, raters, pay, planned analysis",
    "study.schema.json": "lets editors complete study.yaml and mark mistakes",
    "plan.csv": "the plan: who saw what, in which order, one row per rating to be given",
    "plan.json": "the plan's hash, seed, balance and history",
    "sample.csv": "every item with its probability and stratum, and whether it was drawn for people to rate",
    "ratings.csv": "the ratings, one row per rating; practice, checks and exclusions are marked and left in",
    "preregistration.json": "what was declared beforehand, each version with its time and hashes",
    "power.json": "the power analysis",
    "heds.json": "the human evaluation datasheet (HEDS), as its form loads it",
    "heds.html": "the same datasheet to read",
    "environment.json": "the versions of Python, panelist and all that it needs",
    "requirements.txt": "the same versions as pip reads them",
    "report/report.html": "the report, one page that needs no other file",
    "report/report_files/": "figures, tables, paragraphs, references; analysis.json has every number",
}


def write_readme(about: Mapping[str, Any], names: Sequence[str], notes: Sequence[str]) -> str:
    """Return the text for the files that an archive holds."""
    lines = [f"# {markdown(str(about['title']))}", ""]
    lines += ["Everything that is needed to repeat this human evaluation, packed by panelist"]
    lines[-1] += f" {about['panelist']}."
    lines += [""]
    lines += ["| file | what it is |", "|---|---|"]
    lines += [f"| `{_cell(name)}` | {words} |" for name, words in _list_files(names)]
    lines += ["", "## Repeat it", "", "```bash", "pip install -r requirements.txt"]
    lines += ["panelist verify study.zip       # checksums, hashes, and the analysis computed again"]
    if about["ratings"]:
        lines += ["panelist report study.zip       # the report from these ratings"]
    lines += ["panelist init repeat --repeat study.zip   # a new study that repeats this one"]
    lines += ["```", ""]
    lines += _tell_people(about)
    if notes:
        lines += ["", "## Notes", "", *(f"- {markdown(note)}" for note in notes)]
    return "\n".join(lines) + "\n"


def _list_files(names: Sequence[str]) -> list[tuple[str, str]]:
    found = []
    for name in names:
        if name.startswith("report/report_files/"):
            continue
        found.append((name, _FILES.get(name, "a file that the study names: outputs or a picture")))
    if any(name.startswith("report/report_files/") for name in names):
        found.append(("report/report_files/", _FILES["report/report_files/"]))
    return found


def _tell_people(about: Mapping[str, Any]) -> list[str]:
    if not about["ratings"]:
        return ["There are no ratings in this archive."]
    if about["ids"]:
        return [
            "**This archive says who the raters are.** This was asked for; keep it separate from what you "
            "share."
        ]
    return [
        "Raters have pseudonyms. Ids, links, addresses and the key of the pseudonyms are not in this archive."
    ]


def _cell(name: str) -> str:
    return name.replace("|", "\\|").replace("`", "'")
