"""Which systems were rated on the same items or by the same raters: what their comparison rests on.

Two systems are connected through items where a chain of systems links them, each rated on an item of the
next; in the same way through raters. Linked by items, a difference is one of outputs of the same inputs.
Linked by raters alone, it holds if the items of both are alike; by items alone, if the raters are. Where
neither links them, nothing in the ratings distinguishes a better system from easier items and milder raters:
such systems are neither compared nor ranked together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import BadModel
from panelist.models.inference.contrasts import PairContrasts

if TYPE_CHECKING:
    import pandas as pd

APART = "share neither items nor raters"
_GIVEN = ("item", "rater")


@dataclass(frozen=True)
class Links:
    """For each system the number of its component: through items, raters, and either; 0 is the first.

    ``items`` or ``raters`` is empty where the ratings have no such column.
    """

    systems: tuple[str, ...]
    items: tuple[int, ...]
    raters: tuple[int, ...]
    either: tuple[int, ...]

    @property
    def connected(self) -> bool:
        """Whether every system can be compared with every other."""
        return len(set(self.either)) <= 1

    def groups(self) -> list[list[str]]:
        """Return the systems that can be compared with one another, a list for each component."""
        return _group(self.systems, self.either)

    def apart(self, a: str, b: str) -> bool:
        """Return whether nothing links two systems."""
        return self.either[self.systems.index(a)] != self.either[self.systems.index(b)]

    def reasons(self, pairs: PairContrasts) -> dict[tuple[str, str], str]:
        """Return the pairs that nothing links, with the reason."""
        named = zip(pairs.a, pairs.b, strict=True)
        return {(a, b): f"They {APART}." for a, b in named if self.apart(a, b)}

    def notes(self) -> list[str]:
        """Return what comparisons rest on, where that is not items and raters both."""
        said = []
        if not self.connected:
            groups = "; ".join(", ".join(group) for group in self.groups())
            said.append(
                f"Systems of different groups {APART}, so they are neither compared nor ranked together. The "
                f"groups: {groups}. To compare them, have common items or common raters judge them."
            )
        for own, other, noun, word in (
            (self.items, self.raters, "item", "raters"),
            (self.raters, self.items, "rater", "items"),
        ):
            if not own or not other:
                continue
            split = [group for group in self.groups() if len({own[self.systems.index(n)] for n in group}) > 1]
            if split:
                parts = [_group(group, [own[self.systems.index(n)] for n in group]) for group in split]
                named = "; ".join(" against ".join(", ".join(part) for part in one) for one in parts)
                said.append(
                    f"No {noun} links {named}: these comparisons rest on the {word} alone, and hold if the "
                    f"{noun}s of both sides are alike, as when they were assigned at random."
                )
        return said


def find_links(frame: pd.DataFrame, systems: Sequence[str]) -> Links:
    """Return how the systems of these ratings are connected; all are where nothing is known about them."""
    own = {name: _components(frame, name, systems) for name in _GIVEN}
    known = [name for name in _GIVEN if own[name]]
    either = tuple(0 for _ in systems)
    if known:
        either = _merge([own[name] for name in known])
    return Links(tuple(systems), own["item"], own["rater"], either)


def part_pairs(pairs: PairContrasts, links: Links) -> PairContrasts:
    """Return the pairs, those that nothing links without a difference."""
    if links.connected:
        return pairs
    apart = np.array([links.apart(a, b) for a, b in zip(pairs.a, pairs.b, strict=True)])
    if apart.all():
        groups = " and ".join(", ".join(group) for group in links.groups()[:2])
        raise BadModel(
            f"No two systems can be compared: {groups} {APART}. Check that the columns item and rater name "
            "the same thing by the same word for every system (--columns item=NAME,rater=NAME)."
        )
    changed: dict[str, Any] = {
        name: np.where(apart, np.nan, getattr(pairs, name))
        for name in ("estimate", "se", "df", "statistic", "p", "p_adjusted", "low", "high")
    }
    return replace(pairs, **changed)


def _components(frame: pd.DataFrame, column: str, systems: Sequence[str]) -> tuple[int, ...]:
    """Return the component of each system through the values of a column; empty without the column."""
    if column not in frame or frame[column].nunique() == 0:
        return ()
    met = frame[["system", column]].dropna().drop_duplicates()
    values: dict[Hashable, list[str]] = {}
    for system, value in zip(met["system"].astype(str), met[column], strict=True):
        values.setdefault(value, []).append(system)
    place = {name: at for at, name in enumerate(systems)}
    edges = [[place[name] for name in group if name in place] for group in values.values()]
    return _number(edges, len(systems))


def _merge(partitions: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the components of what any of several partitions puts together."""
    edges = []
    for own in partitions:
        edges += [[at for at, one in enumerate(own) if one == number] for number in set(own)]
    return _number(edges, len(partitions[0]))


def _number(edges: Sequence[Sequence[int]], n: int) -> tuple[int, ...]:
    """Return the component of each of n things, given sets of connected things."""
    parent = list(range(n))

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for group in edges:
        for other in group[1:]:
            first, second = root(group[0]), root(other)
            parent[max(first, second)] = min(first, second)
    roots = [root(one) for one in range(n)]
    order = {name: place for place, name in enumerate(dict.fromkeys(roots))}
    return tuple(order[one] for one in roots)


def _group(names: Sequence[str], numbers: Sequence[int]) -> list[list[str]]:
    found: dict[int, list[str]] = {}
    for name, number in zip(names, numbers, strict=True):
        found.setdefault(number, []).append(name)
    return list(found.values())
