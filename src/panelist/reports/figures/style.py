"""Figures for papers, at their final size and in one style: panelist.mplstyle beside this file.

A figure is made, saved and forgotten inside the style, without pyplot, so that no settings change.
Systems keep their colour and marker, in alphabetical order, whatever the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil, isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.core.errors import BadFile, BadRatings
from panelist.core.files import check_target
from panelist.core.tables.cells import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from panelist.analysis.systems.comparison import Comparison, CriterionComparison
    from panelist.core.tables.ratings import Ratings

STYLE = Path(__file__).parent / "panelist.mplstyle"
ONE_COLUMN, TWO_COLUMNS = 3.3, 6.9  # inches
MOST_POINTS = 11

# The points of a scale, low to high: one hue by lightness, so that grey print keeps the order.
LEVELS = ("#def1f3", "#b5dbdf", "#88c1c8", "#5aa4ad", "#2b7e87", "#076169", "#003f45")
_PICK = {2: (1, 5), 3: (0, 3, 6), 4: (0, 2, 4, 6), 5: (0, 1, 3, 5, 6), 6: (0, 1, 2, 4, 5, 6)}
_ON_LOW, _ON_HIGH = "#10201f", "#ffffff"

# Nothing that changes from run to run: the same numbers give the same file.
_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}


def draw_systems(comparison: Comparison, path: str | PathLike[str]) -> None:
    """Draw every system's estimate and interval, one panel per criterion, into a .svg, .pdf or .png file."""
    target = check_figure_path(path)
    names = sorted({one.system for criterion in comparison.criteria for one in criterion.systems})
    height = 0.72 + 0.255 * len(names)
    with _styled():
        figure, panels = _panels(
            len(comparison.criteria), height, share=(len({one.units for one in comparison.criteria}) == 1)
        )
        for axes, criterion in zip(panels, comparison.criteria, strict=True):
            _draw_estimates(axes, criterion, names)
        for axes in panels[len(panels) - _columns(len(panels)) :]:
            axes.set_xlabel(_estimate_label(comparison.criteria[-1]))
        _save(figure, target)


def draw_shares(ratings: Ratings, path: str | PathLike[str]) -> None:
    """Draw how often each point of the scale was given, one bar per system and one panel per criterion."""
    target = check_figure_path(path)
    ratings.require("rating", "system")
    criteria = ratings.criteria or ("rating",)
    names = list(ratings.systems)
    height = 0.72 + 0.3 * len(names)
    with _styled():
        figure, panels = _panels(len(criteria), height, share=True)
        for axes, criterion in zip(panels, criteria, strict=True):
            _draw_bars(axes, ratings.only(criterion) if ratings.criteria else ratings, criterion, names)
        for axes in panels[len(panels) - _columns(len(panels)) :]:
            axes.set_xlabel("Share of ratings, %")
        _save(figure, target)


def check_figure_path(path: str | PathLike[str]) -> Path:
    """Return the path if a figure can be written there, or raise BadFile."""
    return check_target(path, "figure", _METADATA)


@contextmanager
def _styled() -> Iterator[None]:
    import logging

    from matplotlib import style

    # One of the named fonts is found on every machine; missing ones are not worth a warning.
    fonts = logging.getLogger("matplotlib.font_manager")
    before = fonts.level
    fonts.setLevel(logging.ERROR)
    try:
        with style.context(str(STYLE)):
            yield
    finally:
        fonts.setLevel(before)


def _panels(count: int, height: float, share: bool) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    columns = _columns(count)
    rows = ceil(count / columns)
    figure = Figure(figsize=(ONE_COLUMN if count == 1 else TWO_COLUMNS, rows * height))
    grid = figure.subplots(rows, columns, sharex=share, sharey=True, squeeze=False)
    panels = list(grid.flat)
    for unused in panels[count:]:
        unused.remove()
    for position, axes in enumerate(panels[:count]):
        if position + columns >= count:  # nothing is below it
            axes.tick_params(labelbottom=True)
    return figure, panels[:count]


