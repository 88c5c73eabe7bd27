"""The sign test: on how many items one system has the higher mean."""

from typing import Any

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.power.analyses.base import (
    PowerAnalysis,
    SimulatedPairTests,
    Tester,
    analysis,
    average_items,
    make_p_tests,
)
from panelist.power.layouts.base import Layout


@analysis("sign_test")
class SignTest(PowerAnalysis):
    """The exact binomial test of item means that are higher against those that are lower; ties do not count.

    Dixon, W. J. & Mood, A. M. (1946). The statistical sign test. JASA 41. doi:10.1080/01621459.1946.10501898
    """

    title = "sign test of item means"
    ignores = ("raters",)

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        first, second = np.array(layout.pairs).T

        def run(responses: Any) -> SimulatedPairTests:
            from scipy.special import bdtr

            means = average_items(layout, responses)
            with np.errstate(invalid="ignore"):
                gap = means[:, :, second] - means[:, :, first]
                # Means of whole numbers that are equal may differ in the last bit.
                more, less = (gap > 1e-9).sum(axis=1), (gap < -1e-9).sum(axis=1)
            n = more + less
            p = np.minimum(2 * bdtr(np.minimum(more, less), np.maximum(n, 1), 0.5), 1.0)
            share = np.divide(more, n, out=np.full(n.shape, 0.5), where=n > 0)
            return make_p_tests(share - 0.5, np.where(n > 0, p, np.nan))

        return run
