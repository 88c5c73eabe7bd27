"""``panelist heds lint``: whether the answers of a datasheet fit each other."""

import typer

from panelist.cli.heds.opening import open_sheet
from panelist.cli.heds.options import Form, PowerOf, RatingsOf, Source
from panelist.cli.options import Json
from panelist.cli.terminal import show

FAILED = 1


def heds_lint(
    sheet: Source, version: Form = None, ratings: RatingsOf = None, power: PowerOf = None, json: Json = False
) -> None:
    """Check whether the answers of a datasheet fit each other; ends with 1 if they do not."""
    from panelist.reports.datasheet.heds_questions import NEWEST, read_version
    from panelist.reports.datasheet.lint.lint_sheet import lint_sheet

    found = lint_sheet(open_sheet(sheet, read_version(version or NEWEST), ratings, power))
    show(found, json)
    if not found.passed:
        raise typer.Exit(FAILED)
