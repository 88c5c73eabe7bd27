"""Bradley-Terry strengths from pairs, with ties as in Davidson (1970).

With strengths π = exp(θ), i is preferred to j with probability π_i / (π_i + π_j + ν √(π_i π_j)), and they
tie with ν √(π_i π_j) / (…). Davidson's ties keep Luce's odds π_i : π_j among decided pairs, and a tie counts
for theta as half a win on each side, so that the order of theta is that of wins plus half ties in a balanced
design. Rao & Kupper's (1967) threshold has neither property. Without ties ν = 0 and this is the model of
Bradley & Terry.

Bradley, R. A. & Terry, M. E. (1952). Biometrika 39. doi:10.1093/biomet/39.3-4.324
Davidson, R. R. (1970). Journal of the American Statistical Association 65. doi:10.1080/01621459.1970.10481082
"""

from __future__ import annotations

import numpy as np

from panelist.analysis.choices.models.choice_model import Cluster, Stages, Strengths
from panelist.analysis.choices.models.estimate import estimate_strengths
from panelist.analysis.choices.trials import UNDECIDED, ChoiceTrials
from panelist.numerics.arrays import Longs

NAME = "bradley-terry"


def fit_bradley_terry(trials: ChoiceTrials, cluster: Cluster = "both") -> Strengths:
    """Return the strengths of the systems from every comparison of two that the answers imply.

    Trials of more than two outputs are split into pairs (see ``Trials.list_wins``), which are then not
    independent of each other: clustering allows for it. "None" and "all" in a pair count as a tie.
    """
    trial, winner, loser = trials.list_wins()
    differ = trials.system[winner] != trials.system[loser]
    pairs = np.stack([trials.system[winner], trials.system[loser]], axis=1)[differ]
    tied_trials, tied = _list_ties(trials)
    k = len(trials.systems)
    stages = _make_stages(np.concatenate([trial[differ], tied_trials]), pairs, np.sort(tied, axis=1), k)
    return estimate_strengths(NAME, trials, stages, cluster, ties=bool(len(tied)))


def _list_ties(trials: ChoiceTrials) -> tuple[Longs, Longs]:
    """Return the trials of two that were answered and not decided, and their systems, (n, 2)."""
    for which, options in trials.by_size():
        if options.shape[1] == 2:
            tied = trials.ended(*UNDECIDED)[which]
            systems = trials.system[options[tied]]
            differ = systems[:, 0] != systems[:, 1]
            return which[tied][differ], systems[differ]
    return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)


def _make_stages(trial: Longs, pairs: Longs, tied: Longs, k: int) -> Stages:
    """Return one stage for each pair of systems and answer; with ties it has three alternatives.

    These are the first, the second, and the tie: the mean of both plus log ν.
    """
    from scipy.sparse import csr_array

    code = np.concatenate([pairs[:, 0] * k + pairs[:, 1], k * k + tied[:, 0] * k + tied[:, 1]])
    kinds, source = np.unique(code, return_inverse=True)
    tie, (first, second) = kinds >= k * k, np.divmod(kinds % (k * k), k)
    n, m = len(kinds), 3 if len(tied) else 2
    row = m * np.arange(n)
    rows, columns, values = [row, row + 1], [first, second], np.ones(2 * n)
    if m == 3:
        rows += [row + 2] * 3
        columns += [first, second, np.full(n, k)]
        values = np.concatenate([values, np.full(2 * n, 0.5), np.ones(n)])
    X = csr_array((values, (np.concatenate(rows), np.concatenate(columns))), shape=(m * n, k + (m == 3)))
    chosen = np.zeros(m * n, dtype=np.bool_)
    chosen[row + np.where(tie, 2, 0)] = True
    return Stages(X, np.repeat(np.arange(n), m), chosen, trial, k, source.astype(np.int64))
