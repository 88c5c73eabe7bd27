"""The t-test of all ratings of one system against all of another."""

from typing import Any

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.power.analyses.base import PowerAnalysis, SimulatedPairTests, Tester, analysis, make_tests
from panelist.power.layouts.base import Layout


@analysis("t_test")
class TTest(PowerAnalysis):
    """Welch's t-test, every rating taken as independent.

    Welch, B. L. (1947). Biometrika 34. doi:10.1093/biomet/34.1-2.28
    """

    title = "t-test of all ratings"
    ignores = ("raters", "items")
    units = ("points",)

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        first, second = np.array(layout.pairs).T
        member = np.zeros((layout.n_rows, layout.n_systems))
        member[np.arange(layout.n_rows), layout.system] = 1.0
        n = member.sum(axis=0)

        def run(responses: Any) -> SimulatedPairTests:
            values = np.asarray(responses, dtype=float)
            mean = values @ member / n
            squares = (values - mean[:, layout.system]) ** 2
            error = (squares @ member) / np.maximum(n - 1, 1) / n  # of each mean
            va, vb = error[:, first], error[:, second]
            se = np.sqrt(va + vb)
            spread = va**2 / np.maximum(n[first] - 1, 1) + vb**2 / np.maximum(n[second] - 1, 1)
            df = np.divide((va + vb) ** 2, spread, out=np.ones(se.shape), where=spread > 0)
            return make_tests(mean[:, second] - mean[:, first], se, df)

        return run
