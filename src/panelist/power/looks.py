"""The power of a study that is looked at before its end: how often it finds the difference, and how early."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtr

from panelist.analysis.spec import AnalysisSpec
from panelist.core.display.formats import TEXT, decimals, interval
from panelist.core.display.result import Part, Result, Sentence, Table, json_object, pick
from panelist.core.errors import PanelistError
from panelist.core.progress import Progress
from panelist.core.prose import listing
from panelist.core.seeds import stream
from panelist.models.inference.group_sequential import find_critical, find_variance
from panelist.numerics.compile_ahead import list_parts, prepare
from panelist.power.analyses import ANALYSES
from panelist.power.cells import Cell, find_interval
from panelist.power.curve import check_models
from panelist.power.layouts.base import Layout
from panelist.power.responses import simulate_responses
from panelist.power.run import Run
from panelist.power.truth.base import Truth


@dataclass(frozen=True)
class LookPower:
    """What one analysis of one cell reaches by its looks. ``stopped`` are the shares that end at each."""

    model: str
    preset: str
    items: int
    effect: float
    sims: int
    power: float
    low: float
    high: float
    raters: float
    """The mean number of raters until the study ends."""
    stopped: tuple[float, ...]


@dataclass(frozen=True)
class LookCurve(Result):
    """The power by looks, with the level that the same rule has where there is no difference."""

    looks: tuple[int, ...]
    spending: str
    information: tuple[float, ...]
    levels: tuple[float, ...]
    cells: tuple[LookPower, ...]
    alpha: float
    seed: int
    seconds: float
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return f"Power with looks after {listing(self.looks, None)} raters, by simulation"

    def parts(self) -> list[Part]:
        """Return the looks, the table and the check of the level."""
        shares = [
            (look, share, level)
            for look, share, level in zip(self.looks, self.information, self.levels, strict=True)
        ]
        told = Table(
            f"The looks ({self.spending} spending)",
            ("raters", "information", "tested at"),
            shares,
            {"information": decimals(2), "tested at": decimals(4)},
            note="information by the design and the truth, not by standard errors",
        )
        rows = [
            (one.model, one.effect, one.power, interval(one.low, one.high), one.raters, sum(one.stopped[:-1]))
            for one in self.cells
        ]
        header = ("model", "effect", "power", "95 % interval", "mean raters", "stopped early")
        formats = {"model": TEXT, "effect": decimals(2), "power": decimals(2)}
        formats |= {"mean raters": decimals(1), "stopped early": decimals(2)}
        found = Table("Effects in threshold distances; effect 0 is the level", header, rows, formats)
        null = [one for one in self.cells if one.effect == 0]
        check = "; ".join(f"{one.model} {one.power:.3f} ({one.low:.3f} to {one.high:.3f})" for one in null)
        said = f"Level by simulation, of {self.alpha:g}: {check}. Seed {self.seed}; {self.seconds:.1f} s."
        return [told, found, Sentence(said), *(Sentence(note) for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the looks and every cell."""
        whole = pick(self, "looks spending information levels alpha seed seconds notes")
        return json_object({**whole, "cells": [vars(one) for one in self.cells]})


def simulate_looks(
    cells: Sequence[Cell],
    models: Sequence[str],
    spec: AnalysisSpec,
    run: Run,
    looks: Sequence[int],
    spending: str,
) -> LookCurve:
    """Return how often studies of two systems find the difference at one of their looks, and then end.

    A look is after the first raters of the design. What it is tested at follows from the share of the
    information that it has by the truth. Cells without a difference are added: they check the level.
    """
    start = time.perf_counter()
    layout, truth = cells[0].layout, cells[0].truth
    names = check_models(models, [truth], [layout])
    numbers = _check_looks(looks, cells, run)
    prepare(*list_parts(*names))
    parts = [take_raters(layout, n) for n in numbers]
    variances = [_find_variance(truth, part) for part, _ in parts]
    rates = [variances[-1] / one for one in variances]
    critical = find_critical(rates, spending, spec.alpha)
    levels = tuple(float(2 * ndtr(-c)) for c in critical)
    null = replace(cells[0], effect=0.0, effects=(0.0,) * layout.n_systems)
    every = [null, *(cell for cell in cells if cell.effect != 0.0)]
    found = []
    for at, cell in enumerate(every):
        ends = _simulate(cell, names, spec, run, parts, levels, (at, len(every)))
        found += [_summarise(cell, name, ends[name], numbers, run.n_sets) for name in names]
    return LookCurve(
        tuple(numbers), spending, tuple(rates), levels, tuple(found), spec.alpha, run.seed,
        time.perf_counter() - start, truth.notes,
    )  # fmt: skip


