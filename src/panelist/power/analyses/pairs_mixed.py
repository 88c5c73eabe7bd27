"""The mixed model of pairs in simulated studies: with two answers, or with grades."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.analysis.choices.models.mixed_part import MixedCovariance
from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadDesign
from panelist.models.choices.pairs import (
    GradedPairs,
    PairGroup,
    build_pairs,
    find_pair_analogue,
    scale_grades,
    solve_pairs,
)
from panelist.numerics.arrays import Floats, Longs
from panelist.power.analyses.base import PowerAnalysis, SimulatedPairTests, Tester, analysis, make_tests
from panelist.power.layouts.base import Layout
from panelist.scales.pairs import cut_leads

USUAL_POINTS = 5


@analysis("pairs_mixed")
class PairsMixed(PowerAnalysis):
    """Pairs by the mixed model that ``compare`` leads with: random preferences of raters and items, t tests.

    The answer is the output whose latent judgement is higher.
    """

    title = "mixed Bradley-Terry, random preferences of raters and items"
    reads = ("choices",)

    def count_points(self, layout: Layout) -> int:
        """Return how many answers there are."""
        return 2

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        pages = _read_pairs(layout)
        systems = tuple(layout.systems)
        shown = np.asarray(layout.system, dtype=np.int64)[pages]
        groups = tuple(
            PairGroup(name, tuple(map(str, range(count))), np.asarray(level, dtype=np.int64)[pages[:, 0]])
            for name, level, count in (
                ("rater", layout.rater, layout.n_raters),
                ("item", layout.item, layout.n_items),
            )
            if 2 < count < 0.8 * len(pages)
        )
        first, second = np.array(layout.pairs).T
        L = np.eye(len(systems))[second] - np.eye(len(systems))[first]
        cuts = cut_leads(self.count_points(layout))

        def run(responses: Any) -> SimulatedPairTests:
            latent = np.asarray(responses, dtype=float)
            found = [self._test(one[pages], systems, shown, groups, L, cuts) for one in latent]
            return make_tests(*(np.array([one[part] for one in found]) for part in range(3)))

        return run

    def _test(
        self,
        latent: Floats,
        systems: tuple[str, ...],
        shown: Longs,
        groups: tuple[PairGroup, ...],
        L: Floats,
        cuts: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        """Return estimates, standard errors and degrees of freedom of one data set; nan where none."""
        lost = np.full(len(L), np.nan)
        place = np.searchsorted(cuts, latent[:, 0] - latent[:, 1])
        answer, points = scale_grades(2 * place - len(cuts))
        design = build_pairs(GradedPairs(systems, shown[:, 0], shown[:, 1], answer, points, groups))
        solution, _ = solve_pairs(design)
        if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
            return lost, lost, lost
        k = len(systems)
        T = np.vstack([np.zeros(k - 1), np.eye(k - 1)])
        analogue = find_pair_analogue(design) if design.factors else None
        fewest = min((len(factor.levels) for factor in design.factors), default=len(answer)) - 1.0
        variance, df = MixedCovariance(T, solution.vcov, fewest, analogue).measure(L)
        return L @ T @ solution.beta, np.sqrt(variance), df


@analysis("pairs_graded")
class PairsGraded(PairsMixed):
    """The same with the grades of the study's scale, or five: a lead of .31 latent SDs is no tie any more,
    and each 1.24 more is another grade, as simulated raters answer.
    """

    title = "mixed model of grades, random preferences of raters and items"

    def count_points(self, layout: Layout) -> int:
        """Return those of the scale, five without one."""
        return layout.points if layout.points > 2 else USUAL_POINTS


def _read_pairs(layout: Layout) -> NDArray[np.int64]:
    """Return the two rows of each page, (n_pages, 2)."""
    if layout.page is None or set(np.bincount(layout.page).tolist()) != {2}:
        raise BadDesign("The mixed model of pairs needs a design that shows two outputs on each page.")
    return np.argsort(layout.page, kind="stable").reshape(-1, 2)
