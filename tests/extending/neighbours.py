"""Neighbours: each system beside the next one, as versions are compared with the version before."""

import numpy as np

from panelist.design.base import Design, Kinds, Task, design
from panelist.design.dealing.allocate import Allocation
from panelist.design.sheets.positions import place_pairs
from panelist.numerics.arrays import Longs
from panelist.study.sections.design_choice import DesignChoice


@design("neighbours")
class Neighbours(Design):
    """Pairs of systems that follow each other in the study file, left and right counterbalanced."""

    title = "each system beside the next one"
    summary = "two outputs side by side, each system with the next one of the list"
    assigned = "in pairs of each system and the next one, side by side"
    unit = "pair"
    compares = True
    least_systems = 2

    def count_shown(self, n_systems: int, choice: DesignChoice) -> int:
        """Return 2."""
        return 2

    def count_pages(self, n_systems: int, choice: DesignChoice) -> int:
        """Return the number of pairs."""
        return n_systems - 1

    def count_showings(self, n_systems: int) -> int | None:
        """Return nothing: the first and the last system have one neighbour, the others two."""
        return None

    def make_kinds(self, task: Task) -> Kinds:
        """Return one kind of trial for each pair."""
        first = np.arange(task.n_systems - 1)
        return Kinds(np.column_stack([first, first + 1]), len(first))

    def balance_positions(self, shown: Longs, lists: Allocation, kinds: Kinds, task: Task) -> Longs:
        """Return the pairs with left and right counterbalanced."""
        return place_pairs(shown, lists.kinds, task.seed, task.names)
