"""``panelist heds convert``: a datasheet in another version of the form."""

import typer

from panelist.cli.heds.opening import check_targets, is_card, list_open, print_json
from panelist.cli.heds.options import Card, Out, To
from panelist.cli.options import Json
from panelist.cli.terminal import say, tell


def heds_convert(card: Card, to: To, out: Out = None, json: Json = False) -> None:
    """Convert a datasheet to another version of the form, and say what changed."""
    from panelist.reports.datasheet.convert.versions import convert_sheet
    from panelist.reports.datasheet.files.read import read_sheet
    from panelist.reports.datasheet.files.write_json import write_json
    from panelist.reports.datasheet.heds_questions import read_version
    from panelist.reports.datasheet.write_datasheet import save_sheet

    if not is_card(card):
        raise typer.BadParameter(
            "this takes the JSON file of a HEDS form; for a study: panelist heds fill STUDY --version 2.x"
        )
    targets = check_targets(out)
    made = convert_sheet(read_sheet(card), read_version(to))
    save_sheet(made.sheet, targets)
    for note in made.sheet.notes:
        tell(f"Note: {note}")
    if json:
        print_json(
            {
                "version": made.sheet.version,
                "changed": [vars(one) for one in made.lost],
                **list_open(made.sheet),
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
