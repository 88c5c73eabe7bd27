"""The pages of each rater: practice first, then the trials in their order, with checks spread among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.seeds import stream
from panelist.design.base import Design, Task
from panelist.design.dealing.allocate import Allocation, draw_order
from panelist.design.sheets.spread_checks import PlannedCheck, spread_checks
from panelist.numerics.arrays import Longs

PRACTICE, CHECK, TRIAL = 0, 1, 2


@dataclass(frozen=True)
class RaterPages:
    """The pages of all raters of a part (raters × pages), occasion after occasion.

    ``cell`` says which trial of the rater's list a page shows (-1 none); ``output`` which of its outputs, by
    place, where one is shown alone (-1 all); ``special`` which practice item or instructed check (-1 none);
    ``check`` which check (-1 none); ``criteria`` the questions on it, as a number into a list of sets.
    """

    occasion: NDArray[np.int32]
    order: NDArray[np.int32]
    phase: NDArray[np.int32]
    cell: NDArray[np.int32]
    output: NDArray[np.int32]
    special: NDArray[np.int32]
    check: NDArray[np.int32]
    criteria: NDArray[np.int32]


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one page of a trial, as the number of their set."""

    criteria: int
    alone: bool
    """Whether there is such a page for each output, which shows that one only."""


@dataclass(frozen=True)
class Extras:
    """What the pages of every rater consist of besides the assigned trials."""

    practice: tuple[int, ...]
    """The set of questions of each practice item."""
    checks: tuple[PlannedCheck, ...]
    turns: tuple[QuestionSet, ...]
    """The pages of a trial, in order; in blocks, the blocks."""


@dataclass(frozen=True)
class TrialPages:
    """The trial pages of one occasion (raters × pages): trial, set of questions, and output (-1 all)."""

    cells: Longs
    questions: Longs
    outputs: Longs


def lay_out(
    lists: Allocation, shown: Longs, criteria: tuple[int, ...], design: Design, task: Task, extras: Extras
) -> RaterPages:
    """Return the pages of all raters."""
    parts = []
    for occasion in range(task.choice.occasions):
        trials = _order_pages(lists, shown, criteria, design, task, extras, occasion)
        parts.append(_add_extras(trials, task, extras, occasion))
    if len(parts) == 1:
        return RaterPages(**parts[0])
    return RaterPages(**{name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]})


def _order_pages(
    lists: Allocation,
    shown: Longs,
    criteria: tuple[int, ...],
    design: Design,
    task: Task,
    extras: Extras,
    occasion: int,
) -> TrialPages:
    """Return what each trial page shows and asks (raters × pages)."""
    n_raters, k = lists.items.shape
    m = shown.shape[-1]
    if task.choice.criteria == "in blocks" and len(extras.turns) > 1:
        n = len(extras.turns)
        orders = [order_trials(lists, shown, design, task, occasion * n + block) for block in range(n)]
        return _join_blocks(orders, turn_criteria(n_raters, criteria, task), m, task, extras, occasion)
    order = order_trials(lists, shown, design, task, occasion)
    pages = [(turn.criteria, output) for turn in extras.turns for output in _list_outputs(turn, m)]
    questions, outputs = (np.tile(np.array(column), (n_raters, k)) for column in zip(*pages, strict=True))
    return TrialPages(np.repeat(order, len(pages), axis=1), questions, outputs)


def _join_blocks(
    orders: Sequence[Longs], turns: Longs, m: int, task: Task, extras: Extras, occasion: int
) -> TrialPages:
    """Return the pages of all blocks; outputs that are rated alone have their own random order."""
    rows = []
    for rater, own in enumerate(turns.tolist()):
        parts = []
        for block, number in enumerate(own):
            turn, cells = extras.turns[number], orders[block][rater]
            outputs = np.array(_list_outputs(turn, m))
            if len(outputs) > 1:
                cells, outputs = np.repeat(cells, m), np.tile(outputs, len(cells))
                if task.choice.order == "random":
                    sitting = occasion * len(own) + block
                    order = draw_order(
                        stream(task.seed, *task.names, "alone", rater, sitting).random(len(cells))
                    )
                    cells, outputs = cells[order], outputs[order]
            asked = np.full(len(cells), turn.criteria, dtype=np.int64)
            parts.append((cells, asked, np.broadcast_to(outputs, cells.shape)))
        rows.append([np.concatenate(columns) for columns in zip(*parts, strict=True)])
    return TrialPages(*(np.array(column) for column in zip(*rows, strict=True)))


