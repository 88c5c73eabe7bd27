"""How far raters agree in their choices, by the coefficients that ratings have.

What is judged is a set of outputs shown together: an item and its systems, whichever came first. A choice is
the place of the chosen one in an order of the systems, not its name: where a pair can only be decided in two
ways, two labels make chance agreement one half, and with the names of five systems it would seem to be a
fifth. The order turns from one item of a set to the next, so that no place collects the wins of a strong
system, and what systems are called has no influence. Where all trials show the same systems, the labels are
their names.

- pairs: the preferred one, ties as a separate label; then without them; where pairs are graded, first the
  grades, as ordinal ratings: by how much the first system in that order is better;
- choices of one: the chosen one, "none" and "all" as labels; then without them;
- best-worst sets: the best; then the worst;
- rankings: the ranks, as ordinal ratings of the outputs; then the best.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.measure import measure_agreement
from panelist.agreement.reliability import CriterionReliability, Reliability
from panelist.analysis.choices.trials import DECIDED, UNDECIDED, ChoiceTrials, holds_choices, read_trials
from panelist.core.errors import BadRatings
from panelist.core.progress import OnProgress
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.numerics.arrays import Bools, Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

NOUNS = {"pairs": "pair", "choose-one": "set", "best-worst": "set", "ranking": "set"}


def measure_any_agreement(
    ratings: Any, *, on_progress: OnProgress | None = None, **options: Any
) -> Reliability:
    """Return the agreement on every criterion, whether it holds ratings or choices.

    The options are those of measure_agreement. Choices have their own level, and neither units nor a
    scale can be chosen for them.
    """
    table = read_ratings(ratings)
    parts = _split(table)
    chosen = [name for name, part in parts if holds_choices(part.frame)]
    if not chosen:
        return measure_agreement(table, **options, on_progress=on_progress)
    found: list[CriterionReliability] = []
    for name, part in parts:
        if name in chosen:
            found += measure_choice_agreement(part, name or "choice", **options, on_progress=on_progress)
        else:
            found += measure_agreement(part, **options, on_progress=on_progress).criteria
    return Reliability(source=table.source, criteria=tuple(found), notes=table.notes, ratings=table)


def measure_choice_agreement(
    table: Ratings, criterion: str, *, on_progress: OnProgress | None = None, **options: Any
) -> list[CriterionReliability]:
    """Return how far raters agree in the choices of one criterion: the usual measure first, then another."""
    for name in ("unit", "scale"):
        if options.pop(name, None) is not None:
            raise BadRatings(
                f"{criterion!r} holds choices between outputs, for which --{name} has no meaning: what is "
                "judged is the set of outputs shown, and the answer one of them. Leave it out."
            )
    options.pop("measurement", None)
    trials = read_trials(table, criterion)
    for name, known in (("rater", trials.raters), ("item", trials.items)):
        if not known:
            raise BadRatings(
                f"{table.source} has no column {name}, so it is not known which choices of {criterion!r} are "
                f"about the same outputs. Map one with --columns {name}=NAME."
            )
    found = []
    for label, frame, measurement in _list_tables(trials):
        if frame.empty:
            continue
        source = replace(read_ratings(frame), source=table.source)
        one = measure_agreement(source, measurement=measurement, **options, on_progress=on_progress).criteria[
            0
        ]
        notes = [*one.notes, *_tell_majority(frame)] if measurement == "nominal" else list(one.notes)
        ranks = trials.kind == "ranking" and measurement == "ordinal"
        found.append(
            replace(
                one,
                criterion=f"{criterion}{label}",
                notes=tuple(notes),
                noun="rank" if ranks else "comparison",
                unit_noun="output" if ranks else NOUNS[trials.kind],
            )
        )
    if not found:
        raise BadRatings(f"No trial of {criterion!r} has an answer, so there is nothing to agree on.")
    return found


def _split(table: Ratings) -> list[tuple[str, Ratings]]:
    if not table.criteria:
        return [("", table)]
    column = table.frame["criterion"]
    return [(name, replace(table, frame=table.frame[(column == name).to_numpy()])) for name in table.criteria]


def _list_tables(trials: ChoiceTrials) -> list[tuple[str, pd.DataFrame, str]]:
    """Return what is compared: words for it, a table of ratings, and its level."""
    undecided = np.isin(trials.outcome.astype(str), UNDECIDED)
    decided = trials.outcome == DECIDED
    best = align_choices(trials, decided)
    if trials.kind == "ranking":
        return [("", _list_ranks(trials), "ordinal"), (", best", best, "nominal")]
    if trials.kind == "best-worst":
        return [
            (", best", best, "nominal"),
            (", worst", align_choices(trials, decided, last=True), "nominal"),
        ]
    if trials.grade is not None:
        better = align_choices(trials, decided | undecided)
        return [("", _list_grades(trials, trials.grade), "ordinal"), (", which is better", better, "nominal")]
    if not undecided.any():
        return [("", best, "nominal")]
    named = ", ".join(name for name in UNDECIDED if (trials.outcome == name).any())
    words = "ties" if named == "tie" else named
    whole = align_choices(trials, decided | undecided)
    return [("", whole, "nominal"), (f", {words} left out", best, "nominal")]


def align_choices(trials: ChoiceTrials, which: Bools, last: bool = False) -> pd.DataFrame:
    """Return a row for each trial: rater, item, systems shown (``system``), and the one chosen (``rating``).

    The chosen one is the best, or with ``last`` the worst; trials in which no single output came first are
    left out, and undecided ones have their own word for a rating.
    """
    import pandas as pd

    parts = []
    names = np.array(trials.systems, dtype=object)
    same = _show_one_set(trials)
    for of_size, options in trials.by_size():
        wanted = which[of_size] & (options.shape[1] > 1)
        of_size, options = of_size[wanted], options[wanted]
        order = np.argsort(trials.system[options], axis=1, kind="stable")
        system = np.take_along_axis(trials.system[options], order, axis=1)
        place = np.take_along_axis(trials.place[options], order, axis=1)
        place = -place if last else place
        decided = trials.outcome[of_size] == DECIDED
        top = place == place.min(axis=1, keepdims=True, initial=np.inf)
        alone = top.sum(axis=1) == 1
        chosen = top.argmax(axis=1)
        if same:
            label = names[np.take_along_axis(system, chosen[:, None], axis=1)[:, 0]]
        else:
            m = options.shape[1]
            turned = (chosen + _turn_orders(system, _rank_items(trials)[trials.item[of_size]])) % m
            label = np.array([f"{at + 1} of {m}" for at in turned], dtype=object)
        part = pd.DataFrame(
            {
                "rater": np.array(trials.raters, dtype=object)[trials.rater[of_size]],
                "item": np.array(trials.items, dtype=object)[trials.item[of_size]],
                "system": [" / ".join(names[row]) for row in system],
                "rating": np.where(decided, label, trials.outcome[of_size]),
            }
        )
        known = (trials.rater[of_size] >= 0) & (trials.item[of_size] >= 0)
        parts.append(part.loc[known & (alone | ~decided)])
    whole: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return whole


def _list_grades(trials: ChoiceTrials, grade: Floats) -> pd.DataFrame:
    """Return a row for each graded pair: by how much the first of its systems in their order is better."""
    import pandas as pd

    parts = []
    names = np.array(trials.systems, dtype=object)
    same = _show_one_set(trials)
    for of_size, options in trials.by_size():
        if options.shape[1] != 2:
            continue
        order = np.argsort(trials.system[options], axis=1, kind="stable")
        options = np.take_along_axis(options, order, axis=1)
        given = grade[options[:, 0]]
        if not same:
            turned = _turn_orders(trials.system[options], _rank_items(trials)[trials.item[of_size]])
            given = np.where(turned == 1, -given, given) + 0.0
        part = pd.DataFrame(
            {
                "rater": np.array(trials.raters, dtype=object)[trials.rater[of_size]],
                "item": np.array(trials.items, dtype=object)[trials.item[of_size]],
                "system": [" / ".join(names[row]) for row in trials.system[options]],
                "rating": given,
            }
        )
        known = (trials.rater[of_size] >= 0) & (trials.item[of_size] >= 0)
        parts.append(part.loc[known & np.isfinite(given)])
    whole: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return whole


def _show_one_set(trials: ChoiceTrials) -> bool:
    """Return whether all trials show the same systems."""
    return len({tuple(sorted(row)) for _, options in trials.by_size() for row in trials.system[options]}) == 1


def _rank_items(trials: ChoiceTrials) -> Longs:
    """Return the place of each item among their names, and of what has no item."""
    ranks = np.zeros(len(trials.items) + 1, dtype=np.int64)
    ranks[np.argsort(np.array(trials.items, dtype=str), kind="stable")] = np.arange(len(trials.items))
    return ranks


def _turn_orders(system: Longs, item: Longs) -> Longs:
    """Return by how many places the order of the systems is turned in each trial.

    ``system`` holds a sorted set of systems in each row. All trials of an item and a set have one order; from
    one item of a set to the next it turns by a place, and each set begins where the one before did not.
    """
    m = system.shape[1]
    sets, of_set = np.unique(system, axis=0, return_inverse=True)
    units, of_unit = np.unique(np.column_stack([of_set.ravel(), item]), axis=0, return_inverse=True)
    first = np.searchsorted(units[:, 0], np.arange(len(sets)))
    turned = (np.arange(len(units)) - first[units[:, 0]] + units[:, 0]) % m
    return np.asarray(turned[of_unit.ravel()], dtype=np.int64)


def _list_ranks(trials: ChoiceTrials) -> pd.DataFrame:
    """Return a row for each output ranked: its item, the systems it was shown with, and its rank."""
    import pandas as pd

    parts = []
    names = np.array(trials.systems, dtype=object)
    for of_size, options in trials.by_size():
        kept = (
            (trials.outcome[of_size] == DECIDED) & (trials.rater[of_size] >= 0) & (trials.item[of_size] >= 0)
        )
        of_size, options = of_size[kept], options[kept]
        m = options.shape[1]
        shown = [" / ".join(sorted(names[row])) for row in trials.system[options]]
        item = np.array(trials.items, dtype=object)[trials.item[of_size]]
        parts.append(
            pd.DataFrame(
                {
                    "rater": np.repeat(np.array(trials.raters, dtype=object)[trials.rater[of_size]], m),
                    "item": np.repeat([f"{one}: {these}" for one, these in zip(item, shown, strict=True)], m),
                    "system": names[trials.system[options].ravel()],
                    "rating": trials.place[options].ravel(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _tell_majority(frame: pd.DataFrame) -> list[str]:
    """Return how often raters agree with the majority of the others, all together and at the ends."""
    agrees = find_majority_agreement(frame)
    if not len(agrees):
        return []
    by_rater = [
        (float(mine["agrees"].mean()), str(rater), len(mine))
        for rater, mine in agrees.groupby("rater", sort=True, observed=True)
    ]
    ends = "; ".join(
        f"the {end} is {rater} ({100 * share:.0f} % of {n:,})"
        for end, (share, rater, n) in (("lowest", min(by_rater)), ("highest", max(by_rater)))
    )
    share = 100 * float(agrees["agrees"].mean())
    return [
        f"A rater agrees with the majority of the others in {share:.0f} % of the "
        f"{len(agrees):,} choices where the others have one; {ends}."
    ]


def find_majority_agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """Return, for every choice that others made too, whether it is that of the majority of the others.

    Choices where the others are split evenly have no majority and are left out.
    """
    unit = frame.groupby(["item", "system"], sort=False, observed=True).ngroup().to_numpy()
    labels, code = np.unique(frame["rating"].astype(str).to_numpy(), return_inverse=True)
    counts = np.zeros((unit.max() + 1 if len(unit) else 0, len(labels)), dtype=np.int64)
    np.add.at(counts, (unit, code), 1)
    others = counts[unit]
    others[np.arange(len(unit)), code] -= 1
    most = others.max(axis=1, initial=0)
    clear = (most > 0) & ((others == most[:, None]).sum(axis=1) == 1)
    agrees = others.argmax(axis=1) == code if len(labels) else np.zeros(0, dtype=bool)
    found: pd.DataFrame = frame[["rater"]].assign(agrees=agrees).loc[clear]
    return found
