"""Williams squares: Latin squares in which every system also follows every other equally often."""

from panelist.core.errors import BadDesign
from panelist.design.base import Ints, Kinds, Task, design
from panelist.design.carry_over import order_by_rows
from panelist.design.latin_square import OneOutput


@design("williams")
class Williams(OneOutput):
    """The lists of Latin squares, each ordered by rows of a Williams square (design/squares.py)."""

    title = "Williams squares, balanced for carry-over"
    whole = True

    def make_kinds(self, task: Task) -> Kinds:
        """Return one kind a system."""
        if task.n_systems < 2:
            raise BadDesign(
                "Design williams orders systems after each other: 1 system has none to follow. Use lists."
            )
        return super().make_kinds(task)

    def arrange(self, shown: Ints, task: Task, occasion: int) -> Ints:
        """Return the order of each rater's trials in which systems follow each other as evenly as can be."""
        return order_by_rows(shown[:, :, 0], task.n_systems, task.seed, (*task.names, "rows", occasion))
