"""The balance table: for every plan, what was wanted, what was found, and what the plan can estimate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from panelist.core.display.formats import TEXT
from panelist.core.display.result import Part, Result, Sentence, Table, json_object, pick
from panelist.core.errors import BadPlan
from panelist.core.prose import listing
from panelist.design.assess.estimable import Estimability, Estimable, find_estimable
from panelist.design.assess.evenness import (
    Line,
    count_existing,
    count_labelled,
    measure_evenness,
    write_range,
)
from panelist.design.assess.showings import Where, number, number_pages, split_trials
from panelist.design.simulate import spread_turns
from panelist.numerics.arrays import Longs
from panelist.study.sections.checks import InstructedCheck
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan


@dataclass(frozen=True)
class BalanceLine:
    """A line of the table and the part of the plan that it is about; empty where it is about all of it."""

    where: str
    line: Line

    def to_dict(self) -> dict[str, Any]:
        """Return the line as names and values."""
        line = self.line
        return {"name": line.name, "where": self.where, **pick(line, "wanted found low high verdict met")}


@dataclass(frozen=True)
class Balance(Result):
    """How evenly a plan treats systems, outputs, raters and places, and what can be estimated from it."""

    design: str
    n_raters: int
    n_items: int
    n_systems: int
    n_pages: int
    n_ratings: int
    lines: tuple[BalanceLine, ...]
    estimable: tuple[Estimable, ...]

    @property
    def met(self) -> bool:
        """Whether everything that was promised is met, exactly or as nearly as arithmetic allows."""
        return all(one.line.met is not False for one in self.lines)

    def title(self) -> str:
        """Return the heading."""
        return "Balance"

    def parts(self) -> list[Part]:
        """Return the table, and a sentence for each set of criteria on what can be estimated."""
        placed = any(one.where for one in self.lines)
        header = ("what", *(("where",) if placed else ()), "wanted", "found", "verdict")
        rows = [
            (one.line.name, *((one.where or "all",) if placed else ()), *_cells(one.line))
            for one in self.lines
        ]
        noun = "answers" if len({one.kind for one in self.estimable}) > 1 else "ratings"
        counted = (
            f"{self.n_raters:,} raters, {self.n_items:,} items, {self.n_systems:,} systems; "
            f"{self.n_pages:,} pages of trials, {self.n_ratings:,} {noun}"
        )
        table = Table(counted, header, rows, dict.fromkeys(header, TEXT))
        told = Estimability(self.estimable)
        return [table, Sentence(f"\n{told.title()}"), *told.parts()]

    def to_dict(self) -> dict[str, Any]:
        """Return counts, lines and what can be estimated."""
        whole: dict[str, Any] = {"design": self.design, "met": self.met}
        whole |= {
            name: getattr(self, name) for name in ("n_raters", "n_items", "n_systems", "n_pages", "n_ratings")
        }
        whole["lines"] = [one.to_dict() for one in self.lines]
        whole["estimable"] = [one.to_dict() for one in self.estimable]
        return json_object(whole)


def _count_times(study: Study) -> Longs | None:
    """Return how often each pair of systems is to be shown; None where that is equally often."""
    weights = study.file.design.weigh(study.systems)
    return np.array([weights.get(pair, 1) for pair in combinations(study.systems, 2)]) if weights else None


def measure_balance(plan: "Plan", study: Study) -> Balance:
    """Return the balance of a plan's trials: every line with what was wanted and what was found."""
    table = plan.table
    trials = table[(table["phase"] == "trial").to_numpy()]
    _check_names(trials, study)
    names = [criterion.name for criterion in study.criteria]
    comparative = {one.name: one.scale.comparative for one in study.criteria}
    found = []
    for where, shows in split_trials(table, study.items, study.systems, names):
        kinds = {comparative[name] for name in where.criteria}
        evenness = measure_evenness(
            shows, study.file.design, True in kinds, False in kinds, study.there, _count_times(study)
        )
        found.append((where, evenness))
    existing = [] if study.there is None else count_existing(study.there)
    labelled = [] if study.draw is None else [count_labelled(study.draw)]
    lines = [
        *(BalanceLine("", line) for line in (*labelled, *existing)),
        *_place_lines(found),
        *_compare_occasions(trials),
        *_count_checks(table, study),
    ]
    return Balance(
        design=plan.design,
        n_raters=trials["rater"].nunique(),
        n_items=len(study.items),
        n_systems=len(study.systems),
        n_pages=len(number_pages(trials)[1]),
        n_ratings=_count_answers(trials, study),
        lines=tuple(lines),
        estimable=find_estimable(table, study.criteria, study.systems, study.outputs.in_parts),
    )


