"""What a test of equivalence found for each pair, and how it reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from panelist.core.display.formats import P_VALUE, TEXT, decimals, interval, number
from panelist.core.display.result import Table
from panelist.core.prose import listing

Outcome = Literal["different", "equivalent", "different and equivalent", "undecided"]
"""For a pair: a difference was shown, one beyond the margin was excluded, both, or neither."""


@dataclass(frozen=True)
class Equivalence:
    """One pair: its difference in points, the interval of both one-sided tests, and what follows.

    ``low90`` and ``high90`` are of level 1 − 2α, 90 % where α is .05; ``p`` is the larger of the two
    one-sided p-values, ``p_adjusted`` Holm's for the number of pairs.
    """

    a: str
    b: str
    margin: float
    points: float
    low90: float
    high90: float
    p: float
    p_adjusted: float
    outcome: Outcome


def tell_equivalence(found: Sequence[Equivalence]) -> str:
    """Return in a sentence which pairs differ by less than the margin, and which are undecided."""
    if not found:
        return ""
    margin = f"±{number(found[0].margin, 2)} points"
    if not _pairs(found, "different", "undecided"):
        pairs = "the two systems are" if len(found) == 1 else "all pairs of systems are"
        return f"Within {margin}, {pairs} equivalent{_also(found)}."
    if not (equal := _pairs(found, "equivalent", "different and equivalent")):
        said = f"No pair is shown to be equivalent within {margin}."
        if not _pairs(found, "undecided"):
            return said
        return f"{said} That a difference was not shown does not mean that there is none."
    open_ = [one for one in found if one.outcome == "undecided"]
    rest = ""
    if open_:
        rest = f"; {_list(open_)} {'is' if len(open_) == 1 else 'are'} undecided"
    verb = "is" if len(equal) == 1 else "are"
    return f"Within {margin}, {_list(equal)} {verb} equivalent{_also(equal)}{rest}."


def make_table(found: Sequence[Equivalence], criterion: str, alpha: float) -> Table:
    """Return one row per pair."""
    heading = f"{100 * (1 - 2 * alpha):g} % interval"
    rows = [
        (f"{one.a} − {one.b}", one.points, interval(one.low90, one.high90), one.p_adjusted, one.outcome)
        for one in found
    ]
    return Table(
        f"Equivalence on {criterion}, within ±{number(found[0].margin, 2)} points",
        ("pair", "points", heading, "p", "outcome"),
        rows,
        {"pair": TEXT, "points": decimals(2), "p": P_VALUE, "outcome": TEXT},
        note="p of both one-sided tests" + (", Holm-adjusted." if len(found) > 1 else "."),
    )


def _pairs(found: Sequence[Equivalence], *outcomes: Outcome) -> list[Equivalence]:
    return [one for one in found if one.outcome in outcomes]


def _also(found: Sequence[Equivalence]) -> str:
    """Return what to add where a difference was shown that is smaller than the margin."""
    both = _pairs(found, "different and equivalent")
    if not both:
        return ""
    which = "it" if len(both) == len(found) == 1 else _list(both)
    return f" ({which} differ{'s' if len(both) == 1 and which != 'it' else ''}, by less than the margin)"


def _list(found: Sequence[Equivalence], most: int = 6) -> str:
    return listing((f"{one.a} – {one.b}" for one in found), most)
