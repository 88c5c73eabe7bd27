"""``write_datasheet``: a study's datasheet written to a file whose ending determines the format."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from panelist.core.errors import BadFile
from panelist.core.files import check_place, replace_file
from panelist.design.plan import Plan
from panelist.reports.datasheet.files.sheet_view import render_html, render_latex, render_markdown
from panelist.reports.datasheet.files.write_json import write_json
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.datasheet.heds_questions import NEWEST, read_version
from panelist.reports.datasheet.sheet import Sheet
from panelist.study.reading.load import load_study
from panelist.study.study import Study

RENDERERS: dict[str, Callable[[Sheet], bytes]] = {
    ".json": write_json,
    ".md": lambda sheet: _encode(render_markdown(sheet)),
    ".html": lambda sheet: _encode(render_html(sheet)),
    ".htm": lambda sheet: _encode(render_html(sheet)),
    ".tex": lambda sheet: _encode(render_latex(sheet)),
}


def write_datasheet(
    study: Study | str | Path,
    plan: Plan | None,
    ratings: Any,
    path: str | PathLike[str],
    *,
    version: str = NEWEST,
    power: str | Path | None = None,
    resamples: int = 1000,
) -> Sheet:
    """Write the datasheet of a study and return it; its ``open()`` lists what only a person knows.

    ``plan`` and ``ratings`` may be None: what they would answer stays open or says that it is planned. The
    ending of ``path`` determines the format: .json for the official form, .html, .md or .tex for people.
    """
    target = check_target(path)
    sheet = fill_sheet(
        load_study(study),
        plan,
        ratings,
        read_version(version),
        power=None if power is None else Path(power),
        resamples=resamples,
    )
    save_sheet(sheet, [target])
    return sheet


def check_target(path: str | PathLike[str]) -> Path:
    """Return the path of a file to write, or raise BadFile if it cannot become a datasheet."""
    target = Path(path)
    if target.suffix.casefold() not in RENDERERS:
        found = f"the ending {target.suffix!r}" if target.suffix else "no ending"
        raise BadFile(
            f"{str(path)!r} has {found}. A datasheet is .json (for the HEDS form), .html, .md or .tex."
        )
    return check_place(target, "datasheet")


def save_sheet(sheet: Sheet, targets: Sequence[Path]) -> None:
    """Write a sheet into files, all of them made before the first is written, each in one step."""
    made = [(target, RENDERERS[target.suffix.casefold()](sheet)) for target in map(check_target, targets)]
    for target, content in made:
        replace_file(target, content)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")
