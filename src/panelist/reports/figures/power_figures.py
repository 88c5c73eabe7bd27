"""Figures of a power study: curves over the effect, and the figures of Howcroft & Rieser (2021)."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import PanelistError
from panelist.reports.figures.style import LEVELS, ONE_COLUMN, TWO_COLUMNS, _save, _styled, check_figure_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from panelist.power.cells import CellResult
    from panelist.power.curve import PowerCurve
    from panelist.power.search.sample_size import SampleSize

COLOURS = ("#2451a9", "#e77122", "#338678", "#691d4b", "#3f9bcc", "#87653e", "#d34671", "#1a2121")
LINES: tuple[Any, ...] = ("-", "--", ":", "-.")
TARGET = 0.8
MOST_PANELS = 30
MOST_TICKS = 8
_TITLES = {
    "extra-low": "Extreme low variance",
    "low": "Low variance",
    "general": "General",
    "high": "High variance",
    "extra-high": "Extreme high variance",
}


def draw_power(
    curve: PowerCurve,
    path: str | PathLike[str],
    presets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
) -> None:
    """Draw power over the effect: rows by setting, columns by number of ratings, colours by number of items.

    Analyses differ in the kind of line; the shade is the exact interval. Where there is one effect only,
    power is drawn over the number of items.
    """
    target = check_figure_path(path)
    cells = [
        one
        for one in curve.cells
        if (presets is None or one.preset in presets) and (models is None or one.model in models)
    ]
    if not cells:
        raise PanelistError("There is no cell to draw: no preset or model of those asked for was simulated.")
    rows = list(dict.fromkeys(one.preset for one in cells))
    columns = sorted({one.ratings_per_item for one in cells})
    if len(rows) * len(columns) > MOST_PANELS:
        raise PanelistError(
            f"{len(rows) * len(columns)} panels are too many for one figure; draw fewer presets or ratings."
        )
    by_effect = len({one.effect for one in cells}) > 1
    with _styled():
        from matplotlib.figure import Figure

        wide = len(columns) > 1
        figure = Figure(figsize=(TWO_COLUMNS if wide else ONE_COLUMN, 0.5 + 1.75 * len(rows)))
        grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
        for i, preset in enumerate(rows):
            for j, count in enumerate(columns):
                here = [one for one in cells if one.preset == preset and one.ratings_per_item == count]
                title = _TITLES.get(preset, preset)
                grid[i, j].set_title(f"{title}, {count:g} ratings an output", parse_math=False)
                _draw_curves(grid[i, j], here, cells, by_effect)
            grid[i, 0].set_ylabel("Power")
        for axes in grid[-1]:
            axes.set_xlabel("Effect, threshold distances" if by_effect else "Items")
        figure.legend(
            handles=_make_handles(cells, by_effect), loc="outside lower center", ncols=6 if wide else 3
        )
        _save(figure, target)


def _draw_curves(
    axes: Axes, here: Sequence[CellResult], cells: Sequence[CellResult], by_effect: bool
) -> None:
    items, models = _list_items(cells), list(dict.fromkeys(one.model for one in cells))
    groups = items if by_effect else [None]
    for place, count in enumerate(groups):
        for kind, model in enumerate(models):
            line = sorted(
                (one for one in here if one.model == model and count in (None, one.items)),
                key=lambda one: one.effect if by_effect else one.items,
            )
            if not line:
                continue
            x = [one.effect if by_effect else one.items for one in line]
            colour = COLOURS[(place if by_effect else kind) % len(COLOURS)]
            axes.fill_between(
                x, [one.low for one in line], [one.high for one in line], color=colour, alpha=0.1, linewidth=0
            )
            axes.plot(
                x,
                [one.power for one in line],
                LINES[kind % len(LINES)],
                color=colour,
                marker="o",
                markersize=3,
            )
    axes.axhline(TARGET, color="#6f7d79", linewidth=0.7, linestyle=":")
    axes.set_ylim(-0.02, 1.02)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    ticks = sorted({one.effect if by_effect else one.items for one in cells})
    if len(ticks) <= MOST_TICKS:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def _make_handles(cells: Sequence[CellResult], by_effect: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = []
    if by_effect:
        for place, count in enumerate(_list_items(cells)):
            handles.append(Line2D([], [], color=COLOURS[place % len(COLOURS)], label=f"{count} items"))
    for kind, model in enumerate(dict.fromkeys(one.model for one in cells)):
        colour = "#17211f" if by_effect else COLOURS[kind % len(COLOURS)]
        handles.append(Line2D([], [], color=colour, linestyle=LINES[kind % len(LINES)], label=model))
    return handles


def _list_items(cells: Sequence[CellResult]) -> list[int]:
    return sorted({one.items for one in cells})


def draw_scale_models(path: str | PathLike[str], seed: int = 1) -> None:
    """Draw the paper's Figure 1: ratings of a six-point scale, and how two models see them.

    The ratings are simulated with the mean thresholds of the paper. A linear model treats them as numbers
    with a normal density around their mean; an ordered probit model cuts a latent normal density at
    thresholds.
    """
    target = check_figure_path(path)
    from scipy.special import ndtr, ndtri

    from panelist.core.seeds import stream
    from panelist.power.truth.cuts import DISTANCE, LOWEST, POINTS

    cuts = LOWEST + DISTANCE * np.arange(POINTS - 1)
    latent = stream(seed, "figure 1").standard_normal(2000)
    points = np.arange(1, POINTS + 1)
    rating = np.searchsorted(cuts, latent) + 1
    shares = np.bincount(rating, minlength=POINTS + 1)[1:] / len(rating)
    mean, sd = float(rating.mean()), float(rating.std(ddof=1))
    linear = np.diff(ndtr((np.arange(POINTS + 1) + 0.5 - mean) / sd))
    fitted = ndtri(np.cumsum(shares)[:-1])
    with _styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(TWO_COLUMNS, 2.1))
        axes = figure.subplots(1, 3)
        axes[0].bar(points, shares, color=LEVELS[3])
        axes[0].set(title="Ratings", xlabel="Rating", ylabel="Share")
        x = np.linspace(-0.5, POINTS + 1.5, 200)
        density = np.exp(-(((x - mean) / sd) ** 2) / 2) / sd / np.sqrt(2 * np.pi)
        axes[1].bar(points, shares, color=LEVELS[1], label="ratings")
        axes[1].plot(x, density, marker="", color=COLOURS[1])
        axes[1].plot(points, linear, linestyle="", marker="o", color=COLOURS[1], label="linear model")
        axes[1].set(title="Linear model: a number", xlabel="Rating")
        axes[1].legend(loc="upper left")
        z = np.linspace(-3.2, 3.2, 400)
        normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        edges = np.concatenate([[-3.2], fitted, [3.2]])
        for place in range(POINTS):
            inside = (z >= edges[place]) & (z <= edges[place + 1])
            axes[2].fill_between(z[inside], normal[inside], color=LEVELS[place], linewidth=0)
            middle = float(np.clip((edges[place] + edges[place + 1]) / 2, -2.5, 2.2))
            axes[2].text(middle, 0.41, str(place + 1), ha="center", fontsize=7)
        axes[2].plot(z, normal, marker="", color="#17211f", linewidth=0.8)
        axes[2].set(title="Ordinal model: thresholds", xlabel="Latent judgement", ylim=(0, 0.45))
        for one in axes:
            one.set_xticks(points if one is not axes[2] else [-2, 0, 2])
        _save(figure, target)


def draw_sizes(found: SampleSize, path: str | PathLike[str]) -> None:
    """Draw the trade-off: for each family of designs its power over the number of items, and its probes."""
    target = check_figure_path(path)
    from panelist.power.search.probit_search import LEAST_ITEMS

    with _styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(ONE_COLUMN, 2.4))
        axes = figure.subplots()
        most = max(probe.items for family in found.families for probe in family.probes)
        x = np.linspace(LEAST_ITEMS, 1.2 * most, 200)
        for place, family in enumerate(found.families):
            colour = COLOURS[place % len(COLOURS)]
            for probe in family.probes:
                size = 1.5 + 0.1 * probe.sims**0.5
                axes.plot(probe.items, probe.power, "o", color=colour, markersize=size, alpha=0.5)
            label = f"{family.ratings_per_item} ratings, {family.outputs_per_rater} {found.unit}s per rater"
            axes.plot(x, family.predict(x), marker="", color=colour, label=label)
        axes.axhline(found.target, color="#6f7d79", linewidth=0.7, linestyle=":")
        axes.set(xlabel="Items", ylabel="Power", xlim=(0, 1.2 * most), ylim=(0, 1.02))
        axes.legend(loc="lower right")
        _save(figure, target)


def write_paper(curve: PowerCurve, folder: Path) -> list[str]:
    """Write Figures 1, 2 and 3 as SVG and PDF, the table as CSV and LaTeX; return the names."""
    from panelist.core.tables.writers import write_table
    from panelist.power.paper import MAIN

    names = []
    for ending in ("svg", "pdf"):
        draw_scale_models(folder / f"figure-1.{ending}")
        draw_power(curve, folder / f"figure-2.{ending}", MAIN, ("clmm", "lmm"))
        draw_power(curve, folder / f"figure-3.{ending}", None, ("clmm", "lmm"))
        names += [f"figure-{number}.{ending}" for number in (1, 2, 3)]
    write_table(curve.table, folder / "power.csv")
    (folder / "power.tex").write_text(curve.to_latex() + "\n", encoding="utf-8")
    return [*names, "power.csv", "power.tex"]
