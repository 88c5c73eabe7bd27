"""Files of judges' scores, each in the form it comes in, as one long frame.

Long (one row per judge and output, or pair), wide (a column per judge), metric files of mt-metrics-eval
(``.seg.score``: system and score on each line, segments in order), or columns of a ratings table that were
named as judges. The file is one of judges because the user says so: nothing here guesses whether it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.errors import BadFile, BadRatings, did_you_mean, list_shortly
from panelist.core.prose import count, listing, quoted
from panelist.core.tables.cells import read_identifiers
from panelist.core.tables.columns import find_role
from panelist.core.tables.frames import read_frame
from panelist.core.tables.ratings import Ratings
from panelist.core.tables.readers import Raw, read_table
from panelist.judges.answers import NO_ANSWER

SEGMENTS = ".seg.score"
JUDGE_NAMES = ("judge", "judge_id", "judge_name", "metric", "metric_name")
METRIC_NAMES = ("metric", "metric_name")
ABOUT = ("model", "instrument", "date", "family", "settings", "tuned")
"""Columns about the judge itself: its version, the hash of its prompt, when it was asked, its family, its
settings, and on what its prompt was tuned."""
ANSWERS = ("rating", "score", "value", "choice", "winner", "answer")
SIDES = ("system_a", "system_b")
OTHERS = ("sample", "order", "first", *ABOUT, "confidence", NO_ANSWER)
NOT_SCORES = ("words", "words_a", "words_b", "length", "position", "seconds", "trial", "list", "occasion")
"""Numbers beside the scores of a wide table that are no judge's."""


@dataclass(frozen=True, eq=False)
class LongScores:
    """A long frame by our names (judge, item, system or both sides, criterion, answer, …), as it was read."""

    frame: pd.DataFrame
    source: str
    decimal: str = "."
    notes: tuple[str, ...] = ()
    metrics: bool = False  # the table calls them metrics, which have a scale of their own

    @property
    def pairs(self) -> bool:
        """Whether each row is a pair of systems."""
        return SIDES[0] in self.frame


def read_long(source: Any) -> LongScores:
    """Return the scores in a file or frame, in whichever of the forms it has them."""
    if isinstance(source, str | Path):
        path = Path(source)
        if path.name.casefold().endswith(SEGMENTS):
            return _read_segments(path)
        raw, origin = read_table(path), str(source)
    else:
        raw, origin = read_frame(source)
    plain = {str(name).strip().casefold().replace(" ", "_"): str(name) for name in raw.frame.columns}
    names = _name_columns(plain, origin)
    if "judge" in names:
        return _take_long(raw, names, plain, origin)
    return _take_wide(raw, names, origin)


def take_columns(ratings: Ratings, judges: Sequence[str]) -> LongScores:
    """Return the scores in those columns of a ratings table that are a judge each."""
    frame, wanted = ratings.frame, list(dict.fromkeys(judges))
    for name in wanted:
        if name not in frame:
            raise BadRatings(
                f"{ratings.source} has no column {name!r} to read as a judge. "
                f"{did_you_mean(name, frame.columns)}"
            )
    ratings.require("item", "system")
    keys = [name for name in ("item", "system", "criterion") if name in frame]
    parts = []
    for name in wanted:
        part = frame[[*keys, name]].rename(columns={name: "answer"}).assign(judge=name)
        part = part[part["item"].notna() & part["system"].notna()]
        said = part.dropna(subset="answer").drop_duplicates()
        if (twice := said.duplicated(keys)).any():
            row = said[twice].iloc[0]
            raise BadRatings(
                f"The judge column {name!r} of {ratings.source} has two scores for item {row['item']!r} of "
                f"system {row['system']!r}. A judge's column repeats one score in every row of an output."
            )
        empty = part[keys].drop_duplicates().merge(said[keys], how="left", indicator=True)
        silent = empty[empty["_merge"] == "left_only"][keys].assign(judge=name, answer=None)
        parts.append(pd.concat([said, silent], ignore_index=True) if len(silent) else said)
    note = f"{listing(wanted, None)} in {ratings.source}: read as judges, as asked"
    return LongScores(pd.concat(parts, ignore_index=True), ratings.source, notes=(note,))


def join_long(parts: Sequence[LongScores]) -> LongScores:
    """Return several tables as one; judges must not share a name, and all rows must be of one kind."""
    if len(parts) == 1:
        return parts[0]
    if len({one.pairs for one in parts}) > 1:
        raise BadRatings(
            "Some of the judges' tables hold scores and others pairs: analyse one kind at a time."
        )
    seen: dict[str, str] = {}
    for one in parts:
        for name in one.frame["judge"].dropna().unique():
            if name in seen:
                raise BadRatings(
                    f"The judge {name!r} is in {seen[name]} and in {one.source}: give each judge one name."
                )
            seen[str(name)] = one.source
    frames = [
        one.frame.assign(answer=one.frame["answer"].astype(str).str.replace(",", "."))
        if one.decimal == ","
        else one.frame
        for one in parts
    ]
    return LongScores(
        pd.concat(frames, ignore_index=True),
        listing([one.source for one in parts]),
        notes=tuple(note for one in parts for note in one.notes),
        metrics=all(one.metrics for one in parts),
    )


