"""The smallest designs that reach the target: for each number of ratings, where its line meets it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panelist.power.cells import CellResult
from panelist.power.layouts.base import Layout
from panelist.power.search.probit_search import DesignFamily
from panelist.web.planner.question import Place, PlannerQuestion


@dataclass(frozen=True)
class Smallest:
    """The smallest design with one number of ratings per item."""

    place: Place
    layout: Layout
    reached: bool
    """False where the target is not reached with as many items as can be simulated here."""
    target: float
    result: CellResult | None = None
    """What was simulated at that size; None before it was."""

    @property
    def missed(self) -> bool:
        """Whether simulations at that size fell short of the target."""
        return self.reached and self.result is not None and self.result.power < self.target


def find_smallest(
    question: PlannerQuestion,
    results: Mapping[Place, CellResult],
    least: Mapping[int, int],
    settled: Sequence[Smallest] = (),
) -> list[Smallest]:
    """Return the smallest design for each number of ratings, by a line through what was simulated.

    ``least`` gives numbers of items below which not to look, by ratings per item. With ``settled`` the sizes
    are those, and only what was simulated there is filled in.
    """
    if settled:
        return [
            Smallest(one.place, one.layout, one.reached, one.target, results.get(one.place))
            for one in settled
        ]
    found = []
    for family in question.make_families():
        grown = _learn(family, results)
        floor = least.get(family.ratings_per_item, 0)
        items = max(grown.items, grown.round_up(floor)) if floor else grown.items
        reached = grown.reaches and items <= grown.most_items
        place = (min(items, grown.most_items), family.ratings_per_item)
        layout = question.make_cell(place).layout
        found.append(Smallest(place, layout, reached, family.target, results.get(place)))
    return found


def _learn(family: DesignFamily, results: Mapping[Place, CellResult]) -> DesignFamily:
    """Return the family with everything that was simulated for it."""
    for (items, each), result in sorted(results.items()):
        if each == family.ratings_per_item and result.sims:
            family = family.add(items, round(result.power * result.sims), result.sims)
    return family
