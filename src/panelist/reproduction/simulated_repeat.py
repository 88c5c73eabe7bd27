"""Repeats simulated from the original's fitted model: what power the same design has, and a larger one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from panelist.core.errors import BadReproduction
from panelist.power.curve import simulate_power
from panelist.power.layouts import Layout
from panelist.power.pilot import fit_pilot
from panelist.reproduction.sources import Given

FACTORS = (1, 2, 3)
SIMS = 200


@dataclass(frozen=True)
class SimulatedPair:
    """One pair of systems in repeats of ``factor`` times the items and raters: power, and wrong signs."""

    factor: int
    items: int
    raters: int
    a: str
    b: str
    power: float
    low: float
    high: float
    type_s: float


def simulate_repeats(
    given: Given,
    factors: Sequence[int] = FACTORS,
    *,
    sims: int = SIMS,
    seed: int = 1,
    alpha: float = 0.05,
    workers: int | None = None,
) -> tuple[SimulatedPair, ...]:
    """Return the power of every pair in repeats of the original's own design, taken once, twice …

    Ratings are simulated from the original's ordinal mixed model and tested with the same kind of model,
    Tukey adjusted. A repeat of factor 2 has as many new items and raters again, in the same layout.
    """
    if given.rows is None or given.choices:
        raise BadReproduction(
            "Repeats are simulated from the original's single ratings. Give them as ORIGINAL; of scores or "
            "choices "
            "there is no model to simulate from."
        )
    rows = given.rows
    rows.require("rater", "item", "system", "rating")
    truth, systems = fit_pilot(rows)
    base = _lay_out(given, systems)
    layouts = [_enlarge(base, factor) for factor in factors]
    found = []
    for factor, layout in zip(factors, layouts, strict=True):
        curve = simulate_power(
            truth=truth, layout=layout, models="clmm", sims=sims, seed=seed, alpha=alpha, workers=workers
        )
        for pair in curve.cells[0].pairs:
            power = (pair.power, pair.low, pair.high, pair.type_s)
            found.append(SimulatedPair(factor, layout.n_items, layout.n_raters, pair.a, pair.b, *power))
    return tuple(found)


def _lay_out(given: Given, systems: Sequence[str]) -> Layout:
    """Return who rated what in the original."""
    assert given.rows is not None
    frame = given.rows.frame.dropna(subset=["rater", "item", "system", "rating"])
    rater, item = (np.unique(frame[name].astype(str), return_inverse=True) for name in ("rater", "item"))
    code = {name: place for place, name in enumerate(systems)}
    system = np.array([code[str(name)] for name in frame["system"]], dtype=np.int32)
    outputs = len(np.unique(item[1].astype(np.int64) * len(systems) + system))
    return Layout(
        rater[1].astype(np.int32),
        item[1].astype(np.int32),
        system,
        len(rater[0]),
        len(item[0]),
        tuple(systems),
        round(len(frame) / outputs, 2),
    )


def _enlarge(base: Layout, factor: int) -> Layout:
    """Return the layout so many times over, each with items and raters of its own."""
    copies = np.repeat(np.arange(factor, dtype=np.int32), base.n_rows)
    return Layout(
        (np.tile(base.rater, factor) + base.n_raters * copies).astype(np.int32),
        (np.tile(base.item, factor) + base.n_items * copies).astype(np.int32),
        np.tile(base.system, factor).astype(np.int32),
        base.n_raters * factor,
        base.n_items * factor,
        base.systems,
        base.ratings_per_item,
    )
