"""Win tables: how often each system was placed before each other one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panelist.analysis.choices.trials import DECIDED, UNDECIDED, ChoiceTrials
from panelist.core.display.formats import Cell
from panelist.core.display.result import Table
from panelist.numerics.arrays import Longs


@dataclass(frozen=True, eq=False)
class WinTable:
    """``wins[i, j]`` counts how often i was placed before j, ``ties`` how often they were tied.

    A trial of more than two outputs gives several such comparisons (see ``Trials.list_wins``); ``best``,
    ``worst`` and ``shown`` count trials: how often a system came first, came last and was shown.
    """

    criterion: str
    systems: tuple[str, ...]
    wins: Longs
    ties: Longs
    best: Longs
    worst: Longs
    shown: Longs

    @property
    def won(self) -> Longs:
        """Comparisons won, for each system."""
        total: Longs = self.wins.sum(axis=1)
        return total

    @property
    def lost(self) -> Longs:
        """Comparisons lost, for each system."""
        total: Longs = self.wins.sum(axis=0)
        return total

    def table(self) -> Table:
        """Return who won over whom, one row per winner."""
        header = ("over", *self.systems, "wins", "losses", "ties")
        rows: list[tuple[Cell, ...]] = []
        for i, name in enumerate(self.systems):
            cells: list[Cell] = [None if i == j else int(n) for j, n in enumerate(self.wins[i])]
            rows.append((name, *cells, int(self.won[i]), int(self.lost[i]), int(self.ties[i].sum())))
        return Table(f"Comparisons won on {self.criterion}", header, rows, names=self.systems)

    def to_dict(self) -> dict[str, object]:
        """Return the counts by name."""
        names = ("wins", "ties", "best", "worst", "shown")
        return {"systems": self.systems} | {name: getattr(self, name) for name in names}


def count_wins(trials: ChoiceTrials) -> WinTable:
    """Return how often each system won over each other one; a system never wins over itself."""
    k = len(trials.systems)
    _, winner, loser = trials.list_wins()
    wins = np.bincount(trials.system[winner] * k + trials.system[loser], minlength=k * k).reshape(k, k)
    np.fill_diagonal(wins, 0)
    best = np.bincount(trials.system[_ends(trials, first=True)], minlength=k)
    worst = np.bincount(trials.system[_ends(trials, first=False)], minlength=k)
    shown = np.bincount(trials.system, minlength=k)
    return WinTable(trials.criterion, trials.systems, wins, _count_ties(trials), best, worst, shown)


def _ends(trials: ChoiceTrials, first: bool) -> Longs:
    """Return the options that came first, or last, of their trial; a choice of one has no last."""
    found = [np.empty(0, dtype=np.int64)]
    for which, options in trials.by_size():
        decided = trials.outcome[which] == DECIDED
        place = trials.place[options[decided]]
        if not first and trials.kind == "choose-one":
            continue
        end = place.min(axis=1, initial=np.inf) if first else place.max(axis=1, initial=-np.inf)
        hit = place == end[:, None]
        alone = hit.sum(axis=1) == 1  # several with the same place: none was named
        found.append(options[decided][alone][hit[alone]])
    return np.concatenate(found)


def _count_ties(trials: ChoiceTrials) -> Longs:
    """Return how often each pair of systems was in a trial that was answered and ranked nothing."""
    k = len(trials.systems)
    ties = np.zeros((k, k), dtype=np.int64)
    for which, options in trials.by_size():
        tied = options[trials.ended(*UNDECIDED)[which]]
        system = trials.system[tied]
        for i in range(options.shape[1]):
            for j in range(options.shape[1]):
                if i != j:
                    ties += np.bincount(system[:, i] * k + system[:, j], minlength=k * k).reshape(k, k)
    np.fill_diagonal(ties, 0)
    return ties