def _list_outputs(turn: QuestionSet, m: int) -> list[int]:
    """Return the outputs that the pages of a turn show one by one; -1 for all on one page."""
    return list(range(m)) if turn.alone and m > 1 else [-1]


def _add_extras(trials: TrialPages, task: Task, extras: Extras, occasion: int) -> dict[str, NDArray[Any]]:
    """Return the pages of one occasion, with practice before them and checks among them."""
    n_raters, n_trials = trials.cells.shape
    n_practice, n_checks = len(extras.practice), len(extras.checks)
    n_pages = n_practice + n_trials + n_checks

    def fill(value: int) -> NDArray[Any]:
        return np.full((n_raters, n_pages), value, dtype=np.int32)

    pages = {
        "phase": fill(TRIAL),
        "cell": fill(-1),
        "output": fill(-1),
        "special": fill(-1),
        "check": fill(-1),
        "criteria": fill(-1),
    }
    here = slice(n_practice, n_practice + n_trials)
    pages["phase"][:, :n_practice] = PRACTICE
    pages["special"][:, :n_practice] = np.arange(n_practice)
    pages["criteria"][:, :n_practice] = extras.practice
    pages["cell"][:, here], pages["criteria"][:, here] = trials.cells, trials.questions
    pages["output"][:, here] = trials.outputs
    if n_checks:
        after = _add_checks(pages, trials, task, extras, occasion)
        keys = np.concatenate(
            [np.tile(np.arange(n_practice + n_trials) - n_practice + 1.0, (n_raters, 1)), after], 1
        )
        order = np.argsort(keys, axis=1, kind="stable")
        pages = {name: np.take_along_axis(page, order, axis=1) for name, page in pages.items()}
    pages["order"] = np.tile(np.arange(1, n_pages + 1, dtype=np.int32), (n_raters, 1))
    pages["occasion"] = fill(occasion + 1)
    return pages


def _add_checks(
    pages: dict[str, NDArray[Any]], trials: TrialPages, task: Task, extras: Extras, occasion: int
) -> NDArray[np.float64]:
    """Write the checks into the last columns, and return after which trial page each of them comes."""
    n_raters, n_trials = trials.cells.shape
    n_checks = len(extras.checks)
    after = np.empty((n_raters, n_checks))
    begin = len(extras.practice) + n_trials
    pages["phase"][:, begin:] = CHECK
    for rater in range(n_raters):
        numbers = stream(task.seed, *task.names, "checks", rater, occasion).random((3, n_checks)).tolist()
        for number, placed in enumerate(spread_checks(extras.checks, n_trials, numbers)):
            check, column = extras.checks[number], begin + number
            after[rater, number] = placed.after + 0.5
            pages["check"][rater, column] = number
            if placed.of is None:
                pages["special"][rater, column] = check.special
                now = int(trials.questions[rater, placed.after - 1])
                pages["criteria"][rater, column] = check.asks[now]
            else:
                pages["cell"][rater, column] = trials.cells[rater, placed.of - 1]
                pages["output"][rater, column] = trials.outputs[rater, placed.of - 1]
                pages["criteria"][rater, column] = trials.questions[rater, placed.of - 1]
    return after


def count_short_repeats(checks: Sequence[PlannedCheck], n_trials: int) -> int:
    """Return how many repeat checks need more pages between the two showings than a list has."""
    return sum(check.distance is not None and check.distance >= n_trials for check in checks)


def order_trials(lists: Allocation, shown: Longs, design: Design, task: Task, sitting: int) -> Longs:
    """Return the order of each rater's trials (raters × trials) for a sitting, or a block of one."""
    arranged = design.arrange(shown, task, sitting)
    if arranged is not None:
        return arranged
    if task.choice.order == "as listed":
        keys = (lists.items * task.n_systems + shown[:, :, 0]).astype(np.float64)
        return draw_order(keys)
    n_raters, k = lists.items.shape
    numbers = np.empty((n_raters, k))
    for rater in range(n_raters):
        stream(task.seed, *task.names, "order", rater, sitting).random(out=numbers[rater])
    return draw_order(numbers)


def turn_criteria(n_raters: int, criteria: tuple[int, ...], task: Task) -> Longs:
    """Return the order in which each rater meets the blocks of criteria: as listed, or each first in turn."""
    n = len(criteria)
    turns = (
        np.arange(n_raters)[:, None] if task.choice.order == "random" else np.zeros((n_raters, 1), np.int64)
    )
    return np.asarray((np.arange(n) + turns) % n)
