"""Pairs: two outputs of an item side by side, all pairs of systems."""

from math import comb

import numpy as np

from panelist.core.errors import BadDesign
from panelist.design.base import Design, Kinds, Task, design
from panelist.design.dealing.allocate import Allocation
from panelist.design.dealing.squares import make_pairs
from panelist.design.sheets.positions import place_pairs
from panelist.numerics.arrays import Longs
from panelist.study.sections.design_choice import DesignChoice


@design("pairs")
class AllPairs(Design):
    """Every pair of systems for every item, left and right counterbalanced.

    van Miltenburg, E. et al. (2023). How reproducible is best-worst scaling for human evaluation?
    HumEval 2023.
    """

    title = "all pairs of systems"
    summary = "two outputs side by side, all pairs of systems"
    assigned = "in pairs of outputs side by side"
    unit = "pair"
    compares = True
    least_systems = 2
    does_without = True
    keys = ("often",)

    def count_shown(self, n_systems: int, choice: DesignChoice) -> int:
        """Return 2."""
        return 2

    def count_pages(self, n_systems: int, choice: DesignChoice) -> int:
        """Return the number of pairs, those that are shown more often counted as often."""
        return comb(n_systems, 2) + sum(one.times - 1 for one in choice.often or ())

    def count_showings(self, n_systems: int) -> int:
        """Return the number of other systems."""
        return n_systems - 1

    def make_kinds(self, task: Task) -> Kinds:
        """Return all pairs of systems, in rounds of a tournament."""
        if task.n_systems < 2:
            raise BadDesign(
                "Design pairs compares two systems, and the study has 1. Add a system, or use lists."
            )
        pairs = task.draw_systems()[make_pairs(task.n_systems)]
        pairs.sort(axis=1)
        pairs = _repeat(pairs, task)
        there = None if task.there is None else np.asarray(task.there[:, pairs].all(axis=-1))
        return Kinds(pairs, len(pairs), there)

    def balance_positions(self, shown: Longs, lists: Allocation, kinds: Kinds, task: Task) -> Longs:
        """Return the pairs with left and right counterbalanced."""
        return place_pairs(shown, lists.kinds, task.seed, task.names)


def _repeat(pairs: Longs, task: Task) -> Longs:
    """Return the pairs, those that are shown more often once more after each round of all."""
    place = {name: at for at, name in enumerate(task.systems)}
    weights = {(place[a], place[b]): times for (a, b), times in task.choice.weigh(task.systems).items()}
    if not weights:
        return pairs
    again = [weights.get((a, b), 1) for a, b in pairs.tolist()]
    turns = [pairs[np.array(again) > turn] for turn in range(max(again))]
    return np.concatenate(turns)
