"""The designs that one query considers: its own, fewer and more items, and other numbers of ratings."""

from dataclasses import dataclass, field
from functools import cached_property

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadDesign
from panelist.power.cells import Cell
from panelist.power.layouts.base import Sampling
from panelist.power.search.probit_search import DesignFamily, make_family
from panelist.power.truth.base import Truth, find_effects
from panelist.web.planner.query import ITEMS, PlannerQuery

SEED = 1
SHARES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
MOST_LINES = 3
MOST_WORK = 130_000
"""Ratings × systems²: what a fit takes grows with it. A data set of this size takes some two seconds."""
MOST_ITEMS = 1_000
FARTHEST = 4
"""A design with more than this many times the ratings of the query is known from its line alone."""

Place = tuple[int, int]
"""A number of items and of ratings per item."""


@dataclass(frozen=True, eq=False)
class PlannerQuestion:
    """A query with its truth, and the cells of its curve."""

    query: PlannerQuery
    truth: Truth
    spec: AnalysisSpec = field(default_factory=AnalysisSpec)

    @cached_property
    def effects(self) -> tuple[float, ...]:
        """The systems' latent effects: each better than the one before."""
        return find_effects(self.query.effect, self.query.systems, self.truth.unit, "steps")

    @cached_property
    def places(self) -> list[Place]:
        """The points of the curve, the query's own first, then from small to large."""
        query = self.query
        found = [(n, k) for n in list_items(query.items) for k in list_ratings(query.ratings_per_item)]
        own = (query.items, query.ratings_per_item)
        fitting = [place for place in found if place != own and not is_too_much(*place, query.systems)]
        return [own, *sorted(fitting, key=lambda place: place[0] * place[1])]

    def make_cell(self, place: Place) -> Cell:
        """Return the cell of a point."""
        items, each = place
        sampling = Sampling(items, each, self.query.systems, min(self.query.outputs_per_rater, items))
        return Cell(self.truth, sampling.lay_out(SEED), self.query.effect, self.effects)

    def is_near(self, place: Place) -> bool:
        """Return whether a point is simulated even though it is not on the curve: not if it is far larger."""
        own = self.query.items * self.query.ratings_per_item
        return place[0] * place[1] <= FARTHEST * own

    def make_families(self) -> list[DesignFamily]:
        """Return a family of designs for each number of ratings, with nothing simulated so far."""
        query = self.query
        return [
            make_family(
                self.truth,
                self.effects,
                each,
                query.outputs_per_rater,
                self.spec,
                query.power,
                _cap(each, query.systems),
            )
            for each in list_ratings(query.ratings_per_item)
        ]


def check(query: PlannerQuery) -> None:
    """Raise BadDesign where a fit would take too long for a page to wait for."""
    if is_too_much(query.items, query.ratings_per_item, query.systems):
        total = query.items * query.ratings_per_item * query.systems
        most = MOST_WORK // query.systems**2
        raise BadDesign(
            f"{total:,} ratings of {query.systems} systems are too many to simulate while you wait: at most "
            f"{most:,}. Use fewer items or ratings, or run panelist power in a terminal, which has no limit."
        )


def list_items(items: int) -> list[int]:
    """Return the numbers of items that a curve shows.

    >>> list_items(100), list_items(9)
    ([25, 50, 75, 100, 150, 200], [5, 7, 9, 14, 18])
    """
    return sorted({max(int(ITEMS.low), round(items * share)) for share in SHARES})


def list_ratings(each: int) -> list[int]:
    """Return the numbers of ratings per item that have a line: the one asked for, and two smaller ones.

    >>> list_ratings(10), list_ratings(3), list_ratings(2), list_ratings(1)
    ([10, 5, 3], [3, 2, 1], [2, 1, 4], [1, 2, 3])
    """
    found = dict.fromkeys((each, (each + 1) // 2, round(each / 3)))
    lines = [one for one in found if one >= 1]
    return [*lines, *(one for one in (2 * each, 3 * each) if one not in lines)][:MOST_LINES]


def is_too_much(items: int, each: int, systems: int) -> bool:
    """Return whether a data set of a design takes too long to analyse."""
    return items * each * systems**3 > MOST_WORK


def _cap(each: int, systems: int) -> int:
    """Return the most items at which a family is considered."""
    return max(10, min(MOST_ITEMS, MOST_WORK // (each * systems**3)))
