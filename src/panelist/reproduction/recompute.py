"""The original recomputed from its raw data and compared with what was printed, under every suitable rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from panelist.core.errors import BadReproduction, PanelistError, did_you_mean
from panelist.reproduction.aggregate import AGGREGATIONS, aggregate, find_named, list_suitable, usable_rows
from panelist.reproduction.sources import Given

MOST_DECIMALS = 6


@dataclass(frozen=True)
class RecomputedScore:
    """One system: what was printed (None where it was not), and its score by every rule, in their order."""

    system: str
    printed: float | None
    scores: tuple[float, ...]
    agrees: tuple[bool, ...]


@dataclass(frozen=True)
class Recomputation:
    """One criterion: the rules tried (those the study names first), and each system's scores by them.

    ``best`` is the rule that reproduces most of the printed scores, ``decimals`` how precisely they were
    printed.
    """

    criterion: str
    rules: tuple[str, ...]
    named: tuple[str, ...]
    best: str
    decimals: int
    systems: tuple[RecomputedScore, ...]
    notes: tuple[str, ...] = ()

    @property
    def unlike(self) -> tuple[RecomputedScore, ...]:
        """The systems whose printed score the best rule does not give."""
        place = self.rules.index(self.best)
        return tuple(one for one in self.systems if one.printed is not None and not one.agrees[place])

    def sentence(self) -> str:
        """Return how far the printed scores follow from the raw data."""
        place = self.rules.index(self.best)
        n = sum(one.printed is not None for one in self.systems)
        if not n:
            rules = ", ".join(self.named)
            return f"On {self.criterion}, the original's scores by the rules that it names: {rules}."
        words = (
            f"On {self.criterion}, {n - len(self.unlike)} of {n} printed scores follow from the raw data by "
            f"{self.best}"
        )
        if not self.unlike:
            return f"{words}."
        listed = "; ".join(
            f"{one.system}: {one.printed:g} printed, {_write(one.scores[place], self.decimals)} from the data"
            for one in self.unlike
        )
        return f"{words}. Exceptions: {listed}."


def recompute(
    given: Given, printed: Mapping[str, float], named: str = "", yes: Sequence[float] = (1,)
) -> Recomputation:
    """Return the original's scores by every rule that suits its answers, with what was printed."""
    if given.rows is None:
        raise BadReproduction(
            "What was printed is compared with raw data, and only scores of the original were given. "
            "Give its raw ratings as ORIGINAL."
        )
    unknown = [name for name in printed if name not in given.systems]
    if unknown and not set(printed) & set(given.systems):
        raise BadReproduction(
            f"The printed table has no system of the original on {given.name!r}: "
            f"{did_you_mean(unknown[0], given.systems)}"
        )
    decimals = _count_decimals(list(printed.values()))
    table: dict[str, dict[str, float]] = {}
    notes = [f"{', '.join(unknown)} is printed, but not among the raw data."] if unknown else []
    for name in list_suitable(given, named):
        try:
            table[name], found = aggregate(given, AGGREGATIONS[name], yes)
        except PanelistError as error:
            notes.append(f"{name}: {error}")
            continue
        notes += found
    if not table:
        raise BadReproduction(
            f"No score of {given.name!r} can be computed from the raw data. {' '.join(notes)}"
        )
    rows = tuple(
        _set_against(
            system,
            printed.get(system),
            [scores.get(system, float("nan")) for scores in table.values()],
            decimals,
        )
        for system in given.systems
    )
    rules = tuple(table)
    hits = [sum(row.agrees[place] for row in rows) for place in range(len(rules))]
    best = rules[hits.index(max(hits))]
    notes += _try_strays(given, printed, best, yes, max(hits), decimals)
    words = tuple(name for name in find_named(named) if name in rules)
    return Recomputation(given.name, rules, words, best, decimals, rows, tuple(dict.fromkeys(notes)))


def _try_strays(
    given: Given, printed: Mapping[str, float], best: str, yes: Sequence[float], hits: int, decimals: int
) -> list[str]:
    """Return a note where other values, counted as yes, reproduce more printed scores."""
    if AGGREGATIONS[best].suits != "binary":
        return []
    values = usable_rows(given)[0]["rating"].unique().tolist()
    strays = sorted(float(value) for value in values if value not in (0, *yes))
    if not strays:
        return []
    scores, _ = aggregate(given, AGGREGATIONS[best], (*yes, *strays))
    again = sum(
        any(_set_against(name, printed[name], [scores[name]], decimals).agrees)
        for name in printed
        if name in scores
    )
    if again <= hits:
        return []
    words = " and ".join(f"{value:g}" for value in strays)
    return [
        f"With the answer {words} counted as yes, {again} printed scores follow by {best} instead of {hits}."
    ]


def _set_against(
    system: str, printed: float | None, scores: Sequence[float], decimals: int
) -> RecomputedScore:
    half = 0.5 * 10.0**-decimals * (1 + 1e-9)
    agrees = tuple(
        printed is not None and not isnan(score) and abs(score - printed) <= half for score in scores
    )
    return RecomputedScore(system, printed, tuple(scores), agrees)


def _count_decimals(values: Sequence[float]) -> int:
    """Return the decimals of the most precisely printed score.

    >>> _count_decimals([56, 68.5, 48.25])
    2
    """
    for decimals in range(MOST_DECIMALS):
        if all(abs(round(value, decimals) - value) < 1e-9 for value in values):
            return decimals
    return MOST_DECIMALS


def _write(score: float, decimals: int) -> str:
    return (
        f"{score:.{max(decimals, 1)}f}".rstrip("0").rstrip(".") if decimals < 2 else f"{score:.{decimals}f}"
    )
