"""From single answers to one score per system, by named rules; and to one value per output, by the same
rules.

- ``mean``, ``median``: of all ratings of a system;
- ``votes``: percentage of yes among all single judgements; ``majority``: percentage of outputs that more than
  half of their raters said yes to; ``five-step``: Li et al.'s (2023) rounding
  (reproduction/measures/percentages.py);
- ``best-worst``: mean over items of (wins − losses) in percent, −100 to 100; ``win-rate``: percentage of
  decided comparisons won.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from panelist.analysis.choices.scores import score_trials
from panelist.analysis.choices.trials import read_trials
from panelist.core.errors import BadReproduction, UnknownName, did_you_mean
from panelist.reproduction.measures.percentages import summarise_binary, vote_majority
from panelist.reproduction.sources import Given

if TYPE_CHECKING:
    import pandas as pd

MOSTLY = 0.98  # share of 0 and 1 from which other values are strays


@dataclass(frozen=True)
class Aggregation:
    """One rule: for which answers it is, its words, and where its scores lie (None: on the rating scale)."""

    name: str
    suits: str  # numbers, binary or choices
    words: str
    low: float | None = None
    high: float | None = None


_RULES = (
    Aggregation("mean", "numbers", "the mean of all ratings of a system"),
    Aggregation("median", "numbers", "the median of all ratings of a system"),
    Aggregation("votes", "binary", "the percentage of yes among all judgements", 0, 100),
    Aggregation("majority", "binary", "the percentage of outputs that most raters said yes to", 0, 100),
    Aggregation("five-step", "binary", "the percentage by majority, rounded up to whole items", 0, 100),
    Aggregation("best-worst", "choices", "the mean of wins minus losses in percent", -100, 100),
    Aggregation("win-rate", "choices", "the percentage of decided comparisons won", 0, 100),
)  # fmt: skip
AGGREGATIONS = {rule.name: rule for rule in _RULES}


def find_aggregation(name: str) -> Aggregation:
    """Return the rule of this name."""
    if name not in AGGREGATIONS:
        raise UnknownName(f"No aggregation is called {name!r}. {did_you_mean(name, AGGREGATIONS)}")
    return AGGREGATIONS[name]


def find_named(text: str) -> list[str]:
    """Return the rules that a study's words on its aggregation name, in their order.

    >>> find_named("Majority vote of three, then the mean; medians for the appendix")
    ['majority', 'mean', 'median']
    """
    found = {name: re.search(rf"\b{name}(s|\b)", text.casefold()) for name in AGGREGATIONS}
    return sorted((name for name, match in found.items() if match), key=lambda name: found[name].start())  # type: ignore[union-attr]


def find_answers(given: Given) -> str:
    """Return what the answers are: ``choices``, ``binary`` (0 and 1, except for strays) or ``numbers``."""
    if given.choices:
        return "choices"
    if given.rows is None or "rating" not in given.rows.frame:
        return "numbers"
    if given.criterion is not None:
        return "binary" if getattr(given.criterion.scale, "type", "") == "binary" else "numbers"
    import pandas as pd

    values = pd.to_numeric(given.rows.frame["rating"].astype(object), errors="coerce").dropna()
    plain = values.isin([0, 1])
    return "binary" if len(values) and plain.mean() >= MOSTLY and values.max() <= 2 else "numbers"


def choose_aggregation(givens: Sequence[Given], asked: str | None, named: str) -> tuple[Aggregation, str]:
    """Return the rule for a criterion, and who chose it: the user, the study's words, or the answers."""
    raw = [given for given in givens if given.rows is not None]
    answers = [find_answers(given) for given in raw]
    kind = "binary" if "binary" in answers and set(answers) <= {"binary"} else (answers or ["numbers"])[0]
    if len(set(answers)) > 1:
        raise BadReproduction(
            f"On {givens[0].name!r} one study has {answers[0]} and another "
            f"{next(a for a in answers if a != answers[0])}: they cannot be compared answer by answer. Give "
            "the scores of one of them as a table."
        )
    usual = {"choices": "best-worst", "binary": "votes", "numbers": "mean"}[kind]
    if asked is not None:
        rule = find_aggregation(asked)
        if _suits(rule, kind) or not raw:
            return rule, "as asked"
        if rule.suits == "binary" and kind == "numbers":
            raise BadReproduction(
                f"The aggregation {asked!r} is for yes and no (1 and 0), and {givens[0].name!r} has other "
                "ratings. Those for ratings are mean and median."
            )
        return AGGREGATIONS[usual], f"by default, because {asked} does not suit {kind}"
    for name in find_named(named):
        if raw and _suits(AGGREGATIONS[name], kind):
            return AGGREGATIONS[name], "as the study says"
    return AGGREGATIONS[usual], "by default"


