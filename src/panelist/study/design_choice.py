"""The design section of a study file: who shall see how much of what, in which order."""

from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from panelist.core.schema import Part

DesignName = Literal["latin-square", "williams", "lists", "full", "pages", "pairs", "best-worst"]


class DesignChoice(Part):
    """The design. Of raters, trials per rater and ratings per output, two follow from each other."""

    type: DesignName = "latin-square"
    """``latin-square``: every rater judges every item once, each system equally often. ``williams``: the
    same, ordered so that every system follows every other equally often. ``lists``: every rater judges some
    of the items, none twice. ``full``: every rater judges every output. ``pages``: all outputs of an item on
    one page. ``pairs``: two outputs side by side, all pairs of systems. ``best-worst``: balanced tuples."""
    trials_per_rater: PositiveInt | None = None
    """How many pages of ratings one rater gets; without it, as many as there are items. Criteria that have
    pages of their own, and outputs that are rated alone, add theirs to each."""
    ratings_per_output: PositiveInt | None = None
    """How many raters judge each output (each pair or tuple, where outputs are compared), per group."""
    shown: PositiveInt | None = None
    """How many outputs a best-worst tuple shows; without it four, or all systems if there are fewer."""
    tuples_per_item: PositiveInt | None = None
    """How many tuples are made of each item; without it, enough that every system is shown equally often."""
    items_may_return: bool = False
    """Whether a rater may meet an item again, with another system, in the same sitting."""
    order: Literal["random", "as listed"] = "random"
    """The order of pages, drawn anew for each rater, or that of the outputs file."""
    positions: Literal["balanced", "random", "as listed"] = "balanced"
    """Where outputs stand on a page that shows several."""
    criteria: Literal["together", "in turn", "in blocks", "one per rater"] = "together"
    """All criteria on one page; one page each, one after the other; all pages of one criterion before those
    of the next; or each rater judges one criterion only."""
    rated: Literal["side by side", "alone"] = "side by side"
    """How outputs are rated where a page shows several: ``side by side``, each on the page of the others;
    ``alone``, each on a page of its own, apart from the page that compares them."""
    occasions: PositiveInt = 1
    """How often raters sit; 2 is a test and a retest with the same pages in a new order."""
    days_between: NonNegativeInt = 0
    """The least number of days between two sittings."""
    seed: NonNegativeInt = 1
    """All that is drawn at random follows from it."""
