"""Internal consistency: do the criteria measure one thing? Cronbach's alpha with the criteria as parts.

Cronbach (1951), https://doi.org/10.1007/BF02310555. With the raters as parts instead, it is
``cronbach_alpha`` among the coefficients.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import make_table
from panelist.agreement.interpret import interpret
from panelist.core.display.formats import decimals, interval
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import read_ratings
from panelist.numerics.arrays import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Consistency(Result):
    """Cronbach's alpha with the criteria as parts of one test; ``without`` has alpha without each."""

    criteria: tuple[str, ...]
    alpha: float
    low: float
    high: float
    n_rows: int
    n_raters: int
    without: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return "Internal consistency of the criteria"

    def sentence(self) -> str:
        """Return alpha in words, and what its parts and its cases are."""
        reading = next(iter(interpret("cronbach_alpha", self.alpha)), None)
        words = f"; {reading.word}, {reading.scale}" if reading else ""
        return (
            f"Cronbach's alpha of {', '.join(self.criteria)} is {self.alpha:.2f} "
            f"({interval(self.low, self.high)}{words}): parts are the criteria, cases the "
            f"{self.n_rows:,} outputs as {self.n_raters:,} raters judged them."
        )

    def parts(self) -> list[Part]:
        """Return the sentence, alpha without each criterion, and the notes."""
        rows = [(name, value) for name, value in self.without.items()]
        table = Table("Alpha without one criterion", ("without", "alpha"), rows, {"alpha": decimals(2)})
        notes = [NamedValues([("note", note) for note in self.notes])] if self.notes else []
        return [Sentence(self.sentence()), *([table] if rows else []), *notes]

    def to_dict(self) -> dict[str, Any]:
        """Return alpha, its interval, and alpha without each criterion."""
        return asdict(self) | {"finding": self.sentence()}


def measure_consistency(ratings: Any, confidence: float = 0.95) -> Consistency:
    """Return Cronbach's alpha over the criteria: do they measure one thing?

    A case is an output as one rater judged it, with all criteria rated; cases that lack one are left out and
    counted. The interval is Feldt's (1965, https://doi.org/10.1007/BF02289499), which takes cases as
    independent. Criteria that run against the others (1 is best) must be reversed first.
    """
    table = read_ratings(ratings)
    table.require("rater", "rating", "criterion", "item")
    criteria = table.criteria
    if len(criteria) < 2:
        raise BadRatings(f"Internal consistency needs two criteria or more; there is only {criteria[0]!r}.")
    columns = ("rater", "item", "system", "turn", "text", "occasion")
    keys = [name for name in columns if name in table.frame]
    rows = table.frame[[*keys, "criterion", "rating"]].dropna()
    repeated = int(rows.duplicated([*keys, "criterion"]).sum())
    wide = rows.pivot_table(index=keys, columns="criterion", values="rating", aggfunc="first", observed=True)
    complete = wide.dropna()
    notes = []
    if repeated:
        notes.append(f"{repeated} repeated ratings left out; the first of each is used")
    if len(complete) < len(wide):
        notes.append(f"{len(wide) - len(complete)} of {len(wide)} cases lack a criterion and are left out")
    matrix = complete.to_numpy(dtype=np.float64)
    alpha = _cronbach(matrix)
    negative = [str(name) for name in complete.columns[_against_the_rest(matrix)]]
    if negative:
        notes.append(
            f"{', '.join(negative)} correlates negatively with the sum of the others: is it reversed?"
        )
    low, high = _feldt(alpha, *matrix.shape, confidence)
    without = {
        str(name): _cronbach(np.delete(matrix, place, axis=1)) for place, name in enumerate(complete.columns)
    }
    return Consistency(
        criteria=criteria,
        alpha=alpha,
        low=low,
        high=high,
        n_rows=len(complete),
        n_raters=complete.index.get_level_values("rater").nunique(),
        without=without if len(criteria) > 2 else {},
        confidence=confidence,
        notes=tuple(notes),
    )


def _cronbach(matrix: Floats) -> float:
    """Return Cronbach's alpha of a cases × parts matrix; nan where it is undefined."""
    if min(matrix.shape) < 2:
        return float("nan")
    case, part = np.indices(matrix.shape)
    table = make_table(case.ravel(), part.ravel(), matrix.ravel(), measurement="interval")
    return COEFFICIENTS["cronbach_alpha"](table, "interval")


def _against_the_rest(matrix: Floats) -> Any:
    """Return which parts correlate negatively with the sum of the others."""
    rest = matrix.sum(axis=1, keepdims=True) - matrix
    centred = (matrix - matrix.mean(axis=0)) * (rest - rest.mean(axis=0))
    return centred.sum(axis=0) < 0


def _feldt(alpha: float, n: int, k: int, confidence: float) -> tuple[float, float]:
    from scipy.special import fdtri

    if not np.isfinite(alpha) or n < 2 or k < 2:
        return float("nan"), float("nan")
    df1, df2 = n - 1, (n - 1) * (k - 1)
    tails = (0.5 + confidence / 2, 0.5 - confidence / 2)
    low, high = (1 - (1 - alpha) * float(fdtri(df1, df2, tail)) for tail in tails)
    return low, high
