"""Best-worst scores on [-100, 100] for each system, item and criterion.

In a trial of m outputs an output scores (wins − losses) / (m − 1) over the comparisons that the answer
implies: +1 if it was named best, −1 if worst, 0 between; in a pair +1 or −1. A ranking gives even steps from
+1 to −1, a choice of one +1 to the chosen and −1 / (m − 1) to each other. Undecided trials give 0 and count
among the trials, as in van Miltenburg et al. (2023, How reproducible is best-worst scaling for human
evaluation?, HumEval). The score of a system on an item is the mean over the trials that showed it, times
100, and the score of a system is the mean over its items. For best-worst sets this is the counting score:
the share of times best less the share of times worst (Orme 2009, MaxDiff analysis: simple counting,
individual-level logit, and HB).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from panelist.analysis.choices.trials import ChoiceTrials
from panelist.models.inference.adjust import two_sided_quantile
from panelist.numerics.arrays import Floats, Longs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SystemScore:
    """The mean score of one system over its items, with a t interval of items (nan with fewer than two)."""

    system: str
    score: float
    low: float
    high: float
    n_items: int


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one criterion: ``systems``, and ``items`` with a row for each system and item.

    ``items`` has the columns system, item, score, wins, losses, comparisons, trials.
    """

    criterion: str
    systems: tuple[SystemScore, ...]
    items: pd.DataFrame = field(repr=False)

    def __getitem__(self, system: str) -> SystemScore:
        return {one.system: one for one in self.systems}[system]


def score_trials(trials: ChoiceTrials, confidence: float = 0.95) -> Scores:
    """Return the scores of every system and item; a table without items is taken as one item per trial."""
    import pandas as pd

    sizes = trials.sizes[trials.of_trial]
    _, winner, loser = trials.list_wins()
    wins, losses = (np.bincount(side, minlength=len(trials.system)) for side in (winner, loser))
    item = trials.item[trials.of_trial]
    if not trials.items:
        item = trials.of_trial
    system, place, inverse, trial_count = _list_cells(trials.system, item)
    kept = item >= 0
    sums = {
        name: np.bincount(inverse, weights=value[kept], minlength=len(place))
        for name, value in (
            ("part", (wins - losses) / np.maximum(sizes - 1, 1)),
            ("wins", wins),
            ("losses", losses),
            ("comparisons", sizes - 1),
        )
    }
    score = 100 * sums["part"] / trial_count
    names = np.array(trials.items, dtype=object)[place] if trials.items else place.astype(str)
    items = pd.DataFrame(
        {"system": np.array(trials.systems, dtype=object)[system], "item": names, "score": score}
        | {name: sums[name].astype(np.int64) for name in ("wins", "losses", "comparisons")}
        | {"trials": trial_count}
    )
    if not trials.items:
        items = items.sort_values(["system", "item"], kind="stable", ignore_index=True)
    starts = np.searchsorted(system, np.arange(len(trials.systems) + 1))
    found = [
        _summarise(name, score[starts[at] : starts[at + 1]], confidence)
        for at, name in enumerate(trials.systems)
        if starts[at] < starts[at + 1]
    ]
    return Scores(trials.criterion, tuple(found), items)


def _list_cells(system: Longs, item: Longs) -> tuple[Longs, Longs, Longs, Longs]:
    """Return system and item of every cell that was shown, the cell of each option, and how often it was."""
    n = int(item.max(initial=0)) + 1
    cell, inverse, times = np.unique(
        system[item >= 0] * n + item[item >= 0], return_inverse=True, return_counts=True
    )
    found, place = np.divmod(cell, n)
    return found, place, inverse.astype(np.int64), times


def _summarise(system: str, scores: Floats, confidence: float) -> SystemScore:
    n = len(scores)
    mean = float(scores.mean())
    if n < 2:
        return SystemScore(system, mean, np.nan, np.nan, n)
    reach = float(two_sided_quantile(confidence, np.array(n - 1.0)) * scores.std(ddof=1) / np.sqrt(n))
    return SystemScore(system, mean, mean - reach, mean + reach, n)
