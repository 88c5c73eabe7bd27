"""Pages: all outputs of an item on one page."""

import numpy as np

from panelist.design.base import Design, Kinds, Task, design
from panelist.design.dealing.squares import make_williams_rows
from panelist.design.sheets.positions import close_ranks
from panelist.study.sections.design_choice import DesignChoice


@design("pages")
class PagesDesign(Design):
    """Every rater judges whole items; kinds are the orders of outputs on the page.

    Balanced orders are the rows of a Williams square: every system is in every place, and directly after
    every other system, equally often.
    """

    title = "all outputs of an item on one page"
    summary = "all outputs of an item on one page"
    assigned = "with all outputs of an item on one page"
    unit = "page"
    whole = True
    does_without = True

    def count_shown(self, n_systems: int, choice: DesignChoice) -> int:
        """Return the number of systems."""
        return n_systems

    def count_pages(self, n_systems: int, choice: DesignChoice) -> int:
        """Return 1."""
        return 1

    def make_kinds(self, task: Task) -> Kinds:
        """Return the rows of a Williams square, or the one page where positions are not balanced.

        Where outputs are missing there is one page of an item, of those that exist.
        """
        if task.there is not None:
            shown = np.where(task.there, np.arange(task.n_systems), -1)[:, None]
            return Kinds(close_ranks(shown), 1, task.there.sum(axis=1, keepdims=True) >= task.least_shown)
        if task.choice.positions == "balanced":
            return Kinds(task.draw_systems()[make_williams_rows(task.n_systems)], 1)
        return Kinds(np.arange(task.n_systems)[None], 1)
