"""Who rates what in a simulated study: one row per rating, with the numbers of rater, item and system."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import BadDesign
from panelist.core.numbers import check_count
from panelist.design.dealing.allocate import Deal, allocate
from panelist.numerics.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd


OUTPUTS_PER_RATER = 25
_RELEASED_LIST = 4  # outputs in a list of the released script
_RELEASED_LISTS = 5  # lists that one rater gets there


@dataclass(frozen=True, eq=False)
class Layout:
    """The rows of a design. ``page`` numbers what is shown side by side, where outputs are compared.

    ``told`` is what a rater answers on a page: ``best``, ``best-worst`` or the whole ``ranking``.
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
    turn: Ints | None = None
    """Which turn of its dialogue a rating is about; None where outputs are rated as a whole."""
    points: int = 0
    """How many answers there are to a pair; 0 where pairs are not compared."""

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
            digest.update(f"{self.told}{self.points if self.points > 2 else ''}".encode())
        if self.turn is not None:
            digest.update(np.ascontiguousarray(self.turn, dtype="<i4").tobytes())
        return digest.hexdigest()

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of systems."""
        return tuple((a, b) for a in range(self.n_systems) for b in range(a + 1, self.n_systems))

    def spread_over_turns(self, turns: int) -> "Layout":
        """Return the layout in which each rating is one of every turn of a dialogue of this many."""
        if turns < 2:
            return self
        rater, item, system = (np.repeat(one, turns) for one in (self.rater, self.item, self.system))
        turn = np.tile(np.arange(1, turns + 1, dtype=np.int32), self.n_rows)
        return replace(self, rater=rater, item=item, system=system, turn=turn)

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
        if self.turn is not None:
            words["turn"] = np.array([f"t{place}" for place in self.turn.tolist()], dtype=object)
        return pd.DataFrame({**words, "rating": rating})


@dataclass(frozen=True)
class Sampling:
    """How many there are of everything: items, ratings of each output, systems, outputs per rater, raters.

    Of outputs per rater and raters one may be given, and the other follows. Without either a rater sees 25
    outputs, or as many as there are items, if they are fewer.
    """

    items: int
    ratings_per_item: int
    systems: int = 2
    outputs_per_rater: int | None = None
    raters: int | None = None
    turns: int = 1
    """How many turns of an output are rated, each by itself."""

    @property
    def total(self) -> int:
        """The number of ratings in all, those of the turns of an output counted as one."""
        return self.items * self.systems * self.ratings_per_item

    @property
    def load(self) -> int:
        """How many outputs a rater sees."""
        if self.raters is not None:
            return -(-self.total // self.raters)
        asked = self.outputs_per_rater
        return min(OUTPUTS_PER_RATER, self.items) if asked is None else asked

    @property
    def loads(self) -> list[int]:
        """How many outputs each rater sees: the last one may get fewer."""
        full, rest = divmod(self.total, self.load)
        return [self.load] * full + ([rest] if rest else [])

    def lay_out(self, seed: int = 1) -> Layout:
        """Return the paper's design: every output rated as often as asked, no rater meeting an item twice.

        A rater sees each system equally often, up to one. With ``raters`` the ratings are divided among that
        many, or among a few less where they do not divide evenly. The last rater may get fewer outputs, so
        that every output has exactly ``ratings_per_item`` ratings.
        """
        _check_counts(items=self.items, ratings_per_item=self.ratings_per_item, systems=self.systems)
        if self.raters is not None:
            _check_counts(raters=self.raters)
            if self.outputs_per_rater is not None:
                raise BadDesign("Give the number of raters or the outputs per rater, not both.")
            _check_raters(self, self.raters)
        if self.load < 1:
            raise BadDesign(f"A rater must see at least one output. Got {self.load}.")
        if self.load > self.items:
            raise BadDesign(
                f"A rater cannot see {self.load} outputs without meeting an item twice: there are "
                f"{self.items} items. Give a rater at most {self.items} outputs, or take more items."
            )
        dealt = _deal(self.items, self.ratings_per_item, self.systems, self.load, seed)
        return dealt.spread_over_turns(self.turns)

    def lay_out_released(self) -> Layout:
        """Return the design of the paper's released script: ``_copy_lists`` says what differs."""
        if self.systems != 2 or self.raters is not None or self.outputs_per_rater is not None:
            raise BadDesign(
                "The released lists are for two systems and 20 outputs per rater: leave --systems, --raters "
                "and --outputs-per-rater out."
            )
        _check_counts(items=self.items, ratings_per_item=self.ratings_per_item)
        return _copy_lists(self.items, self.ratings_per_item)


def list_samplings(
    items: Iterable[int],
    ratings_per_item: Iterable[int],
    systems: int = 2,
    outputs_per_rater: int | None = None,
    raters: Iterable[int] | None = None,
) -> list[Sampling]:
    """Return all combinations."""
    counts = [None] if raters is None else list(raters)
    return [
        Sampling(n, k, systems, outputs_per_rater, count)
        for n, k, count in product(items, ratings_per_item, counts)
    ]


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
def _copy_lists(items: int, ratings_per_item: int) -> Layout:
    """Return the design of the paper's released script, which is not quite the one that the paper describes.

    A Latin square of two raters × all items is cut into lists of four outputs. The lists are given in turn to
    so many raters that each gets five: 20 outputs, not 25. Every further rating of an output comes from a
    copy of these raters with the very same lists, so that items never mix. The script's package lists the
    square rater by rater and item by item, which is assumed here.
    """
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
        check_count(name.replace("_", " "), count, 2 if name in ("systems", "items") else 1, BadDesign)


def _check_raters(given: Sampling, raters: int) -> None:
    if given.load > given.items:
        raise BadDesign(
            f"{raters} raters cannot give {given.total:,} ratings ({given.items} items × {given.systems} "
            f"systems × {given.ratings_per_item} each) without meeting an item twice. It takes at least "
            f"{given.ratings_per_item * given.systems} raters, or fewer ratings per item."
        )
    if raters > given.total:
        raise BadDesign(
            f"{raters:,} raters are too many for {given.total:,} ratings: some would have none. Use fewer."
        )


def _name_systems(count: int) -> tuple[str, ...]:
    return tuple(chr(ord("A") + place) if count <= 26 else f"S{place + 1}" for place in range(count))
