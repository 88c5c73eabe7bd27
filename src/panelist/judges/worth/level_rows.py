"""The levels of one judge with their intervals, about other items, other raters or both, and the ceiling."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from panelist.agreement.statistics.resample import LeftOut, Reach
from panelist.judges.match import JudgedRatings
from panelist.judges.worth.ceiling import measure_ceiling
from panelist.judges.worth.judge_worth import WorthLevel
from panelist.judges.worth.levels import ItemSums, LevelTable, centre_twice, correlate_all, percentile
from panelist.numerics.arrays import Floats

LEVELS = ("output", "system", "pair")
MOST_GROUPS = 60  # of raters that are left out in turn


def draw_levels(
    beside: JudgedRatings,
    judge: str,
    table: LevelTable,
    drawn: tuple[Floats, Floats, Floats],
    left_out: Floats | None,
    over: str,
    confidence: float,
) -> tuple[WorthLevel, ...]:
    """Return the levels in the order in which they matter: pairs first."""
    ceiling = {one.level: one for one in measure_ceiling(beside, judge)}
    found = {
        "output": (table.output.pearson, table.output.spearman, table.output.kendall),
        "system": (table.system.pearson, table.system.spearman, table.system.kendall),
        "pair": (table.paired, *_rank_paired(beside.means, beside.scores[judge])),
    }
    rows = []
    for level in ("pair", "output", "system"):
        at = LEVELS.index(level)
        low, high = percentile(drawn[at], confidence)
        if left_out is not None:
            low, high = _widen(found[level][0], (low, high), left_out[:, at], over, confidence)
        top = ceiling.get(level)
        rows.append(
            WorthLevel(
                level,
                *found[level],
                low,
                high,
                nan if top is None else top.people,
                nan if top is None else top.judge,
            )
        )
    return tuple(rows)


def _rank_paired(people: Floats, judge: Floats) -> tuple[float, float]:
    """Return Spearman's and Kendall's coefficients of what is left without item and system effects."""
    there = np.isfinite(people) & np.isfinite(judge)
    if there.sum() < 3:
        return nan, nan
    found = correlate_all(centre_twice(people, there)[there], centre_twice(judge, there)[there])
    return found.spearman, found.kendall


def _widen(
    estimate: float, ends: tuple[float, float], values: Floats, over: str, confidence: float
) -> tuple[float, float]:
    """Return the interval about other raters, or about both: squares of reaches add, as in agreement."""
    raters = LeftOut(values).reach(confidence)
    whole = raters if over == "raters" else Reach(estimate - ends[0], ends[1] - estimate) & raters
    return max(estimate - whole.down, -1.0), min(estimate + whole.up, 1.0)


def leave_out_raters(beside: JudgedRatings) -> dict[str, Floats]:
    """Return each judge's three correlations without each rater, or each group of raters, in turn."""
    groups = min(len(beside.raters), MOST_GROUPS)
    found: dict[str, list[tuple[float, float, float]]] = {judge: [] for judge in beside.judges}
    for left in range(groups):
        kept = beside.rater % groups != left
        part = replace(
            beside,
            item=beside.item[kept],
            system=beside.system[kept],
            rater=beside.rater[kept],
            y=beside.y[kept],
        )
        for judge, grid in beside.scores.items():
            one = ItemSums.prepare(part.means, grid)
            found[judge].append(tuple(float(r[0]) for r in one.correlations(one.columns.sum(0)[None])))  # type: ignore[arg-type]
    return {judge: np.array(rows) for judge, rows in found.items()}
