"""People's and judges' answers about pairs of outputs of one criterion, set beside each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from panelist.analysis.choices.trials import ChoiceTrials, read_trials
from panelist.core.errors import BadModel, BadRatings
from panelist.core.prose import count, inflect, listing, quoted
from panelist.core.tables.ratings import Ratings
from panelist.judges.correct.strengths import PairData
from panelist.judges.table import JudgeScores
from panelist.numerics.arrays import Floats, Longs


def list_people(ratings: Ratings, criterion: str) -> pd.DataFrame:
    """Return people's answers: item, system_a, system_b (alphabetically), rater, score; ½ for a tie."""
    trials = read_trials(ratings, criterion)
    if trials.kind != "pairs":
        raise BadModel(f"On {criterion!r} people did not compare pairs, and a judge's pairs need theirs.")
    if not trials.items:
        raise BadRatings(
            f"{ratings.source} does not name the item of each pair, by which judges are matched."
        )
    rows = np.concatenate([options for _, options in trials.by_size() if options.shape[1] == 2])
    return _score(trials, rows)


def _score(trials: ChoiceTrials, rows: Floats) -> pd.DataFrame:
    names = np.array(trials.systems, dtype=object)
    one, two = rows[:, 0].astype(int), rows[:, 1].astype(int)
    trial = trials.of_trial[one]
    won = np.where(
        trials.place[one] < trials.place[two],
        1.0,
        np.where(trials.place[one] > trials.place[two], 0.0, np.nan),
    )
    won[np.isin(trials.outcome[trial], ("tie", "none", "all"))] = 0.5
    swap = trials.system[one] > trials.system[two]
    raters = np.array([*trials.raters, ""], dtype=object)
    frame = pd.DataFrame(
        {
            "item": np.array([*trials.items, ""], dtype=object)[trials.item[trial]],
            "system_a": names[trials.system[np.where(swap, two, one)]],
            "system_b": names[trials.system[np.where(swap, one, two)]],
            "rater": raters[trials.rater[trial]],
            "score": np.where(swap, 1 - won, won),
        }
    )
    same = frame["system_a"] == frame["system_b"]
    return frame[frame["score"].notna() & ~same].reset_index(drop=True)


def list_judged(scores: JudgeScores, judge: str) -> tuple[pd.DataFrame, int]:
    """Return a judge's score of each pair, the mean of both orders, and how many it did not answer.

    Where a pair was shown in both orders and one has no answer, the pair has none: a single order would
    carry the judge's preference for a position.
    """
    own = scores.frame[(scores.frame["judge"] == judge).to_numpy()]
    groups = own.groupby(["item", "system_a", "system_b"], observed=True)["score"]
    whole = groups.agg(["mean", "count", "size"]).reset_index()
    answered = whole["count"] == whole["size"]
    kept = whole[answered][["item", "system_a", "system_b", "mean"]].rename(columns={"mean": "score"})
    return kept, int((~answered).sum())


def match_pairs(
    ratings: Ratings, scores: JudgeScores, criterion: str, judges: Sequence[str] | None = None
) -> PairData:
    """Return the answers of people and judges about the pairs of one criterion."""
    if scores.kind != "pairs":
        raise BadModel(
            f"On {criterion!r} people compared pairs, and {scores.source} scores single outputs. A judge of "
            "pairs has columns system_a, system_b and choice."
        )
    own = scores.on(criterion)
    if own.frame.empty:
        raise BadModel(
            f"{scores.source} has no answers on {criterion!r}; it has {listing(scores.criteria, None)}."
        )
    people = list_people(ratings, criterion)
    keys, notes = ["item", "system_a", "system_b"], []
    names = tuple(judges or own.judges)
    table: pd.DataFrame | None = None
    asked, lacking = people[keys].drop_duplicates(), list[int]()
    for at, judge in enumerate(names):
        judged, silent = list_judged(own, judge)
        listed = own.frame.loc[(own.frame["judge"] == judge).to_numpy(), keys].drop_duplicates()
        lacking.append(len(asked) - len(asked.merge(listed, on=keys)))
        if lacking[-1]:
            notes.append(f"{judge} has no row for {count(lacking[-1], 'pair')}: counted as no answers")
        if silent:
            notes.append(f"{judge} gave no (full) answer to {count(silent, 'pair')}: left out")
        judged = judged.rename(columns={"score": f"f{at}"})
        table = judged if table is None else table.merge(judged, on=keys)
    assert table is not None, "a judges table has a judge"
    table = table[table["system_a"] != table["system_b"]].sort_values(keys).reset_index(drop=True)
    known = people.merge(table[keys], on=keys)
    if known.empty:
        raise BadModel(
            f"On {criterion!r} no pair that people compared has a judge's answer: the ratings have items "
            "such "
            f"as {quoted(sorted(people['item'].unique())[:3])}, {scores.source} has "
            f"{quoted(sorted(own.frame['item'].unique())[:3])}. Use the same names of items and systems in "
            "both."
        )
    if lost := len(people) - len(known):
        notes.append(
            f"{count(lost, 'answer')} of people about pairs without a judge's answer "
            f"{inflect(lost, 'is', 'are')} left out"
        )
    systems = tuple(sorted({*table["system_a"], *table["system_b"]}))
    items = tuple(sorted(table["item"].unique()))
    raters = tuple(sorted(set(known["rater"]) - {""}))
    code = {name: at for at, name in enumerate(systems)}
    place = {name: at for at, name in enumerate(items)}
    whose = {name: at for at, name in enumerate(raters)}

    def number(column: pd.Series, codes: dict[str, int]) -> Longs:
        return np.asarray(column.map(codes).fillna(-1), dtype=np.int64)

    return PairData(
        systems=systems,
        items=items,
        raters=raters,
        item=number(known["item"], place),
        a=number(known["system_a"], code),
        b=number(known["system_b"], code),
        rater=number(known["rater"], whose),
        score=known["score"].to_numpy(dtype=np.float64),
        judge_names=names,
        judged_item=number(table["item"], place),
        judged_a=number(table["system_a"], code),
        judged_b=number(table["system_b"], code),
        judges=table[[f"f{at}" for at in range(len(names))]].to_numpy(dtype=np.float64),
        lacking=tuple(lacking),
        notes=tuple(notes),
    )
