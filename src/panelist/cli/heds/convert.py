"""``panelist heds convert``, ``diff`` and ``lint``: sheets converted, side by side, and checked."""

from dataclasses import replace

import typer

from panelist.cli.heds import opening as given
from panelist.cli.options import Json
from panelist.cli.terminal import say, show, show_all, tell


def heds_convert(card: given.Card, to: given.To, out: given.Out = None, json: Json = False) -> None:
    """Convert a datasheet to another version of HEDS."""
    from panelist.reports.datasheet.convert.versions import convert_sheet
    from panelist.reports.datasheet.files.read import read_sheet
    from panelist.reports.datasheet.files.write_json import write_json
    from panelist.reports.datasheet.heds_questions import read_version
    from panelist.reports.datasheet.write_datasheet import save_sheet

    if not given.is_card(card):
        raise typer.BadParameter(
            "this takes the JSON file of a HEDS form; for a study: panelist heds fill STUDY --version 2.x"
        )
    targets = given.check_targets(out)
    made = convert_sheet(read_sheet(card), read_version(to))
    save_sheet(made.sheet, targets)
    for note in made.sheet.notes:
        tell(f"Note: {note}")
    if json:
        given.print_json(
            {
                "version": made.sheet.version,
                "changed": [vars(one) for one in made.lost],
                **given.list_open(made.sheet),
            }
        )
        return
    if not targets:
        say(write_json(made.sheet).decode("utf-8", "replace"))
    told = say if targets else tell
    if made.lost:
        told("Not carried over as it was:")
    for one in made.lost:
        told(f"  {one}")
    open_ = made.sheet.open()
    if open_:
        told(f"Open in HEDS {made.sheet.version}:")
    for blank in open_:
        told(f"  {blank}  {blank.question.title}")
    for target in targets:
        say(f"Written: {target}")


FAILED = 1


def heds_lint(
    sheet: given.Source,
    version: given.Form = None,
    ratings: given.RatingsOf = None,
    power: given.PowerOf = None,
    json: Json = False,
) -> None:
    """Check a datasheet for contradictions (exit code 1)."""
    from panelist.reports.datasheet.heds_questions import NEWEST, read_version
    from panelist.reports.datasheet.lint.lint_sheet import lint_sheet

    found = lint_sheet(given.open_sheet(sheet, read_version(version or NEWEST), ratings, power))
    show(found, json)
    if not found.passed:
        raise typer.Exit(FAILED)


def heds_diff(
    first: given.Source,
    second: given.SecondSource,
    version: given.Form = None,
    ratings: given.RatingsOf = None,
    power: given.PowerOf = None,
    json: Json = False,
) -> None:
    """Compare two datasheets or studies: how similar are they?"""
    from panelist.reports.datasheet.convert.diff import compare_sheets
    from panelist.reports.datasheet.convert.similarity import measure_similarity
    from panelist.reports.datasheet.heds_questions import NEWEST, read_version

    form = read_version(version or NEWEST)
    a, b = (given.open_sheet(path, form, ratings, power) for path in (first, second))
    alike = replace(measure_similarity(a, b), notes=())  # the differences have them
    show_all({"differences": compare_sheets(a, b), "similarity": alike}, json)
