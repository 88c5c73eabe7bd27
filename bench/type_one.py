"""Type I error of the mixed models by simulation, as docs/power.md shows it: ``python -m bench.type_one``.

Every design of lists is simulated under two nulls: systems with the same distribution, and the preset
``general``, whose second system varies more than the first. Crossed designs have three systems, five points,
and SDs of rater:system and item:system as named; with several systems the error is that of finding any pair.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from panelist.power.curve import simulate_power
from panelist.power.layouts.base import Layout, Sampling
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.spread import Spread

LISTS = ((50, 3, 6), (50, 3, 12), (50, 3, 30), (100, 3, 24), (50, 10, 40))  # items, ratings, raters
CROSSED = ((3, 100, 3), (6, 12, 3), (8, 12, 3))  # raters, items, systems
INTERACTIONS = (0.0, 0.3, 0.5)
FIVE = FixedCuts((-1.5, -0.6, 0.2, 1.0))
ANALYSES: dict[str, dict[str, Any]] = {
    "clmm, as compare": {"models": "clmm"},
    "clmm, largest, z": {"models": "clmm", "test": "z", "as_compared": False},
    "lmm, as compare": {"models": "lmm"},
}


def main() -> None:
    """Print a line for each design, null and analysis."""
    parser = argparse.ArgumentParser(prog="python -m bench.type_one", description=__doc__)
    parser.add_argument("--sims", type=int, default=1000, metavar="N")
    parser.add_argument("--only", default="", metavar="TEXT", help="designs whose names hold it")
    parser.add_argument("--analyses", default="", metavar="TEXT", help="analyses whose names hold it")
    parser.add_argument("--workers", type=int, default=None, metavar="N")
    asked = parser.parse_args()
    for name, truth, layout in (one for one in list_designs() if asked.only in one[0]):
        for analysis, options in ((one, ANALYSES[one]) for one in ANALYSES if asked.analyses in one):
            curve = simulate_power(
                layout=layout, truth=truth, effects=0.0, sims=asked.sims, workers=asked.workers, **options
            )
            (one,) = curve.cells
            print(
                f"{name:36} {analysis:18} {one.power:.3f} ({one.low:.3f} to {one.high:.3f}); smaller "
                f"{one.smaller / one.sims:.2f}, linear {one.led_by_linear}, separated {one.separated}, "
                f"failed {one.failed}; {one.sims / one.seconds:.0f} sets a second",
                flush=True,
            )


def list_designs() -> Iterator[tuple[str, Truth, Layout]]:
    """Give the name, truth and layout of every null."""
    general = Truth.preset("general")
    alike = replace(
        general, name="same spread", raters=_even_out(general.raters), items=_even_out(general.items)
    )
    for items, ratings, raters in LISTS:
        layout = Sampling(items, ratings, raters=raters).lay_out()
        for truth in (alike, general):
            yield f"{items} × {ratings}, {raters} raters, {truth.name}", truth, layout
    for raters, items, systems in CROSSED:
        for sd in INTERACTIONS:
            spread = make_spread(0.5, sd, systems)
            name = f"{raters} × {items} × {systems} crossed; {sd:g}, {sd:g}"
            yield name, Truth("crossed", spread, spread, FIVE), cross(raters, items, systems)


def _even_out(spread: Spread) -> Spread:
    """Return the spread with both systems varying alike."""
    return replace(spread, correlation=-spread.slope / (2 * spread.intercept))


def make_spread(level: float, interaction: float, systems: int) -> Spread:
    """Return the spread of a level for all systems and an interaction with each, by their SDs."""
    covariance = level**2 * np.ones((systems, systems)) + interaction**2 * np.eye(systems)
    return Spread(level, 2**0.5 * interaction, 0.0, tuple(map(tuple, covariance.tolist())))


def cross(raters: int, items: int, systems: int) -> Layout:
    """Return the layout in which every rater rates every output."""
    rater, item, system = (
        index.reshape(-1).astype(np.int32) for index in np.indices((raters, items, systems))
    )
    names = tuple("ABCDEFGH"[:systems])
    return Layout(rater, item, system, raters, items, names, raters)


if __name__ == "__main__":
    main()
