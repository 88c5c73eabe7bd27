"""Williams squares: Latin squares in which every system also follows every other equally often."""

from panelist.core.errors import BadDesign
from panelist.design.base import Kinds, Task, design
from panelist.design.dealing.carry_over import order_by_rows
from panelist.design.designs.latin_square import OneOutput
from panelist.numerics.arrays import Longs


@design("williams")
class Williams(OneOutput):
    """The lists of Latin squares, each ordered by rows of a Williams square (design/dealing/squares.py)."""

    title = "Williams squares, balanced for carry-over"
    summary = "latin-square, ordered so that every system follows every other equally often"
    assigned = "in a Latin square in which each system follows each other equally often"
    whole = True
    carries_over = True
    least_systems = 2

    def make_kinds(self, task: Task) -> Kinds:
        """Return one kind per system."""
        if task.n_systems < 2:
            raise BadDesign(
                "Design williams orders systems after each other: 1 system has none to follow. Use lists."
            )
        return super().make_kinds(task)

    def arrange(self, shown: Longs, task: Task, occasion: int) -> Longs:
        """Return the order of each rater's trials in which systems follow each other most evenly."""
        return order_by_rows(shown[:, :, 0], task.n_systems, task.seed, (*task.names, "rows", occasion))
