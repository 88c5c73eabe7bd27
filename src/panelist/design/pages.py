"""Pages: all outputs of an item on one page."""

import numpy as np

from panelist.design.base import Design, Kinds, Task, design
from panelist.design.squares import make_williams_rows


@design("pages")
class Pages(Design):
    """Every rater judges whole items; kinds are the orders in which outputs stand on the page.

    Balanced orders are the rows of a Williams square: every system stands in every place, and directly after
    every other system, equally often.
    """

    title = "all outputs of an item on one page"
    unit = "item"
    whole = True

    def make_kinds(self, task: Task) -> Kinds:
        """Return the rows of a Williams square, or the one page where positions are not balanced."""
        if task.choice.positions == "balanced":
            return Kinds(task.draw_systems()[make_williams_rows(task.n_systems)], 1)
        return Kinds(np.arange(task.n_systems)[None], 1)
