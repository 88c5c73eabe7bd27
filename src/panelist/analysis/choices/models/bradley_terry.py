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

from panelist.analysis.choices.models.choice_model import Cluster, Stages, Strengths, stack_stages
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
    if not len(tied):
        stages = stack_stages(
            [(trial[differ], pairs, np.zeros(len(pairs), dtype=np.int64), 1.0)], len(trials.systems)
        )
    else:
        stages = _stages_with_ties(trial[differ], pairs, tied_trials, tied, len(trials.systems))
    return estimate_strengths(NAME, trials, stages, cluster, ties=bool(len(tied)))


def _list_ties(trials: ChoiceTrials) -> tuple[Longs, Longs]:
    """Return the trials of two that were answered and not decided, and their systems, (n, 2)."""
    for which, options in trials.by_size():
        if options.shape[1] == 2:
            tied = np.isin(trials.outcome[which].astype(str), UNDECIDED)
            systems = trials.system[options[tied]]
            differ = systems[:, 0] != systems[:, 1]
            return which[tied][differ], systems[differ]
    return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)


def _stages_with_ties(trial: Longs, pairs: Longs, tied_trial: Longs, tied: Longs, k: int) -> Stages:
    """Return stages of three alternatives: first, second, and tie (the mean of both plus log ν)."""
    from scipy.sparse import csr_array

    shown = np.concatenate([pairs, tied])
    n = len(shown)
    first, second, tie = (3 * np.arange(n) + side for side in range(3))
    rows = np.concatenate([first, second, tie, tie, tie])
    columns = np.concatenate([shown[:, 0], shown[:, 1], shown[:, 0], shown[:, 1], np.full(n, k)])
    values = np.concatenate([np.ones(2 * n), np.full(2 * n, 0.5), np.ones(n)])
    X = csr_array((values, (rows, columns)), shape=(3 * n, k + 1))
    chosen = np.zeros(3 * n, dtype=np.bool_)
    chosen[first[: len(pairs)]] = True
    chosen[tie[len(pairs) :]] = True
    return Stages(X, np.repeat(np.arange(n), 3), chosen, np.concatenate([trial, tied_trial]), k)
