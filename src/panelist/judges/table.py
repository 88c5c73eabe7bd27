"""The judges table: what machines said about outputs, or pairs of them; no answers counted, samples averaged.

A judge is a machine: a model with a prompt, or a metric. It is never a rater, and a judges table is read by
this path alone, because the user named it as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan, sqrt
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd

from panelist.core.display.result import NamedValues, Part, Result, Table
from panelist.core.errors import BadRatings
from panelist.core.prose import count, listing, quoted
from panelist.core.tables.ratings import Ratings
from panelist.judges.answers import NO_ANSWER, OFF_SCALE, REASONS, name_gaps, read_scores, read_winners
from panelist.judges.reading import ABOUT, SIDES, LongScores, join_long, read_long, take_columns

Kind = Literal["scores", "pairs"]
VERSIONS = ("model", "instrument")
"""Columns of which a judge has one value: another model or prompt is another judge."""


@dataclass(frozen=True)
class Samples:
    """Several samples of a judge for the same output: how many, and how far they lie apart.

    ``icc`` is the reliability of one sample, ICC(1), and ``icc_mean`` that of their mean: the judge's own
    consistency, which is not its agreement with people. Samples never count as raters.
    """

    judge: str
    most: int
    sd: float
    icc: float
    icc_mean: float


@dataclass(frozen=True, eq=False)
class JudgeScores(Result):
    """Judges' scores: one row per judge, criterion and output (``item, system, score``).

    Of pairs: one row per judge, criterion, pair and order shown (``item, system_a, system_b, first, score``),
    the score being 1 where system_a won, ½ for a tie. No answer is nan; ``gaps`` counts why, by judge, system
    and reason. Without criteria the scores hold for every criterion.
    """

    frame: pd.DataFrame = field(repr=False)
    kind: Kind
    source: str
    notes: tuple[str, ...] = ()
    gaps: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    samples: tuple[Samples, ...] = ()
    metrics: bool = False
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By judge: what the columns about it say, as far as the table has them."""

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges, sorted."""
        return tuple(sorted(self.frame["judge"].unique()))

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that the table names, sorted; none where its scores hold for all."""
        return tuple(sorted(self.frame["criterion"].dropna().unique())) if "criterion" in self.frame else ()

    def on(self, criterion: str) -> JudgeScores:
        """Return the scores on a criterion: its own, or those of a table that names no criteria."""
        if not self.criteria:
            return self
        rows = self.frame[(self.frame["criterion"] == criterion).to_numpy()]
        return replace(self, frame=rows)

    def count_gaps(self, judge: str, system: str | None = None) -> dict[str, int]:
        """Return how many answers a judge did not give, by reason; of one system where it is named."""
        found = dict.fromkeys(REASONS, 0)
        for (name, of, reason), n in self.gaps.items():
            if name == judge and system in (None, of):
                found[reason] += n
        return {reason: n for reason, n in found.items() if n}

    def title(self) -> str:
        """Return the heading."""
        return f"Judges' scores from {self.source}"

    def parts(self) -> list[Part]:
        """Return what there is of each judge, its samples, and the notes."""
        rows = []
        for judge in self.judges:
            own = self.frame[self.frame["judge"] == judge]
            score = own["score"]
            rows.append((judge, len(own), int(score.isna().sum()), float(score.min()), float(score.max())))
        what = "pairs" if self.kind == "pairs" else "outputs"
        parts: list[Part] = [Table("Judges", ("judge", what, "no answer", "lowest", "highest"), rows)]
        if self.samples:
            parts.append(tabulate_samples(self.samples))
        return [*parts, *([NamedValues([("note", note) for note in self.notes])] if self.notes else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts; the scores themselves are in ``frame``."""
        return {
            "source": self.source,
            "kind": self.kind,
            "judges": self.judges,
            "criteria": self.criteria,
            "n_rows": len(self.frame),
            "no_answers": [
                {"judge": judge, "system": system, "reason": reason, "n": n}
                for (judge, system, reason), n in self.gaps.items()
            ],
            "samples": [vars(one) for one in self.samples],
            "notes": self.notes,
        }


def tabulate_samples(samples: Sequence[Samples]) -> Table:
    """Return how consistent judges are with themselves."""
    return Table(
        "Several samples of an output",
        ("judge", "samples", "SD within an output", "ICC of one", "ICC of the mean"),
        [(one.judge, one.most, one.sd, one.icc, one.icc_mean) for one in samples],
        note="A judge's consistency with itself; it says nothing of its agreement with people.",
        name="samples",
    )


def read_judges(
    source: Any = None, ratings: Ratings | None = None, columns: Sequence[str] = ()
) -> JudgeScores:
    """Return the judges' scores of one or several files or frames, or of columns of a ratings table.

    ``source`` is a path, a frame, a JudgeScores, or a list of paths and frames; ``columns`` are the columns
    of ``ratings`` that hold a judge's scores each.
    """
    if isinstance(source, JudgeScores):
        return source
    several = isinstance(source, list | tuple)
    given = list(source) if several else ([] if source is None else [source])
    parts = [read_long(str(one) if isinstance(one, PathLike) else one) for one in given]
    if columns:
        if ratings is None:
            raise BadRatings("Judge columns are columns of a ratings table, and there is none.")
        parts.append(take_columns(ratings, columns))
    if not parts:
        raise BadRatings(
            "No judge is named. Give a judges table (JUDGES or --judge FILE), or the columns of the ratings "
            "table that hold judges' scores (--judge-columns NAME,…)."
        )
    return _settle(join_long(parts))


def _settle(long: LongScores) -> JudgeScores:
    """Return the table of a long frame: answers read, samples averaged, no answers counted."""
    frame = long.frame
    _check_versions(frame, long.source)
    if long.pairs:
        score, reason = read_winners(frame["answer"], frame[SIDES[0]], frame[SIDES[1]])
    else:
        score, reason = read_scores(frame["answer"], long.decimal)
    if NO_ANSWER in frame:
        reason = name_gaps(reason, frame[NO_ANSWER])
    criterion = ["criterion"] if "criterion" in frame and frame["criterion"].notna().any() else []
    keys = ["judge", *criterion, "item", *(SIDES if long.pairs else ("system",))]
    frame = frame.assign(score=score, reason=reason)
    if criterion and (nameless := int(frame["criterion"].isna().sum())):
        raise BadRatings(
            f"{long.source} has {nameless:,} rows without a criterion among others that name one. Fill it "
            "in, or leave the column out: then the scores hold for every criterion."
        )
    notes = list(long.notes)
    if long.pairs:
        frame, keys = _order_sides(frame, keys)
    gaps, silent = _count_gaps(frame), frame["score"].isna().to_numpy()
    told = frame
    if not long.pairs and "order" in frame:
        frame = _average_orders(frame, keys, notes)
    made, samples = _average(frame, keys, long.source, notes)
    if not made["score"].notna().any():
        raise BadRatings(f"{long.source} holds no score at all: {_say_gaps(Counter(frame['reason']))}.")
    notes += [
        f"{judge} gave no answer {count(sum(own.values()), 'time')}: {_say_gaps(own)}"
        for judge, own in told[silent].groupby("judge", observed=True)["reason"].agg(Counter).items()
    ]
    kind: Kind = "pairs" if long.pairs else "scores"
    return JudgeScores(
        made, kind, long.source, tuple(notes), gaps, samples, long.metrics, _describe_judges(told)
    )


def _average_orders(frame: pd.DataFrame, keys: list[str], notes: list[str]) -> pd.DataFrame:
    """Return one row per output, and sample: of its answers at several places of a page the mean.

    ``order`` is the place of the output among those shown with it.
    """
    once = [*keys, *(["sample"] if "sample" in frame else [])]
    if not frame.duplicated(once).any() or frame.duplicated([*once, "order"]).any():
        return frame
    groups = frame.groupby(once, observed=True, sort=False, dropna=False)
    made = groups.agg(score=("score", "mean"), reason=("reason", "max")).reset_index()
    made.loc[made["score"].notna(), "reason"] = ""
    notes.append("outputs were judged at several places of a page: the mean of the answers counts")
    return made


def _describe_judges(frame: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return what the columns about a judge say of each; of several values the first and the last."""
    found: dict[str, dict[str, str]] = {}
    for name in ABOUT:
        said = frame[["judge", name]].dropna() if name in frame else frame[["judge"]][:0]
        for judge, own in said.groupby("judge", observed=True):
            values = sorted(set(own[name].astype(str).str.strip()) - {""})
            if values:
                ends = dict.fromkeys((values[0], values[-1]))
                found.setdefault(str(judge), {})[name] = " to ".join(ends)
    return found


def _say_gaps(reasons: Mapping[str, int]) -> str:
    return listing([f"{reasons[reason]:,} {reason}" for reason in REASONS if reasons.get(reason)], None)


def _check_versions(frame: pd.DataFrame, source: str) -> None:
    """Raise where a judge was asked by two models or prompts: these are two judges."""
    for name in VERSIONS:
        if name not in frame:
            continue
        several = frame.groupby("judge", observed=True)[name].nunique()
        for judge in several.index[several > 1]:
            values = sorted(map(str, frame.loc[frame["judge"] == judge, name].dropna().unique()))
            raise BadRatings(
                f"In {source} the judge {judge!r} has more than one {name}: {quoted(values)}. A judge with "
                f"another {name} is another judge: give each a name of its own in the column judge."
            )


def _order_sides(frame: pd.DataFrame, keys: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return pairs with their systems in alphabetical order, and which of them was shown first."""
    a, b = (frame[name].astype(str).to_numpy(dtype=object) for name in SIDES)
    swap = a > b
    shown = np.full(len(frame), "", dtype=object)
    if "first" in frame or "order" in frame:
        said = frame["first" if "first" in frame else "order"].astype(object)
        plain = said.where(said.notna(), "").astype(str).str.strip()
        low = plain.str.casefold()
        is_a = (low.isin({"a", "ab", "1", "system_a"}) | (plain == a)).to_numpy()
        is_b = (low.isin({"b", "ba", "2", "system_b"}) | (plain == b)).to_numpy()
        shown = np.where(is_a, np.where(swap, "b", "a"), np.where(is_b, np.where(swap, "a", "b"), ""))
    made = frame.assign(
        system_a=np.where(swap, b, a),
        system_b=np.where(swap, a, b),
        score=np.where(swap, 1 - frame["score"], frame["score"]),
        first=shown,
    )
    return made, [*keys, "first"]


def _count_gaps(frame: pd.DataFrame) -> dict[tuple[str, str, str], int]:
    """Return the number of no answers by judge, system and reason; a pair counts for both its systems."""
    silent = frame[frame["score"].isna()]
    names = [name for name in ("system", *SIDES) if name in frame]
    found: dict[tuple[str, str, str], int] = {}
    for name in names:
        for key, n in silent.groupby(["judge", name, "reason"], observed=True).size().items():
            judge, system, reason = map(str, key)  # type: ignore[call-overload]
            found[judge, system, reason] = found.get((judge, system, reason), 0) + int(n)
    return found


def _average(
    frame: pd.DataFrame, keys: list[str], source: str, notes: list[str]
) -> tuple[pd.DataFrame, tuple[Samples, ...]]:
    """Return one row per output, the mean of its answered samples, and how far samples lie apart."""
    kept = frame[[*keys, "score", "reason", *(["sample"] if "sample" in frame else [])]]
    if not kept.duplicated(keys).any():
        return kept.drop(columns="sample", errors="ignore").reset_index(drop=True), ()
    if "sample" not in kept:
        once = kept.drop_duplicates([*keys, "score"])
        if (twice := once.duplicated(keys)).any():
            row = once[twice].iloc[0]
            raise BadRatings(
                f"In {source} the judge {row['judge']!r} has several scores for item {row['item']!r}"
                + (f" of system {row['system']!r}" if "system" in once else "")
                + ". Where an output was scored several times, number the samples in a column sample."
            )
        _say_copies(len(kept) - len(once), notes)
        return once.reset_index(drop=True), ()
    once = kept.drop_duplicates([*keys, "sample", "score"])
    if (twice := once.duplicated([*keys, "sample"])).any():
        row = once[twice].iloc[0]
        raise BadRatings(
            f"In {source} the judge {row['judge']!r} has several scores for item {row['item']!r} in sample "
            f"{row['sample']}. Number the samples of an output from 1, each number once."
        )
    if len(once) < len(kept):
        _say_copies(len(kept) - len(once), notes)
        kept = once
    groups = kept.groupby(keys, observed=True, sort=False)
    made = groups.agg(score=("score", "mean"), reason=("reason", "max")).reset_index()
    made.loc[made["score"].notna(), "reason"] = ""
    return made, tuple(
        _measure_samples(judge, kept[kept["judge"] == judge], keys)
        for judge in sorted(kept["judge"].unique())
        if (kept["judge"] == judge).sum() > (made["judge"] == judge).sum()
    )


def _say_copies(n: int, notes: list[str]) -> None:
    notes.append(f"{count(n, 'row is a copy and counts', 'rows are copies and count')} once")


def _measure_samples(judge: str, rows: pd.DataFrame, keys: list[str]) -> Samples:
    """Return how consistent the samples of one judge are: one-way analysis of variance by output."""
    said = rows.dropna(subset="score")
    groups = said.groupby(keys, observed=True)["score"]
    n, mean, variance = groups.size(), groups.mean(), groups.var(ddof=1).fillna(0.0)
    k, total, free = len(n), int(n.sum()), int((n - 1).sum())
    if k < 2 or free < 1:
        return Samples(judge, int(n.max()) if k else 0, nan, nan, nan)
    within = float(((n - 1) * variance).sum()) / free
    grand = float((n * mean).sum()) / total
    between = float((n * (mean - grand) ** 2).sum()) / (k - 1)
    size = (total - float((n**2).sum()) / total) / (k - 1)
    share = (between - within) / (between + (size - 1) * within) if between + within > 0 else nan
    mean_share = (between - within) / between if between > 0 else nan
    return Samples(judge, int(n.max()), sqrt(within), share, mean_share)


def refuse_off_scale(scores: JudgeScores, off: Any) -> JudgeScores:
    """Return the table with the rows marked in ``off`` as no answers, counted by their reason."""
    frame = scores.frame.assign(
        score=np.where(off, np.nan, scores.frame["score"]),
        reason=np.where(off, OFF_SCALE, scores.frame["reason"]),
    )
    fresh = _count_gaps(frame[np.asarray(off, dtype=bool)])
    whole = dict(scores.gaps)
    for key, n in fresh.items():
        whole[key] = whole.get(key, 0) + n
    return replace(scores, frame=frame, gaps=whole)
