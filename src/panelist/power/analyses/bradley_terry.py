"""Bradley-Terry strengths of systems that were compared side by side, with raters as clusters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import BadDesign
from panelist.power.analyses.base import Analysis, Choices, PairTests, Run, analysis, make_tests
from panelist.power.layouts import Layout

Floats = NDArray[np.float64]

_STEPS = 30
_FARTHEST = 12.0  # a log-odds beyond it means that one system always won


@analysis("bradley_terry")
class BradleyTerry(Analysis):
    """Pairs, choices, best-worst and rankings: every comparison told is a win of one system over another.

    Maximum likelihood; the covariance is the sandwich of raters (Liang & Zeger 1986,
    doi:10.1093/biomet/73.1.13), times R / (R - 1), and tests use t on R - 1 degrees of freedom.

    Bradley, R. A. & Terry, M. E. (1952). Biometrika 39. doi:10.1093/biomet/39.3-4.324
    """

    title = "Bradley-Terry, raters as clusters"
    ignores = ("items",)
    reads = ("choices",)

    def prepare(self, layout: Layout, choices: Choices) -> Run:
        """Return the function that tests every pair."""
        pages = _read_pages(layout)
        first, second = np.array(layout.pairs).T
        R = layout.n_raters

        def run(responses: Any) -> PairTests:
            wins = _count_wins(layout, pages, np.asarray(responses, dtype=float))
            theta, bread, ended = _solve(wins.sum(axis=1))
            meat = _find_meat(wins, theta)
            covariance = R / max(R - 1, 1) * bread @ meat @ bread
            variance = covariance[:, first, first] + covariance[:, second, second]
            variance = variance - 2 * covariance[:, first, second]
            ended &= np.abs(theta).max(axis=1) < _FARTHEST
            se = np.where(ended[:, None], np.sqrt(np.maximum(variance, 0.0)), np.nan)
            return make_tests(theta[:, second] - theta[:, first], se, np.array(float(max(R - 1, 1))))

        return run


def _read_pages(layout: Layout) -> NDArray[np.int64]:
    """Return the rows of each page, (n_pages, outputs shown)."""
    if layout.page is None:
        raise BadDesign(
            "Bradley-Terry needs outputs that stand side by side: a design of pairs or best-worst."
        )
    sizes = np.bincount(layout.page)
    if len(set(sizes.tolist())) != 1 or sizes[0] < 2:
        raise BadDesign("Bradley-Terry needs pages that all show the same number of outputs, two or more.")
    return np.argsort(layout.page, kind="stable").reshape(-1, int(sizes[0]))


def _count_wins(layout: Layout, pages: NDArray[np.int64], latent: Floats) -> Floats:
    """Return how often a system won over another, for each rater: (n_sets, n_raters, winner, loser)."""
    n_sets, R, S = len(latent), layout.n_raters, layout.n_systems
    shown = latent[:, pages]
    order = np.argsort(np.argsort(-shown, axis=2), axis=2)  # 0 is the best
    m = pages.shape[1]
    system, rater = layout.system[pages], layout.rater[pages[:, 0]]
    wins = np.zeros(n_sets * R * S * S)
    base = (np.arange(n_sets)[:, None] * R + rater) * S * S
    for i in range(m):
        for j in range(m):
            if i == j:
                continue
            won = order[:, :, i] < order[:, :, j]
            if layout.told == "best":
                won &= order[:, :, i] == 0
            elif layout.told == "best-worst":
                won &= (order[:, :, i] == 0) | (order[:, :, j] == m - 1)
            place = base + system[:, i] * S + system[:, j]
            wins += np.bincount(place[won], minlength=len(wins))
    return wins.reshape(n_sets, R, S, S)


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


def _find_meat(wins: Floats, theta: Floats) -> Floats:
    """Return the sum over raters of the outer products of their scores."""
    p = 1.0 / (1.0 + np.exp(-(theta[:, None, :, None] - theta[:, None, None, :])))
    games = wins + wins.transpose(0, 1, 3, 2)
    scores = (wins - games * p).sum(axis=3)
    meat: Floats = scores.transpose(0, 2, 1) @ scores
    return meat
