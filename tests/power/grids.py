"""Small grids and layouts that several tests of power run."""

from dataclasses import replace
from typing import Any

import numpy as np

from panelist.analysis.spec import AnalysisSpec
from panelist.power.cells import CellResult
from panelist.power.curve import make_cells
from panelist.power.grid import Grid, run_grid
from panelist.power.layouts.base import Layout, Sampling
from panelist.power.run import Run
from panelist.power.truth.base import Truth

FAST = ("item_means", "t_test")


def make_grid(
    sims: int = 120, models: tuple[str, ...] = FAST, seed: int = 5, precision: float | None = None
) -> Grid:
    cells = make_cells(
        [Truth.preset("general")], [Sampling(20, 2).lay_out(), Sampling(30, 2).lay_out()], [0.0, 0.5, 1.5]
    )
    return Grid(tuple(cells), models, AnalysisSpec(), Run(sims, precision, seed))


def run(grid: Grid, **how: Any) -> list[CellResult]:
    return run_grid(replace(grid, run=replace(grid.run, **how)))


def numbers(results: list[CellResult]) -> list[dict[str, object]]:
    return [one.to_dict() for one in results]


def cross(raters: int, items: int, systems: int) -> Layout:
    """Every rater rates every output."""
    rater, item, system = (
        index.reshape(-1).astype(np.int32) for index in np.indices((raters, items, systems))
    )
    return Layout(rater, item, system, raters, items, tuple("ABCDEF"[:systems]), raters)
