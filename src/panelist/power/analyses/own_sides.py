"""Ordinal mixed models in which systems have a spread, or thresholds, of their own, set by set.

Each set is fitted by the random part that ``compare`` gives it, and then again with the effects beside the
location: tests are those of ``compare --allow`` where it takes that model.
"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from panelist.analysis.checks.remedies import find_remedy
from panelist.analysis.compare import choose_model, compare_by_model
from panelist.analysis.fitting.allowed import compare_in_points
from panelist.analysis.missing import Missing
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.errors import BadModel, PanelistError
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.power.analyses.base import PowerAnalysis, SimulatedPairTests, Tester, analysis
from panelist.power.layouts.base import Layout


class OwnSide(PowerAnalysis):
    """A model with effects of the systems beside the location, fitted set by set."""

    reads = ("points",)
    side: ClassVar[str]

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        exact = replace(spec, model="clmm", adjust="none")

        def run(responses: Any) -> SimulatedPairTests:
            rows = [self._test(layout, exact, codes) for codes in responses]
            estimate, se, statistic, df, p = (np.array(column) for column in zip(*rows, strict=True))
            failed = np.isnan(p).all(axis=1)
            return SimulatedPairTests(
                estimate, se, statistic, df, p, failed, np.zeros(len(p), dtype=np.bool_)
            )

        return run

    def _test(self, layout: Layout, spec: AnalysisSpec, codes: Any) -> tuple[list[float], ...]:
        """Return estimates, standard errors, statistics, degrees of freedom and p of all pairs."""
        nothing = [float("nan")] * len(layout.pairs)
        try:
            found = compare_by_side(read_ratings(layout.make_frame(codes + 1.0)), self.side, spec)
        except PanelistError:
            return (nothing,) * 5
        pairs = found.pairs  # a − b, where power takes the second minus the first
        return (
            [-one.difference for one in pairs],
            [one.se for one in pairs],
            [-one.statistic for one in pairs],
            [one.df for one in pairs],
            [one.p for one in pairs],
        )


def compare_by_side(table: Ratings, side: str, spec: AnalysisSpec) -> CriterionComparison:
    """Return the systems compared by an ordinal model with their effects on this side, whatever tests say.

    ``side`` is "scale" or "nominal"; the random part is that of the model without.
    """
    model, part, why = choose_model(table.frame, spec)
    main = compare_by_model(model, part, table, "rating", spec, why)
    if side == "scale":
        exact = replace(spec, formula=main.formula)
        return compare_by_model(model, None, table, "rating", exact, [], "~ system")
    remedy = find_remedy(table, main.fit, "rating", "system", spec.confidence, (side,))
    if isinstance(remedy.nominal, Missing):
        raise BadModel(remedy.nominal.reason)
    return compare_in_points(main, remedy, spec)


@analysis("clmm_scale")
class ClmmScale(OwnSide):
    """Ordered categories with random effects and a residual spread for each system: t tests of location."""

    title = "ordinal mixed model, spread by system"
    side = "scale"


@analysis("clmm_nominal")
class ClmmNominal(OwnSide):
    """Ordered categories with random effects and thresholds for each system: t tests of expected ratings."""

    title = "ordinal mixed model, thresholds by system"
    side = "nominal"
    units = ("points",)
