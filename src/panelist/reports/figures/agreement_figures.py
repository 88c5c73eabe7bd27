"""Figures of a reliability analysis: what each rater gave, pair by pair, and how many raters it would take.

All are drawn in the style of figures.py: at their final size, the same numbers giving the same file.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from panelist.core.errors import BadRatings
from panelist.reports.figures.style import (
    LEVELS,
    MOST_POINTS,
    ONE_COLUMN,
    TWO_COLUMNS,
    _columns,
    _level_colours,
    _name_rows,
    _panels,
    _save,
    _styled,
    check_figure_path,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from panelist.agreement.criterion_table import RatingTable
    from panelist.agreement.studies.generalizability import Generalizability
    from panelist.agreement.studies.raters import CriterionRaters

MOST_RATERS, MOST_UNITS, MOST_BARS = 8, 60, 20
SHIFT = 0.5  # of one point of the scale, shared out among the raters
BINS = 5

Tables = Sequence[tuple[str, "RatingTable"]]


def draw_ratings(tables: Tables, path: str | PathLike[str]) -> None:
    """Draw each rater's ratings along the outputs, each line shifted upward; one panel per criterion.

    As Figures 1 and 2 of Amidei et al. (2019): lines that run side by side are raters who differ in level
    but order the outputs alike. Outputs are in the order of their mean; of many, evenly spaced ones.
    """
    target = check_figure_path(path)
    with _styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(TWO_COLUMNS, 1.9 * len(tables)))
        grid = figure.subplots(len(tables), 1, squeeze=False)
        for axes, (criterion, table) in zip(grid.flat, tables, strict=True):
            _draw_lines(axes, criterion, table)
        _save(figure, target)


def draw_categories(tables: Tables, path: str | PathLike[str]) -> None:
    """Draw how often each rater gave each category, bars by rater, panels by criterion (their Figure 3)."""
    target = check_figure_path(path)
    names = _busiest(tables, MOST_BARS)
    with _styled():
        figure, panels = _panels(len(tables), 0.72 + 0.3 * len(names), share=True)
        for axes, (criterion, table) in zip(panels, tables, strict=True):
            _draw_rater_bars(axes, criterion, table, names)
        every = {name for _, table in tables for name in table.raters}
        rest = f" ({len(every) - len(names)} more raters not shown)" if len(every) > len(names) else ""
        for axes in panels[len(panels) - _columns(len(panels)) :]:
            axes.set_xlabel(f"Share of ratings, %{rest}")
        _save(figure, target)


def draw_pairs(raters: Sequence[CriterionRaters], name: str, path: str | PathLike[str]) -> None:
    """Draw one coefficient of every pair of raters as a matrix, one panel per criterion."""
    target = check_figure_path(path)
    if not raters or any(name not in one.matrices for one in raters):
        raise BadRatings(f"There is no matrix of {name} to draw: too many raters, or another coefficient.")
    most = max(len(one.raters) for one in raters)
    with _styled():
        from matplotlib.figure import Figure

        columns = min(len(raters), 3 if most <= 8 else 2) if len(raters) > 1 else 1
        rows = -(-len(raters) // columns)
        width = ONE_COLUMN if columns == 1 else TWO_COLUMNS
        figure = Figure(figsize=(width, rows * (0.45 + 0.95 * width / columns)))
        grid = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, one in zip(grid, raters, strict=False):
            _draw_matrix(axes, one, name)
        for unused in grid[len(raters) :]:
            unused.remove()
        _save(figure, target)


def draw_decisions(studies: Sequence[Generalizability], path: str | PathLike[str], most: int = 20) -> None:
    """Draw how G (solid) and phi (dashed) grow with the number of raters, one line per number of items."""
    target = check_figure_path(path)
    if any("rater" not in study.facets for study in studies):
        raise BadRatings("A decision study needs raters among its facets.")
    with _styled():
        figure, panels = _panels(len(studies), 2.3, share=True)
        for place, (axes, study) in enumerate(zip(panels, studies, strict=True)):
            _draw_growth(axes, study, most, named=place == 0)
        _save(figure, target)


def _draw_lines(axes: Axes, criterion: str, table: RatingTable) -> None:
    if table.labels:
        raise BadRatings(f"The ratings of {criterion!r} are words without an order, and lines need one.")
    raters = np.argsort(-table.ratings_per_rater, kind="stable")[:MOST_RATERS]
    raters = np.sort(raters)
    chosen = np.zeros(table.n_raters, dtype=bool)
    chosen[raters] = True
    shown = table.only(raters=chosen)
    mean = np.bincount(shown.unit, weights=shown.value) / shown.ratings_per_unit
    order = np.argsort(mean, kind="stable")
    if len(order) > MOST_UNITS:
        order = order[np.linspace(0, len(order) - 1, MOST_UNITS).round().astype(int)]
    matrix = np.full((len(order), shown.n_raters), np.nan)
    place = np.full(shown.n_units, -1)
    place[order] = np.arange(len(order))
    kept = place[shown.unit] >= 0
    matrix[place[shown.unit[kept]], shown.rater[kept]] = shown.value[kept]
    points = shown.categories
    step = float(np.diff(points).min()) if len(points) > 1 else 1.0
    step = max(step, float(np.ptp(points)) / MOST_POINTS) if len(points) > 1 else step
    for k in range(shown.n_raters):
        seen = np.flatnonzero(~np.isnan(matrix[:, k]))
        shift = SHIFT * step * k / max(shown.n_raters, 2)
        axes.plot(seen, matrix[seen, k] + shift, markersize=3, linewidth=0.9, label=str(k))
    axes.set_title(criterion, parse_math=False)
    axes.set_ylabel("Rating, shifted")
    some = f"{len(order)} of {shown.n_units:,} outputs" if len(order) < shown.n_units else "Outputs"
    axes.set_xlabel(f"{some}, by mean rating")
    axes.set_xlim(-0.5, len(order) - 0.5)
    axes.set_xticks([])
    if len(points) <= MOST_POINTS:
        axes.set_yticks(points, [f"{point:g}" for point in points])
    left_out = table.n_raters - shown.n_raters
    title = f"{left_out} more not shown" if left_out else None
    legend = axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title=title, title_fontsize=7)
    for text, name in zip(legend.get_texts(), shown.raters, strict=True):
        text.set_parse_math(False)
        text.set_text(_short(name))  # set here, as a label that begins with _ would be left out


def _draw_rater_bars(axes: Axes, criterion: str, table: RatingTable, names: Sequence[str]) -> None:
    points, code = table.categories, table.code
    texts = [table.label(float(point)) for point in points]
    binned = len(points) > MOST_POINTS and not table.labels
    if binned:
        edges = np.linspace(points[0], points[-1], BINS + 1)
        code = np.clip(np.searchsorted(edges, table.value, side="right") - 1, 0, BINS - 1).astype(np.int32)
        texts = [f"{edges[0]:g}", *[""] * (BINS - 2), f"{edges[-1]:g}"]
    counts = np.zeros((table.n_raters, len(texts)))
    np.add.at(counts, (table.rater, code), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    colours, inks = _level_colours(max(len(texts), 2))
    where = {name: place for place, name in enumerate(table.raters)}
    for row, name in enumerate(names):
        left = 0.0
        for k in range(len(texts)) if name in where else ():
            share = float(shares[where[name], k])
            axes.barh(row, share, left=left, color=colours[k], height=0.72)
            if share >= 0.055:
                middle = left + share / 2
                said = f"{100 * share:.0f}"
                axes.text(middle, row, said, ha="center", va="center", color=inks[k], fontsize=7)
            left += share
    ends = f"{texts[0]} light to {texts[-1]} dark{', in fifths' if binned else ''}"
    axes.set_title(f"{criterion}: {ends}", parse_math=False)
    axes.set(xlim=(0, 1))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    _name_rows(axes, names)


def _draw_matrix(axes: Axes, raters: CriterionRaters, name: str) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    matrix = raters.matrices[name]
    levels = LinearSegmentedColormap.from_list("levels", list(LEVELS))
    ramp = levels.with_extremes(
        bad="#ffffff", under="#f3b98b"
    )  # negative values must not look like small ones
    axes.imshow(np.ma.masked_invalid(matrix), cmap=ramp, vmin=0, vmax=1, aspect="equal")
    size = 7 if len(matrix) <= 8 else 5 if len(matrix) <= 14 else 0
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            if i != j and size and isfinite(matrix[i, j]):
                ink = "#ffffff" if matrix[i, j] > 0.58 else "#10201f"
                said = f"{matrix[i, j]:z.2f}"
                axes.text(j, i, said, ha="center", va="center", color=ink, fontsize=size)
    names = [_short(rater) for rater in raters.raters]
    small = 7.5 if len(names) <= 12 else 5
    axes.set_xticks(range(len(names)), names, parse_math=False, rotation=90, fontsize=small)
    axes.set_yticks(range(len(names)), names, parse_math=False, fontsize=small)
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.set_title(raters.criterion, parse_math=False)


def _draw_growth(axes: Axes, study: Generalizability, most: int, named: bool) -> None:
    raters = list(range(1, most + 1))
    counts = sorted({one.n["item"] for one in study.decisions}) if "item" in study.facets else [0]
    shown = counts if len(counts) <= 3 else [counts[0], counts[len(counts) // 2], counts[-1]]
    for items in shown:
        n = {"item": items} if items else {}
        decisions = [study.decide(rater=count, **n) for count in raters]
        label = f"{items} items" if items else "G"
        (line,) = axes.plot(raters, [one.g for one in decisions], marker="", label=label)
        axes.plot(raters, [one.phi for one in decisions], marker="", linestyle="--", color=line.get_color())
    axes.axhline(0.8, color="#6f7d79", linewidth=0.7, linestyle=":")
    axes.set_title(study.criterion, parse_math=False)
    axes.set(xlabel="Raters", xlim=(1, most), ylim=(0, 1))
    axes.set_xticks([1, *range(5, most + 1, 5)])
    if named:
        axes.set_ylabel("G (solid), phi (dashed)")
        axes.legend(loc="lower right")


def _busiest(tables: Tables, most: int) -> list[str]:
    """Return the raters to show, in alphabetical order: those with the most ratings over all criteria."""
    counts: dict[str, int] = {}
    for _, table in tables:
        for name, count in zip(table.raters, table.ratings_per_rater.tolist(), strict=True):
            counts[name] = counts.get(name, 0) + count
    return sorted(sorted(counts, key=lambda name: (-counts[name], name))[:most])


def _short(name: str) -> str:
    return name if len(name) <= 12 else f"{name[:11]}…"
