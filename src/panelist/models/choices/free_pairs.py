"""Do strengths explain the answers? The model of one dimension against one with a number for each pair.

By strengths, two systems differ by the difference of their strengths. A free model has a number of its own
for each pair that was compared, with the same random part; twice the gain in log-likelihood is χ² with as
many degrees of freedom as there are pairs beyond those that strengths need. Where strengths do not explain
the answers there may be cycles: a is preferred to b, b to c, and c to a.

A pair of which one system always won by the highest grade has no finite number: the free model explains its
answers wholly, so that they add nothing to its log-likelihood. A pair with fewer than six answers, which by
themselves prove nothing, keeps the difference of its strengths.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.choices.pairs import GradedPairs, build_pairs, check_spreads, scale_grades, solve_pairs
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Bools, Floats, Longs

ENOUGH = 6  # answers from which a sign test can fall below 0.05
ENDLESS = 15.0  # log-odds that are infinite, short of where the search stopped
MOST_TOLD = 3  # cycles that a sentence names


@dataclass(frozen=True)
class Cycle:
    """Systems in a ring, each preferred to the next, and by how much; ``surest`` is the least |z|.

    A difference is infinite where the one never lost to the other.
    """

    systems: tuple[str, ...]
    differences: tuple[float, ...]
    surest: float

    def sentence(self) -> str:
        """Return who is preferred to whom, with odds."""
        told = ", ".join(f"{one} over {two}" for one, two in _list_links(self.systems))
        odds = ", ".join(f"{np.exp(one):.2f}" if np.isfinite(one) else "∞" for one in self.differences)
        p = float(erfc(self.surest / sqrt(2.0)))  # a cycle is as sure as the least sure of its steps
        return f"{told} (odds {odds} to 1; the least sure has {'p < 0.001' if p < 0.001 else f'p = {p:.3f}'})"


@dataclass(frozen=True, eq=False)
class FreePairs:
    """The test of one dimension, the free difference of every pair, and the cycles, the surest first.

    ``se`` is nan where the difference is infinite.
    """

    statistic: float
    df: int
    p: float
    pairs: tuple[tuple[str, str], ...] = field(repr=False)
    estimate: Floats = field(repr=False)
    se: Floats = field(repr=False)
    cycles: tuple[Cycle, ...] = ()

    def sentence(self) -> str:
        """Return whether strengths explain the answers, and the cycles where they do not."""
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        said = f"Strengths against a number for each pair: χ²({self.df}) = {self.statistic:.1f}, {p}"
        if self.p >= 0.05:
            return f"{said}: nothing says that the systems cannot be put in one order."
        told = f"{said}: strengths do not explain all preferences"
        if not self.cycles:
            return (
                f"{told}, though there is no cycle: some pairs are further apart, or nearer, than they say."
            )
        more = len(self.cycles) - MOST_TOLD
        rest = f"; and {more:,} more" if more > 0 else ""
        return f"{told}. In a cycle: {'; '.join(one.sentence() for one in self.cycles[:MOST_TOLD])}{rest}."


def free_pairs(
    pairs: GradedPairs, by_strengths: Solution, link: str = "logit", family: str = "cumulative"
) -> FreePairs | None:
    """Return the test of one dimension; None where no pair is left to test it, or the free model has no fit.

    ``by_strengths`` is the solution of the same pairs by strengths.
    """
    from scipy.special import chdtrc, ndtri

    k, kinds = len(pairs.systems), _sort_pairs(pairs)
    own = np.flatnonzero(kinds.own)
    rest = _find_strengths(pairs, ~kinds.own[kinds.of_row])
    df = len(own) + rest.shape[1] - (k - 1)
    if df < 1:
        return None
    finite = np.isfinite(kinds.sign[own])
    estimate, se = np.where(finite, 0.0, kinds.sign[own]), np.full(len(own), np.nan)
    loglik, keep = 0.0, np.isfinite(kinds.sign[kinds.of_row])
    if keep.any():
        kept = _keep_rows(pairs, keep)
        if kept.points < 2:  # ties alone
            return None
        if family == "adjacent" and kept.points == 2:  # no ties are left
            family = "cumulative"
        turn = np.where(pairs.first > pairs.second, -1.0, 1.0)
        columns = turn[:, None] * (kinds.of_row[:, None] == own[finite])
        try:
            design = build_pairs(kept, np.column_stack([columns, rest])[keep])
        except BadModel:
            return None
        unit, n = 2.0 if family == "adjacent" else 1.0, int(finite.sum())
        solution, _ = solve_pairs(design, link, family)
        try:
            check_spreads(design, solution, unit)
        except BadModel:  # without random preferences it gains less, so that the test errs on the safe side
            solution, _ = solve_pairs(replace(design, factors=()), link, family)
        if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
            return None
        loglik = solution.loglik
        estimate[finite], se[finite] = unit * solution.beta[:n], unit * np.sqrt(np.diag(solution.vcov)[:n])
    statistic = max(2.0 * (loglik - by_strengths.loglik), 0.0)
    endless = np.abs(estimate) > ENDLESS
    estimate[endless] = np.copysign(np.inf, estimate[endless])
    z = np.where(endless, -ndtri(0.5 ** kinds.decided[own]), np.abs(estimate) / se)  # of the sign test
    se[endless] = np.nan
    told = tuple((pairs.systems[one // k], pairs.systems[one % k]) for one in kinds.known[own].tolist())
    cycles = find_cycles(pairs.systems, told, estimate, z)
    return FreePairs(statistic, df, float(chdtrc(df, statistic)), told, estimate, se, cycles)


class _Kinds(NamedTuple):
    """The pairs that were compared, a code for each, and which of them each row shows."""

    known: Longs
    of_row: Longs
    decided: Longs  # answers that are not ties
    own: Bools  # whether it has a number of its own in the free model
    sign: Floats  # infinite where that number is, else 0


def _sort_pairs(pairs: GradedPairs) -> _Kinds:
    k = len(pairs.systems)
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    known, of_row = np.unique(low * k + high, return_inverse=True)
    turned = pairs.first > pairs.second
    answer = np.where(turned, pairs.points - 1 - pairs.answer, pairs.answer)
    answers = np.bincount(of_row)
    always, never = (
        np.bincount(of_row, answer == end) == answers for end in (pairs.points - 1, 0)
    )  # what the model cannot distinguish from certainty: the highest grade, in every answer
    sure = always | never
    own = answers >= ENOUGH
    decided = np.bincount(of_row, 2 * answer != pairs.points - 1).astype(np.int64)
    sign = np.where(sure & own, np.where(always, np.inf, -np.inf), 0.0)
    return _Kinds(known, of_row, decided, own, sign)


def _find_strengths(pairs: GradedPairs, rows: Bools) -> Floats:
    """Return columns of strengths that only these rows have, none of which follows from the others."""
    systems = np.arange(len(pairs.systems))
    found = (pairs.first[:, None] == systems).astype(np.float64) - (pairs.second[:, None] == systems)
    found *= rows[:, None]
    columns: list[int] = []
    for at in systems.tolist():
        if np.linalg.matrix_rank(found[:, [*columns, at]]) > len(columns):
            columns.append(at)
    return np.asarray(found[:, columns])


def _keep_rows(pairs: GradedPairs, keep: Bools) -> GradedPairs:
    """Return some of the answers, on the grades that are left among them."""
    answer, points = scale_grades(2 * pairs.answer[keep] - (pairs.points - 1))
    groups = []
    for group in pairs.groups:
        left, level = np.unique(group.level[keep], return_inverse=True)
        unknown = int(left[0] < 0)
        names = tuple(group.levels[one] for one in left[unknown:].tolist())
        groups.append(replace(group, levels=names, level=level - unknown))
    return replace(
        pairs,
        first=pairs.first[keep],
        second=pairs.second[keep],
        answer=answer,
        points=points,
        groups=tuple(groups),
        position=None if pairs.position is None else pairs.position[keep],
        style={name: values[keep] for name, values in pairs.style.items()},
    )


def find_cycles(
    systems: tuple[str, ...], pairs: tuple[tuple[str, str], ...], estimate: Floats, z: Floats
) -> tuple[Cycle, ...]:
    """Return the rings, those with the surest weakest link first; ``z`` says how sure each difference is.

    They are all rings of three, and the shortest through every difference that is in none of these: where
    not all pairs were compared, a ring may be longer.

    >>> pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    >>> found = find_cycles(("a", "b", "c"), pairs, np.array([1.0, -1.0, 1.0]), np.ones(3))
    >>> found[0].systems
    ('a', 'b', 'c')
    """
    above: dict[str, dict[str, tuple[float, float]]] = {name: {} for name in systems}
    for (a, b), value, sure in zip(pairs, estimate.tolist(), np.abs(z).tolist(), strict=True):
        if value:
            better, worse = (a, b) if value > 0 else (b, a)
            above[better][worse] = abs(value), sure
    rings: list[tuple[str, ...]] = [
        ring
        for a, b, c in combinations(systems, 3)
        for ring in ((a, b, c), (a, c, b))
        if all(two in above[one] for one, two in _list_links(ring))
    ]
    covered = {link for ring in rings for link in _list_links(ring)}
    for one in systems:
        for two in above[one]:
            if (one, two) not in covered and (path := _find_path(above, two, one)):
                first = path.index(min(path, key=systems.index))
                rings.append((*path[first:], *path[:first]))
                covered |= set(_list_links(rings[-1]))
    found = []
    for ring in rings:
        sizes = [above[one][two] for one, two in _list_links(ring)]
        found.append(Cycle(ring, tuple(size for size, _ in sizes), min(sure for _, sure in sizes)))
    return tuple(sorted(found, key=lambda cycle: -cycle.surest))


def _list_links(ring: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(zip(ring, (*ring[1:], ring[0]), strict=True))


def _find_path(above: Mapping[str, Mapping[str, object]], start: str, end: str) -> tuple[str, ...]:
    """Return the shortest way down from one system to another; empty where there is none."""
    queue: deque[tuple[str, ...]] = deque([(start,)])
    seen = {start}
    while queue:
        path = queue.popleft()
        if path[-1] == end:
            return path
        for name in above[path[-1]]:
            if name not in seen:
                seen.add(name)
                queue.append((*path, name))
    return ()
