"""Estimates with a covariance as systems and pairs: tested, adjusted and ranked as any comparison."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import SystemEstimate, list_pairs
from panelist.analysis.systems.pairwise import adjust_pairs
from panelist.analysis.systems.ranks import rank_intervals
from panelist.core.errors import UnknownName, did_you_mean
from panelist.models.inference.adjust import HypothesisFamily, find_adjustment, two_sided_quantile
from panelist.models.inference.contrasts import PairContrasts
from panelist.models.inference.single_step import find_directions
from panelist.numerics.arrays import Floats, Longs


class Estimates(Protocol):
    """One estimate per system, however it was made."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, sorted."""

    @property
    def estimate(self) -> Floats:
        """The estimates."""

    @property
    def covariance(self) -> Floats:
        """Their covariance."""

    def measure(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom of each combination of the estimates."""


def tabulate(
    found: Estimates, spec: AnalysisSpec, n: Longs, mean: Floats, effect: Callable[[Floats], Floats]
) -> dict[str, Any]:
    """Return systems, pairs and their notes, from estimates with a covariance."""
    better = spec.better or "higher"
    every, shown = adjust_pairs(
        lambda adjust, reference: contrast_estimates(found, adjust, spec.confidence, reference),
        spec.adjust,
        spec.reference,
    )
    best, worst = rank_intervals(every, better)
    variance, df = found.measure(np.eye(len(found.systems)))
    se = np.sqrt(variance)
    reach = two_sided_quantile(spec.confidence, df) * se
    rows = [
        SystemEstimate(
            system=name,
            estimate=float(found.estimate[at]),
            se=float(se[at]),
            low=float(found.estimate[at] - reach[at]),
            high=float(found.estimate[at] + reach[at]),
            rank_low=int(best[at]),
            rank_high=int(worst[at]),
            n=int(n[at]),
            mean=float(mean[at]),
        )
        for at, name in enumerate(found.systems)
    ]
    sign = -1 if better == "higher" else 1
    return {
        "adjust": shown.adjust,
        "confidence": spec.confidence,
        "systems": tuple(sorted(rows, key=lambda one: (sign * one.estimate, one.system))),
        "pairs": list_pairs(shown, effect(shown.estimate)),
        "reference": spec.reference,
        "better": better,
        "notes": shown.notes,
    }


def contrast_estimates(
    found: Estimates, adjust: str, confidence: float, reference: str | None
) -> PairContrasts:
    """Return the difference of every pair of systems, or of every other system and ``reference``."""
    method, systems = find_adjustment(adjust), found.systems
    chosen = list(combinations(range(len(systems)), 2))
    if reference is not None:
        if reference not in systems:
            raise UnknownName(f"No system is called {reference!r}. {did_you_mean(reference, systems)}")
        other = systems.index(reference)
        chosen = [(at, other) for at in range(len(systems)) if at != other]
    first, second = np.array(chosen).T
    every = np.eye(len(systems))
    rows = every[first] - every[second]
    variance, df = found.measure(rows)
    estimate, se = rows @ found.estimate, np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(se > 0, estimate / se, np.nan)
    family = HypothesisFamily(statistic, df, len(systems), find_directions(rows, found.covariance))
    reach = method.critical(confidence, family) * se
    return PairContrasts(
        term="system",
        levels=systems,
        a=tuple(systems[at] for at in first),
        b=tuple(systems[at] for at in second),
        estimate=estimate,
        se=se,
        df=df,
        statistic=statistic,
        p=family.p,
        p_adjusted=method.adjust(family),
        low=estimate - reach,
        high=estimate + reach,
        adjust=method.name,
        confidence=confidence,
        notes=(method.note,) if method.note and len(chosen) > 1 else (),
    )
