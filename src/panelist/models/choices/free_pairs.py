"""Do strengths explain the answers? The model of one dimension against one with a number for each pair.

By strengths, two systems differ by the difference of their strengths. A free model has a number of its own
for each pair that was compared, with the same random part; twice the gain in log-likelihood is χ² with as
many degrees of freedom as there are pairs beyond those that strengths need. Where strengths do not explain
the answers there may be cycles: a is preferred to b, b to c, and c to a.
"""

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from panelist.models.choices.pairs import GradedPairs, build_pairs, solve_pairs
from panelist.models.solvers.solution import Solution
from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class Cycle:
    """Three systems in a ring, each preferred to the next, and by how much; ``surest`` is the least |z|."""

    systems: tuple[str, str, str]
    differences: tuple[float, float, float]
    surest: float

    def sentence(self) -> str:
        """Return who is preferred to whom, with odds."""
        a, b, c = self.systems
        odds = ", ".join(f"{np.exp(one):.2f}" for one in self.differences)
        return f"{a} over {b}, {b} over {c}, {c} over {a} (odds {odds} to 1)"


@dataclass(frozen=True, eq=False)
class FreePairs:
    """The test of one dimension, the free difference of every pair, and the cycles, the surest first."""

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
        return f"{told}. In a cycle: {'; '.join(one.sentence() for one in self.cycles[:3])}."


def free_pairs(
    pairs: GradedPairs, by_strengths: Solution, link: str = "logit", family: str = "cumulative"
) -> FreePairs | None:
    """Return the test of one dimension; None where no pair is left to test it, or the free model has no fit.

    ``by_strengths`` is the solution of the same pairs by strengths. Every pair needs answers on both sides.
    """
    from scipy.special import chdtrc

    k = len(pairs.systems)
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    code = low * k + high
    known = np.unique(code)
    df = len(known) - (k - 1)
    if df < 1:
        return None
    turned = pairs.first > pairs.second
    above = np.where(turned, pairs.points - 1 - pairs.answer, pairs.answer) - (pairs.points - 1) / 2
    sides = np.array([(above[code == one].min(), above[code == one].max()) for one in known])
    if (sides[:, 0] >= 0).any() or (sides[:, 1] <= 0).any():
        return None
    design = build_pairs(pairs)
    columns = np.where(turned, -1.0, 1.0)[:, None] * (code[:, None] == known)
    X = np.ascontiguousarray(np.column_stack([columns, design.X[:, k - 1 :]]))
    names = tuple((pairs.systems[one // k], pairs.systems[one % k]) for one in known.tolist())
    if np.linalg.matrix_rank(X) < X.shape[1]:
        return None
    labels = (*(f"{a} - {b}" for a, b in names), *design.names[k - 1 :])
    solution, _ = solve_pairs(replace(design, X=X, names=labels), link, family)
    if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
        return None
    statistic = max(2.0 * (solution.loglik - by_strengths.loglik), 0.0)
    unit = 2.0 if family == "adjacent" else 1.0
    estimate, se = unit * solution.beta[: len(known)], unit * np.sqrt(np.diag(solution.vcov)[: len(known)])
    cycles = find_cycles(pairs.systems, names, estimate, se)
    return FreePairs(statistic, df, float(chdtrc(df, statistic)), names, estimate, se, cycles)


def find_cycles(
    systems: tuple[str, ...], pairs: tuple[tuple[str, str], ...], estimate: Floats, se: Floats
) -> tuple[Cycle, ...]:
    """Return all rings of three, those with the surest weakest link first.

    >>> pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    >>> found = find_cycles(("a", "b", "c"), pairs, np.array([1.0, -1.0, 1.0]), np.ones(3))
    >>> found[0].systems
    ('a', 'b', 'c')
    """
    size = {}
    for (a, b), value, error in zip(pairs, estimate.tolist(), se.tolist(), strict=True):
        size[a, b], size[b, a] = (value, abs(value) / error), (-value, abs(value) / error)
    found = []
    for a, b, c in combinations(systems, 3):
        for ring in ((a, b, c), (a, c, b)):
            links = [(ring[0], ring[1]), (ring[1], ring[2]), (ring[2], ring[0])]
            if all(link in size and size[link][0] > 0 for link in links):
                first, second, third = (size[link][0] for link in links)
                surest = min(size[link][1] for link in links)
                found.append(Cycle(ring, (first, second, third), surest))
    return tuple(sorted(found, key=lambda one: -one.surest))
