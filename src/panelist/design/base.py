"""What a design is: the kinds of trials it makes of an item, how many a rater gets, and in which order.

A trial shows a tuple of systems of one item; a kind is such a tuple. Everything else is done by one engine:
design/dealing/allocate.py assigns the cells (items × kinds), design/make.py turns them into a plan.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from panelist.core.seeds import stream
from panelist.design.dealing.allocate import Allocation, Word, draw_order
from panelist.design.dealing.cells import Bools, find_longest
from panelist.design.sheets.positions import close_ranks, place_unequal, shuffle_positions
from panelist.numerics.arrays import Longs
from panelist.study.sections.design_choice import DESIGNS, DesignChoice, DesignFacts

D = TypeVar("D", bound="Design")


@dataclass(frozen=True)
class Task:
    """What a design has to work with: the sizes, what was chosen, the seed and the names of its streams."""

    n_items: int
    n_systems: int
    choice: DesignChoice
    seed: int
    names: tuple[Word, ...] = ()
    there: Bools | None = None
    """Which outputs exist (items × systems); None where all do."""
    least_shown: int = 1
    """The fewest outputs that a page can show: two or more where outputs are compared."""
    systems: tuple[str, ...] = ()
    """The names of the systems, where pairs of them are shown more often than others."""

    def draw_systems(self) -> Longs:
        """Return the systems in a random order, so that no system comes first because of its name."""
        return draw_order(stream(self.seed, *self.names, "systems").random(self.n_systems))


@dataclass(frozen=True)
class Kinds:
    """The kinds of trials: row t holds the systems that kind t shows, of every item or item by item."""

    shown: Longs
    """Kinds × outputs shown, or items × kinds × outputs shown."""
    pages_per_item: int
    """For how many pages of an item ratings count: the kinds, or 1 where kinds are orders of one page."""
    there: Bools | None = None
    """Which kinds exist of which item; None where all do. A page that shows fewer outputs ends in -1."""

    @property
    def n(self) -> int:
        """The number of kinds."""
        return int(self.shown.shape[-2])

    def count_units(self, n_items: int) -> int:
        """Return the number of different pages, for each of which ratings count."""
        return n_items * self.pages_per_item if self.there is None else int(self.there.sum())

    def find_systems(self, n_items: int, n_systems: int) -> Bools:
        """Return which systems each kind shows: items × kinds × systems."""
        shown = np.broadcast_to(self.shown, (n_items, *self.shown.shape[-2:]))
        return np.asarray((shown[..., None] == np.arange(n_systems)).any(axis=-2))

    def find_shown(self, lists: Allocation) -> Longs:
        """Return the systems on each page: raters × trials × outputs shown."""
        if self.shown.ndim == 2:
            return self.shown[lists.kinds]
        return self.shown[lists.items, lists.kinds]


class Design(DesignFacts, ABC):
    """A way to show outputs to raters; one file each, registered in DESIGNS under its name in studies."""

    @abstractmethod
    def make_kinds(self, task: Task) -> Kinds:
        """Return the kinds of trials, or raise BadDesign where there can be none."""

    def find_trials(self, n_items: int, kinds: Kinds) -> int:
        """Return the usual number of trials per rater."""
        if kinds.there is not None:
            return find_longest(kinds.there)
        return n_items * kinds.pages_per_item if self.everything else n_items

    def find_most_trials(self, n_items: int, kinds: Kinds, items_may_return: bool) -> int:
        """Return the largest possible number of trials per rater."""
        if kinds.there is not None:
            return int(kinds.there.sum()) if items_may_return else find_longest(kinds.there)
        return n_items * kinds.pages_per_item if self.everything or items_may_return else n_items

    def suit(self, lists: Allocation, kinds: Kinds, task: Task) -> Allocation:
        """Return the lists, with kinds exchanged where that suits raters better."""
        return lists

    def show(self, lists: Allocation, kinds: Kinds, task: Task) -> Longs:
        """Return the systems on each page, in their order on the page."""
        shown = kinds.find_shown(lists)
        if shown.shape[-1] == 1:
            return shown
        if task.choice.positions == "random":
            return close_ranks(shuffle_positions(shown, task.seed, task.names))
        if task.choice.positions == "as listed":
            return close_ranks(np.sort(shown, axis=-1))
        if (shown < 0).any():
            return place_unequal(shown, task.n_systems, task.seed, task.names)
        return self.balance_positions(shown, lists, kinds, task)

    def balance_positions(self, shown: Longs, lists: Allocation, kinds: Kinds, task: Task) -> Longs:
        """Return the systems on each page, placed so that all positions occur equally often."""
        return shown

    def arrange(self, shown: Longs, task: Task, occasion: int) -> Longs | None:
        """Return the order of each rater's trials, or None for one drawn at random."""
        return None


def design(name: str) -> Callable[[type[D]], type[D]]:
    """Return the decorator that registers an instance of a design class under its name."""

    def file(made: type[D]) -> type[D]:
        DESIGNS.register(name)(made())
        return made

    return file


def find_design(name: str) -> Design:
    """Return the design of this name."""
    found = DESIGNS[name]
    assert isinstance(found, Design), "a registered design must say how it is made"
    return found
