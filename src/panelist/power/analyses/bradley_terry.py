"""Bradley-Terry strengths of systems that were compared side by side, with raters and items as clusters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.analysis.choices.models.clusters import FEWEST, combine_ways, moderate, relabel
from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadDesign
from panelist.numerics.arrays import Floats
from panelist.power.analyses.base import PowerAnalysis, SimulatedPairTests, Tester, analysis
from panelist.power.analyses.one_sided_sets import make_with, never_lost, place_outputs, test_set
from panelist.power.layouts.base import Layout

_STEPS = 30
_FARTHEST = 12.0  # a log-odds beyond it means that one system always won


@analysis("bradley_terry")
class BradleyTerry(PowerAnalysis):
    """Pairs, choices, best-worst and rankings: every comparison in an answer is a win of one system over
    another.

    Maximum likelihood; raters and items are clusters, as in the comparison of choices (see
    analysis/choices/models/clusters.py), and with fewer than three of a side the other side alone.

    Bradley, R. A. & Terry, M. E. (1952). Biometrika 39. doi:10.1093/biomet/39.3-4.324
    """

    title = "Bradley-Terry, raters and items as clusters"
    reads = ("choices",)

    def prepare(self, layout: Layout, spec: AnalysisSpec) -> Tester:
        """Return the function that tests every pair."""
        pages = _read_pages(layout)
        first, second = np.array(layout.pairs).T
        rows = np.eye(layout.n_systems)[second] - np.eye(layout.n_systems)[first]
        sides = _read_sides(layout, pages)

        def run(responses: Any) -> SimulatedPairTests:
            latent = np.asarray(responses, dtype=float)
            wins = _count_wins(layout, pages, latent)
            theta, bread, ended = _solve(wins.sum(axis=1))
            alone = never_lost(wins.sum(axis=1))
            sets = [
                test_set(layout, pages, place_outputs(layout, pages, one)) if apart else None
                for one, apart in zip(latent, alone.tolist(), strict=True)
            ]
            ended &= np.abs(theta).max(axis=1) < _FARTHEST
            variance, df = _find_spread(_score_pages(wins, theta), bread, sides, rows)
            se = np.where(ended[:, None], np.sqrt(np.maximum(variance, 0.0)), np.nan)
            return make_with(sets, theta @ rows.T, se, df)

        return run


def _read_sides(layout: Layout, pages: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the clusters of the pages by rater, by item and by both, or by the one side that can be used."""
    rater, item = (
        relabel(np.asarray(side[pages[:, 0]], dtype=np.int64)) for side in (layout.rater, layout.item)
    )
    kept = [side for side in (rater, item) if side.max() + 1 >= FEWEST]
    if len(kept) == 2:
        return [rater, item, relabel(rater * (int(item.max()) + 1) + item)]
    return kept or [np.arange(len(pages), dtype=np.int64)]


def _find_spread(
    scores: Floats, bread: Floats, sides: list[NDArray[np.int64]], rows: Floats
) -> tuple[Floats, Floats]:
    """Return variance and degrees of freedom of the pairs in every data set."""
    ways = []
    for code in sides:
        n = int(code.max()) + 1
        order = np.argsort(code, kind="stable")
        total = np.add.reduceat(scores[:, order], np.flatnonzero(np.diff(code[order], prepend=-1)), axis=1)
        moved = total @ bread
        ways.append((n / max(n - 1, 1) * moved.transpose(0, 2, 1) @ moved, n))
    if len(ways) == 1:
        return _vary(ways[0][0], rows), np.full((len(scores), len(rows)), float(max(ways[0][1] - 1, 1)))
    cells, n_cells = ways[2]
    both = [moderate(way, cells, bread, n) for way, n in ways[:2]]
    variances = [_vary(way.covariance, rows) for way in both]
    return combine_ways([*variances, _vary(cells, rows)], [*(way.df for way in both), n_cells - 1.0])


def _vary(covariance: Floats, rows: Floats) -> Floats:
    variance: Floats = ((rows @ covariance) * rows).sum(axis=2)
    return variance


def _read_pages(layout: Layout) -> NDArray[np.int64]:
    """Return the rows of each page, (n_pages, outputs shown)."""
    if layout.page is None:
        raise BadDesign(
            "Bradley-Terry needs outputs that are shown side by side: a design of pairs or best-worst."
        )
    sizes = np.bincount(layout.page)
    if len(set(sizes.tolist())) != 1 or sizes[0] < 2:
        raise BadDesign("Bradley-Terry needs pages that all show the same number of outputs, two or more.")
    return np.argsort(layout.page, kind="stable").reshape(-1, int(sizes[0]))


def _count_wins(layout: Layout, pages: NDArray[np.int64], latent: Floats) -> Floats:
    """Return which system won over which on each page: (n_sets, n_pages, winner, loser)."""
    n_sets, S, m = len(latent), layout.n_systems, pages.shape[1]
    order = np.argsort(np.argsort(-latent[:, pages], axis=2), axis=2)  # 0 is the best
    system = layout.system[pages]
    wins = np.zeros((n_sets, len(pages), S, S))
    every, page = np.arange(n_sets)[:, None], np.arange(len(pages))
    for i in range(m):
        for j in range(m):
            if i == j:
                continue
            won = order[:, :, i] < order[:, :, j]
            if layout.told == "best":
                won &= order[:, :, i] == 0
            elif layout.told == "best-worst":
                won &= (order[:, :, i] == 0) | (order[:, :, j] == m - 1)
            wins[every, page, system[:, i], system[:, j]] += won
    return wins


def _solve(wins: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return strengths that sum to 0, the inverse information, and where Newton's method ended well."""
    n_sets, S, _ = wins.shape
    games = wins + wins.transpose(0, 2, 1)
    theta = np.zeros((n_sets, S))
    pinned = np.full((S, S), 1.0 / S)  # makes the information regular, and keeps the sum at 0
    ended = np.zeros(n_sets, dtype=np.bool_)
    inverse = np.zeros((n_sets, S, S))
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-(theta[:, :, None] - theta[:, None, :])))
        gradient = (wins - games * p).sum(axis=2)
        weight = games * p * (1 - p)
        information = -weight
        information[:, np.arange(S), np.arange(S)] += weight.sum(axis=2)
        scale = np.maximum(weight.sum(axis=(1, 2)), 1e-9)[:, None, None]
        inverse = np.linalg.pinv(information + scale * pinned)
        step = np.einsum("nij,nj->ni", inverse, gradient)
        step = np.clip(step, -1.0, 1.0)
        theta = np.clip(theta + step, -2 * _FARTHEST, 2 * _FARTHEST)
        ended = np.abs(step).max(axis=1) < 1e-8
        if ended.all():
            break
    return theta, inverse - pinned / scale, ended


def _score_pages(wins: Floats, theta: Floats) -> Floats:
    """Return the score of every page, (n_sets, n_pages, systems)."""
    p = 1.0 / (1.0 + np.exp(-(theta[:, None, :, None] - theta[:, None, None, :])))
    games = wins + wins.transpose(0, 1, 3, 2)
    scores: Floats = (wins - games * p).sum(axis=3)
    return scores
