"""What is counted for one analysis in one chunk; tallies of chunks add up to that of a cell."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.pairwise import differ_in_precision
from panelist.core.margin import find_level
from panelist.models.inference.adjust import (
    HypothesisFamily,
    adjust_holm,
    find_adjustment,
    two_sided_quantile,
)
from panelist.numerics.arrays import Floats
from panelist.power.analyses.base import SimulatedPairTests

_MANY = 1e10  # degrees of freedom: a normal


@dataclass(frozen=True)
class Tally:
    """Counts and sums over data sets; a tuple has one entry for each pair of systems."""

    n: int
    failed: int
    singular: int
    smaller: int
    """Analysed by a smaller model than the largest, because the largest was singular or failed."""
    separated: int
    """With a system all at one end of the scale."""
    linear: int
    """Led by the linear model, because the ordinal one could not be trusted."""
    any_found: int
    all_true: int
    """Data sets in which every pair that truly differs was found; of a claim, in which it holds for all."""
    found: tuple[int, ...]
    found_above: tuple[int, ...]
    """Found, with the second system above the first."""
    estimated: tuple[int, ...]
    """With a finite estimate in the analysis' own units."""
    sum_estimate: tuple[float, ...]
    sized: tuple[int, ...]
    """Found, with such an estimate."""
    sum_size: tuple[float, ...]
    """Of these estimates, without their signs."""
    measured: tuple[int, ...]
    sum_width: tuple[float, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return names and values for the journal."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Tally":
        """Return the tally that ``to_dict`` wrote."""
        made: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**made)


def add_tallies(tallies: Iterable[Tally]) -> Tally:
    """Return the sum, added in the order given: that of the chunks, so that it is always the same."""
    whole: dict[str, Any] = {}
    for tally in tallies:
        for field in fields(tally):
            value = getattr(tally, field.name)
            if field.name not in whole:
                whole[field.name] = value
            elif isinstance(value, tuple):
                whole[field.name] = tuple(x + y for x, y in zip(whole[field.name], value, strict=True))
            else:
                whole[field.name] += value
    return Tally(**whole)


def count_tests(
    tests: SimulatedPairTests, spec: AnalysisSpec, differences: tuple[float, ...], seconds: float
) -> Tally:
    """Return what an analysis found in a chunk, its p-values adjusted for the number of pairs."""
    n_sets, n_pairs = tests.p.shape
    true = np.abs(np.array(differences)) > 1e-12
    if spec.claim is not None:
        found, whole, width = find_claimed(tests, spec)
        all_true = int(whole.sum())
    else:
        p, critical = adjust_tests(tests, spec, round((1 + (1 + 8 * n_pairs) ** 0.5) / 2))
        with np.errstate(invalid="ignore"):
            found = np.where(np.isnan(p), False, p < spec.alpha)
        all_true = int(found[:, true].all(axis=1).sum()) if true.any() else 0
        width = 2 * critical * tests.se
    linear = np.zeros(n_sets, dtype=np.bool_) if tests.linear is None else tests.linear
    usable = np.isfinite(tests.estimate) & ~(tests.failed | linear)[:, None]
    measured = np.isfinite(width) & usable
    return Tally(
        n=n_sets,
        failed=int(tests.failed.sum()),
        singular=int(tests.singular.sum()),
        smaller=_count(tests.smaller),
        separated=_count(tests.separated),
        linear=_count(tests.linear),
        any_found=int(found.any(axis=1).sum()),
        all_true=all_true,
        found=_ints(found),
        found_above=_ints(found & (tests.estimate > 0)),
        estimated=_ints(usable),
        sum_estimate=_sums(np.where(usable, tests.estimate, 0.0)),
        sized=_ints(found & usable),
        sum_size=_sums(np.where(found & usable, np.abs(tests.estimate), 0.0)),
        measured=_ints(measured),
        sum_width=_sums(np.where(measured, width, 0.0)),
        seconds=seconds,
    )


def find_claimed(
    tests: SimulatedPairTests, spec: AnalysisSpec
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats]:
    """Return which pairs a claim is shown for, in which sets for all pairs, and the widths of intervals.

    Single claims are adjusted by Holm's method; that of all pairs needs no adjustment. Non-inferiority is
    that of the second system of a pair to the first.
    """
    assert spec.margin is not None
    assert spec.claim is not None
    estimate, se = tests.claimed or (tests.estimate, tests.se)
    level = find_level(spec.claim, spec.alpha)
    with np.errstate(invalid="ignore", divide="ignore"):
        ends = [(spec.margin.size + way * estimate) / np.where(se > 0, se, np.nan) for way in (1, -1)]
        below, above = (stdtr(np.minimum(tests.df, _MANY), -end) for end in ends)
    p = below if spec.claim == "non-inferiority" else np.maximum(below, above)
    p = np.where(tests.failed[:, None], np.nan, p)
    adjusted = np.array([adjust_holm(row) for row in p]).reshape(p.shape)
    with np.errstate(invalid="ignore"):
        found = adjusted < level
        whole: NDArray[np.bool_] = np.asarray((p < level).all(axis=1))
    return found, whole, 2 * two_sided_quantile(1 - 2 * level, tests.df) * se


def adjust_tests(tests: SimulatedPairTests, spec: AnalysisSpec, n_systems: int) -> tuple[Any, Any]:
    """Return adjusted p-values, and the multipliers of the standard errors for intervals."""
    if n_systems == 2:
        return tests.p, two_sided_quantile(spec.confidence, tests.df)
    usual, single_step = find_adjustment(spec.adjust), find_adjustment("mvt")
    p = np.full(tests.p.shape, np.nan)
    critical = np.full(tests.p.shape, np.nan)
    for row in np.flatnonzero(np.isfinite(tests.p).any(axis=1)):
        chosen, family = usual, HypothesisFamily(tests.statistic[row], tests.df[row], n_systems)
        if _needs_directions(tests, spec, int(row), n_systems):
            chosen = single_step
            family = replace(family, directions=tests.directions[row])  # type: ignore[index]
        p[row] = chosen.adjust(family)
        if np.isfinite(tests.se[row]).any():
            critical[row] = usual.critical(spec.confidence, family) * _shorten(family, spec)
    return p, critical


def _shorten(family: HypothesisFamily, spec: AnalysisSpec) -> float:
    """Return by how much the multivariate t shortens Tukey's intervals: nearly the same at all df."""
    known = family.df[np.isfinite(family.statistic) & (family.df > 0)]
    if family.directions is None or not len(known):
        return 1.0
    one = replace(family, df=np.full(len(family.df), float(np.median(known))))
    by_tukey, by_mvt = (find_adjustment(name).critical(spec.confidence, one)[0] for name in ("tukey", "mvt"))
    return float(by_mvt / by_tukey)


def _needs_directions(tests: SimulatedPairTests, spec: AnalysisSpec, row: int, n_systems: int) -> bool:
    """Return whether compare would use the multivariate t in place of Tukey's test, and it is available."""
    if spec.adjust != "tukey" or tests.directions is None or not spec.as_compared:
        return False
    known = bool(np.isfinite(tests.directions[row]).all())
    return known and differ_in_precision(tests.se[row], n_systems)


def _count(marks: NDArray[np.bool_] | None) -> int:
    return 0 if marks is None else int(marks.sum())


def _ints(marks: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(count) for count in marks.sum(axis=0))


def _sums(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in values.sum(axis=0))
