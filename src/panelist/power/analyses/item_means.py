"""The paired t-test of per-item means."""

from typing import Any

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.power.analyses.base import (
    PowerAnalysis,
    SimulatedPairTests,
    Tester,
    analysis,
    average_items,
    make_tests,
)
from panelist.power.layouts.base import Layout


@analysis("item_means")
class ItemMeans(PowerAnalysis):
    """Ratings of an output averaged first, then a paired t-test over the items that both systems answered."""

    title = "paired t-test of item means"
    ignores = ("raters",)
    units = ("points",)

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        first, second = np.array(layout.pairs).T

        def run(responses: Any) -> SimulatedPairTests:
            means = average_items(layout, responses)
            gap = means[:, :, second] - means[:, :, first]
            n = np.isfinite(gap).sum(axis=1)
            known = np.maximum(n, 1)
            mean = np.where(n > 0, np.nansum(gap, axis=1) / known, np.nan)
            squares = np.nansum((gap - mean[:, None, :]) ** 2, axis=1)
            se = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1) / known), np.nan)
            return make_tests(mean, se, np.maximum(n - 1, 1).astype(float))

        return run
