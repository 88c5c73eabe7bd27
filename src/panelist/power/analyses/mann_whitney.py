"""The Mann-Whitney test of all ratings of one system against all of another."""

from typing import Any

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.power.analyses.base import (
    PowerAnalysis,
    SimulatedPairTests,
    Tester,
    analysis,
    count_responses,
    make_p_tests,
)
from panelist.power.layouts.base import Layout


@analysis("mann_whitney")
class MannWhitney(PowerAnalysis):
    """The rank-sum test by its normal approximation, corrected for ties and for continuity.

    Mann, H. B. & Whitney, D. R. (1947). Annals of Mathematical Statistics 18. doi:10.1214/aoms/1177730491
    """

    title = "Mann-Whitney test of all ratings"
    ignores = ("raters", "items")

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        first, second = np.array(layout.pairs).T

        def run(responses: Any) -> SimulatedPairTests:
            from scipy.special import ndtr

            counts, _ = count_responses(layout, responses)
            a, b = counts[:, first], counts[:, second]
            na, nb = a.sum(axis=2), b.sum(axis=2)
            below = np.cumsum(a, axis=2) - a
            U = (b * (below + a / 2)).sum(axis=2)  # pairs of ratings in which the second wins, ties half
            n = na + nb
            ties = ((a + b) ** 3 - (a + b)).sum(axis=2)
            variance = na * nb / 12 * (n + 1 - ties / np.maximum(n * (n - 1), 1))
            away = U - na * nb / 2
            z = np.divide(
                np.maximum(np.abs(away) - 0.5, 0.0),
                np.sqrt(variance),
                out=np.full(away.shape, np.nan),
                where=variance > 0,
            )
            return make_p_tests(U / (na * nb) - 0.5, np.minimum(2 * ndtr(-z), 1.0))

        return run
