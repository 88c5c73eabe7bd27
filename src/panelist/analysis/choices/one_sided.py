"""Pairs of which one system won every comparison: no finite difference, but a valid test and a bound.

If a won all its comparisons with b, maximum likelihood puts them infinitely far apart, and a standard error
says nothing. The exact sign test still holds (Dixon & Mood 1946): if neither were better, n independent units
would all be on the side of a, or all on that of b, with probability 2 · 2⁻ⁿ. Units are raters or items, like
the clusters, and of two sides the less certain one counts. A side of fewer than six units can never
reject at 0.05; if the other side can, it decides, and the conclusion holds for these few alone.

The bound is that of Clopper & Pearson (1934) for n of n: the probability of being preferred is at least
(α / 2)^(1 / n).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from panelist.analysis.choices.trials import ChoiceTrials
from panelist.analysis.choices.wins import WinTable
from panelist.numerics.arrays import Longs

ABLE = 6  # units from which the sign test can fall below 0.05


@dataclass(frozen=True)
class OneSided:
    """``winner`` lost none of its comparisons with ``loser``: how many there were, and what they show.

    ``units`` are the raters, items or comparisons that the sign test counts, ``p`` is two-sided, and
    ``fixed`` names the sides that had too few units to be tested.
    """

    winner: str
    loser: str
    wins: int
    ties: int
    units: int
    p: float
    fixed: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Return who won how often, and whether that is enough for a test."""
        n = self.wins + self.ties
        if self.ties:
            said = f"{self.winner} won {self.wins:,} of {n:,} comparisons with {self.loser} and lost none"
        else:
            all_of = f"all {n:,} comparisons" if n > 1 else "the one comparison"
            said = f"{self.winner} won {all_of} with {self.loser}"
        return said if self.units >= ABLE else f"{said}, too few for a test"

    def bound(self, reach: float) -> float:
        """Return the lower end of the log-odds of the winner, ``reach`` being the normal quantile."""
        from scipy.special import log_ndtr

        log_p = float(log_ndtr(-reach)) / self.units
        return log_p - float(np.log(-np.expm1(log_p)))


def find_one_sided(trials: ChoiceTrials, table: WinTable, sides: Mapping[str, Longs]) -> tuple[OneSided, ...]:
    """Return the pairs that were compared, whose strengths are infinitely far apart by likelihood.

    ``sides`` holds the clusters of each trial; without any, every trial is a separate unit.
    """
    from scipy.sparse.csgraph import connected_components

    group = connected_components(table.wins > 0, directed=True, connection="strong")[1]
    trial, winner, loser = trials.list_wins()
    first, second = trials.system[winner], trials.system[loser]
    found = []
    for i, j in np.argwhere(table.wins > 0).tolist():
        if group[i] == group[j]:
            continue
        won = trial[(first == i) & (second == j)]
        units = {name: len(np.unique(code[won])) for name, code in sides.items()} or {"": len(np.unique(won))}
        able = {name: n for name, n in units.items() if n >= ABLE}
        n = min(able.values()) if able else max(units.values())
        fixed = tuple(name for name in units if name not in able) if able else ()
        names = table.systems[i], table.systems[j]
        wins, ties = int(table.wins[i, j]), int(table.ties[i, j])
        found.append(OneSided(*names, wins, ties, n, min(2.0 ** (1 - n), 1.0), fixed))
    return tuple(found)


def normal_quantile(p: float) -> float:
    """Return the normal quantile with this two-sided p-value.

    >>> round(normal_quantile(0.05), 2)
    1.96
    """
    from scipy.special import ndtri

    return -float(ndtri(p / 2))
