"""People's ratings and judges' scores of one criterion, set beside each other on items × systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from panelist.analysis.cleaning.usable import count_levels
from panelist.core.errors import BadModel, BadRatings, UnknownName, did_you_mean
from panelist.core.prose import count, inflect, listing, quoted
from panelist.core.tables.ratings import Ratings
from panelist.judges.scale import Points, ScaleMatch, match_scales
from panelist.judges.table import JudgeScores
from panelist.numerics.arrays import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class JudgedRatings:
    """Ratings and scores of one criterion; items and systems are sorted by name.

    ``scores`` has, for each judge, a score for each of the N items × S systems, nan for no answer. ``item``,
    ``system``, ``rater`` and ``y`` are the ratings, one entry each; ``rater`` is -1 where nobody is named.
    Only items that some judge scored are here.
    """

    criterion: str
    items: tuple[str, ...] = field(repr=False)
    systems: tuple[str, ...]
    raters: tuple[str, ...] = field(repr=False)
    item: Longs = field(repr=False)
    system: Longs = field(repr=False)
    rater: Longs = field(repr=False)
    y: Floats = field(repr=False)
    scores: Mapping[str, Floats] = field(repr=False)
    scales: Mapping[str, ScaleMatch] = field(default_factory=dict, repr=False)
    rows: Mapping[str, Bools] = field(default_factory=dict, repr=False)
    """By judge: the outputs, (N, S), of which its table has a row, with a score or without."""
    notes: tuple[str, ...] = ()

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges, in the order of their names."""
        return tuple(self.scores)

    @cached_property
    def counts(self) -> Longs:
        """How many ratings each output has, (N, S)."""
        return self._bin(np.ones(len(self.y))).astype(np.int64)

    @cached_property
    def means(self) -> Floats:
        """People's mean of each output, (N, S), nan where nobody rated it."""
        with np.errstate(invalid="ignore"):
            return self._bin(self.y) / np.where(self.counts > 0, self.counts, np.nan)

    @cached_property
    def labelled(self) -> Bools:
        """Which items have a rating."""
        return np.asarray((self.counts > 0).any(axis=1))

    @cached_property
    def known(self) -> Bools:
        """Which outputs are known to exist, (N, S): people rated them, or some judge has a row."""
        found = self.counts > 0
        for there in self.rows.values():
            found = found | there
        return np.asarray(found)

    def count_lacking(self, judge: str) -> int:
        """Return how many of the known outputs have no row of a judge: these are no answers too."""
        return int((self.known & ~self.rows[judge]).sum()) if judge in self.rows else 0

    def tell_lacking(self, judges: Sequence[str]) -> list[str]:
        """Return in a note, for each of these judges, how many outputs have none of its rows."""
        lacking = {judge: self.count_lacking(judge) for judge in judges}
        return [
            f"{judge} has no row for {count(n, 'output')}: counted as no answers"
            for judge, n in lacking.items()
            if n
        ]

    @property
    def knows_raters(self) -> bool:
        """Whether ratings say who gave them, and by more than one person."""
        return len(self.raters) > 1

    def frame(self) -> pd.DataFrame:
        """Return the ratings as a long frame, as the models take them."""
        names = {"item": self.items, "system": self.systems, "rater": self.raters}
        made = {
            name: np.array(levels, dtype=object)[getattr(self, name)]
            for name, levels in names.items()
            if levels
        }
        return pd.DataFrame({**made, "rating": self.y})

    def only(self, judges: Sequence[str]) -> JudgedRatings:
        """Return the same with these judges alone."""
        for name in judges:
            if name not in self.scores:
                raise UnknownName(f"No judge is called {name!r}. {did_you_mean(name, self.scores)}")
        return replace(self, scores={name: self.scores[name] for name in judges})

    def _bin(self, weights: Floats) -> Floats:
        shape = len(self.items), len(self.systems)
        cell = self.item * shape[1] + self.system
        made = np.bincount(cell, weights=weights, minlength=shape[0] * shape[1])
        return np.asarray(made, dtype=np.float64).reshape(shape)


def check_raters(ratings: Ratings, judges: Sequence[str]) -> list[str]:
    """Raise where a judge is among the raters; return a note where a column ``judge`` names the raters."""
    if "rater" not in ratings.frame:
        return []
    both = sorted(set(judges) & set(ratings.frame["rater"].dropna().astype(str).unique()))
    if both:
        raise BadRatings(
            f"{ratings.source} has ratings by {quoted(both)}, {inflect(len(both), 'a judge', 'judges')} of "
            "the "
            "judges table. A judge is never a rater: leave these rows out of the ratings (--where), or map "
            "the column of the people with --columns rater=NAME."
        )
    if ratings.names.get("judge") == "rater":
        return [f"column judge of {ratings.source} is read as the rater: it must name people"]
    return []


