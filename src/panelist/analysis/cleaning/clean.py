"""Exclusions: every rule with its reason and its count, and the ratings with and without them."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from panelist.analysis.cleaning.counted_answers import name_answers, number_answers
from panelist.analysis.cleaning.everything import Everything
from panelist.analysis.cleaning.exclusion_rules import RULES, RuleInput, say_rule
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadRatings, PanelistError
from panelist.core.prose import spell
from panelist.core.tables.ratings import Ratings
from panelist.numerics.arrays import Bools, Longs
from panelist.study.study import Study


@dataclass(frozen=True)
class RuleCount:
    """One rule: whom it means, how many ratings and raters it met, or why it could not be applied.

    ``reason`` is what the data say about rows that they mark as excluded.
    """

    rule: str
    text: str
    n_ratings: int = 0
    n_raters: int = 0
    raters: tuple[str, ...] = ()
    missing: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ExclusionReport(Result):
    """What was set aside, and why; ``n_trials`` counts the answers before exclusions, without checks and
    practice.

    A comparison of outputs is one answer, whatever the number of its rows; ``noun`` is the word for an
    answer here.
    """

    n_rows: int
    n_checks: int
    n_trials: int
    n_kept: int
    n_raters: int
    n_raters_kept: int
    rules: tuple[RuleCount, ...] = ()
    noun: str = "rating"

    @property
    def n_excluded(self) -> int:
        """The answers that one or more rules set aside."""
        return self.n_trials - self.n_kept

    def sentence(self) -> str:
        """Return the exclusions in words."""
        checks = (
            f" {self.n_checks:,} answers to checks and practice are not {self.noun}s."
            if self.n_checks
            else ""
        )
        if not self.rules:
            return f"No rule asked for exclusions, and no {self.noun} was marked as excluded.{checks}"
        if not self.n_excluded:
            rules = "rule" if len(self.rules) == 1 else f"{spell(len(self.rules))} rules"
            return f"No {self.noun} was excluded by the {rules} that applied.{checks}"
        lost = self.n_raters - self.n_raters_kept
        whom = f", and with them all of {lost:,} of {self.n_raters:,} raters" if lost else ""
        share = self.n_excluded / self.n_trials
        said = (
            f"{self.n_excluded:,} of {self.n_trials:,} {self.noun}s ({100 * share:.1f} %) were excluded{whom}"
        )
        return f"{said}.{checks}"

    def title(self) -> str:
        """Return the heading."""
        return "Exclusions"

    def parts(self) -> list[Part]:
        """Return the sentence and the table of rules."""
        rows = [
            (one.text, None, None, one.missing)
            if one.missing
            else (one.text, one.n_raters, one.n_ratings, "")
            for one in self.rules
        ]
        table = Table("Rules of exclusion", ("rule", "raters", f"{self.noun}s", "note"), rows)
        return [Sentence(self.sentence()), *([table] if rows else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the rules."""
        return asdict(self) | {"n_excluded": self.n_excluded, "sentence": self.sentence()}


@dataclass(frozen=True, eq=False)
class Cleaned:
    """The ratings that count, all trials whether they count or not, and the record of the difference."""

    kept: Ratings
    trials: Ratings
    exclusions: ExclusionReport


def clean_ratings(everything: Everything, study: Study | None = None) -> Cleaned:
    """Return the ratings without checks and exclusions, and the record of what was set aside and why."""
    frame = everything.ratings.frame
    is_trial = everything.check == ""
    if not is_trial.any():
        raise BadRatings(
            f"{everything.ratings.source}: all {len(frame):,} rows are checks by their column check, so "
            "there is nothing to analyse. Rename the column if it means something else."
        )
    trials = frame[is_trial].reset_index(drop=True)
    answer = number_answers(trials, study)
    checks = frame[~is_trial]
    found = _find_marked(trials, everything.excluded[is_trial], answer)
    if study is not None:
        marked = frame.assign(check=everything.check)
        found += _apply_rules(RuleInput(trials, marked, study), study, answer)
    out = np.zeros(len(trials), dtype=bool)
    for _, met in found:
        out |= met
    kept = trials[~out].reset_index(drop=True)
    if kept.empty:
        noun = name_answers(trials, study)
        rules = "; ".join(f"{rule.text} ({rule.n_ratings:,} {noun}s)" for rule, _ in found)
        raise BadRatings(f"{everything.ratings.source}: the exclusions leave nothing: {rules}.")
    exclusions = ExclusionReport(
        n_rows=len(frame),
        n_checks=_count_distinct(number_answers(checks, study)),
        n_trials=_count_distinct(answer),
        n_kept=_count_distinct(answer[~out]),
        n_raters=_distinct(trials),
        n_raters_kept=_distinct(kept),
        rules=tuple(rule for rule, _ in found),
        noun=name_answers(trials, study),
    )
    ratings = everything.ratings
    return Cleaned(replace(ratings, frame=kept), replace(ratings, frame=trials), exclusions)


def _find_marked(
    trials: pd.DataFrame, reasons: "np.ndarray[Any, Any]", answer: Longs
) -> list[tuple[RuleCount, Bools]]:
    """Return a rule for each reason that the column ``excluded`` gives."""
    found = []
    for reason in dict.fromkeys(reason for reason in reasons if reason):
        met = reasons == reason
        plain = reason.casefold() in ("true", "1", "yes", "excluded")
        text = "marked as excluded in the data" + ("" if plain else f": {reason}")
        rule = _count("excluded", text, trials, met, answer)
        found.append((replace(rule, reason="" if plain else reason), met))
    return found


def _apply_rules(rows: RuleInput, study: Study, answer: Longs) -> list[tuple[RuleCount, Bools]]:
    """Return every rule that the study asks for, with the trials it meets."""
    asked = study.file.analysis.exclude
    found = []
    for name, (meets, _) in RULES.items():
        number = getattr(asked, name)
        if number is None or number is False:
            continue
        text = say_rule(name, float(number))
        try:
            met = meets(rows, float(number))
        except PanelistError as error:
            found.append((RuleCount(name, text, missing=str(error)), np.zeros(len(rows.trials), dtype=bool)))
            continue
        found.append((_count(name, text, rows.trials, met, answer), met))
    return found


def _count(rule: str, text: str, trials: pd.DataFrame, met: Bools, answer: Longs) -> RuleCount:
    raters = sorted(trials["rater"][met].dropna().unique()) if "rater" in trials else []
    return RuleCount(rule, text, _count_distinct(answer[met]), len(raters), tuple(map(str, raters)))


def _count_distinct(answer: Longs) -> int:
    return len(np.unique(answer))


def _distinct(frame: pd.DataFrame) -> int:
    return int(frame["rater"].nunique()) if "rater" in frame else 0
