"""``panelist heds diff``: two datasheets, question by question."""

from panelist.cli.heds.opening import open_sheet
from panelist.cli.heds.options import Form, PowerOf, RatingsOf, SecondSource, Source
from panelist.cli.options import Json
from panelist.cli.terminal import show


def heds_diff(
    first: Source,
    second: SecondSource,
    version: Form = None,
    ratings: RatingsOf = None,
    power: PowerOf = None,
    json: Json = False,
) -> None:
    """Compare two datasheets, cards or studies, question by question."""
    from panelist.reports.datasheet.convert.diff import compare_sheets
    from panelist.reports.datasheet.heds_questions import NEWEST, read_version

    form = read_version(version or NEWEST)
    a, b = (open_sheet(path, form, ratings, power) for path in (first, second))
    show(compare_sheets(a, b), json)
