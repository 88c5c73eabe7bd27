"""Who rates what in a simulated study: a row a rating, with the numbers of rater, item and system."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import BadDesign
from panelist.design.allocate import Deal, allocate

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int32]

OUTPUTS_PER_RATER = 25
_RELEASED_LIST = 4  # outputs in a list of the released script
_RELEASED_LISTS = 5  # lists that one rater gets there


@dataclass(frozen=True, eq=False)
class Layout:
    """The rows of a design. ``page`` numbers what stands side by side, where outputs are compared.

    ``told`` says what a rater tells of a page: ``best``, ``best-worst`` or the whole ``ranking``.
    """

    rater: Ints
    item: Ints
    system: Ints
    n_raters: int
    n_items: int
    systems: tuple[str, ...]
    ratings_per_item: float  # of each output
    page: Ints | None = None
    told: str = "best"

    @property
    def n_rows(self) -> int:
        """The number of ratings."""
        return len(self.rater)

    @property
    def n_systems(self) -> int:
        """The number of systems."""
        return len(self.systems)

    @cached_property
    def key(self) -> str:
        """A digest of the rows: two layouts of the same key are the same."""
        digest = blake2b(digest_size=12)
        for array in (self.rater, self.item, self.system, self.page):
            digest.update(b"-" if array is None else np.ascontiguousarray(array, dtype="<i4").tobytes())
        digest.update(repr(self.systems).encode())
        if self.page is not None:
            digest.update(self.told.encode())
        return digest.hexdigest()

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of systems."""
        return tuple((a, b) for a in range(self.n_systems) for b in range(a + 1, self.n_systems))

    def make_frame(self, rating: Any) -> "pd.DataFrame":
        """Return the rows as a ratings table, with these ratings."""
        import pandas as pd

        words = {
            name: np.array([f"{name[0]}{place:06d}" for place in range(count)], dtype=object)[index]
            for name, index, count in (
                ("rater", self.rater, self.n_raters),
                ("item", self.item, self.n_items),
                ("system", self.system, self.n_systems),
            )
        }
        return pd.DataFrame({**words, "rating": rating})


def lay_out_lists(
    items: int,
    ratings_per_item: int,
    systems: int = 2,
    outputs_per_rater: int | None = None,
    raters: int | None = None,
    seed: int = 1,
) -> Layout:
    """Return the paper's design: every output rated so many times, no rater meeting an item twice.

    A rater sees 25 outputs (or as many as there are items, if they are fewer), each system equally often,
    up to one. With ``raters`` the ratings are shared out among so many instead, or among a few less where
    they do not come out even. The last rater may get fewer outputs, so that every output has exactly
    ``ratings_per_item`` ratings.
    """
    _check_counts(items=items, ratings_per_item=ratings_per_item, systems=systems)
    total = items * systems * ratings_per_item
    if raters is not None:
        _check_counts(raters=raters)
        if outputs_per_rater is not None:
            raise BadDesign("Give the number of raters or the outputs per rater, not both.")
        outputs_per_rater = -(-total // raters)
        _check_raters(items, ratings_per_item, systems, raters, outputs_per_rater)
    trials = min(OUTPUTS_PER_RATER, items) if outputs_per_rater is None else outputs_per_rater
    if trials < 1:
        raise BadDesign(f"A rater must see at least one output. Got {trials}.")
    if trials > items:
        raise BadDesign(
            f"A rater cannot see {trials} outputs without meeting an item twice: there are {items} items. "
            f"Give a rater at most {items} outputs, or take more items."
        )
    return _deal(items, ratings_per_item, systems, trials, seed)


@lru_cache(maxsize=128)
def _deal(items: int, ratings_per_item: int, systems: int, trials: int, seed: int) -> Layout:
    total = items * systems * ratings_per_item
    n_raters = -(-total // trials)
    lists = allocate(Deal(items, systems, trials, seed, ("power", "lists")), n_raters)
    rater = np.repeat(np.arange(n_raters, dtype=np.int32), trials)[:total]
    item = lists.items.reshape(-1)[:total].astype(np.int32)
    system = lists.kinds.reshape(-1)[:total].astype(np.int32)
    return Layout(rater, item, system, n_raters, items, _name_systems(systems), ratings_per_item)


@lru_cache(maxsize=32)
def lay_out_released(items: int, ratings_per_item: int) -> Layout:
    """Return the design of the paper's released script, which is not quite the one that the paper tells of.

    A Latin square of two raters × all items is cut into lists of four outputs. The lists are dealt in turn to
    so many raters that each gets five: 20 outputs, not 25. Every further rating of an output comes from a
    copy of these raters with the very same lists, so that items never mix. The script's package lists the
    square rater by rater and item by item, which is assumed here.
    """
    _check_counts(items=items, ratings_per_item=ratings_per_item)
    per_rater = _RELEASED_LIST * _RELEASED_LISTS
    if 2 * items % per_rater:
        raise BadDesign(
            f"The released lists need a number of items that 10 divides, such as 50. Got {items}; "
            "leave --as-released out."
        )
    n_copies = 2 * items // per_rater
    row = np.arange(2 * items)
    item = row % items
    system = (row // items + item) % 2
    rater = (row // _RELEASED_LIST) % n_copies
    copies = np.repeat(np.arange(ratings_per_item), 2 * items)
    return Layout(
        (np.tile(rater, ratings_per_item) + n_copies * copies).astype(np.int32),
        np.tile(item, ratings_per_item).astype(np.int32),
        np.tile(system, ratings_per_item).astype(np.int32),
        n_copies * ratings_per_item,
        items,
        _name_systems(2),
        ratings_per_item,
    )


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        least = 2 if name in ("systems", "items") else 1
        if count < least:
            raise BadDesign(
                f"A power study needs at least {least} {name.replace('_', ' ')}. Got {count}."
                if least > 1
                else f"The number of {name.replace('_', ' ')} must be 1 or more. Got {count}."
            )


def _check_raters(items: int, ratings_per_item: int, systems: int, raters: int, trials: int) -> None:
    total = items * systems * ratings_per_item
    if trials > items:
        least = ratings_per_item * systems
        raise BadDesign(
            f"{raters} raters cannot give {total:,} ratings ({items} items × {systems} systems × "
            f"{ratings_per_item} each) without meeting an item twice. It takes at least {least} raters, or "
            "fewer ratings per item."
        )
    if raters > total:
        raise BadDesign(
            f"{raters:,} raters are too many for {total:,} ratings: some would have none. Take fewer."
        )


def _name_systems(count: int) -> tuple[str, ...]:
    return tuple(chr(ord("A") + place) if count <= 26 else f"S{place + 1}" for place in range(count))
