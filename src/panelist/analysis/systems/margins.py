"""What a test of equivalence and non-inferiority found for each pair, and how it reads."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite, isnan, nan
from typing import Any, Literal

from panelist.analysis.systems.comparison_tables import MARK
from panelist.core.display.formats import P_VALUE, TEXT, decimals, interval, number, p_value
from panelist.core.display.result import Table
from panelist.core.margin import UNITS, find_level
from panelist.core.prose import listing

Outcome = Literal["different", "equivalent", "different and equivalent", "non-inferior", "undecided"]
"""For a pair: a difference was shown, one beyond the margin was excluded, both, on one side only, or none."""


@dataclass(frozen=True)
class NonInferiority:
    """One claim: that a system is not worse than another by the margin or more."""

    system: str
    to: str
    p: float
    p_adjusted: float
    shown: bool


@dataclass(frozen=True)
class Equivalence:
    """One pair: its difference in the margin's unit, the interval of both one-sided tests, what follows.

    ``low90`` and ``high90`` are of level 1 − 2α, 90 % where α is .05; ``p`` is the larger of the two
    one-sided p-values, ``p_adjusted`` Holm's for the number of pairs. ``non_inferior`` has the same tests one
    by one, at half of α.
    """

    a: str
    b: str
    margin: float
    difference: float
    low90: float
    high90: float
    p: float
    p_adjusted: float
    outcome: Outcome
    unit: str = "points"
    se: float = nan
    non_inferior: tuple[NonInferiority, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return names and values, except for those of the pair."""
        own = {name: value for name, value in asdict(self).items() if name not in ("a", "b")}
        return own | ({"points": self.difference} if self.unit == "points" else {})


def tell_equivalence(found: Sequence[Equivalence], alpha: float = 0.05) -> str:
    """Return in a sentence which pairs differ by less than the margin, and which are undecided."""
    if not found:
        return ""
    margin = f"±{number(found[0].margin, 2)} {UNITS[found[0].unit]}"
    equal = _pairs(found, "equivalent", "different and equivalent")
    if len(equal) == len(found):
        pairs = "the two systems are" if len(found) == 1 else "all pairs of systems are"
        return f"Within {margin}, {pairs} equivalent{_also(found)}."
    whole = _tell_whole(found, find_level("equivalence", alpha))
    if whole:
        return f"Within {margin}, {whole}."
    rest = "".join(f"; {clause}" for clause in (_tell_better(found), _tell_open(found)) if clause)
    if equal:
        verb = "is" if len(equal) == 1 else "are"
        return f"Within {margin}, {_list(equal)} {verb} equivalent{_also(equal)}{rest}."
    said = f"No pair is shown to be equivalent within {margin}"
    if clause := _tell_better(found):
        return f"{said}; {clause}."
    if not _pairs(found, "undecided"):
        return f"{said}."
    return f"{said}. That a difference was not shown does not mean that there is none."


def _tell_whole(found: Sequence[Equivalence], level: float) -> str:
    """Return the one claim that needs no adjustment: that all pairs are equivalent; where it holds."""
    largest = max(one.p for one in found)
    if not largest < level:
        return ""
    return (
        "all pairs of systems are equivalent, taken as one claim (its p is the largest of all pairs, "
        f"{p_value(largest)}, and needs no adjustment; adjusted for single claims, not every pair is)"
    )


def _tell_better(found: Sequence[Equivalence]) -> str:
    """Return who is shown to be no worse than whom by the margin, where nothing more was shown."""
    claims = [own for one in _pairs(found, "non-inferior") for own in one.non_inferior if own.shown]
    return "; ".join(f"{one.system} is not inferior to {one.to}" for one in claims[:6])


def _tell_open(found: Sequence[Equivalence]) -> str:
    open_ = _pairs(found, "undecided")
    return f"{_list(open_)} {'is' if len(open_) == 1 else 'are'} undecided" if open_ else ""


def make_table(found: Sequence[Equivalence], criterion: str, alpha: float, prior: str = "") -> Table:
    """Return one row per pair; ``prior`` is what a table adds where there is one."""
    heading, unit = f"{100 * (1 - 2 * alpha):g} % interval", found[0].unit
    rows = [
        (
            f"{one.a} − {one.b}",
            one.difference,
            interval(one.low90, one.high90) + MARK * (isnan(one.p) and isfinite(one.low90)),
            one.p_adjusted,
            _say(one),
        )
        for one in found
    ]
    adjusted = ", Holm-adjusted" if len(found) > 1 else ""
    note = f"p of both one-sided tests{adjusted}; equivalent below {alpha:g}."
    if any(one.outcome == "non-inferior" for one in found):
        note += f" Non-inferior: one of them below {find_level('non-inferiority', alpha):g}{adjusted}."
    return Table(
        f"Equivalence on {criterion}, within ±{number(found[0].margin, 2)} {UNITS[unit]}",
        ("pair", unit, heading, "p", "outcome"),
        rows,
        {"pair": TEXT, unit: decimals(2), "p": P_VALUE, "outcome": TEXT},
        note=note + prior,
    )


def _say(one: Equivalence) -> str:
    """Return the outcome, naming who is not inferior."""
    if one.outcome != "non-inferior":
        return one.outcome
    shown = [own.system for own in one.non_inferior if own.shown]
    return f"{listing(shown, None)} non-inferior"


def _pairs(found: Sequence[Equivalence], *outcomes: Outcome) -> list[Equivalence]:
    return [one for one in found if one.outcome in outcomes]


def _also(found: Sequence[Equivalence]) -> str:
    """Return what to add where a difference was shown that is smaller than the margin."""
    both = _pairs(found, "different and equivalent")
    if not both:
        return ""
    if len(found) == 1:
        return " (they differ, by less than the margin)"
    return f" ({_list(both)} differ{'s' if len(both) == 1 else ''}, by less than the margin)"


def _list(found: Sequence[Equivalence], most: int = 6) -> str:
    return listing((f"{one.a} – {one.b}" for one in found), most)
