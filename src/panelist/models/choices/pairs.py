"""Pairs as an ordinal mixed model: columns are differences, thresholds are mirrored at zero.

An answer y runs from 0 (the second is much better) to K − 1 (the first is much better), and

    P(y ≤ k) = F(t_k − η),    η = δ·position + (x_A − x_B)'β + (z_A − z_B)'b,    t_{K−2−k} = −t_k

so that turning a pair round turns its answer and changes nothing else. With two answers and the logistic F
this is the model of Bradley & Terry (1952); with a tie it is that of Rao & Kupper (1967, Journal of the
American Statistical Association 62), whose log θ is the upper threshold; with grades that of Agresti (1992,
Applied Statistics 41). Random preferences b have a column for each system, all with one standard deviation,
for each rater and for each item.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.choices.analogue import ChoiceAnalogue, fit_analogue, make_matrices
from panelist.models.formulas.grouping import Factor
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.thresholds import Thresholds, make_thresholds
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Floats, Ints, Longs

POSITION = "position"
RANDOM = ("preferences", "contrasts", "position")  # what may vary over raters or items
LARGEST_SPREAD = 3.0  # a rater one such standard deviation from the average has odds of 20 to 1


@dataclass(frozen=True, eq=False)
class PairGroup:
    """A grouping factor of pairs: its name, the names of its levels, and the level of each pair, -1 unknown.

    ``what`` varies over the levels: exchangeable ``preferences`` for systems, (1 | rater:system); all
    ``contrasts`` of systems with a full covariance, (system | rater); or the effect of ``position``.
    """

    name: str
    levels: tuple[str, ...] = field(repr=False)
    level: Longs = field(repr=False)
    what: str = "preferences"

    @property
    def term(self) -> str:
        """The term as a formula has it."""
        if self.what == "preferences":
            return f"(1 | {self.name}:system)"
        return f"({'system' if self.what == 'contrasts' else POSITION} | {self.name})"


@dataclass(frozen=True, eq=False)
class GradedPairs:
    """Pairs of systems: who stood on which side, the answers, and what else differs between the sides.

    ``answer`` counts from 0, the second is (much) better, to ``points`` − 1. ``position`` is 1 where the
    first of the two stood first on the page and −1 where it stood second; None where that is not known.
    ``style`` holds differences, the first side's value less the second's.
    """

    systems: tuple[str, ...]
    first: Longs = field(repr=False)
    second: Longs = field(repr=False)
    answer: Longs = field(repr=False)
    points: int
    groups: tuple[PairGroup, ...]
    position: Floats | None = field(default=None, repr=False)
    style: dict[str, Floats] = field(default_factory=dict, repr=False)

    def turn(self) -> "GradedPairs":
        """Return the same pairs with the sides exchanged."""
        return GradedPairs(
            self.systems,
            self.second,
            self.first,
            self.points - 1 - self.answer,
            self.points,
            self.groups,
            None if self.position is None else -self.position,
            {name: -values for name, values in self.style.items()},
        )


def scale_grades(grade: Floats | Longs) -> tuple[Longs, int]:
    """Return the answers that grades about 0 are, and the number of points.

    A grade that was given on neither side is left out: its threshold would have no finite place.

    >>> answer, points = scale_grades(np.array([2, -1, 0, 1]))
    >>> answer.tolist(), points
    ([4, 1, 2, 3], 5)
    """
    sizes = np.unique(np.abs(grade))
    ties = bool((sizes == 0).any())
    step = np.searchsorted(sizes[sizes > 0], np.abs(grade)) + 1
    points = 2 * int((sizes > 0).sum()) + ties
    signed = np.where(grade == 0, 0, np.sign(grade) * step).astype(np.int64)
    answer = signed + points // 2 if ties else signed + points // 2 - (signed > 0)
    return answer, points


def build_pairs(pairs: GradedPairs, free: Floats | None = None) -> ModelMatrices:
    """Return the matrices of the model, the systems after the first as columns, or ``free`` in their place.

    Raises BadModel where a column is the same on both sides, or follows from others.
    """
    every = _differ(pairs, np.arange(len(pairs.systems)))
    strengths = every[:, 1:] if free is None else free
    of_systems = pairs.systems[1:] if free is None else tuple(f"free {at + 1}" for at in range(free.shape[1]))
    columns, names = [strengths], list(of_systems)
    for name, values in pairs.style.items():
        if not np.abs(values).max(initial=0.0) > 0.0:
            raise BadModel(
                f"{name} is the same on both sides of every pair, so its effect cannot be estimated."
            )
        columns.append(values[:, None])
        names.append(name)
    if pairs.position is not None:
        columns.append(pairs.position[:, None])
        names.append(POSITION)
    X = np.ascontiguousarray(np.column_stack(columns))
    if np.linalg.matrix_rank(X) < X.shape[1]:
        raise BadModel(
            f"The columns {', '.join(names)} follow from each other: systems that were never compared, not "
            "even through others, or a system that always stood on one side."
        )
    terms = " + ".join(["system", *names[len(of_systems) :], *(group.term for group in pairs.groups)])
    return make_matrices(
        f"preference ~ {terms}",
        pairs.answer,
        X,
        tuple(names),
        tuple(_make_factor(group, pairs, every) for group in pairs.groups),
        tuple(str(point + 1) for point in range(pairs.points)),
    )


def solve_pairs(
    design: ModelMatrices, link: str = "logit", family: str = "cumulative"
) -> tuple[Solution, Thresholds]:
    """Return the Laplace estimates of a design of pairs; without random terms those of maximum likelihood.

    With three answers the family "adjacent" is the model of Davidson (1970): strengths, their spread and
    slopes are twice what is estimated, and log ν is the upper threshold.
    """
    thresholds = make_thresholds("mirrored", design.categories, family)
    if design.factors:
        from panelist.models.solvers.clmm import solve_clmm

        return solve_clmm(design, link, thresholds), thresholds
    from panelist.models.solvers.clm import solve_clm

    return solve_clm(design, link, thresholds), thresholds


def check_spreads(design: ModelMatrices, solution: Solution, unit: float = 1.0) -> None:
    """Raise BadModel where a spread is so large that the approximation has failed: see check_spread."""
    for factor, block in zip(design.factors, solution.lambdas, strict=True):
        check_spread(factor.name, unit * float(np.sqrt((np.asarray(block) ** 2).sum(axis=1).max())))


def check_spread(group: str, sd: float) -> None:
    """Raise BadModel where preferences of raters, or items, spread further than answers can show.

    Where nearly all answers about a pair are the same, the Laplace approximation may let spreads and
    strengths grow together until nothing can be told apart.
    """
    if sd > LARGEST_SPREAD:
        raise BadModel(
            f"preferences of {group}s would have a standard deviation of {sd:.1f} log-strengths: nearly all "
            "answers about some pairs are the same, and its approximation fails there"
        )


def find_pair_analogue(design: ModelMatrices) -> ChoiceAnalogue | None:
    """Return the linear analogue: the answers as numbers about 0, on the same columns."""
    return fit_analogue(design, design.y - (len(design.categories) - 1) / 2)


def _differ(pairs: GradedPairs, columns: Any) -> Floats:
    """Return a column for each system: 1 where it stands first, −1 where second, 0 where both or neither."""
    found: Floats = (pairs.first[:, None] == columns).astype(np.float64)
    found -= pairs.second[:, None] == columns
    return found


def _make_factor(group: PairGroup, pairs: GradedPairs, every: Floats) -> Factor:
    known = group.level >= 0
    if group.what == "preferences":
        Z, names, shared = every, pairs.systems, True
    elif group.what == "contrasts":
        Z, names, shared = every[:, 1:], pairs.systems[1:], False
    elif pairs.position is None:
        raise BadModel(
            f"{group.term} needs the place of each output on the page, and the table does not say it."
        )
    else:
        Z, names, shared = pairs.position[:, None], (POSITION,), False
    index: Ints = np.where(known, group.level, 0).astype(np.int32)
    return Factor(
        group.name,
        group.levels,
        index,
        tuple(names),
        np.ascontiguousarray(Z * known[:, None]),
        ((0, Z.shape[1]),),
        None,
        shared,
    )
