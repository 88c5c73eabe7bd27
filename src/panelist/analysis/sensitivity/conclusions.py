"""What is concluded about a pair of systems, and where two analyses conclude differently."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from panelist.analysis.systems.comparison import CriterionComparison, PairDifference
from panelist.analysis.systems.comparison_tables import MARK
from panelist.core.display.formats import P_VALUE, TEXT, decimals, interval, say_p
from panelist.core.display.result import Table

Verdict = Literal["higher", "lower", "even", "unknown"]


@dataclass(frozen=True)
class Disagreement:
    """A pair about which two analyses conclude differently, with both p-values."""

    a: str
    b: str
    first: Verdict
    second: Verdict
    first_p: float
    second_p: float

    def sentence(self, first: str, second: str) -> str:
        """Return the disagreement in words; ``first`` and ``second`` begin its halves."""
        return (
            f"{first} {self._say(self.first)} ({say_p(self.first_p)}), "
            f"{second} {self._say(self.second)} ({say_p(self.second_p)})."
        )

    def _say(self, verdict: Verdict) -> str:
        words = {
            "higher": f"{self.a} is above {self.b}",
            "lower": f"{self.b} is above {self.a}",
            "even": f"{self.a} and {self.b} cannot be told apart",
            "unknown": f"nothing about {self.a} and {self.b}",
        }
        return words[verdict]


def conclude(pair: PairDifference, confidence: float) -> Verdict:
    """Return what is concluded about a pair at a level of confidence."""
    if not isfinite(pair.p_adjusted):
        return "unknown"
    if pair.p_adjusted >= 1 - confidence:
        return "even"
    return "higher" if pair.difference > 0 else "lower"


def find_disagreements(first: CriterionComparison, second: CriterionComparison) -> tuple[Disagreement, ...]:
    """Return the pairs that both analyses have and about which they conclude differently."""
    other = {(pair.a, pair.b): pair for pair in second.pairs}
    found = []
    for one in first.pairs:
        two = other.get((one.a, one.b))
        if two is None or one.prior or two.prior:  # what only a prior limits is not concluded upon
            continue
        verdicts = conclude(one, first.confidence), conclude(two, second.confidence)
        if verdicts[0] != verdicts[1]:
            found.append(Disagreement(one.a, one.b, *verdicts, one.p_adjusted, two.p_adjusted))
    return tuple(found)


def _show(pair: PairDifference) -> tuple[str, float | str]:
    """Return interval and p of a pair; where only a prior limits it, the mark and none."""
    shown = interval(pair.low, pair.high)
    return (shown + MARK, "none") if pair.prior else (shown, pair.p_adjusted)


def set_beside(
    title: str, one: tuple[str, CriterionComparison], two: tuple[str, CriterionComparison], note: str
) -> Table:
    """Return the table; each comparison comes with the name of its column, the second may lack pairs."""
    (name, first), (other_name, second) = one, two
    other = {(pair.a, pair.b): pair for pair in second.pairs}
    rows = []
    for pair in first.pairs:
        match = other.get((pair.a, pair.b))
        beside = (None, "", None) if match is None else (match.difference, *_show(match))
        rows.append((f"{pair.a} − {pair.b}", pair.difference, *_show(pair), *beside))
    header = ("pair", name, "interval", "p", other_name, "interval", "p")
    formats = {"pair": TEXT, name: decimals(2), other_name: decimals(2), "p": P_VALUE}
    return Table(title, header, rows, formats, note=note)
