"""Best-worst scaling: balanced tuples of outputs, of which raters name the best and the worst."""

from panelist.core.errors import BadDesign
from panelist.design.allocate import Allocation
from panelist.design.base import Design, Ints, Kinds, Task, design
from panelist.design.place_tuples import place_tuples
from panelist.design.suit import suit_tuples
from panelist.design.tuples import Shape, find_tuples_per_item, make_tuples

USUALLY_SHOWN = 4


@design("best-worst")
class BestWorst(Design):
    """Tuples of m of the systems; every system and every pair of systems equally often.

    Louviere, J. J., Flynn, T. N. & Marley, A. A. J. (2015). Best-worst scaling: theory, methods and
    applications. Cambridge University Press. https://doi.org/10.1017/CBO9781107337855
    """

    title = "balanced best-worst tuples"
    unit = "tuple"

    def make_kinds(self, task: Task) -> Kinds:
        """Return the tuples, item by item."""
        s, m = task.n_systems, task.choice.shown or min(USUALLY_SHOWN, task.n_systems)
        if not 2 <= m <= s:
            raise BadDesign(
                f"A best-worst tuple cannot show {m} of {s} systems. Set shown to a number from 2 to {s}."
                if s >= 2
                else f"Design best-worst compares systems, and the study has {s}. Add systems, or use lists."
            )
        shape = Shape(s, m, task.choice.tuples_per_item or find_tuples_per_item(s, m))
        return Kinds(make_tuples(task.n_items, shape, task.seed), shape.tuples)

    def suit(self, lists: Allocation, kinds: Kinds, task: Task) -> Allocation:
        """Return the lists with tuples so chosen that the systems of a rater are as level as can be."""
        same = bool((kinds.shown == kinds.shown[0]).all())
        if same or lists.items.shape[1] > task.n_items:
            return lists
        chosen = suit_tuples(lists.items, kinds.shown, task.n_systems, task.seed, task.names)
        return Allocation(lists.items, chosen)

    def balance_positions(self, shown: Ints, lists: Allocation, kinds: Kinds, task: Task) -> Ints:
        """Return the tuples with the systems of a rater in all positions alike."""
        return place_tuples(shown, task.n_systems, task.seed, task.names)
