"""The figures of a report as files, SVG and PDF, at their final size for a paper."""

from __future__ import annotations

from math import ceil, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from panelist.analysis.missing import Missing
from panelist.reports.figures.style import ONE_COLUMN, TWO_COLUMNS, _level_colours, _name_rows, _save, _styled
from panelist.reports.report.estimate_charts import share_axes
from panelist.reports.report.report_tables import make_file_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from panelist.analysis.analysis_result import Analysis
    from panelist.analysis.checks.predicted_shares import PredictedShares
    from panelist.analysis.describe import Description
    from panelist.reports.report.estimate_charts import Chart
    from panelist.reports.report.page_charts import Axis

ENDINGS = (".svg", ".pdf")
MOST_SYSTEMS = 40
MARKERS = ("o", "s", "^", "D", "v", "P", "p", "h")


def draw_figures(analysis: Analysis, charts: dict[str, Chart], folder: Path) -> list[Path]:
    """Return the files of all figures: estimates and answers of all criteria, predictions of each.

    ``charts`` are the estimates of each criterion as the page shows them.
    """
    written: list[Path] = []
    systems = analysis.data.systems
    described = [one.description for one in analysis.criteria if not isinstance(one.description, Missing)]
    described = [one for one in described if one.points]
    with _styled():
        if charts:
            shared = share_axes(charts.values())
            figure, panels = _make_panels([len(chart.marks) for chart in charts.values()], 0.255)
            for axes, (name, chart) in zip(panels, charts.items(), strict=True):
                _draw_marks(axes, chart, systems, shared.get(chart.label), name)
            written += _save_both(figure, folder / "estimates")
        if described:
            figure, panels = _make_panels([len(one.systems) for one in described], 0.3)
            for axes, one in zip(panels, described, strict=True):
                _draw_shares(axes, one)
            written += _save_both(figure, folder / "answers")
        for place, criterion in enumerate(analysis.criteria, start=1):
            checks = criterion.checks
            if not isinstance(checks, Missing) and not isinstance(checks.shares, Missing):
                stem = f"predicted_{place:02d}_{make_file_name(criterion.criterion)}"
                written += _draw_predictions(checks.shares, folder / stem)
    return written


def _make_panels(rows: list[int], step: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with one panel per criterion, two side by side, high enough for their systems."""
    from matplotlib.figure import Figure

    columns = min(2, len(rows))
    lines = ceil(len(rows) / columns)
    height = 0.72 + step * min(max(rows), MOST_SYSTEMS)
    figure = Figure(figsize=(ONE_COLUMN if columns == 1 else TWO_COLUMNS, lines * height))
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for unused in panels[len(rows) :]:
        unused.remove()
    return figure, panels[: len(rows)]


def _save_both(figure: Figure, stem: Path) -> list[Path]:
    """Write both files; the layout is computed once, because otherwise each would be drawn twice."""
    from matplotlib import rc_context

    paths = [stem.with_name(stem.name + ending) for ending in ENDINGS]
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    with rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # the layout stays
        for path in paths:
            _save(figure, path)
    return paths


def _draw_marks(
    axes: Axes, chart: Chart, systems: tuple[str, ...], axis: Axis | None, criterion: str
) -> None:
    from matplotlib import rcParams

    colours = rcParams["axes.prop_cycle"].by_key()["color"]
    many = len(systems) > len(MARKERS)
    marks = chart.marks[:MOST_SYSTEMS]
    for row, one in enumerate(marks):
        if axis is None or not one.known:
            axes.text(0.02, row, "no estimate", va="center", transform=axes.get_yaxis_transform(), fontsize=7)
            continue
        place = 7 if many or one.system not in systems else systems.index(one.system)
        low, high = axis.clip(one.low), axis.clip(one.high)
        bars = [[max(one.estimate - low, 0.0)], [max(high - one.estimate, 0.0)]]
        axes.errorbar(
            one.estimate,
            row,
            xerr=bars,
            color=colours[place],
            marker="o" if many else MARKERS[place],
            markersize=5.5,
        )
    axes.set_title(criterion, parse_math=False)
    axes.set_xlabel(chart.label, parse_math=False)
    if axis is not None:
        room = 0.03 * (axis.end - axis.start)  # for a mark at the end
        axes.set(xlim=(axis.start - room, axis.end + room), xticks=axis.ticks)
    _name_rows(axes, [one.system for one in marks])


def _draw_shares(axes: Axes, description: Description) -> None:
    rows = description.systems[:MOST_SYSTEMS]
    colours, inks = _level_colours(len(description.points))
    left = [0.0] * len(rows)
    for place in range(len(description.points)):
        shares = [one.shares[place] for one in rows]
        axes.barh(range(len(rows)), shares, left=left, color=colours[place], height=0.72)
        for row, share in enumerate(shares):
            if share >= 0.055:
                middle = left[row] + share / 2
                axes.text(
                    middle, row, f"{100 * share:.0f}", ha="center", va="center", color=inks[place], fontsize=7
                )
            left[row] += share
    ends = f"{description.points[0]} light to {description.points[-1]} dark"
    axes.set_title(f"{description.criterion}: {ends}", parse_math=False)
    axes.set(xlim=(0, 1), xlabel="Share of answers, %")
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    _name_rows(axes, [one.system for one in rows])


def _draw_predictions(shares: PredictedShares, stem: Path) -> list[Path]:
    from matplotlib.figure import Figure

    systems = list(dict.fromkeys(one.system for one in shares.shares))[:9]
    columns = min(3, len(systems))
    rows = ceil(len(systems) / columns)
    width = ONE_COLUMN if columns == 1 else TWO_COLUMNS
    figure = Figure(figsize=(width, 0.35 + 1.35 * rows))
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes, system in zip(grid.flat, systems, strict=False):
        mine = [one for one in shares.shares if one.system == system]
        places = range(len(mine))
        axes.bar(places, [100 * one.observed for one in mine], color="#d6dedb", width=0.7, label="observed")
        axes.plot(places, [100 * one.ordinal for one in mine], "o", color="#2451a9", label="ordinal model")
        if all(isfinite(one.interval) for one in mine):
            axes.plot(
                places, [100 * one.interval for one in mine], "D", color="#e77122", label="interval model"
            )
        axes.set_xticks(list(places), [one.point for one in mine], parse_math=False)
        axes.set_title(system, parse_math=False)
        axes.grid(axis="x", visible=False)
    for unused in list(grid.flat)[len(systems) :]:
        unused.remove()
    grid[0, 0].set_ylabel("Share of ratings, %")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return _save_both(figure, stem)
