"""The pages of each rater: practice first, then the trials in their order, with checks spread among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.seeds import stream
from panelist.design.allocate import Allocation
from panelist.design.base import Design, Task
from panelist.design.order import order_trials, turn_criteria
from panelist.design.spread_checks import PlannedCheck, spread_checks

Ints = NDArray[np.int64]
PRACTICE, CHECK, TRIAL = 0, 1, 2


@dataclass(frozen=True)
class Pages:
    """The pages of all raters of a part (raters × pages), occasion after occasion.

    ``cell`` says which trial of the rater's list a page shows (-1 none); ``special`` which practice item or
    instructed check (-1 none); ``check`` which check (-1 none); ``criteria`` the questions on it, as a number
    into a list of sets.
    """

    occasion: NDArray[np.int32]
    order: NDArray[np.int32]
    phase: NDArray[np.int32]
    cell: NDArray[np.int32]
    special: NDArray[np.int32]
    check: NDArray[np.int32]
    criteria: NDArray[np.int32]


@dataclass(frozen=True)
class Extras:
    """What every rater gets besides trials: so many practice items, and the checks."""

    n_practice: int
    checks: tuple[PlannedCheck, ...]
    every: int
    """The number of the set of all criteria that a rater judges."""
    single: dict[int, int]
    """The number of the set of one criterion."""


def lay_out(
    lists: Allocation, shown: Ints, criteria: tuple[int, ...], design: Design, task: Task, extras: Extras
) -> Pages:
    """Return the pages of all raters."""
    parts = []
    for occasion in range(task.choice.occasions):
        cells, questions = _order_pages(lists, shown, criteria, design, task, extras, occasion)
        parts.append(_add_extras(cells, questions, task, extras, occasion))
    if len(parts) == 1:
        return Pages(**parts[0])
    return Pages(**{name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]})


def _order_pages(
    lists: Allocation,
    shown: Ints,
    criteria: tuple[int, ...],
    design: Design,
    task: Task,
    extras: Extras,
    occasion: int,
) -> tuple[Ints, Ints]:
    """Return the trial and the set of questions of each trial page (raters × pages)."""
    n_raters, k = lists.items.shape
    n = len(criteria)
    sets = np.array([extras.single[code] for code in criteria], dtype=np.int64)
    if task.choice.criteria == "in blocks" and n > 1:
        turns = turn_criteria(n_raters, criteria, task)
        orders = [order_trials(lists, shown, design, task, occasion * n + block) for block in range(n)]
        return np.concatenate(orders, axis=1), np.repeat(sets[turns], k, axis=1)
    order = order_trials(lists, shown, design, task, occasion)
    if task.choice.criteria == "in turn" and n > 1:
        return np.repeat(order, n, axis=1), np.tile(sets, (n_raters, k))
    return order, np.full(order.shape, extras.every, dtype=np.int64)


def _add_extras(
    cells: Ints, questions: Ints, task: Task, extras: Extras, occasion: int
) -> dict[str, NDArray[Any]]:
    """Return the pages of one occasion, with practice before them and checks among them."""
    n_raters, n_trials = cells.shape
    n_practice, n_checks = extras.n_practice, len(extras.checks)
    n_pages = n_practice + n_trials + n_checks

    def fill(value: int) -> NDArray[Any]:
        return np.full((n_raters, n_pages), value, dtype=np.int32)

    pages = {
        "phase": fill(TRIAL),
        "cell": fill(-1),
        "special": fill(-1),
        "check": fill(-1),
        "criteria": fill(-1),
    }
    trials = slice(n_practice, n_practice + n_trials)
    pages["phase"][:, :n_practice] = PRACTICE
    pages["special"][:, :n_practice] = np.arange(n_practice)
    pages["criteria"][:, :n_practice] = extras.every
    pages["cell"][:, trials], pages["criteria"][:, trials] = cells, questions
    if n_checks:
        after = _add_checks(pages, cells, questions, task, extras, occasion)
        keys = np.concatenate(
            [np.tile(np.arange(n_practice + n_trials) - n_practice + 1.0, (n_raters, 1)), after], 1
        )
        order = np.argsort(keys, axis=1, kind="stable")
        pages = {name: np.take_along_axis(page, order, axis=1) for name, page in pages.items()}
    pages["order"] = np.tile(np.arange(1, n_pages + 1, dtype=np.int32), (n_raters, 1))
    pages["occasion"] = fill(occasion + 1)
    return pages


def _add_checks(
    pages: dict[str, NDArray[Any]], cells: Ints, questions: Ints, task: Task, extras: Extras, occasion: int
) -> NDArray[np.float64]:
    """Write the checks into the last columns, and return after which trial page each of them comes."""
    n_raters, n_trials = cells.shape
    n_checks = len(extras.checks)
    after = np.empty((n_raters, n_checks))
    begin = extras.n_practice + n_trials
    pages["phase"][:, begin:] = CHECK
    for rater in range(n_raters):
        numbers = stream(task.seed, *task.names, "checks", rater, occasion).random((3, n_checks)).tolist()
        for number, placed in enumerate(spread_checks(extras.checks, n_trials, numbers)):
            check, column = extras.checks[number], begin + number
            after[rater, number] = placed.after + 0.5
            pages["check"][rater, column] = number
            if placed.of is None:
                pages["special"][rater, column] = check.special
                now = int(questions[rater, placed.after - 1])
                pages["criteria"][rater, column] = _choose_questions(check, now, extras)
            else:
                pages["cell"][rater, column] = cells[rater, placed.of - 1]
                pages["criteria"][rater, column] = questions[rater, placed.of - 1]
    return after


def _choose_questions(check: PlannedCheck, now: int, extras: Extras) -> int:
    """Return the questions of an instructed check: those it has answers to, one where pages show one."""
    if now == extras.every:
        return check.criteria
    return now if now in check.singles or not check.singles else check.singles[0]


def count_short_repeats(checks: Sequence[PlannedCheck], n_trials: int) -> int:
    """Return how many repeat checks want more pages between the two showings than a list has."""
    return sum(check.distance is not None and check.distance >= n_trials for check in checks)
