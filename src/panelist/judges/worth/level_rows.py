"""The levels of one judge with their intervals, about other items, other raters or both, and the ceiling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from panelist.agreement.statistics.resample import LeftOut, Reach
from panelist.judges.match import JudgedRatings
from panelist.judges.worth.ceiling import Ceiling, Draws, measure_ceiling
from panelist.judges.worth.levels import (
    ItemSums,
    LevelTable,
    WorthLevel,
    centre_twice,
    correlate_all,
    percentile_of_r,
)
from panelist.numerics.arrays import Floats

LEVELS = ("output", "system", "pair")
MOST_GROUPS = 60  # of raters that are left out in turn
FEWEST_RATERS = 3  # of whom one can be left out, and the others still be held against each other
WHAT = ("people", "judge", "lead")


def draw_levels(
    beside: JudgedRatings,
    judge: str,
    table: LevelTable,
    drawn: tuple[Floats, Floats, Floats],
    left_out: Floats | None,
    over: str,
    confidence: float,
    against: Sequence[Ceiling],
) -> tuple[WorthLevel, ...]:
    """Return the levels in the order in which they matter: pairs first; ``against`` is the ceiling."""
    ceiling = {one.level: one for one in against}
    found = {
        "output": (table.output.pearson, table.output.spearman, table.output.kendall),
        "system": (table.system.pearson, table.system.spearman, table.system.kendall),
        "pair": (table.paired, *_rank_paired(beside.means, beside.scores[judge])),
    }
    rows = []
    for level in ("pair", "output", "system"):
        at = LEVELS.index(level)
        low, high = percentile_of_r(drawn[at], confidence, table.n_items)
        if left_out is not None:
            low, high = _widen(found[level][0], (low, high), left_out[:, at], over, confidence)
        rows.append(WorthLevel(level, *found[level], low, high, *name_ends(ceiling.get(level))))
    return tuple(rows)


def name_ends(top: Ceiling | None) -> tuple[float, ...]:
    """Return what a level says of its ceiling: a person's r, the judge's, and the ends of a person's."""
    return (nan,) * 4 if top is None else (top.people, top.judge, top.people_low, top.people_high)


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


def hold_beside_person(beside: JudgedRatings, judge: str, draws: Draws, over: str) -> tuple[Ceiling, ...]:
    """Return the ceiling with intervals about other items, other raters, or both."""
    found = measure_ceiling(beside, judge, draws)
    if over == "items":
        return found
    parts = [{one.level: one for one in measure_ceiling(part, judge)} for part in _leave_out(beside)]
    return tuple(
        _widen_ceiling(one, [part[one.level] for part in parts if one.level in part], over, draws.confidence)
        for one in found
    )


def _widen_ceiling(one: Ceiling, left: Sequence[Ceiling], over: str, confidence: float) -> Ceiling:
    if len(left) < FEWEST_RATERS - 1:
        none: dict[str, Any] = {f"{name}_{end}": nan for name in WHAT for end in ("low", "high")}
        return replace(one, **none)
    ends: dict[str, Any] = {}
    if not np.isfinite(one.people_low):  # not known about other items: nor about others
        return one
    for name in WHAT:
        values = np.array([getattr(part, name) for part in left])
        items = getattr(one, f"{name}_low"), getattr(one, f"{name}_high")
        low, high = _widen(getattr(one, name), items, values, over, confidence)
        ends |= {f"{name}_low": low, f"{name}_high": high}
    return replace(one, **ends)


def _leave_out(beside: JudgedRatings) -> Iterator[JudgedRatings]:
    """Give the table without each rater, or each group of raters, in turn."""
    groups = min(len(beside.raters), MOST_GROUPS)
    for left in range(groups):
        kept = beside.rater % groups != left
        yield replace(
            beside,
            item=beside.item[kept],
            system=beside.system[kept],
            rater=beside.rater[kept],
            y=beside.y[kept],
        )


def leave_out_raters(beside: JudgedRatings) -> dict[str, Floats]:
    """Return each judge's three correlations without each rater, or each group of raters, in turn."""
    found: dict[str, list[tuple[float, float, float]]] = {judge: [] for judge in beside.judges}
    for part in _leave_out(beside):
        for judge, grid in beside.scores.items():
            one = ItemSums.prepare(part.means, grid)
            found[judge].append(tuple(float(r[0]) for r in one.correlations(one.columns.sum(0)[None])))  # type: ignore[arg-type]
    return {judge: np.array(rows) for judge, rows in found.items()}
