"""Trials: what raters said about outputs shown side by side, one criterion at a time.

A trial shows m outputs of an item. Each gets a ``place``, a lower one being better, equal ones being ties:
for a pair 0 and 2; for a choice of one 0 for the chosen and 1 for the others; for best-worst 0, 1 and 2; for
a ranking the ranks, where outputs may share one, and those without a rank are below the others. A trial that
says nothing about the order (a tie, "none", "all", no answer) has no places.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from panelist.analysis.choices.pair_files import is_pair_file, read_pairs
from panelist.analysis.choices.ranks import DECIDED as DECIDED
from panelist.analysis.choices.ranks import SILENT, TWICE, are_rankings, read_ranks
from panelist.core.errors import BadModel, BadRatings
from panelist.core.prose import count, inflect
from panelist.numerics.arrays import Bools, Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

    from panelist.core.tables.ratings import Ratings

Kind: TypeAlias = Literal["pairs", "choose-one", "best-worst", "ranking"]
BEST, BETWEEN, WORST = 0.0, 1.0, 2.0
UNDECIDED = ("tie", "none", "all")  # answers that rank nothing, and say so
MOSTLY = 0.8  # the share of full rankings without ties that makes numbers on pages ranks, not ratings


@dataclass(frozen=True, eq=False)
class ChoiceTrials:
    """The trials of one criterion; the arrays ``of_trial``, ``system``, ``place`` go by option shown.

    Options are in the order of trials. ``rater`` and ``item`` have one entry per trial, -1 where unknown;
    ``outcome`` is, for each trial, ``decided``, ``tie``, ``none``, ``all``, ``no answer`` or ``not clear``.
    ``position`` is the place on the page, 0 where unknown. ``grade`` says by how many steps an output is
    better than the other of its pair (below 0: worse, 0: a tie; nan where not said); None without grades.
    ``row`` is the row of the table that each option comes from, counted from 0.
    """

    criterion: str
    kind: Kind
    systems: tuple[str, ...]
    raters: tuple[str, ...] = field(repr=False)
    items: tuple[str, ...] = field(repr=False)
    rater: Longs = field(repr=False)
    item: Longs = field(repr=False)
    outcome: Any = field(repr=False)
    of_trial: Longs = field(repr=False)
    system: Longs = field(repr=False)
    place: Floats = field(repr=False)
    position: Longs = field(repr=False)
    notes: tuple[str, ...] = ()
    grade: Floats | None = field(default=None, repr=False)
    row: Longs = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def sizes(self) -> Longs:
        """How many options each trial shows."""
        return np.bincount(self.of_trial, minlength=len(self)).astype(np.int64)

    def ended(self, *ways: str) -> Bools:
        """Return which trials ended in one of these ways."""
        found = np.zeros(len(self), dtype=np.bool_)
        for way in ways:
            found |= self.outcome == way
        return found

    def counts(self) -> dict[str, int]:
        """Return how many trials ended in which way, the usual ways first, absent ones left out."""
        order = (DECIDED, *UNDECIDED, SILENT, TWICE)
        counted = {name: int((self.outcome == name).sum()) for name in order}
        return {name: n for name, n in counted.items() if n}

    def by_size(self) -> list[tuple[Longs, Longs]]:
        """Return, for each number of options m, the trials that show m and their options, (n, m)."""
        sizes = self.sizes
        starts = np.cumsum(sizes) - sizes
        found = []
        for m in np.unique(sizes).tolist():
            trials = np.flatnonzero(sizes == m)
            found.append((trials, starts[trials][:, None] + np.arange(m)))
        return found

    def list_wins(self) -> tuple[Longs, Longs, Longs]:
        """Return every comparison that follows from an answer: trial, option that won, option that lost.

        The best wins over all others, and all others win over the worst; a ranking decides all pairs.
        """
        trials, winners, losers = [], [], []
        for which, options in self.by_size():
            place = self.place[options]
            for i in range(options.shape[1]):
                for j in range(options.shape[1]):
                    won = place[:, i] < place[:, j]  # false where there is no place
                    trials.append(which[won])
                    winners.append(options[won, i])
                    losers.append(options[won, j])
        return np.concatenate(trials), np.concatenate(winners), np.concatenate(losers)


def holds_choices(frame: pd.DataFrame) -> bool:
    """Return whether these rows are comparisons: choices, pairs in a row, or ranks within trials."""
    if is_pair_file(frame):
        return True
    if "choice" in frame and ("rating" not in frame or _words(frame["choice"]).ne("").any()):
        return True
    if "answer" in frame and "trial" in frame and _words(frame["answer"]).isin(UNDECIDED).any():
        return True
    return _holds_ranks(frame)


def read_trials(ratings: Ratings, criterion: str) -> ChoiceTrials:
    """Return the trials in the rows of one criterion, or raise with what is missing."""
    import pandas as pd

    frame, notes = ratings.frame, list[str]()
    if is_pair_file(frame):
        return _read_pair_trials(frame, criterion)
    if "system" not in frame:
        ratings.require("system")
    kept, lost = _find_named(frame)
    frame = frame[kept]
    notes += lost
    notes += _note_sittings(frame)
    keys = [name for name in ("rater", "item", "occasion", "trial") if name in frame]
    if not keys:
        raise BadRatings(
            f"{ratings.source} has none of the columns trial, rater and item, so it does not say which "
            "outputs were shown together. Give a column trial."
        )
    groups = frame.groupby(keys, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    order = np.argsort(groups, kind="stable")
    frame, of_trial = frame.iloc[order], np.asarray(groups[order], dtype=np.int64)
    _check_trials(frame, of_trial, criterion)
    systems = tuple(sorted(frame["system"].astype(str).unique()))
    first = np.flatnonzero(np.diff(of_trial, prepend=-1))
    heads = frame.iloc[first]
    raters, rater = _number(heads, "rater")
    items, item = _number(heads, "item")
    place, outcome, kind, said = _read_places(frame, of_trial, criterion)
    notes += said
    position = np.zeros(len(frame), dtype=np.int64)
    if "position" in frame:
        position = pd.to_numeric(frame["position"], errors="coerce").fillna(0).to_numpy().astype(np.int64)
    code = {name: at for at, name in enumerate(systems)}
    trials = ChoiceTrials(
        criterion=criterion,
        kind=kind,
        systems=systems,
        raters=raters,
        items=items,
        rater=rater,
        item=item,
        outcome=outcome,
        of_trial=of_trial,
        system=np.array([code[name] for name in frame["system"].astype(str)], dtype=np.int64),
        place=place,
        position=position,
        notes=tuple(notes),
        grade=_read_grades(frame, of_trial, place, criterion) if kind == "pairs" else None,
        row=np.flatnonzero(kept)[order],
    )
    return _check_systems(trials)


def _read_pair_trials(frame: pd.DataFrame, criterion: str) -> ChoiceTrials:
    """Return the trials of a table with a pair in each row: as many as there are rows."""
    pairs = read_pairs(frame, criterion)
    notes = list(pairs.notes)
    named: Bools = np.asarray((pairs.system >= 0).all(axis=1), dtype=np.bool_)
    if not named.all():
        gone = int((~named).sum())
        lost = count(gone, "pair without the name of a system is", "pairs without the name of a system are")
        notes.append(f"{lost} left out.")
        frame = frame.loc[frame.index[named]]
    system, answer, position = pairs.system[named], pairs.answer[named], pairs.position[named]
    notes += _note_sittings(frame)
    raters, rater = _number(frame, "rater")
    items, item = _number(frame, "item")
    outcome = np.array([DECIDED, DECIDED, "tie", SILENT], dtype=object)[answer]
    place = np.full(system.shape, np.nan)
    won = answer < 2
    won &= answer >= 0
    place[won] = np.where(np.arange(2) == answer[won, None], BEST, WORST)
    trials = ChoiceTrials(
        criterion=criterion,
        kind="pairs",
        systems=pairs.systems,
        raters=raters,
        items=items,
        rater=rater,
        item=item,
        outcome=outcome,
        of_trial=np.repeat(np.arange(len(answer)), 2),
        system=system.ravel(),
        place=place.ravel(),
        position=position.ravel(),
        notes=tuple(notes),
        grade=np.column_stack([pairs.grade, -pairs.grade])[named].ravel() if pairs.points else None,
        row=np.repeat(np.flatnonzero(named), 2),
    )
    return _check_systems(trials)


def _note_sittings(frame: pd.DataFrame) -> list[str]:
    if "occasion" in frame and (sittings := len(frame["occasion"].dropna().unique())) > 1:
        return [f"Choices of {sittings} occasions are analysed together."]
    return []


def _find_named(frame: pd.DataFrame) -> tuple[Bools, list[str]]:
    """Return which rows name a system, and how many do not."""
    named = frame["system"].notna().to_numpy() & (_words(frame["system"]) != "").to_numpy()
    gone = int((~named).sum())
    return named, [
        f"{count(gone, 'row without a system is', 'rows without a system are')} left out."
    ] if gone else []


def _check_trials(frame: pd.DataFrame, of_trial: Longs, criterion: str) -> None:
    """Raise where rows of one system and place say that several trials were taken for one."""
    if "trial" not in frame and frame.assign(_trial=of_trial).duplicated(["_trial", "system"]).any():
        raise BadRatings(
            f"On {criterion!r} a rater saw the same item in several trials, and without a column trial they "
            "cannot be separated. Number the trials in a column trial."
        )


def _check_systems(trials: ChoiceTrials) -> ChoiceTrials:
    if len(trials.systems) < 2:
        there = f"only one system, {trials.systems[0]!r}" if trials.systems else "no system"
        raise BadModel(f"On {trials.criterion!r} there is {there}, and a comparison needs at least two.")
    if not np.isfinite(trials.place).any():
        if "tie" in trials.counts():
            return trials
        raise BadModel(
            f"On {trials.criterion!r} no trial was decided: {describe_counts(trials.counts())}. There is "
            "nothing to compare."
        )
    return trials


def describe_counts(counts: dict[str, int]) -> str:
    """Return the outcomes in words: ``597 decided, 3 no answer``."""
    words = {
        "none": '"none"',
        "all": '"all"',
        "tie": inflect(counts.get("tie", 0), "tie"),
        TWICE: "not clear",
        SILENT: "without an answer",
    }
    return ", ".join(f"{n:,} {words.get(name, name)}" for name, n in counts.items())


def _read_places(frame: pd.DataFrame, of_trial: Longs, criterion: str) -> tuple[Floats, Any, Kind, list[str]]:
    """Return the place of each option, the outcome of each trial, the kind of comparison, and notes."""
    import pandas as pd

    if _holds_ranks(frame) and not ("choice" in frame and _words(frame["choice"]).ne("").any()):
        ranks = frame["rating"].to_numpy(dtype=np.float64, na_value=np.nan)
        return _name_ranks(*read_ranks(ranks, of_trial))
    words = _words(frame["choice"] if "choice" in frame else pd.Series("", index=frame.index))
    if words[words != ""].str.fullmatch(r"\d+(\.0+)?").all() and words.ne("").any():
        ranks = np.array([float(word) if word else np.nan for word in words])
        return _name_ranks(*read_ranks(ranks, of_trial))
    if unknown := sorted(set(words) - {"best", "worst", ""}):
        listed = ", ".join(map(repr, unknown[:4]))
        raise BadRatings(
            f"The choices of {criterion!r} hold {listed}. A choice is 'best', 'worst' or empty, or for a "
            "ranking the rank, 1 the best; ties, none and all are in a column answer."
        )
    return *_settle_words(words.to_numpy(dtype=object), _answers(frame), of_trial), []


def _read_grades(frame: pd.DataFrame, of_trial: Longs, place: Floats, criterion: str) -> Floats | None:
    """Return the grade of each option, or None where the table has none; grade and choice must agree."""
    import pandas as pd

    if "grade" not in frame or not frame["grade"].notna().any():
        return None
    grade = pd.to_numeric(frame["grade"], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    lead = np.where(np.isnan(place), 0.0, np.where(place == BEST, 1.0, -1.0))
    odd = frame["grade"].notna().to_numpy() & (np.sign(grade) != lead)  # nan differs from everything
    sums = np.bincount(of_trial, weights=np.nan_to_num(grade))
    odd |= ((sums != 0) & (np.bincount(of_trial) == 2))[of_trial]
    if odd.any():
        trial = frame[of_trial == of_trial[np.argmax(odd)]]
        cells = trial[[name for name in ("system", "choice", "grade") if name in trial]].to_dict("records")
        raise BadRatings(
            f"On {criterion!r} {int(odd.sum()):,} rows have a grade that does not fit the choice, first in "
            f"{cells}. A grade says by how many steps the system of its row is better than the other: above "
            "0 for the best, as far below 0 for the worst, 0 for both in a tie."
        )
    return grade


def _settle_words(words: Any, answers: Any, of_trial: Longs) -> tuple[Floats, Any, Kind]:
    """Return places, outcomes and kind from the words best and worst."""
    n = int(of_trial[-1]) + 1
    sizes = np.bincount(of_trial, minlength=n)
    best, worst = (np.bincount(of_trial, weights=words == word, minlength=n) for word in ("best", "worst"))
    clear = (best <= 1) & (worst <= 1) & (best + worst > 0) & (sizes > 1)
    outcome = np.where(clear, DECIDED, np.where(best + worst > 0, TWICE, SILENT)).astype(object)
    said = np.full(n, "", dtype=object)
    said[of_trial[::-1]] = answers[::-1]
    for word in UNDECIDED:
        outcome[(best + worst == 0) & (said == word)] = word
    place = np.full(len(words), BETWEEN)
    place[words == "best"], place[words == "worst"] = BEST, WORST
    pair = (sizes == 2)[of_trial]
    place[pair & (place == BETWEEN) & (best > 0)[of_trial]] = WORST  # of two, the other one
    place[pair & (place == BETWEEN) & (worst > 0)[of_trial]] = BEST
    place[~(outcome == DECIDED)[of_trial]] = np.nan
    if (sizes <= 2).all():
        return place, outcome, "pairs"
    return place, outcome, "best-worst" if (worst > 0)[sizes > 2].any() else "choose-one"


def _name_ranks(place: Floats, outcome: Any, notes: list[str]) -> tuple[Floats, Any, Kind, list[str]]:
    return place, outcome, "ranking", notes


def _holds_ranks(frame: pd.DataFrame) -> bool:
    """Return whether the ratings are ranks: up to m, and in nearly every trial each of 1 … m once."""
    import pandas as pd

    if not {"trial", "rating"} <= set(frame.columns) or not pd.api.types.is_numeric_dtype(frame["rating"]):
        return False
    named = _words(frame["trial"]).ne("").to_numpy()  # a rating has no trial, even where other rows have
    rows = frame[named & frame["rating"].notna().to_numpy()]
    keys = [name for name in ("rater", "item", "occasion", "trial") if name in rows]
    if rows.empty:
        return False
    of_trial = rows.groupby(keys, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    order = np.argsort(of_trial, kind="stable")
    ranks = rows["rating"].to_numpy(dtype=np.float64)[order]
    sizes = np.bincount(of_trial)
    several = sizes > 1
    within = (ranks >= 1) & (ranks <= sizes[of_trial[order]]) & (ranks == np.round(ranks))
    if not several.any() or not within[several[of_trial[order]]].all():
        return False
    return bool(are_rankings(ranks, of_trial[order].astype(np.int64))[several].mean() >= MOSTLY)


def _answers(frame: pd.DataFrame) -> Any:
    if "answer" not in frame:
        return np.full(len(frame), "", dtype=object)
    return _words(frame["answer"]).to_numpy(dtype=object)


def _words(column: pd.Series) -> pd.Series:
    """Return a column as lower-case text without outer spaces; missing cells are empty."""
    return column.astype(object).where(column.notna(), "").astype(str).str.strip().str.casefold()


def _number(heads: pd.DataFrame, name: str) -> tuple[tuple[str, ...], Longs]:
    """Return the distinct names of a column, sorted, and each row's place among them, -1 where missing."""
    import pandas as pd

    if name not in heads:
        return (), np.full(len(heads), -1, dtype=np.int64)
    codes, names = pd.factorize(heads[name], sort=True)
    return tuple(map(str, names)), codes.astype(np.int64)