def take_raters(layout: Layout, n: int) -> tuple[Layout, Any]:
    """Return the part of a layout that its first raters rate, and which of its rows these are."""
    rows = np.flatnonzero(layout.rater < n)
    items, item = np.unique(layout.item[rows], return_inverse=True)
    system = layout.system[rows]
    each = len(rows) / max(len(items) * layout.n_systems, 1)
    part = Layout(
        layout.rater[rows], item.astype(np.int32), system, n, len(items), layout.systems, round(each, 2)
    )
    if layout.page is None:
        return part, rows
    page = np.unique(layout.page[rows], return_inverse=True)[1].astype(np.int32)
    return replace(part, page=page, told=layout.told, points=layout.points), rows


def _check_looks(looks: Sequence[int], cells: Sequence[Cell], run: Run) -> list[int]:
    layouts = {cell.layout.key: cell.layout for cell in cells}
    if len(layouts) > 1 or len({cell.truth for cell in cells}) > 1:
        raise PanelistError("Looks are simulated for one design and one truth: give one number of each.")
    (layout,) = layouts.values()
    if layout.n_systems != 2:
        raise PanelistError(
            f"Looks are simulated for one contrast, of two systems. Here are {layout.n_systems}."
        )
    rising = len(looks) > 1 and all(0 < a < b for a, b in pairwise(looks))
    if not rising or looks[-1] != layout.n_raters:
        raise PanelistError(
            f"Looks are rising numbers of raters, the last all {layout.n_raters} of the design, such as "
            f"{layout.n_raters // 2},{layout.n_raters}. Got {', '.join(map(str, looks))}."
        )
    if run.precision is not None or run.journal is not None:
        raise PanelistError(
            "--looks takes neither --precision nor --journal: say how many data sets with --sims."
        )
    return list(looks)


def _find_variance(truth: Truth, layout: Layout) -> float:
    """Return the variance of the difference, by the truth."""
    covariances = [one.covariance(2) for one in (truth.raters, truth.items)]
    by_rater, by_item = (float(np.sqrt(C[0, 0] + C[1, 1] - 2 * C[0, 1])) for C in covariances)
    slopes = (by_rater, by_item)
    return find_variance(layout.n_raters, layout.n_items, layout.n_rows / 2, slopes, truth.residual)


def _simulate(
    cell: Cell, names: Sequence[str], spec: AnalysisSpec, run: Run,
    parts: list[tuple[Layout, Any]], levels: Sequence[float], place: tuple[int, int],
) -> dict[str, list[int]]:  # fmt: skip
    """Return at which look each data set ends with a finding, -1 where none has one."""
    testers = {name: [ANALYSES[name].prepare(part, spec) for part, _ in parts] for name in names}
    ends: dict[str, list[int]] = {name: [] for name in names}
    size, wanted = cell.chunk_size, run.n_sets
    for index in range(-(-wanted // size)):
        rng = stream(run.seed, "looks", cell.stream_key, index)
        drawn = simulate_responses(cell.truth, cell.layout, cell.effects, rng, size)
        drawn = drawn[: wanted - index * size]
        for name, own in testers.items():
            p = np.array([test(drawn[:, rows]).p[:, 0] for test, (_, rows) in zip(own, parts, strict=True)])
            with np.errstate(invalid="ignore"):
                below = np.where(np.isnan(p), False, p < np.array(levels)[:, None])
            ends[name] += np.where(below.any(axis=0), below.argmax(axis=0), -1).tolist()
        if run.on_progress is not None:
            done = place[0] * wanted + len(ends[names[0]])
            run.on_progress(Progress(done, place[1] * wanted, f"effect {cell.effect:g}"))
    return ends


def _summarise(cell: Cell, name: str, ends: list[int], looks: Sequence[int], sims: int) -> LookPower:
    found = sum(end >= 0 for end in ends)
    last = len(looks) - 1
    counts = np.bincount([last if end < 0 else end for end in ends], minlength=len(looks)) / sims
    low, high = find_interval(found, sims)
    return LookPower(
        model=name,
        preset=cell.truth.name,
        items=cell.layout.n_items,
        effect=cell.effect,
        sims=sims,
        power=found / sims,
        low=low,
        high=high,
        raters=float(counts @ np.array(looks)),
        stopped=tuple(counts.tolist()),
    )