def list_suitable(given: Given, named: str) -> list[str]:
    """Return the rules under which a study may be recomputed: those it names first, then all that suit."""
    kind = find_answers(given)
    suitable = [rule.name for rule in AGGREGATIONS.values() if rule.suits == kind]
    first = [name for name in find_named(named) if _suits(AGGREGATIONS[name], kind)]
    return [*first, *(name for name in suitable if name not in first)]


def aggregate(
    given: Given, rule: Aggregation, yes: Sequence[float] = (1,)
) -> tuple[dict[str, float], list[str]]:
    """Return each system's score by the rule, and what was left out; printed scores are taken as they are."""
    if given.rows is None:
        return dict(given.scores), []
    if rule.suits == "choices":
        return _score_choices(given, rule.name)
    if rule.suits == "binary":
        no = tuple(value for value in (0,) if value not in yes)
        found = summarise_binary(given.rows, positive=tuple(yes), negative=no)
        return {one.system: one.percent(rule.name) for one in found.systems}, list(found.notes)
    frame, notes = usable_rows(given)
    grouped = frame.groupby("system", observed=True)["rating"]
    scores = grouped.mean() if rule.name == "mean" else grouped.median()
    return {str(system): float(score) for system, score in scores.items()}, notes


def settle_binary(given: Given, yes: Sequence[float] = (1,)) -> tuple[Given, list[str]]:
    """Return yes-or-no answers as 1 and 0, without strays, and how many of these there were."""
    if given.rows is None or find_answers(given) != "binary":
        return given, []
    frame, notes = usable_rows(given)
    is_yes, is_no = frame["rating"].isin(list(yes)).to_numpy(), (frame["rating"] == 0).to_numpy()
    if strays := sorted({f"{value:g}" for value in frame["rating"][~(is_yes | is_no)]}):
        n = int((~(is_yes | is_no)).sum())
        notes.append(
            f"{n:,} of {len(frame):,} answers are neither yes nor no ({', '.join(strays)}): left out. Count "
            "them as yes with --yes."
        )
    kept = frame.assign(rating=is_yes.astype(float))[is_yes | is_no].reset_index(drop=True)
    return replace(given, rows=replace(given.rows, frame=kept)), notes


def value_outputs(given: Given, rule: Aggregation) -> pd.DataFrame:
    """Return one value per output by the same rule: system, item, value."""
    if given.rows is None:
        raise BadReproduction(f"There are no single answers on {given.name!r}.")
    if rule.suits == "choices":
        items = score_trials(read_trials(given.rows, given.name)).items
        return items[["system", "item", "score"]].rename(columns={"score": "value"})
    if rule.name in ("majority", "five-step"):
        votes = vote_majority(given.rows)
        return votes.assign(value=100.0 * votes["passed"])[["system", "item", "value"]]
    frame, _ = usable_rows(given)
    if rule.name == "votes":
        frame = frame.assign(rating=100.0 * frame["rating"])
    how: str | Callable[..., float] = "median" if rule.name == "median" else "mean"
    keys = ["system", *([name] if (name := "item") in frame else [])]
    found = frame.groupby(keys, observed=True)["rating"].agg(how).reset_index()
    return found.rename(columns={"rating": "value"})


def usable_rows(given: Given) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with a rating and a system, the rating a number, and how many have none."""
    import pandas as pd

    assert given.rows is not None
    frame = given.rows.frame
    rating = frame["rating"]
    if isinstance(rating.dtype, pd.CategoricalDtype) and rating.dtype.ordered:
        frame = frame.assign(rating=(rating.cat.codes + 1).where(rating.notna()).astype(float))
    elif not pd.api.types.is_numeric_dtype(rating):
        words = [str(word) for word in rating.dropna().unique()]
        raise BadReproduction(
            f"The ratings of {given.name!r} in {given.rows.source} are not numbers (found "
            f"{', '.join(map(repr, words[:4]))}). Number the words from the lowest up."
        )
    held = frame["rating"].notna().to_numpy() & frame["system"].notna().to_numpy()
    lost = int((~held).sum())
    notes = [f"{lost:,} of {len(frame):,} rows without a rating or a system are left out."] if lost else []
    return frame[held], notes


def _score_choices(given: Given, name: str) -> tuple[dict[str, float], list[str]]:
    assert given.rows is not None
    trials = read_trials(given.rows, given.name)
    if name == "best-worst":
        return {one.system: one.score for one in score_trials(trials).systems}, list(trials.notes)
    _, winner, loser = trials.list_wins()
    wins, losses = (
        np.bincount(trials.system[side], minlength=len(trials.systems)) for side in (winner, loser)
    )
    with np.errstate(invalid="ignore"):
        rates = 100 * wins / (wins + losses)
    return dict(zip(trials.systems, map(float, rates), strict=True)), list(trials.notes)


def _suits(rule: Aggregation, kind: str) -> bool:
    return rule.suits == kind or (kind == "binary" and rule.name in ("mean", "median"))
