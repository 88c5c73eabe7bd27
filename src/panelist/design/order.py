"""The order of trials: drawn for each rater, as listed, or as the design arranges them."""

import numpy as np
from numpy.typing import NDArray

from panelist.core.seeds import stream
from panelist.design.allocate import Allocation, draw_order
from panelist.design.base import Design, Task

Ints = NDArray[np.int64]


def order_trials(lists: Allocation, shown: Ints, design: Design, task: Task, sitting: int) -> Ints:
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


def turn_criteria(n_raters: int, criteria: tuple[int, ...], task: Task) -> Ints:
    """Return the order in which each rater meets the blocks of criteria: as listed, or each first in turn."""
    n = len(criteria)
    turns = (
        np.arange(n_raters)[:, None] if task.choice.order == "random" else np.zeros((n_raters, 1), np.int64)
    )
    return np.asarray((np.arange(n) + turns) % n)
