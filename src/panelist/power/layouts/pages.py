"""Layouts of any size in the design of a study whose criterion compares outputs: pairs, tuples, pages."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from panelist.design.base import Design, Kinds, Task, find_design
from panelist.design.dealing.allocate import Deal, allocate
from panelist.power.layouts.base import OUTPUTS_PER_RATER, Layout
from panelist.power.layouts.from_plan import count_points
from panelist.study.sections.design_choice import DesignChoice

if TYPE_CHECKING:
    from panelist.study.study import Study

_NAMES = ("power", "pages")


@dataclass(frozen=True, eq=False)
class PageDesign:
    """How a study shows outputs side by side: its design, its systems, and what a rater answers on a page."""

    choice: DesignChoice
    systems: tuple[str, ...]
    told: str
    least_shown: int
    points: int = 0

    @property
    def design(self) -> Design:
        """The design of the study."""
        return find_design(self.choice.type)

    @property
    def unit(self) -> str:
        """What is judged at once: a pair, a tuple, a page."""
        return self.design.unit

    @property
    def pages_per_item(self) -> int:
        """The pages that are made of an item, each judged equally often."""
        return self.design.count_pages(len(self.systems), self.choice)

    @property
    def shown(self) -> int:
        """The outputs on a page."""
        return self.design.count_shown(len(self.systems), self.choice)

    @property
    def usual_load(self) -> int:
        """The pages of a rater: those of the study, where it says so."""
        return self.choice.trials_per_rater or OUTPUTS_PER_RATER

    def find_most(self, items: int) -> int:
        """Return the most pages that a rater can see."""
        kinds = Kinds(np.zeros((self.pages_per_item, self.shown), dtype=np.int64), self.pages_per_item)
        return self.design.find_most_trials(items, kinds, self.choice.items_may_return)


@dataclass(frozen=True)
class PageSampling:
    """How many there are: items, judgements of each page, and pages per rater, if there are as many."""

    pages: PageDesign
    items: int
    ratings_per_item: int
    most_pages: int

    @property
    def total(self) -> int:
        """The number of judgements in all."""
        return self.items * self.pages.pages_per_item * self.ratings_per_item

    @property
    def load(self) -> int:
        """How many pages a rater sees."""
        return min(self.most_pages, self.pages.find_most(self.items))

    @property
    def loads(self) -> list[int]:
        """How many pages each rater sees: the last one may get fewer."""
        full, rest = divmod(self.total, self.load)
        return [self.load] * full + ([rest] if rest else [])

    def lay_out(self, seed: int = 1) -> Layout:
        """Return the study's design over these items: every page judged as often as asked."""
        return _deal(self.pages, self.items, self.ratings_per_item, self.load, seed)


def read_pages(study: "Study", criterion: str) -> PageDesign:
    """Return how a study shows the outputs that a criterion compares."""
    from panelist.scales.base import ComparativeScale

    scale = study.criterion(criterion).scale
    assert isinstance(scale, ComparativeScale)
    choice, points = study.file.design, count_points(scale)
    return PageDesign(choice, tuple(study.systems), scale.told, scale.least_shown, points)


@lru_cache(maxsize=128)
def _deal(pages: PageDesign, items: int, each: int, load: int, seed: int) -> Layout:
    """Return the layout, assigned as a plan is; positions on a page are left out, as they have no effect."""
    task = Task(items, len(pages.systems), pages.choice, seed, _NAMES, None, pages.least_shown, pages.systems)
    kinds = pages.design.make_kinds(task)
    total = items * kinds.pages_per_item * each
    n_raters = -(-total // load)
    lists = allocate(Deal(items, kinds.n, load, seed, _NAMES), n_raters)
    lists = pages.design.suit(lists, kinds, task)
    shown = kinds.find_shown(lists).reshape(n_raters * load, -1)[:total]
    m = shown.shape[1]
    owner = np.repeat(np.arange(n_raters), load)[:total]
    parts = (owner, lists.items.reshape(-1)[:total], np.arange(total))
    rater, item, page = (np.repeat(part, m).astype(np.int32) for part in parts)
    system = shown.reshape(-1).astype(np.int32)
    made = Layout(rater, item, system, n_raters, items, pages.systems, each, page, pages.told)
    return replace(made, points=pages.points)
