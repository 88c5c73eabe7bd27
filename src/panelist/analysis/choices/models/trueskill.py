"""TrueSkill scores of systems, for those who must compare with shared tasks that report them.

Herbrich, Minka & Graepel (2006), TrueSkill: a Bayesian skill rating system, NIPS 19: each system has a skill
N(μ, σ²) that is updated game by game; here skills do not drift (τ = 0), as systems do not change. The result
depends on the order of the games, so it is averaged over shuffled orders, and the spread over orders is
given as well. As all the data are available at once, Bradley-Terry uses them better: it needs no order and
has standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, exp, pi, sqrt

import numpy as np

from panelist.analysis.choices.trials import ChoiceTrials
from panelist.analysis.choices.wins import count_wins
from panelist.core.seeds import stream

MU, SIGMA = 25.0, 25.0 / 3
BETA = SIGMA / 2
MOST_GAMES = 200_000  # this many updates take about a second


@dataclass(frozen=True)
class Skill:
    """One system: mean skill, its uncertainty, and how far the mean moves with the order of the games."""

    system: str
    mu: float
    sigma: float
    order_sd: float


def rate_trueskill(trials: ChoiceTrials, orders: int = 20, seed: int = 0) -> tuple[Skill, ...]:
    """Return the skills from the highest down, the mean over shuffled ``orders`` of all comparisons.

    Trials of more than two outputs are split into pairs. Very large tables get fewer orders.
    """
    _, winner, loser = trials.list_wins()
    games = np.stack(
        [trials.system[winner], trials.system[loser], np.zeros(len(winner), dtype=np.int64)], axis=1
    )
    ties = np.triu(count_wins(trials).ties)
    tied = [(i, j, 1) for i, j in np.argwhere(ties) for _ in range(ties[i, j])]
    games = np.concatenate([games, np.array(tied, dtype=np.int64).reshape(-1, 3)])
    games = games[games[:, 0] != games[:, 1]]
    margin = _draw_margin(len(tied) / max(len(games), 1))
    rounds = int(np.clip(MOST_GAMES // max(len(games), 1), 1, orders))
    rng = stream(seed, "trueskill")
    mu, variance = np.empty((rounds, len(trials.systems))), np.empty((rounds, len(trials.systems)))
    for at in range(rounds):
        mu[at], variance[at] = play(rng.permutation(games).tolist(), len(trials.systems), margin)
    apart = mu - mu.mean(axis=1, keepdims=True)  # all skills together may drift: only differences count
    spread = apart.std(axis=0, ddof=1) if rounds > 1 else np.full(len(trials.systems), np.nan)
    rows = [
        Skill(name, float(mu[:, k].mean()), float(np.sqrt(variance[:, k].mean())), float(spread[k]))
        for k, name in enumerate(trials.systems)
    ]
    return tuple(sorted(rows, key=lambda one: (-one.mu, one.system)))


def play(games: list[list[int]], n: int, margin: float = 0.0) -> tuple[list[float], list[float]]:
    """Return means and variances of ``n`` skills after these games: (winner, loser, 1 for a draw)."""
    mu, variance = [MU] * n, [SIGMA**2] * n
    for i, j, draw in games:
        c = sqrt(2 * BETA**2 + variance[i] + variance[j])
        t, edge = (mu[i] - mu[j]) / c, margin / c
        v, w = _draw(t, edge) if draw else _win(t - edge)
        mu[i] += variance[i] / c * v
        mu[j] -= variance[j] / c * v
        variance[i] *= max(1 - variance[i] / c**2 * w, 1e-9)
        variance[j] *= max(1 - variance[j] / c**2 * w, 1e-9)
    return mu, variance


def _win(x: float) -> tuple[float, float]:
    """Return the shift and shrinkage of a win: the mean and variance of a normal cut off at −x."""
    below = 0.5 * erfc(-x / sqrt(2))
    if below < 1e-300:  # so far from expected that the limit is exact
        return -x, 1.0
    v = _density(x) / below
    return v, v * (v + x)


def _draw(t: float, edge: float) -> tuple[float, float]:
    low, high = -edge - t, edge - t
    inside = 0.5 * (erfc(-high / sqrt(2)) - erfc(-low / sqrt(2)))
    if inside < 1e-300:
        return (low if t < 0 else high), 1.0
    v = (_density(low) - _density(high)) / inside
    return v, v * v + (high * _density(high) - low * _density(low)) / inside


def _density(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)


def _draw_margin(share: float) -> float:
    """Return the margin within which this share of games of equals is drawn."""
    from scipy.special import ndtri

    return float(ndtri((min(share, 0.999) + 1) / 2) * sqrt(2) * BETA)
