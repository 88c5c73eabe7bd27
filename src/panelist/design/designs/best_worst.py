"""Best-worst scaling: balanced tuples of outputs, of which raters name the best and the worst."""

import numpy as np

from panelist.core.errors import BadDesign
from panelist.core.seeds import stream
from panelist.design.base import Design, Kinds, Task, design
from panelist.design.dealing.allocate import Allocation
from panelist.design.dealing.cells import Bools
from panelist.design.tuples.balanced import Shape, find_tuples_per_item, make_tuples
from panelist.design.tuples.placing import place_tuples, suit_tuples
from panelist.numerics.arrays import Longs
from panelist.study.sections.design_choice import DesignChoice

USUALLY_SHOWN = 4


@design("best-worst")
class BestWorstDesign(Design):
    """Tuples of m of the systems; every system and every pair of systems equally often.

    Louviere, J. J., Flynn, T. N. & Marley, A. A. J. (2015). Best-worst scaling: theory, methods and
    applications. Cambridge University Press. https://doi.org/10.1017/CBO9781107337855
    """

    title = "balanced best-worst tuples"
    summary = "balanced tuples of the systems, of which raters name the best and the worst"
    assigned = "in balanced tuples of outputs"
    unit = "tuple"
    compares = True
    least_systems = 2
    does_without = True
    keys = ("shown", "tuples_per_item")

    def count_shown(self, n_systems: int, choice: DesignChoice) -> int:
        """Return the number asked for, else four or as many as there are systems."""
        return choice.shown or min(USUALLY_SHOWN, n_systems)

    def count_pages(self, n_systems: int, choice: DesignChoice) -> int:
        """Return the number of tuples asked for, else the least that shows every system equally often."""
        return choice.tuples_per_item or find_tuples_per_item(n_systems, self.count_shown(n_systems, choice))

    def count_showings(self, n_systems: int) -> int | None:
        """Return nothing: it depends on the tuples."""
        return None

    def find_fault(self, n_systems: int, choice: DesignChoice) -> tuple[str, str] | None:
        """Return what is wrong with the number of outputs in a tuple."""
        shown = self.count_shown(n_systems, choice)
        if 3 <= shown <= n_systems:
            return None
        wanted = "a best-worst page shows at least 3 outputs and at most one of each system"
        mend = (
            f"Set it to 3{f' … {n_systems}' if n_systems > 3 else ''}."
            if n_systems >= 3
            else "With 2 systems use design pairs."
        )
        return "shown", f"{wanted}; found shown {shown} and {n_systems} systems. {mend}"

    def make_kinds(self, task: Task) -> Kinds:
        """Return the tuples, item by item."""
        s, m = task.n_systems, self.count_shown(task.n_systems, task.choice)
        if not 2 <= m <= s:
            raise BadDesign(
                f"A best-worst tuple cannot show {m} of {s} systems. Set shown to a number from 2 to {s}."
                if s >= 2
                else f"Design best-worst compares systems, and the study has {s}. Add systems, or use lists."
            )
        if task.there is not None:
            return self._do_without(task.there, m, task)
        shape = Shape(s, m, self.count_pages(s, task.choice))
        return Kinds(make_tuples(task.n_items, shape, task.seed), shape.tuples)

    def _do_without(self, there: Bools, m: int, task: Task) -> Kinds:
        """Return the tuples of the outputs that exist: balanced among items that have the same systems.

        An item with fewer outputs than a tuple shows has one tuple, of all of them.
        """
        tuples: dict[int, Longs] = {}
        patterns, place = np.unique(there, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            systems, items = np.flatnonzero(pattern), np.flatnonzero(place.reshape(-1) == number)
            a = len(systems)
            if a < task.least_shown:
                continue
            size = min(m, a)
            b = 1 if a <= m else task.choice.tuples_per_item or find_tuples_per_item(a, size)
            seed = int(stream(task.seed, "tuples", "pattern", *systems.tolist()).integers(2**31))
            made = systems[make_tuples(len(items), Shape(a, size, b), seed)]
            tuples.update(zip(items.tolist(), made, strict=True))
        b = max((len(one) for one in tuples.values()), default=1)
        shown = np.full((task.n_items, b, m), -1, dtype=np.int64)
        for item, own in tuples.items():
            shown[item, : len(own), : own.shape[1]] = own
        return Kinds(shown, b, shown[:, :, 0] >= 0)

    def suit(self, lists: Allocation, kinds: Kinds, task: Task) -> Allocation:
        """Return the lists, tuples chosen so that a rater meets the systems about equally often."""
        if kinds.there is not None:
            return lists
        same = bool((kinds.shown == kinds.shown[0]).all())
        if same or lists.items.shape[1] > task.n_items:
            return lists
        chosen = suit_tuples(lists.items, kinds.shown, task.n_systems, task.seed, task.names)
        return Allocation(lists.items, chosen)

    def balance_positions(self, shown: Longs, lists: Allocation, kinds: Kinds, task: Task) -> Longs:
        """Return the tuples with the systems of a rater in all positions equally often."""
        return place_tuples(shown, task.n_systems, task.seed, task.names)
