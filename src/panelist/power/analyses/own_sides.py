"""Ordinal mixed models beyond one shift on one latent scale, set by set.

Systems have a spread, or thresholds, of their own, or raters a random spread: each set is fitted by the
random part that ``compare`` gives it, and then again with these effects beside the location, so that tests
are those of ``compare --allow`` where it takes that model. Or the family is another, as in ``compare
--family``.
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
from panelist.core.notes import has_note
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.family_words import FAMILIES
from panelist.power.analyses.base import PowerAnalysis, SimulatedPairTests, Tester, analysis
from panelist.power.layouts.base import Layout

SPREADS = {"scale": "~ system", "rater_scale": "~ (1 | rater)"}


class OwnSide(PowerAnalysis):
    """A model with effects beside the location, or of another family, fitted set by set."""

    reads = ("points",)
    side: ClassVar[str]

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        exact = replace(spec, model="clmm", adjust="none", family="cumulative")

        def run(responses: Any) -> SimulatedPairTests:
            rows = [self._test(layout, exact, codes) for codes in responses]
            columns = zip(*(tests for tests, _, _ in rows), strict=True)
            estimate, se, statistic, df, p = (np.array(column) for column in columns)
            singular, smaller = (np.array([one[k] for one in rows], dtype=np.bool_) for k in (1, 2))
            failed = np.isnan(p).all(axis=1)
            return SimulatedPairTests(estimate, se, statistic, df, p, failed, singular, smaller)

        return run

    def _test(
        self, layout: Layout, spec: AnalysisSpec, codes: Any
    ) -> tuple[tuple[list[float], ...], bool, bool]:
        """Return estimates, standard errors, statistics, degrees of freedom and p of all pairs.

        Then whether the fit is singular, and whether its random part is smaller than the largest.
        """
        nothing = [float("nan")] * len(layout.pairs)
        try:
            found = compare_by_side(read_ratings(layout.make_frame(codes + 1.0)), self.side, spec)
        except PanelistError:
            return (nothing,) * 5, False, False
        pairs = found.pairs  # a − b, where power takes the second minus the first
        tests = (
            [-one.difference for one in pairs],
            [one.se for one in pairs],
            [-one.statistic for one in pairs],
            [one.df for one in pairs],
            [one.p for one in pairs],
        )
        return tests, bool(found.fit.singular), has_note(found.notes, "reduced")


def compare_by_side(table: Ratings, side: str, spec: AnalysisSpec) -> CriterionComparison:
    """Return the systems compared by an ordinal model with effects on this side, whatever tests say.

    ``side`` is a key of SPREADS or "nominal", with the random part of the model without; or a family.
    """
    model, part, why = choose_model(table.frame, spec)
    if side in FAMILIES:
        spec = replace(spec, family=side, link="logit" if side == "adjacent" else spec.link)
        return compare_by_model(model, part, table, "rating", spec, why)
    main = compare_by_model(model, part, table, "rating", spec, why)
    if side in SPREADS:
        exact = replace(spec, formula=main.formula)
        stepped = [note for note in main.notes if has_note([note], "reduced")]
        return compare_by_model(model, None, table, "rating", exact, stepped, SPREADS[side])
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


@analysis("clmm_rater_scale")
class ClmmRaterScale(OwnSide):
    """Ordered categories with random effects and a random spread of each rater: t tests of location."""

    title = "ordinal mixed model, random spread by rater"
    side = "rater_scale"


@analysis("clmm_sequential")
class ClmmSequential(OwnSide):
    """Steps from the lowest category up, with random effects: t tests of expected ratings."""

    title = "sequential mixed model"
    side = "sequential"
    units = ("points",)


@analysis("clmm_adjacent")
class ClmmAdjacent(OwnSide):
    """Each category against the next (logit), with random effects: t tests of expected ratings."""

    title = "adjacent-category mixed model"
    side = "adjacent"
    units = ("points",)