def _name_columns(plain: dict[str, str], origin: str) -> dict[str, str]:
    """Return our name of each column that has a meaning in a judges table → its name in the file."""
    names: dict[str, str] = {}
    for known in (*JUDGE_NAMES, *SIDES, *OTHERS, "item", "system", "criterion"):
        role = "judge" if known in JUDGE_NAMES else known
        if known in plain and role not in names:
            names[role] = plain[known]
    for word, name in plain.items():
        role = find_role(word) or ""
        if role in ("item", "criterion") and role not in names:
            names[role] = name
    if "system" not in names and SIDES[0] not in names:
        for word in ("system_name", "system_id", "model_name", "model"):
            if word in plain:
                names["system"] = plain[word]
                names.pop("model", None)
                break
    sides = SIDES[0] in names and SIDES[1] in names
    lacking = [name for name in ("item", *(() if sides else ("system",))) if name not in names]
    if lacking:
        raise BadRatings(
            f"{origin} has no {' and no '.join(map(repr, lacking))} column; its columns are "
            f"{list_shortly(plain.values())}. A judges table has judge, item, system, criterion and rating "
            "(for pairs judge, item, system_a, system_b, criterion and choice), or item, system and a column "
            "of scores for each judge."
        )
    return names


def _take_long(raw: Raw, names: dict[str, str], plain: dict[str, str], origin: str) -> LongScores:
    sides = SIDES[0] in names
    order = ("choice", "winner", "rating", "answer") if sides else ANSWERS
    answer = next(
        (plain[name] for name in order if name in plain and plain[name] not in names.values()), None
    )
    if answer is None:
        raise BadRatings(
            f"{origin} names judges but has no column with their answers; its columns are "
            f"{list_shortly(plain.values())}. Call it {'choice' if sides else 'rating'}."
        )
    frame = raw.frame[[*names.values(), answer]].set_axis([*names, "answer"], axis=1)
    notes = [*raw.notes]
    if names["judge"] != "judge":
        notes.append(f"column {names['judge']} of {origin} is read as the judge")
    metric = names["judge"].strip().casefold().replace(" ", "_") in METRIC_NAMES
    return LongScores(_identify(frame, origin), origin, raw.decimal, tuple(notes), metric)


def _take_wide(raw: Raw, names: dict[str, str], origin: str) -> LongScores:
    """Return a table with a column for each judge in the long form."""
    if SIDES[0] in names:
        raise BadRatings(f"{origin} has pairs but no column judge that says whose answers they are.")
    keys = {role: names[role] for role in ("item", "system", "criterion", "sample") if role in names}
    beside = {names[role] for role in OTHERS if role in names}
    judges, texts = list[str](), list[str]()
    for name in raw.frame.columns:
        word = str(name).strip().casefold()
        if name in {*keys.values(), *beside} or word in NOT_SCORES or find_role(word) == "rater":
            continue
        column = raw.frame[name]
        number = pd.to_numeric(column.astype(str).str.replace(",", "."), errors="coerce")
        (judges if number.notna().any() else texts).append(str(name))
    if not judges:
        raise BadRatings(
            f"{origin} has no column judge or metric, and no other column of numbers that could be a judge's "
            f"scores; its columns are {list_shortly(raw.frame.columns)}."
        )
    kept = raw.frame[list(keys.values())].set_axis(list(keys), axis=1)
    parts = [kept.assign(judge=name, answer=raw.frame[name].to_numpy()) for name in judges]
    notes = [*raw.notes, f"{origin} has no column judge: {quoted(judges, None)} are read as one judge each"]
    if texts:
        notes.append(f"{quoted(texts)} of {origin} hold no numbers and are left out")
    whole = pd.concat(parts, ignore_index=True)
    return LongScores(_identify(whole, origin), origin, raw.decimal, tuple(notes))


def _identify(frame: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Return the frame with its names as text; rows without one of them are refused."""
    keys = [name for name in ("judge", "item", "system", *SIDES, "criterion") if name in frame]
    made = frame.assign(**{name: read_identifiers(frame[name]) for name in keys})
    for name in (name for name in keys if name != "criterion"):
        if gaps := int(made[name].isna().sum()):
            row = int(np.flatnonzero(made[name].isna())[0]) + 1
            raise BadRatings(
                f"{origin} has {count(gaps, 'row')} without {name!r}, the first of them row {row}."
            )
    return made


def _read_segments(path: Path) -> LongScores:
    """Return a metric's scores of segments: lines of system and score, tab-separated, segments in order."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from None
    rows = [line.split("\t") if "\t" in line else line.split() for line in lines if line.strip()]
    if not rows:
        raise BadFile(f"{path} is empty; a {SEGMENTS} file has a system and a score on each line.")
    if bad := next((at for at, row in enumerate(rows) if len(row) != 2), None):
        raise BadFile(f"{path}: line {bad + 1} has {len(rows[bad])} fields, not a system and a score.")
    frame = pd.DataFrame(rows, columns=["system", "answer"])
    frame["item"] = (frame.groupby("system", observed=True).cumcount() + 1).astype(str)
    frame["judge"] = path.name[: -len(SEGMENTS)]
    counts = frame["system"].value_counts()
    if counts.min() < counts.max():
        raise BadFile(
            f"{path}: {counts.index[0]!r} has {counts.iloc[0]:,} segments and {counts.index[-1]!r} "
            f"{counts.iloc[-1]:,}. Every system must have a line for each segment, None where there is no "
            "score."
        )
    note = f"segments of {path} have no names: items are numbered 1 to {counts.iloc[0]:,}, in their order"
    long = LongScores(frame, str(path), notes=(note,), metrics=True)
    return replace(long, frame=_identify(frame, str(path)))