def count_planned(plan: "Plan", study: Study) -> tuple[int, str]:
    """Return how many answers a plan asks for, without checks and practice, and the noun for one."""
    trials = plan.table[(plan.table["phase"] == "trial").to_numpy()]
    comparative = {one.name: one.scale.comparative for one in study.criteria}
    kinds = set(comparative.values())
    noun = "answer" if len(kinds) > 1 else ("comparison" if kinds == {True} else "rating")
    return _count_answers(trials, study), noun


def _count_answers(trials: pd.DataFrame, study: Study) -> int:
    """Return how many answers are asked for: one per row, or one per page where outputs are compared; each
    as often as there are turns to answer about."""
    page = number_pages(trials)[0]
    again, turn = np.arange(len(trials)), np.zeros(len(trials), dtype=np.int64)
    if study.outputs.in_parts:
        again, turn = spread_turns(trials, page, study)
    rows = pd.DataFrame(
        {"criterion": trials["criterion"].to_numpy()[again], "page": page[again], "turn": turn}
    )
    compared = rows["criterion"].isin([one.name for one in study.criteria if one.scale.comparative])
    return int((~compared).sum() + len(rows[compared].drop_duplicates()))


def _cells(line: Line) -> tuple[str, str, str]:
    return line.wanted, line.found, line.verdict


def _check_names(trials: pd.DataFrame, study: Study) -> None:
    """Raise BadPlan where the plan names items, systems or criteria that the study does not have."""
    criteria = [criterion.name for criterion in study.criteria]
    for column, known in (("item", study.items), ("system", study.systems), ("criterion", criteria)):
        lost = number(trials[column], known) < 0
        if lost.any():
            name = trials[column].iloc[int(lost.argmax())]
            raise BadPlan(
                f"The plan has {column} {str(name)!r}, which the study does not have: they do not belong "
                "together. Plan the study again, or restore the study of this plan."
            )


def _place_lines(found: Sequence[tuple[Where, list[Line]]]) -> list[BalanceLine]:
    """Return the lines of all parts of the plan, those that agree merged into one.

    A line names only what makes a difference to it: the group, say, and not the criterion.
    """
    sides: list[tuple[str, Callable[[Where], str]]] = [
        ("occasion", lambda where: f"occasion {where.occasion}"),
        ("criteria", lambda where: listing(where.criteria, None)),
        ("group", lambda where: where.group),
    ]
    sides = [side for side in sides if len({side[1](where) for where, _ in found}) > 1]
    lines = []
    for name in dict.fromkeys(line.name for _, lines in found for line in lines):
        mine = [(where, line) for where, lines in found for line in lines if line.name == name]
        for chosen in [chosen for size in range(len(sides) + 1) for chosen in combinations(sides, size)]:
            told: dict[str, set[tuple[str, ...]]] = {}
            for where, line in mine:
                told.setdefault(", ".join(say(where) for _, say in chosen), set()).add(_cells(line))
            if all(len(cells) == 1 for cells in told.values()) or len(chosen) == len(sides):
                break
        first = {", ".join(say(where) for _, say in chosen): line for where, line in reversed(mine)}
        lines += [BalanceLine(where, first[where]) for where in told]
    return lines


def _compare_occasions(trials: pd.DataFrame) -> list[BalanceLine]:
    """Return whether every rater judges the same outputs at each occasion."""
    occasions = np.unique(trials["occasion"])
    if len(occasions) < 2:
        return []
    seen = trials.groupby("rater", observed=True)["occasion"].nunique()
    cells = trials.groupby(["rater", "item", "system", "criterion"], observed=True)["occasion"].nunique()
    moved = int((cells < len(occasions)).groupby(level=0, observed=True).any().sum())
    same, n = len(seen) - moved, len(seen)
    verdict = "exact" if moved == 0 else f"{moved:,} raters judge other outputs"
    line = Line(
        "raters with the same outputs at each occasion",
        f"all {n:,}",
        f"{same:,}",
        verdict,
        moved == 0,
        same,
        same,
    )
    return [BalanceLine("", line)]


def _count_checks(table: pd.DataFrame, study: Study) -> list[BalanceLine]:
    """Return how many checks raters get on an occasion."""
    checks = study.file.checks
    if checks is None:
        return []
    wanted = sum(1 if isinstance(one, InstructedCheck) else one.count for one in checks.items)
    rows = table[(table["phase"] == "check").to_numpy()]
    occasions = table.groupby(["rater", "occasion"], observed=True).size().index
    kinds = rows.groupby(["rater", "occasion"], observed=True)["check"].nunique()
    counts = np.asarray(kinds.reindex(occasions, fill_value=0), dtype=np.int64)
    found = write_range(counts)
    exact = bool((counts == wanted).all())
    low, high = float(counts.min(initial=wanted)), float(counts.max(initial=0))
    verdict = "exact" if exact else f"{int((counts < wanted).sum()):,} occasions have fewer"
    return [BalanceLine("", Line("checks per occasion", f"{wanted} each", found, verdict, exact, low, high))]