def match_criterion(
    ratings: Ratings, scores: JudgeScores, criterion: str, *, scale: str = "auto", points: Points = None
) -> JudgedRatings:
    """Return ratings and scores of one criterion, or raise with what they lack."""
    if scores.kind == "pairs":
        raise BadModel(f"{scores.source} holds pairs, and {criterion!r} has ratings of single outputs.")
    frame, notes = _usable(ratings, criterion)
    said = scores.on(criterion)
    if said.frame.empty:
        raise BadModel(
            f"{scores.source} has no scores on {criterion!r}; it has {listing(scores.criteria, None)}."
        )
    y = frame["rating"].to_numpy(dtype=np.float64)
    said, scales = match_scales(
        said, y, scale, points.get(criterion) if isinstance(points, Mapping) else points
    )
    notes += [one.note for one in scales.values() if one.note]
    systems = tuple(sorted(frame["system"].astype(str).unique()))
    judged = said.frame[said.frame["system"].isin(systems)]
    if strange := sorted(set(said.frame["system"]) - set(systems)):
        notes.append(f"judges scored {quoted(strange)}, which nobody rated: left out")
    items = tuple(sorted(judged["item"].unique()))
    known = frame["item"].isin(items).to_numpy()
    if not known.any():
        raise BadModel(_say_no_overlap(frame, said, criterion))
    if lost := sorted(frame.loc[~known, "item"].unique()):
        notes.append(
            f"{count(len(lost), 'rated item has', 'rated items have')} no judge's row and "
            f"{inflect(len(lost), 'is', 'are')} left out: {quoted(lost)}"
        )
        frame, y = frame[known], y[known]
    at = _find_places(judged["item"], items), _find_places(judged["system"], systems)
    who, judges = pd.factorize(judged["judge"], sort=True)
    score = judged["score"].to_numpy(dtype=np.float64)
    grids, listed = dict[str, Floats](), dict[str, Bools]()
    for number, judge in enumerate(judges):
        own = who == number
        grid, there = np.full((len(items), len(systems)), np.nan), np.zeros((len(items), len(systems)), bool)
        grid[at[0][own], at[1][own]] = score[own]
        there[at[0][own], at[1][own]] = True
        grids[str(judge)], listed[str(judge)] = grid, there
    raters: tuple[str, ...] = ()
    rater = np.full(len(frame), -1, dtype=np.int64)
    if count_levels(frame, "rater"):
        codes, names = pd.factorize(frame["rater"].astype(str), sort=True)
        raters, rater = tuple(map(str, names)), codes.astype(np.int64)
    return JudgedRatings(
        criterion=criterion,
        items=items,
        systems=systems,
        raters=raters,
        item=_find_places(frame["item"], items),
        system=_find_places(frame["system"], systems),
        rater=rater,
        y=y,
        scores=grids,
        scales=scales,
        rows=listed,
        notes=tuple(notes),
    )


def _find_places(values: pd.Series, names: Sequence[str]) -> Longs:
    """Return where each value stands among the names."""
    index: Any = pd.Index(np.array(names, dtype=object))
    return np.asarray(index.get_indexer(values.to_numpy(dtype=object)), dtype=np.int64)


def _usable(ratings: Ratings, criterion: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rated rows of one criterion, with numbers for ratings and texts for names."""
    ratings.require("rating", "system", "item")
    frame = ratings.frame
    numbers = pd.to_numeric(frame["rating"], errors="coerce")
    if (numbers.isna() & frame["rating"].notna()).any():
        raise BadRatings(f"The ratings of {criterion!r} are words; a judge's scores go beside numbers.")
    frame = frame.assign(rating=numbers)
    full = frame[["rating", "system", "item"]].notna().all(axis=1).to_numpy()
    if not full.any():
        raise BadModel(f"On {criterion!r} nobody rated anything.")
    kept = frame[full].reset_index(drop=True)
    kept = kept.assign(item=kept["item"].astype(str), system=kept["system"].astype(str))
    if not count_levels(kept, "rater"):
        return kept, []
    named = kept["rater"].notna().to_numpy()
    lost = [] if named.all() else [f"{count(int((~named).sum()), 'rating')} without a rater left out"]
    joined, said = _join_repeats(kept[named].reset_index(drop=True))
    return joined, [*lost, *said]


def _join_repeats(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return one rating of each rater and output: of several (turns, occasions) their mean."""
    keys = ["rater", "item", "system"]
    if not frame.duplicated(keys).any():
        return frame, []
    joined = frame.groupby(keys, observed=True, sort=False)["rating"].mean().reset_index()
    return joined, [
        f"{len(frame):,} ratings are {len(joined):,} of a rater and an output: of several (turns, occasions) "
        "the mean counts"
    ]


def _say_no_overlap(frame: pd.DataFrame, scores: JudgeScores, criterion: str) -> str:
    ours, theirs = sorted(frame["item"].unique()), sorted(scores.frame["item"].unique())
    return (
        f"On {criterion!r} no rated output has a judge's score: the ratings have items such as "
        f"{quoted(ours[:3])} of {quoted(sorted(frame['system'].unique())[:3])}, {scores.source} has "
        f"{quoted(theirs[:3])} of {quoted(sorted(scores.frame['system'].unique())[:3])}. Use the same names "
        "in both."
    )
