"""Each rater against the others: agreement, correlation, leniency, spread, and who is out of line on what."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.reliability import HEADLINES
from panelist.agreement.studies.rater_rows import summarise_raters
from panelist.core.display.formats import TEXT, decimals, interval, number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.numerics.arrays import Floats, Longs

MOST_IN_MATRIX = 30  # more raters are a crowd: their matrix is never read
LEAST_COMMON = 10  # units that two raters must share before their correlation says anything about either
LEAST_SHORTFALL = 0.15
# What is computed for each pair: gamma for ordinal ratings, as in Table 7 of Amidei et al. (2019).
FOR_PAIRS = HEADLINES | {"ordinal": ("krippendorff_alpha_ordinal", "goodman_kruskal_gamma")}


@dataclass(frozen=True)
class RaterSummary:
    """One rater against the others on one criterion.

    ``agreement`` is the rater's part of Krippendorff's alpha (1 less the rater's mean disagreement with
    others over the expected disagreement; the mean over ratings is alpha itself); ``correlation`` is with the
    mean of the others; ``leniency`` the mean difference from that mean, with its t interval over units;
    ``spread`` the rater's standard deviation over that of the others' ratings of the same units.
    """

    rater: str
    n_ratings: int
    n_items: int
    mean: float
    agreement: float
    correlation: float
    leniency: float
    leniency_low: float
    leniency_high: float
    spread: float
    out_of_line: bool = False
    remark: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class CriterionRaters(Result):
    """The raters on one criterion; ``matrices`` holds a raters × raters matrix for each named coefficient."""

    criterion: str
    measurement: str
    raters: tuple[str, ...]
    summaries: tuple[RaterSummary, ...]
    common: Longs = field(repr=False)
    matrices: dict[str, Floats] = field(default_factory=dict, repr=False)
    correlation: str = ""
    confidence: float = 0.95
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return f"Raters on {self.criterion}"

    def __getitem__(self, rater: str) -> RaterSummary:
        return self.summaries[self.raters.index(rater)]

    def pair(self, name: str, a: str, b: str) -> float:
        """Return a coefficient of two raters; nan where it is undefined."""
        return float(self.matrices[name][self.raters.index(a), self.raters.index(b)])

    def batches(self) -> list[tuple[str, str, int]]:
        """Return the pairs of raters that judged units together, and how many."""
        pairs = combinations(range(len(self.raters)), 2)
        return [
            (self.raters[i], self.raters[j], int(self.common[i, j])) for i, j in pairs if self.common[i, j]
        ]

    def out_of_line(self) -> tuple[RaterSummary, ...]:
        """Return the raters who correlate less with every partner than those partners do with others."""
        return tuple(one for one in self.summaries if one.out_of_line)

    def parts(self) -> list[Part]:
        """Return a table of the raters, the matrices where they can be read, and the notes."""
        heading = f"{self.confidence * 100:g} % interval"
        header = ("rater", "units", "mean", "agreement", "correlation", "leniency", heading, "spread")
        rows = [
            (
                one.rater,
                one.n_items,
                one.mean,
                one.agreement,
                one.correlation,
                one.leniency,
                interval(one.leniency_low, one.leniency_high),
                one.spread,
            )
            for one in self.summaries
        ]
        formats = {"rater": TEXT} | {
            name: decimals(2) for name in ("mean", "agreement", "correlation", "leniency", "spread")
        }
        note = (
            "agreement: the rater's part of Krippendorff's alpha; correlation, leniency: with and from the "
            "mean of the others; spread: standard deviation over that of the others. All on units that "
            "others rated too."
        )
        whole: list[Part] = [Table(f"Raters on {self.criterion}", header, rows, formats, note)]
        whole += [self._matrix_table(name) for name in self.matrices if len(self.raters) <= 12]
        said = [(one.rater, one.remark) for one in self.summaries if one.remark]
        said += [("note", text) for text in self.notes]
        return [*whole, *([NamedValues(said)] if said else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the raters, the pairs with every coefficient, and the notes."""
        pairs = [
            {"a": a, "b": b, "n_items": n, **{name: self.pair(name, a, b) for name in self.matrices}}
            for a, b, n in (self.batches() if self.matrices else [])
        ]
        return {
            "criterion": self.criterion,
            "measurement": self.measurement,
            "raters": [asdict(one) for one in self.summaries],
            "pairs": pairs,
            "notes": list(self.notes),
        }

    def _matrix_table(self, name: str) -> Table:
        short = [rater if len(rater) <= 10 else f"{rater[:9]}…" for rater in self.raters]
        rows = []
        for i, rater in enumerate(self.raters):
            cells = [
                "" if i == j else f"{number(float(self.matrices[name][i, j]), 2)}" for j in range(len(short))
            ]
            rows.append((rater, *cells))
        unique = [word if short.count(word) == 1 else f"{k + 1}" for k, word in enumerate(short)]
        return Table(f"{COEFFICIENTS[name].spoken} of each pair on {self.criterion}", ("", *unique), rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterStudy(Result):
    """The raters on every criterion."""

    criteria: tuple[CriterionRaters, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Raters"

    def __getitem__(self, criterion: str) -> CriterionRaters:
        return {one.criterion: one for one in self.criteria}[criterion]

    def sentence(self) -> str:
        """Return who is out of line on which criterion."""
        said = [
            f"{', '.join(one.rater for one in one.out_of_line())} on {one.criterion}"
            for one in self.criteria
            if one.out_of_line()
        ]
        if not any(one.matrices and one.correlation for one in self.criteria):
            return "There is no matrix of correlations, so nobody can be called out of line."
        if not said:
            return "No rater is out of line with all partners on any criterion."
        return (
            f"Out of line: {'; '.join(said)}. They correlate less with each partner than that partner "
            "does with others. Find out how they understood the criterion before you use their ratings."
        )

    def parts(self) -> list[Part]:
        """Return who is out of line, then the raters criterion by criterion."""
        whole: list[Part] = [part for one in self.criteria for part in one.parts()]
        return [Sentence(self.sentence()), *whole]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding, and the raters of each criterion."""
        return {"finding": self.sentence(), "criteria": [one.to_dict() for one in self.criteria]}


def study_raters(
    tables: Sequence[tuple[str, RatingTable]],
    coefficients: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> RaterStudy:
    """Return each rater against the others on every criterion; ``tables`` are pairs of criterion and table.

    ``coefficients`` are computed for every pair of raters (up to 30 raters). Without them, one agreement and
    one correlation that suit the level; the correlation among them decides who is out of line.
    """
    return RaterStudy(
        criteria=tuple(_study_one(name, table, coefficients, confidence) for name, table in tables)
    )


def _study_one(
    criterion: str, table: RatingTable, coefficients: Sequence[str] | None, confidence: float
) -> CriterionRaters:
    names = [name for name in (coefficients or FOR_PAIRS[table.measurement]) if name]
    registered = {name: COEFFICIENTS[name] for name in names}
    common = np.zeros((0, 0), dtype=np.int64)
    matrices: dict[str, Floats] = {}
    notes = []
    if table.n_raters <= MOST_IN_MATRIX:
        common = _count_common(table)
        matrices = {name: _pairwise(table, name, common) for name in registered}
    else:
        notes.append(
            f"{table.n_raters:,} raters are too many for a matrix of pairs (at most {MOST_IN_MATRIX}); "
            "nobody is called out of line."
        )
    correlation = next((name for name in names if registered[name].kind == "correlation"), "")
    rows = summarise_raters(table, confidence)
    summaries = []
    for place, row in enumerate(rows):
        out, remark = False, ""
        if correlation and matrices:
            out, remark = find_out_of_line(place, matrices[correlation], common, table.raters)
        summaries.append(RaterSummary(**row, out_of_line=out, remark=remark))
    return CriterionRaters(
        criterion=criterion,
        measurement=table.measurement,
        raters=table.raters,
        summaries=tuple(summaries),
        common=common,
        matrices=matrices,
        correlation=correlation,
        confidence=confidence,
        notes=tuple(notes),
    )


def find_out_of_line(place: int, matrix: Floats, common: Longs, raters: Sequence[str]) -> tuple[bool, str]:
    """Return whether a rater is out of line, and a remark that says with whom.

    The rater is, where with every partner (two at least, with ten common units or more) the correlation is
    below the mean of that partner's correlations with others, and by 0.15 or more on average: how Amidei et
    al. (2019) find raters who "miss a sound interpretation" of a criterion.
    """
    usable = (common >= LEAST_COMMON) & np.isfinite(matrix)
    np.fill_diagonal(usable, False)
    shortfalls, weights, said = [], [], []
    for partner in np.flatnonzero(usable[place]).tolist():
        others = usable[partner].copy()
        others[place] = False
        if not others.any():
            continue
        usual = float(np.average(matrix[partner, others], weights=common[partner, others]))
        shortfalls.append(usual - float(matrix[place, partner]))
        weights.append(float(common[place, partner]))
        said.append(f"{number(float(matrix[place, partner]), 2)} with {raters[partner]} ({number(usual, 2)})")
    if len(shortfalls) < 2 or min(shortfalls) <= 0:
        return False, ""
    if float(np.average(shortfalls, weights=weights)) < LEAST_SHORTFALL:
        return False, ""
    return True, f"out of line: {', '.join(said[:4])}; in brackets the partner's mean with others"


def _count_common(table: RatingTable) -> Longs:
    """Return how many units each pair of raters rated both."""
    seen = np.zeros((table.n_units, table.n_raters), dtype=np.float64)
    seen[table.unit, table.rater] = 1.0
    common: Longs = np.rint(seen.T @ seen).astype(np.int64)
    return common


def _pairwise(table: RatingTable, name: str, common: Longs) -> Floats:
    """Return the coefficient of each pair of raters; nan where they share fewer than two units."""
    k = table.n_raters
    matrix = np.full((k, k), np.nan)
    for i, j in combinations(range(k), 2):
        if common[i, j] >= 2:
            two = np.zeros(k, dtype=bool)
            two[[i, j]] = True
            pair = table.only(raters=two)
            matrix[i, j] = matrix[j, i] = COEFFICIENTS[name](
                pair.only(units=pair.complete), table.measurement
            )
    return matrix
