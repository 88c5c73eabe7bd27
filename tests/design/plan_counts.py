"""What plans are counted for in tests, from their tables alone."""

from collections import Counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.design.plan import Plan

Ints = NDArray[np.int64]


def spread(counts: "pd.Series[int] | Ints") -> int:
    """Return the largest count minus the smallest."""
    values = np.asarray(counts)
    return int(values.max() - values.min())


def trials(plan: Plan, occasion: int = 1) -> pd.DataFrame:
    """Return one row for each output on each trial page of an occasion, words as plain text."""
    table = plan.table[((plan.table["phase"] == "trial") & (plan.table["occasion"] == occasion)).to_numpy()]
    return table.astype(
        dict.fromkeys(["rater", "item", "system", "criterion", "group", "list", "check"], str)
    )


def pages(plan: Plan, occasion: int = 1) -> pd.DataFrame:
    """Return one row for each trial page: rater, order, item, criterion, the systems left to right."""
    shown = trials(plan, occasion).sort_values(["rater", "order", "criterion", "position"], kind="stable")
    grouped = shown.groupby(["rater", "order", "item", "criterion"], sort=False)["system"]
    return grouped.agg(tuple).reset_index()


def count_cells(plan: Plan, items: tuple[str, ...], kinds: list[tuple[str, ...]]) -> Ints:
    """Return how often each item is shown with each set of systems (items × kinds)."""
    found = pages(plan)
    counts = Counter(
        (item, tuple(sorted(shown))) for item, shown in zip(found["item"], found["system"], strict=True)
    )
    return np.array([[counts[item, kind] for kind in kinds] for item in items])


def rows_of(plan: Plan, rater: str) -> pd.DataFrame:
    """Return the rows of one rater as plain values."""
    rows = plan.table[(plan.table["rater"] == rater).to_numpy()].astype(object)
    return rows.reset_index(drop=True)
