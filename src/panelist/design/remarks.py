"""What could not be met exactly, in numbers: systems within raters, and carry-over."""

import numpy as np
from numpy.typing import NDArray

from panelist.design.base import Task
from panelist.design.carry_over import count_carry_over
from panelist.design.pages_of_rater import TRIAL, Pages

Ints = NDArray[np.int64]


def remark_lists(shown: Ints, task: Task) -> list[str]:
    """Return the note on how often a rater meets each system, where that is not always equally often."""
    n_raters, s = len(shown), task.n_systems
    codes = np.repeat(np.arange(n_raters), shown[0].size) * s + shown.reshape(-1)
    counts = np.bincount(codes, minlength=n_raters * s).reshape(n_raters, s)
    spread = int((counts.max(axis=1) - counts.min(axis=1)).max())
    if spread == 0:
        return []
    k, m = shown.shape[1:]
    makes = f"{k:,} trials" + (f" of {m} outputs" if m > 1 else "")
    return [
        f"{makes} over {s} systems: a rater meets a system {counts.min():,} to {counts.max():,} times; for "
        f"one rater the systems differ by {spread:,} at most."
    ]


def remark_carry_over(pages: Pages, shown: Ints, task: Task) -> list[str]:
    """Return the figure of carry-over in design williams: how often each system follows each other."""
    if task.choice.type != "williams" or shown.shape[1] < 2:
        return []
    first = (pages.occasion == 1) & (pages.phase == TRIAL)
    n_raters, k = len(shown), shown.shape[1]
    cells = pages.cell[first].reshape(n_raters, -1)
    if task.choice.criteria == "in turn":
        cells = cells[:, :: cells.shape[1] // k]
    sequences = np.take_along_axis(shown[:, :, 0], cells[:, :k], axis=1)
    counts = count_carry_over(sequences, task.n_systems)
    others = counts[~np.eye(task.n_systems, dtype=bool)]
    low, high = int(others.min()), int(others.max())
    if low == high:
        return [
            f"Carry-over: every system follows every other {low:,} times, itself {counts.trace():,} times."
        ]
    return [
        f"Carry-over: a system follows another {low:,} to {high:,} times, itself "
        f"{counts.trace():,} times in all."
    ]
