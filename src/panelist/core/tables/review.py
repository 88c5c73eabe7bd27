"""What to know about a ratings table before any analysis: simulated rows, copies, placeholder raters.

Everything works on codes instead of names, so that the review costs next to nothing.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.tables.cells import code_identifiers, is_blank, is_set
from panelist.core.tables.columns import SIMULATED

DROPS = ("invalid", "placeholders", "duplicates")
PLACEHOLDERS = frozenset(
    {"na", "n/a", "nan", "none", "null", "missing", "unknown", "anonymous", "anon"}
    | {"test", "dummy", "-1", "?", "-"}
)
KEPT = "kept unless a study excludes them; --drop placeholders leaves them out"
UNKNOWN_RATERS = (
    "the column rater is empty: the raters are unknown, so the correlation of ratings by one rater cannot be "
    "taken into account (differences may look surer than they are), and nothing that distinguishes raters is "
    "computed"
)
LEAST_ALONE = 10  # this many ratings of one value make a rater whom nobody can check worth a note
MOST_POSITIONS = 6
LEAST_OUTPUTS = 50  # ratings in every position before complete columns are worth a note
_OUTPUT = ("item", "system", "turn", "criterion", "occasion", "trial")
# What may distinguish two ratings of one item and system.
_APART = ("system_a", "system_b", "text", "output", "sample")
_POSITION = re.compile(
    r"((?:annotator|rater|judge|coder|evaluator|assessor|worker|turker|expert|ann|a)?[ _-]?)(0|[1-9]\d*)",
    re.IGNORECASE,
)

Bools: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.intp]


class Coded(NamedTuple):
    """A column of names as numbers, -1 where missing, and the name that each number stands for."""

    codes: Numbers
    names: list[str | None]

    @property
    def n_missing(self) -> int:
        """How many cells have no name."""
        nameless = [-1, *(place for place, name in enumerate(self.names) if name is None)]
        return int(sum(np.count_nonzero(self.codes == place) for place in nameless))


def check_drops(drop: str | Iterable[str]) -> frozenset[str]:
    """Return what is to be left out, once every name in it is checked."""
    asked = frozenset([drop] if isinstance(drop, str) else drop)
    for word in sorted(asked):
        if word not in DROPS:
            raise UnknownName(f"Nothing called {word!r} can be left out. {did_you_mean(word, DROPS)}")
    return asked


def is_placeholder(name: str | None) -> bool:
    """Return whether a name is a placeholder and not a person.

    >>> is_placeholder("N/A"), is_placeholder("-1"), is_placeholder("Nadia"), is_placeholder("0")
    (True, True, False, False)
    """
    return name is not None and name.strip().casefold() in PLACEHOLDERS


def drop_unknown(frame: pd.DataFrame, notes: list[str]) -> tuple[pd.DataFrame, frozenset[str]]:
    """Return the table without a column of raters that is empty throughout, and what is then absent.

    An import uses it to say that the raters are unknown.
    """
    if "rater" not in frame or not is_blank(frame["rater"]):
        return frame, frozenset()
    notes.append(UNKNOWN_RATERS)
    return frame.drop(columns="rater"), frozenset({"rater"})


def count_gaps(frame: pd.DataFrame, name: str) -> int:
    """Return how many rows lack a value that they should have.

    Where a study both compares and rates, comparisons have no rating and ratings no trial: what no row of a
    criterion has is not missing there.
    """
    missing = frame[name].isna()
    if name == "rating" and missing.all() and "choice" in frame and not frame["choice"].isna().all():
        return 0  # choices alone
    if name in ("rating", "trial") and "criterion" in frame and not missing.all():
        missing &= frame["criterion"].isin(frame.loc[~missing, "criterion"].unique())
    return int(missing.sum())


def count_simulated(frame: pd.DataFrame) -> int:
    """Return how many rows are marked as simulated."""
    return int(is_set(frame[SIMULATED]).sum()) if SIMULATED in frame else 0


def say_simulated(simulated: int, n: int) -> str:
    """Return the words that go with every result from simulated ratings; nothing where there are none."""
    if not simulated:
        return ""
    if simulated == n:
        return f"Simulated ratings: not data from people (all {n:,} rows are marked as simulated)"
    counts = f"{simulated:,} of {n:,} rows are simulated, {n - simulated:,} are not"
    return f"Simulated ratings among the data: {counts}"


def review_rows(
    frame: pd.DataFrame, drop: frozenset[str] = frozenset(), coded: Mapping[str, Coded] | None = None
) -> tuple[Bools | None, list[str]]:
    """Return which rows stay (None: all), and what to know about them, simulated ratings first.

    ``coded`` holds columns that are numbered already.
    """
    known, here = dict(coded or {}), set(frame.columns.tolist())
    for name in ("rater", *_OUTPUT):
        if name in here and name not in known:
            known[name] = Coded(*code_identifiers(frame[name])[1:])
    notes: list[str] = []
    kept = np.ones(len(frame), dtype=bool)
    if "rater" in known:
        output = _join([known[name] for name in _OUTPUT if name in known], len(frame))
        kept, notes = _review_raters(frame, known["rater"], output, "placeholders" in drop)
        if "item" in known:
            kept, found = _review_copies(frame, known["rater"], output, kept, "duplicates" in drop)
            notes += found
    count = count_simulated(frame[kept]) if SIMULATED in here else 0
    simulated = say_simulated(count, int(kept.sum()))
    return (None if kept.all() else kept), [*([simulated] if simulated else []), *notes]


def _join(columns: list[Coded], n: int) -> Numbers:
    """Return one number for each combination."""
    joined = np.zeros(n, dtype=np.intp)
    for column in columns:
        joined = joined * (len(column.names) + 1) + column.codes + 1
    return joined


def _review_raters(
    frame: pd.DataFrame, rater: Coded, output: Numbers, leave_out: bool
) -> tuple[Bools, list[str]]:
    """Return the rows that stay, and who does not look like a person."""
    words = [place for place, name in enumerate(rater.names) if is_placeholder(name)]
    alone = [place for place in _find_alone(frame, rater, output) if place not in words]
    kept = np.ones(len(frame), dtype=bool)
    notes = []
    for places, what in (
        (words, "looks like a placeholder, not a person"),
        (alone, "gave one value throughout to outputs that nobody else rated: perhaps a placeholder"),
    ):
        for place in places:
            rows = rater.codes == place
            done = "left out, as asked" if leave_out else KEPT
            notes.append(
                f"rater {rater.names[place]!r} {what} ({int(rows.sum()):,} of {len(frame):,} rows, {done})"
            )
            if leave_out:
                kept &= ~rows
    if positions := _find_positions(rater, output):
        notes.append(positions)
    return kept, notes


def _find_alone(frame: pd.DataFrame, rater: Coded, output: Numbers) -> list[int]:
    """Return the raters of one value whose outputs nobody else rated, where others share theirs."""
    if "rating" not in frame or len(rater.names) < 3:
        return []
    column = frame["rating"]
    values = (
        column.to_numpy(dtype=np.float64)
        if pd.api.types.is_numeric_dtype(column)
        else np.where(column.isna(), np.nan, pd.factorize(column)[0])
    )
    here = (rater.codes >= 0) & ~np.isnan(values)
    who, values, output = rater.codes[here], values[here], output[here]
    k = len(rater.names)
    low, high = np.full(k, np.inf), np.full(k, -np.inf)
    np.minimum.at(low, who, values)
    np.maximum.at(high, who, values)
    suspects = np.flatnonzero((low == high) & (np.bincount(who, minlength=k) >= LEAST_ALONE))
    if not len(suspects) or len(suspects) == k:
        return []
    of = np.unique(output, return_inverse=True)[1]
    least, most = np.full(of.max() + 1, k), np.full(of.max() + 1, -1)
    np.minimum.at(least, of, who)
    np.maximum.at(most, of, who)
    shared = (least < most)[of]
    mine = np.isin(who, suspects)
    if not shared[~mine].mean() > 0.5:
        return []
    return [int(place) for place in suspects if not shared[who == place].any()]


def _find_positions(rater: Coded, output: Numbers) -> str:
    """Return the note that raters may be columns of a file, not people; no note without good evidence."""
    names = [name for name in rater.names if name is not None]
    k = len(names)
    if not 2 <= k <= MOST_POSITIONS or k < len(rater.names):
        return ""
    found = [_POSITION.fullmatch(name.strip()) for name in names]
    if not all(found):
        return ""
    heads = {match[1].casefold() for match in found if match}
    places = sorted(int(match[2]) for match in found if match)
    if len(heads) > 1 or places not in ([*range(k)], [*range(1, k + 1)]) or rater.codes.min() < 0:
        return ""
    outputs, counts = np.unique(output, return_counts=True)
    pairs = np.unique(output * k + rater.codes)
    if len(outputs) < LEAST_OUTPUTS or (counts != k).any() or len(pairs) != k * len(outputs):
        return ""
    listed = ", ".join(sorted(names))
    return (
        f"the raters {listed} each gave all {len(outputs):,} ratings: these may be positions in the file "
        f"rather than {k} people. If so, who rated what is unknown, and nothing that distinguishes raters "
        "can be believed"
    )


def _review_copies(
    frame: pd.DataFrame, rater: Coded, output: Numbers, kept: Bools, leave_out: bool
) -> tuple[Bools, list[str]]:
    """Return the rows that stay, and how many are copies or repeated ratings."""
    key = output * (len(rater.names) + 1) + rater.codes + 1
    if len(np.unique(key)) == len(key):
        return kept, []
    notes = []
    copies = frame.duplicated().to_numpy() & kept
    if count := int(copies.sum()):
        rows = "1 row is an exact copy" if count == 1 else f"{count:,} rows are exact copies"
        done = "left out, as asked" if leave_out else (
            "agreement counts each once, models count them all; --drop duplicates leaves the copies out"
        )  # fmt: skip
        notes.append(f"{rows} of another row ({done})")
    apart = [frame[name] for name in _APART if name in frame]
    keys = pd.DataFrame({"key": key, **{str(column.name): column for column in apart}}, index=frame.index)
    again = keys.duplicated().to_numpy() & ~copies & kept
    if count := int(again.sum()):
        rows = "1 row rates" if count == 1 else f"{count:,} rows rate"
        notes.append(
            f"{rows} again what the same rater had rated on the same criterion: repeated ratings, of which "
            "agreement takes the first, and models take all"
        )
    return (kept & ~copies if leave_out else kept), notes
