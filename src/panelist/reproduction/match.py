"""Which systems and criteria of two studies correspond: by name, never by the order of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import BadReproduction, UnknownName, did_you_mean, nearest, suggest
from panelist.core.prose import quoted
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats
from panelist.reproduction.sources import WHOLE, Given, Source

FAR_BETTER = 4.0  # how many times closer the permuted scores must be
UNLIKE = 0.8  # a correlation from which the names as they are fit well enough
RARE = 0.01  # how seldom unrelated scores may fit as well under their best permutation
DRAWS = 999


@dataclass(frozen=True, eq=False)
class MatchedCriterion:
    """One criterion in every study that has it, and the systems that all of these have."""

    criterion: str
    labels: tuple[str, ...]
    given: tuple[Given, ...]
    systems: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Permutation:
    """Another way to pair the systems that fits far better: original system → the name it has in the
    repeat."""

    repeat: str
    names: tuple[tuple[str, str], ...]
    r_as_named: float
    r_permuted: float

    def sentence(self) -> str:
        """Return the warning."""
        swaps = ", ".join(f"{a} ↔ {b}" for a, b in self.names)
        return (
            f"The scores match a permutation of the system names: with {swaps} (original ↔ {self.repeat}) "
            f"the correlation would be {self.r_permuted:.2f} instead of {self.r_as_named:.2f}. Check whether "
            "labels were swapped; if so, rename them with --map."
        )


def match_sources(
    sources: Sequence[Source], systems: Mapping[str, str], criteria: Mapping[str, str]
) -> tuple[tuple[MatchedCriterion, ...], tuple[str, ...]]:
    """Return the criteria that the original shares with a repeat, and notes on what is left out.

    ``systems`` and ``criteria`` say what a name of the original is called in the repeats. Names that differ
    only in capitals, blanks, hyphens and underscores are taken as the same, and a note says so.
    """
    here, there = ([given for one in some for given in one.given] for some in (sources[:1], sources[1:]))
    to_system = _turn(
        systems, {s for g in here for s in g.systems}, {s for g in there for s in g.systems}, "system"
    )
    to_criterion = _turn(criteria, {g.name for g in here}, {g.name for g in there}, "criterion")
    notes: list[str] = []
    table: dict[str, list[tuple[str, Given]]] = {given.name: [(sources[0].label, given)] for given in here}
    for source in sources[1:]:
        renamed = [_renamed(given, given.name, to_system, to_criterion) for given in source.given]
        names = _align([given.name for given in renamed], list(table), "criterion", source.label, notes)
        names = _pair_only(names, [given.name for given in renamed], list(table), source.label, notes)
        for given in renamed:
            if given.name in names:
                table[names[given.name]].append((source.label, replace(given, name=names[given.name])))
            else:
                notes.append(f"Criterion {given.name!r} is only in {source.label}: left out.")
    notes += [
        f"Criterion {name!r} is only in the original: left out."
        for name, row in table.items()
        if len(row) == 1
    ]
    shared = {name: row for name, row in table.items() if len(row) > 1}
    if not shared:
        raise BadReproduction(_nothing_shared(list(table), sources))
    found, failed = [], list[BadReproduction]()
    for name, row in shared.items():
        try:
            found.append(_match_systems(name, row))
        except BadReproduction as error:
            failed.append(error)
            notes.append(f"Criterion {name!r} is left out. {error}")
    if not found:
        raise failed[0]
    return tuple(found), tuple(notes)


def find_permutation(
    original: Floats, repeat: Floats, systems: Sequence[str], label: str
) -> Permutation | None:
    """Return the pairing of names that fits far better than the names themselves, if there is one.

    ``original`` and ``repeat`` have criteria as rows and systems as columns. The best of all permutations is
    found as an assignment (Kuhn 1955), on the scores themselves and, with several criteria, on their pattern
    alone. Some permutation always fits better where a repeat failed, so it must fit four times better, the
    names must fit badly, and unrelated scores must seldom (1 % of draws) fit as well under their own best
    permutation.
    """
    r = _correlate(_spread(original), _spread(repeat))
    if original.shape[1] < 2 or not r < UNLIKE:
        return None
    for kind in ("levels", "pattern") if len(original) > 1 else ("levels",):
        a, b = _prepare(original, repeat, kind)
        as_named, order = float(((a - b) ** 2).sum()), _assign(a, b)
        best = float(((a - b[:, order]) ** 2).sum())
        moved = [place for place, other in enumerate(order) if place != other]
        if not moved or best * FAR_BETTER > as_named or _chance(a, b, best) > RARE:
            continue
        names = tuple((systems[place], systems[order[place]]) for place in moved)
        permuted = _correlate(_spread(original), _spread(repeat[:, order]))
        return Permutation(label, names, r, permuted)
    return None


def _prepare(original: Floats, repeat: Floats, kind: str) -> tuple[Floats, Floats]:
    """Return both studies in units in which criteria count equally: of each criterion, or of each study."""
    if kind == "levels":
        unit = np.sqrt((original.var(axis=1) + repeat.var(axis=1)) / 2 + 1e-300)[:, None]
        return original / unit, repeat / unit
    return _spread(original), _spread(repeat)


def _spread(scores: Floats) -> Floats:
    """Return scores with mean 0 and standard deviation 1 over all cells."""
    sd = float(scores.std())
    turned: Floats = (scores - scores.mean()) / (sd or 1.0)
    return turned


def _correlate(a: Floats, b: Floats) -> float:
    return float((a * b).mean())


def _assign(a: Floats, b: Floats) -> NDArray[np.intp]:
    """Return for each system of a the system of b that makes the total squared distance least."""
    from scipy.optimize import linear_sum_assignment

    cost = ((a[:, :, None] - b[:, None, :]) ** 2).sum(axis=0)
    order: NDArray[np.intp] = linear_sum_assignment(cost)[1]
    return order


def _chance(a: Floats, b: Floats, best: float) -> float:
    """Return how often unrelated scores of the same mean and spread fit as well under their best
    permutation."""
    rng = stream(1, "permutation")
    mean, sd = b.mean(axis=1, keepdims=True), b.std(axis=1, keepdims=True)
    reached = 0
    for _ in range(DRAWS):
        drawn = mean + sd * rng.standard_normal(b.shape)
        reached += float(((a - drawn[:, _assign(a, drawn)]) ** 2).sum()) <= best
    return (reached + 1) / (DRAWS + 1)


def _renamed(given: Given, name: str, systems: Mapping[str, str], criteria: Mapping[str, str]) -> Given:
    mapping = {old: systems[old] for old in given.systems if old in systems}
    merged = [mapping.get(old, old) for old in given.systems]
    if twice := sorted({new for new in merged if merged.count(new) > 1}):
        raise BadReproduction(
            f"On {name!r} renaming gives two systems the name {twice[0]!r}. Give each a different name."
        )
    return given.rename(criteria.get(name, name), mapping)


def _match_systems(criterion: str, row: Sequence[tuple[str, Given]]) -> MatchedCriterion:
    """Return the criterion with the systems that all studies have, named as in the original."""
    notes: list[str] = []
    known = list(row[0][1].systems)
    given = [row[0][1]]
    for label, one in row[1:]:
        names = _align(list(one.systems), known, "system", f"{label}, on {criterion}", notes)
        given.append(one.rename(one.name, {old: new for old, new in names.items() if old != new}))
    common = [name for name in known if all(name in one.systems for one in given)]
    if not common:
        raise BadReproduction(_no_system(criterion, [label for label, _ in row], given))
    for (label, _), one in zip(row, given, strict=True):
        if alone := [name for name in one.systems if name not in common]:
            notes.append(
                f"On {criterion}, {', '.join(alone)} of {label} {_is(alone)} not in every study: left out."
            )
    return MatchedCriterion(
        criterion, tuple(label for label, _ in row), tuple(given), tuple(common), tuple(notes)
    )


def _align(names: list[str], known: list[str], kind: str, label: str, notes: list[str]) -> dict[str, str]:
    """Return what each name is called in the original: itself, or the only one that differs only in
    form."""
    found = {}
    for name in names:
        if name in known:
            found[name] = name
            continue
        alike = [other for other in known if _plain(other) == _plain(name) and other not in names]
        rivals = [other for other in names if _plain(other) == _plain(name)]
        if len(alike) == 1 and len(rivals) == 1:
            found[name] = alike[0]
            notes.append(f"{kind.capitalize()} {name!r} of {label} is taken as {alike[0]!r}.")
    return found


def _pair_only(
    names: dict[str, str], here: list[str], known: list[str], label: str, notes: list[str]
) -> dict[str, str]:
    """Return the pairing, including two tables with one criterion each of which one does not name it."""
    if names or len(here) != 1 or len(known) != 1 or WHOLE not in (here[0], known[0]):
        return names
    notes.append(f"The only criterion of {label}, {here[0]!r}, is taken as the original's {known[0]!r}.")
    return {here[0]: known[0]}


def _turn(
    names: Mapping[str, str], originals: set[str], repeats: set[str], kind: Literal["system", "criterion"]
) -> dict[str, str]:
    """Return the original's name for each name of the repeats; a pair written the other way round is
    understood."""
    option = "--map" if kind == "system" else "--match"
    turned = {}
    for first, second in names.items():
        a, b = first, second
        if (a not in originals or b not in repeats) and b in originals and a in repeats:
            a, b = b, a
        for name, known, whose in ((a, originals, "the original"), (b, repeats, "the repeats")):
            if name not in known:
                raise UnknownName(
                    f"{option} takes ORIGINAL=REPEAT, and no {kind} of {whose} is called {name!r}. "
                    f"{did_you_mean(name, known)}"
                )
        turned[b] = a
    return turned


def _nothing_shared(known: list[str], sources: Sequence[Source]) -> str:
    others = {one.label: [given.name for given in one.given] for one in sources[1:]}
    lists = "; ".join(f"{label} has {quoted(names, 8)}" for label, names in others.items())
    hint = suggest(nearest(next(iter(others.values()))[0], known))
    return (
        f"The studies have no criterion in common: the original has {quoted(known, 8)}; {lists}.{hint} "
        "Say which is which with --match ORIGINAL=REPEAT."
    )


def _no_system(criterion: str, labels: Sequence[str], given: Sequence[Given]) -> str:
    lists = "; ".join(
        f"{label} has {quoted(one.systems, 8)}" for label, one in zip(labels, given, strict=True)
    )
    hint = suggest(nearest(given[1].systems[0], given[0].systems)) if given[1].systems else ""
    return (
        f"The studies have no system in common on {criterion!r}: {lists}.{hint} Say which is which with "
        "--map ORIGINAL=REPEAT, once for each."
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-]+", "", name.casefold())


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
