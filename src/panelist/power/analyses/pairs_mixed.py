"""The mixed model of pairs in simulated studies: with two answers, or with grades."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.analysis.choices.models.mixed_part import MixedCovariance
from panelist.analysis.choices.trials import BEST, WORST
from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadDesign, BadModel
from panelist.models.choices.pairs import (
    GradedPairs,
    PairGroup,
    build_pairs,
    check_spreads,
    find_pair_analogue,
    scale_grades,
    solve_pairs,
)
from panelist.numerics.arrays import Floats
from panelist.power.analyses.base import PowerAnalysis, SimulatedPairTests, Tester, analysis
from panelist.power.analyses.one_sided_sets import OneSet, make_with, never_lost, test_set
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
        lost = np.full(len(L), np.nan)

        def run(responses: Any) -> SimulatedPairTests:
            latent = np.asarray(responses, dtype=float)
            found, sets = [], []
            for one in latent:
                place = np.searchsorted(cuts, one[pages[:, 0]] - one[pages[:, 1]])
                answer, points = scale_grades(2 * place - len(cuts))
                pairs = GradedPairs(systems, shown[:, 0], shown[:, 1], answer, points, groups)
                other = _test_apart(layout, pages, pairs)
                tested = None if other is not None else self._test(pairs, L)
                if tested is None and other is None:
                    other = test_set(layout, pages, _place(pairs))
                found.append(tested or (lost, lost, lost))
                sets.append(other)
            return make_with(sets, *(np.array([one[part] for one in found]) for part in range(3)))

        return run

    def _test(self, pairs: GradedPairs, L: Floats) -> tuple[Floats, Floats, Floats] | None:
        """Return estimates, standard errors and degrees of freedom of one data set; None where none."""
        design = build_pairs(pairs)
        solution, _ = solve_pairs(design)
        if not (solution.optimum.converged and np.isfinite(solution.vcov).all()):
            return None
        try:
            check_spreads(design, solution)
        except BadModel:
            return None
        k = len(pairs.systems)
        T = np.vstack([np.zeros(k - 1), np.eye(k - 1)])
        analogue = find_pair_analogue(design) if design.factors else None
        fewest = min((len(factor.levels) for factor in design.factors), default=len(pairs.answer)) - 1.0
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


def _place(pairs: GradedPairs) -> Floats:
    """Return the places of both outputs, nan in a tie."""
    lead = pairs.answer - (pairs.points - 1) / 2
    first = np.where(lead > 0, BEST, WORST)
    return np.where((lead == 0)[:, None], np.nan, np.stack([first, BEST + WORST - first], axis=1))


def _test_apart(layout: Layout, pages: NDArray[np.int64], pairs: GradedPairs) -> OneSet | None:
    """Return the tests of a set in which some system never lost; None where that is not so."""
    k, place = len(pairs.systems), _place(pairs)
    wins = np.zeros((1, k, k))
    np.add.at(wins[0], (pairs.first, pairs.second), place[:, 0] < place[:, 1])
    np.add.at(wins[0], (pairs.second, pairs.first), place[:, 1] < place[:, 0])
    return test_set(layout, pages, place) if never_lost(wins)[0] else None


def _read_pairs(layout: Layout) -> NDArray[np.int64]:
    """Return the two rows of each page, (n_pages, 2)."""
    if layout.page is None or set(np.bincount(layout.page).tolist()) != {2}:
        raise BadDesign("The mixed model of pairs needs a design that shows two outputs on each page.")
    return np.argsort(layout.page, kind="stable").reshape(-1, 2)
