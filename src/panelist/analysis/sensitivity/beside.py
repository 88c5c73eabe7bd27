"""Two comparisons of one criterion in one table, one row per pair."""

from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.display.formats import P_VALUE, TEXT, decimals, interval
from panelist.core.display.result import Table


def set_beside(
    title: str, one: tuple[str, CriterionComparison], two: tuple[str, CriterionComparison], note: str
) -> Table:
    """Return the table; each comparison comes with the name of its column, the second may lack pairs."""
    (name, first), (other_name, second) = one, two
    other = {(pair.a, pair.b): pair for pair in second.pairs}
    rows = []
    for pair in first.pairs:
        match = other.get((pair.a, pair.b))
        beside = (
            (None, "", None)
            if match is None
            else (match.difference, interval(match.low, match.high), match.p_adjusted)
        )
        rows.append(
            (f"{pair.a} − {pair.b}", pair.difference, interval(pair.low, pair.high), pair.p_adjusted, *beside)
        )
    header = ("pair", name, "interval", "p", other_name, "interval", "p")
    formats = {"pair": TEXT, name: decimals(2), other_name: decimals(2), "p": P_VALUE}
    return Table(title, header, rows, formats, note=note)
