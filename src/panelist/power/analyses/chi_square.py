"""The chi-square test on "top box": how often each system got the highest point."""

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


@analysis("chi_square")
class ChiSquare(PowerAnalysis):
    """Pearson's chi-square of two shares of the highest point that was given, without continuity correction.

    Pearson, K. (1900). Philosophical Magazine 50. doi:10.1080/14786440009463897
    """

    title = 'chi-square test on "top box"'
    ignores = ("raters", "items")
    reads = ("points",)

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        first, second = np.array(layout.pairs).T

        def run(responses: Any) -> SimulatedPairTests:
            from scipy.special import ndtr

            counts, _ = count_responses(layout, responses)
            highest = np.asarray(responses).max(axis=1)
            top = counts[np.arange(len(counts)), :, highest]
            n = counts.sum(axis=2)
            pa, pb = top[:, first] / n[:, first], top[:, second] / n[:, second]
            pooled = (top[:, first] + top[:, second]) / (n[:, first] + n[:, second])
            variance = pooled * (1 - pooled) * (1 / n[:, first] + 1 / n[:, second])
            z = np.divide(
                np.abs(pb - pa), np.sqrt(variance), out=np.full(pa.shape, np.nan), where=variance > 0
            )
            return make_p_tests(pb - pa, 2 * ndtr(-z))

        return run
