"""Pairs: two outputs of an item side by side, all pairs of systems."""

from panelist.core.errors import BadDesign
from panelist.design.allocate import Allocation
from panelist.design.base import Design, Ints, Kinds, Task, design
from panelist.design.positions import place_pairs
from panelist.design.squares import make_pairs


@design("pairs")
class AllPairs(Design):
    """Every pair of systems for every item, left and right counterbalanced.

    van Miltenburg, E. et al. (2023). How reproducible is best-worst scaling for human evaluation?
    HumEval 2023.
    """

    title = "all pairs of systems"
    unit = "pair"

    def make_kinds(self, task: Task) -> Kinds:
        """Return all pairs of systems, in rounds of a tournament."""
        if task.n_systems < 2:
            raise BadDesign(
                "Design pairs compares two systems, and the study has 1. Add a system, or use lists."
            )
        pairs = task.draw_systems()[make_pairs(task.n_systems)]
        pairs.sort(axis=1)
        return Kinds(pairs, len(pairs))

    def balance_positions(self, shown: Ints, lists: Allocation, kinds: Kinds, task: Task) -> Ints:
        """Return the pairs with left and right counterbalanced."""
        return place_pairs(shown, lists.kinds, task.seed, task.names)
