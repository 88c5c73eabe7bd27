"""What the commands of a datasheet share: which file it is, how a sheet is opened, what is open in it."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panelist.cli.inputs import make_unpacked, open_folder
from panelist.cli.options import argument, option
from panelist.cli.terminal import say, tell
from panelist.study.file_names import PLAN_TABLE

if TYPE_CHECKING:
    from panelist.reports.datasheet.heds_questions import Version
    from panelist.reports.datasheet.sheet import Sheet
    from panelist.reports.study_folder import StudyFolder

Source = Annotated[
    Path,
    argument(
        "STUDY|CARD",
        "The study (its file or folder, or an archive), or a datasheet that a HEDS form exported (JSON).",
    ),
]
Out = Annotated[
    list[Path] | None,
    option(
        "FILE",
        "Write it: .json for the official form, .html, .md or .tex; may be given more than once.",
        "--output",
        "-o",
    ),
]
Form = Annotated[str | None, option("3.0|2.x", "The HEDS version of a study's sheet. Default: 3.0.")]
RatingsOf = Annotated[
    Path | None,
    option(
        "FILE", "The ratings. Default: what was collected, or ratings.csv beside the study, if there are any."
    ),
]
PowerOf = Annotated[
    Path | None,
    option(
        "FILE",
        "A power analysis, as power --json or size --json prints it. Default: power.json beside the study.",
    ),
]
Ask = Annotated[bool, typer.Option("--ask", help="Ask for what is open; answers go into the study file.")]
SecondSource = Annotated[Path, argument("STUDY|CARD", "The one to compare it with.")]
Card = Annotated[Path, argument("CARD", "A datasheet that a HEDS form exported (JSON).")]
To = Annotated[str, option("3.0|2.x", "The version of the form.")]


def is_card(path: Path) -> bool:
    """Return whether a path names a datasheet, and not a study."""
    return path.suffix.casefold() == ".json" and not path.is_dir()


def check_targets(out: list[Path] | None) -> list[Path]:
    """Return where the sheet goes, or raise BadFile before the work is done."""
    from panelist.core.errors import BadFile
    from panelist.reports.datasheet.write_datasheet import check_target

    targets = [check_target(path) for path in out or []]
    if len({path.resolve() for path in targets}) < len(targets):
        raise BadFile("One file is named twice with -o.")
    return targets


def open_sheet(path: Path, version: "Version", ratings: Path | None, power: Path | None) -> "Sheet":
    """Return the sheet of a card as it is, or that of a study or an archive in a version."""
    if is_card(path):
        from panelist.reports.datasheet.files.read import read_sheet

        return read_sheet(path)
    with ExitStack() as places:
        return open_filled(make_unpacked(path, places), ratings, power).datasheet(version=version)


def open_filled(path: Path, ratings: Path | None, power: Path | None) -> "StudyFolder":
    """Return the study in its folder; say what stays open where there is no plan."""
    folder = open_folder(path, ratings, power)
    if not folder.beside(PLAN_TABLE):
        where = folder.study.folder
        tell(f"There is no plan in {where}: what it would answer stays open (panelist plan makes one).")
    return folder


def list_open(sheet: "Sheet") -> dict[str, Any]:
    """Return the questions without an answer, for JSON."""
    return {
        "open": [
            {
                "number": one.question.number,
                "criterion": one.criterion,
                "question": one.question.title,
                "missing": one.missing,
            }
            for one in sheet.open()
        ]
    }


def print_json(data: dict[str, Any]) -> None:
    """Print one JSON object."""
    import json

    say(json.dumps(data, ensure_ascii=False))
