"""What an analysis is: a function of the responses that says which pairs of systems differ."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.core.registry import Registry
from panelist.numerics.arrays import Bools, Floats
from panelist.power.layouts.base import Layout


class SimulatedPairTests(NamedTuple):
    """The tests of all pairs in all data sets: (n_sets, n_pairs) each; nan where there is none.

    An estimate is how far the second system of a pair lies above the first, in the analysis' own units.
    ``df`` is infinite for a normal statistic. A test that has none gets the normal ``statistic`` of its p.
    """

    estimate: Floats
    se: Floats
    statistic: Floats
    df: Floats
    p: Floats
    failed: Bools  # (n_sets,), as are the others
    singular: Bools
    smaller: Bools | None = None  # analysed by a smaller model than the largest
    separated: Bools | None = None  # with a system all at one end of the scale
    linear: Bools | None = None  # led by the linear model: estimates are in its units
    directions: Floats | None = None  # (n_sets, n_pairs, …): the pairs as unit rows, whose products correlate
    claimed: tuple[Floats, Floats] | None = None  # estimates and standard errors in the unit of a margin


Tester = Callable[[Any], SimulatedPairTests]
"""Tests every pair in the responses of one layout."""
A = TypeVar("A", bound="PowerAnalysis")

ANALYSES: Registry["PowerAnalysis"] = Registry("analysis")


class PowerAnalysis(ABC):
    """One way to analyse ratings, registered in ANALYSES under its name."""

    title: ClassVar[str]
    ignores: ClassVar[tuple[str, ...]] = ()
    """The dependence that it ignores: raters, items."""
    reads: ClassVar[tuple[str, ...]] = ("points", "slider")
    """What it can read: points of an ordinal scale, a slider, choices among outputs."""
    units: ClassVar[tuple[str, ...]] = ()
    """The units of its differences that a margin can have; none where it has no standard errors."""

    @abstractmethod
    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair in responses of this layout; safe to call in threads."""


def analysis(name: str) -> Callable[[type[A]], type[A]]:
    """Return the decorator that registers an instance of an analysis class under its name."""

    def file(made: type[A]) -> type[A]:
        ANALYSES.register(name)(made())
        return made

    return file


def make_tests(estimate: Floats, se: Floats, df: Floats, exact: Floats | None = None) -> SimulatedPairTests:
    """Return tests of estimates over their standard errors; one without a spread has failed.

    ``exact`` has the normal statistics of tests without a standard error, and nan elsewhere.
    """
    from panelist.models.inference.adjust import two_sided_p

    statistic = np.divide(estimate, se, out=np.full(se.shape, np.nan), where=se > 0)
    if exact is not None:
        statistic = np.where(np.isnan(exact), statistic, exact)
    degrees = np.broadcast_to(df, se.shape)
    lost: Any = np.isnan(statistic).any(axis=1)
    nobody = np.zeros(len(se), dtype=np.bool_)
    p = two_sided_p(statistic, np.where(degrees > 0, degrees, np.nan))
    return SimulatedPairTests(estimate, se, statistic, degrees, p, lost, nobody)


def make_p_tests(estimate: Floats, p: Floats) -> SimulatedPairTests:
    """Return tests that have a p-value and no standard error."""
    from scipy.special import ndtri

    sign = np.where(estimate < 0, -1.0, 1.0)
    statistic = sign * -ndtri(np.clip(p, 1e-300, 1.0) / 2)
    nothing = np.full(p.shape, np.nan)
    lost: Any = np.isnan(p).any(axis=1)
    return SimulatedPairTests(
        estimate, nothing, statistic, np.full(p.shape, np.inf), p, lost, np.zeros(len(p), dtype=np.bool_)
    )


def count_responses(layout: Layout, responses: Any) -> tuple[Floats, Floats]:
    """Return how often each system got each value, (n_sets, n_systems, n_values), and the values."""
    codes = np.asarray(responses).astype(np.int64)
    n_sets, n_values = len(codes), int(codes.max(initial=0)) + 1
    place = (np.arange(n_sets)[:, None] * layout.n_systems + layout.system) * n_values + codes
    counts = np.bincount(place.reshape(-1), minlength=n_sets * layout.n_systems * n_values)
    return counts.reshape(n_sets, layout.n_systems, n_values).astype(float), np.arange(n_values, dtype=float)


def average_items(layout: Layout, responses: Any) -> Floats:
    """Return the mean rating of each output, (n_sets, n_items, n_systems); nan where it was not rated."""
    cell = layout.item.astype(np.int64) * layout.n_systems + layout.system
    n_cells = layout.n_items * layout.n_systems
    values = np.asarray(responses, dtype=float)
    counts = np.bincount(cell, minlength=n_cells).astype(float)
    sums = np.stack([np.bincount(cell, weights=one, minlength=n_cells) for one in values])
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    by_item: Floats = means.reshape(len(values), layout.n_items, layout.n_systems)
    return by_item