def _columns(count: int) -> int:
    return min(count, 3 if count % 3 == 0 else 2)


def _draw_estimates(axes: Axes, criterion: CriterionComparison, names: Sequence[str]) -> None:
    found = {one.system: one for one in criterion.systems}
    for row, name in enumerate(names):
        one = found.get(name)
        if one is None or not all(map(isfinite, (one.estimate, one.low, one.high))):
            axes.plot([], [])  # a colour and a marker belong to each system, even to one without an estimate
            axes.text(0.02, row, "no estimate", va="center", transform=axes.get_yaxis_transform(), fontsize=7)
            continue
        bars = [[one.estimate - one.low], [one.high - one.estimate]]
        axes.errorbar(one.estimate, row, xerr=bars, markersize=5.5)
    axes.set_title(criterion.criterion, parse_math=False)
    axes.locator_params(axis="x", nbins=6)
    _name_rows(axes, names)


def _draw_bars(axes: Axes, ratings: Ratings, criterion: str, names: Sequence[str]) -> None:
    import pandas as pd

    rating = ratings.frame["rating"]
    if not isinstance(rating.dtype, pd.CategoricalDtype) and not pd.api.types.is_numeric_dtype(rating):
        raise BadRatings(f"The ratings of {criterion!r} are text without an order, and bars need one.")
    points = list(rating.cat.categories) if rating.dtype == "category" else sorted(rating.dropna().unique())
    if len(points) > MOST_POINTS:
        raise BadRatings(
            f"The ratings of {criterion!r} have {len(points)} different values, and bars show at most "
            f"{MOST_POINTS}."
        )
    counts = pd.crosstab(ratings.frame["system"], rating).reindex(
        index=list(names), columns=points, fill_value=0
    )
    shares = counts.div(counts.sum(axis=1), axis=0).fillna(0.0).to_numpy()
    colours, inks = _level_colours(len(points))
    left = [0.0] * len(names)
    for place in range(len(points)):
        axes.barh(range(len(names)), shares[:, place], left=left, color=colours[place], height=0.72)
        for row, share in enumerate(shares[:, place]):
            if share >= 0.055:
                middle = left[row] + share / 2
                axes.text(
                    middle, row, f"{100 * share:.0f}", ha="center", va="center", color=inks[place], fontsize=7
                )
            left[row] += share
    axes.set_title(f"{criterion}: {label(points[0])} light to {label(points[-1])} dark", parse_math=False)
    axes.set(xlim=(0, 1))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    _name_rows(axes, names)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    shown = [name if len(name) <= 30 else f"{name[:29]}…" for name in names]
    axes.set_yticks(range(len(names)), shown, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def _estimate_label(criterion: CriterionComparison) -> str:
    if criterion.model in ("mixed", "bradley-terry", "plackett-luce"):
        scale = "Log-strength"
    elif criterion.units.startswith("points"):  # systems have thresholds of their own
        scale = "Expected rating"
    else:
        scale = f"Latent scale ({criterion.link})" if criterion.link else "Rating"
    return f"{scale}, {criterion.confidence * 100:g} % interval"


def _level_colours(points: int) -> tuple[list[Any], list[str]]:
    """Return for each point its colour, between those of the palette where there are more, and its ink."""
    from matplotlib.colors import LinearSegmentedColormap

    last = len(LEVELS) - 1
    if points <= len(LEVELS):
        places = [float(place) for place in _PICK.get(points, range(points))]
    else:
        places = [last * place / (points - 1) for place in range(points)]
    ramp = LinearSegmentedColormap.from_list("levels", list(LEVELS))
    return [ramp(place / last) for place in places], [
        _ON_HIGH if place > 3.5 else _ON_LOW for place in places
    ]


def _save(figure: Figure, target: Path) -> None:
    try:
        figure.savefig(target, metadata=_METADATA[target.suffix.lower()])
    except OSError as error:
        raise BadFile(
            f"The figure {str(target)!r} could not be written: {error.strerror or error}."
        ) from error
