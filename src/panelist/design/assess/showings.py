"""What a plan shows, as arrays: one entry per output on a page, for one criterion, group and occasion."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.numerics.arrays import Longs


@dataclass(frozen=True)
class Where:
    """The part of a plan that is meant: criteria with the same pages, one group, one occasion."""

    criteria: tuple[str, ...]
    group: str
    occasion: int


@dataclass(frozen=True, eq=False)
class Showings:
    """The trials of one part of a plan, in the order in which raters meet them.

    ``rater``, ``item`` and ``system`` count from 0 (items and systems as in the study, -1 for none such);
    ``page`` numbers the pages of all raters, ``place`` the trial pages of each rater, from 1.
    """

    rater: Longs
    item: Longs
    system: Longs
    page: Longs
    place: Longs
    position: Longs
    raters: Longs
    """The number in the whole plan of each rater who is in this part."""
    n_items: int
    n_systems: int

    def __len__(self) -> int:
        return len(self.rater)

    @property
    def n_raters(self) -> int:
        """How many raters."""
        return len(self.raters)

    @property
    def n_pages(self) -> int:
        """How many pages."""
        return int(self.page[-1]) + 1 if len(self) else 0

    @property
    def first(self) -> Longs:
        """The row at which each page begins."""
        return np.flatnonzero(np.diff(self.page, prepend=-1))

    @property
    def shown(self) -> Longs:
        """How many outputs each page shows."""
        return np.bincount(self.page, minlength=self.n_pages)

    def same_pages(self, other: "Showings") -> bool:
        """Return whether both parts show the same outputs to the same raters in the same order."""
        names = ("raters", "rater", "item", "system", "place", "position")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


def split_trials(
    table: pd.DataFrame, items: Sequence[str], systems: Sequence[str], criteria: Sequence[str]
) -> Iterator[tuple[Where, Showings]]:
    """Return the trials of a plan's table, separated by group, occasion and criteria whose pages differ."""
    trials = table[(table["phase"] == "trial").to_numpy()]
    groups = sorted({str(name) for name in trials["group"].unique()})
    columns = {name: trials[name].to_numpy(dtype=np.int64) for name in ("occasion", "order", "position")}
    columns["rater"] = read_codes(trials["rater"])[0].astype(np.int64)
    known = {"item": items, "system": systems, "criterion": criteria, "group": groups}
    columns |= {name: number(trials[name], words) for name, words in known.items()}
    for group, occasion in product(range(len(groups)), np.unique(columns["occasion"]).tolist()):
        here = (columns["group"] == group) & (columns["occasion"] == occasion)
        if here.any():
            part = columns if here.all() else {name: column[here] for name, column in columns.items()}
            for names, found in _split_criteria(part, criteria, len(items), len(systems)):
                yield Where(names, groups[group], occasion), found


def number(column: "pd.Series[Any]", names: Sequence[str]) -> Longs:
    """Return the place of each cell among the names, -1 for one that is not there."""
    codes, found = read_codes(column)
    places = pd.Index(names).get_indexer(pd.Index([str(one) for one in found], dtype="str"))
    numbers: Longs = np.append(places, -1).astype(np.int64)
    return np.take(numbers, codes)


def read_codes(column: "pd.Series[Any]") -> tuple[NDArray[np.integer[Any]], "pd.Index[Any]"]:
    """Return the column as numbers, and what they stand for; -1 is a gap. Categories already have codes."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories
    codes, found = pd.factorize(column)
    return codes, pd.Index(found)


def number_pages(rows: pd.DataFrame) -> tuple[Longs, Longs]:
    """Return the page of each row, numbered from 0 as they appear, and the row where each page begins."""
    rater = read_codes(rows["rater"])[0].astype(np.int64)
    occasion, order = (rows[name].to_numpy(dtype=np.int64) for name in ("occasion", "order"))
    key = (rater * (occasion.max(initial=0) + 1) + occasion) * (order.max(initial=0) + 1) + order
    steps = np.diff(key, prepend=-1)
    if (steps >= 0).all():  # as plans are: nothing to look up
        return np.cumsum(steps > 0) - 1, np.flatnonzero(steps)
    page = pd.factorize(key)[0].astype(np.int64)
    return page, np.flatnonzero(~pd.Series(page).duplicated())


def _split_criteria(
    columns: dict[str, Longs], criteria: Sequence[str], n_items: int, n_systems: int
) -> list[tuple[tuple[str, ...], Showings]]:
    """Return one part for each set of criteria whose pages are the same."""
    parts: list[tuple[tuple[str, ...], Showings]] = []
    for place, name in enumerate(criteria):
        here = columns["criterion"] == place
        if not here.any():
            continue
        part = columns if here.all() else {key: column[here] for key, column in columns.items()}
        found = _arrange(part, n_items, n_systems)
        for at, (names, known) in enumerate(parts):
            if known.same_pages(found):
                parts[at] = ((*names, name), known)
                break
        else:
            parts.append(((name,), found))
    return parts


def _arrange(columns: dict[str, Longs], n_items: int, n_systems: int) -> Showings:
    """Return the showings of one criterion, sorted as raters meet them."""
    rater, order, position = columns["rater"], columns["order"], columns["position"]
    key = (rater * (int(order.max()) + 1) + order) * (int(position.max()) + 1) + position
    if (np.diff(key) < 0).any():  # a plan is sorted, but nothing here should depend on it
        by = np.argsort(key, kind="stable")
        columns = {name: column[by] for name, column in columns.items()}
        rater, order = columns["rater"], columns["order"]
    begins = (np.diff(rater, prepend=-1) != 0) | (np.diff(order, prepend=-1) != 0)
    page = np.cumsum(begins) - 1
    starts = np.flatnonzero(np.diff(rater, prepend=-1))
    within = np.cumsum(np.diff(rater, prepend=-1) != 0) - 1
    return Showings(
        rater=within,
        item=columns["item"],
        system=columns["system"],
        page=page,
        place=page - page[starts][within] + 1,
        position=columns["position"],
        raters=rater[starts],
        n_items=n_items,
        n_systems=n_systems,
    )
