"""Each turn rated: do comparisons hold their level, and are the spreads recovered? ``python -m bench.turns``.

A study of 2 systems, 12 raters and 16 items with 3 turns; a rater judges all turns of both systems on half of
the items. The latent judgement is that of design/simulate.py with the deviations of turn, reply and page that
a row names, and a residual of 1. Studies are compared as ``panelist compare`` does, with the column ``turn``
and, for contrast, without it: then the three ratings of one output by one rater count as independent.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from panelist.analysis.compare import compare_systems
from panelist.core.seeds import stream

RATERS, ITEMS, SYSTEMS, TURNS = 12, 16, 2, 3
CUTS = (-1.2, -0.4, 0.4, 1.2)
STEP = 0.8


@dataclass(frozen=True)
class TurnStudy:
    """The standard deviations of a study whose turns are rated, and how far its systems lie apart."""

    turn: float
    reply: float
    page: float
    step: float = 0.0
    rater_system: float = 0.3
    item_system: float = 0.3

    def simulate(self, rng: np.random.Generator, ordinal: bool) -> pd.DataFrame:
        """Return a ratings table."""
        rater, item, system, turn = (grid.ravel() for grid in np.mgrid[0:RATERS, 0:ITEMS, 0:SYSTEMS, 0:TURNS])
        here = (rater + item) % 2 == 0
        rater, item, system, turn = rater[here], item[here], system[here], turn[here]
        latent = self.step * system + rng.normal(0.0, 1.0, len(rater))
        latent += 0.5 * rng.normal(size=RATERS)[rater] + 0.5 * rng.normal(size=ITEMS)[item]
        latent += self.rater_system * rng.normal(size=(RATERS, SYSTEMS))[rater, system]
        latent += self.item_system * rng.normal(size=(ITEMS, SYSTEMS))[item, system]
        latent += self.turn * rng.normal(size=(ITEMS, TURNS))[item, turn]
        latent += self.reply * rng.normal(size=(ITEMS, TURNS, SYSTEMS))[item, turn, system]
        latent += self.page * rng.normal(size=(RATERS, ITEMS, SYSTEMS))[rater, item, system]
        rating = np.searchsorted(CUTS, latent) + 1 if ordinal else latent
        names = {"rater": rater, "item": item, "system": system, "turn": turn}
        return pd.DataFrame({name: [f"{name[0]}{n}" for n in each] for name, each in names.items()}).assign(
            rating=rating
        )


STUDIES = (
    TurnStudy(0.0, 0.0, 0.0),
    TurnStudy(0.3, 0.3, 0.4),
    TurnStudy(0.5, 0.5, 0.8),
    TurnStudy(0.4, 0.0, 0.6, STEP),
    TurnStudy(0.5, 0.5, 0.8, STEP),
)


def run(study: TurnStudy, sets: int, ordinal: bool) -> dict[str, Any]:
    """Return the shares of studies that find a difference and cover the true one, and the mean spreads."""
    found: dict[str, list[bool]] = {"with": [], "without": []}
    covered: dict[str, list[bool]] = {"with": [], "without": []}
    spreads: list[dict[str, float]] = []
    estimates: list[float] = []
    for number in range(sets):
        frame = study.simulate(stream(number, "bench", "turns", repr(study)), ordinal)
        for name, table in (("with", frame), ("without", frame.drop(columns="turn"))):
            (one,) = compare_systems(table).criteria
            (pair,) = one.pairs
            sign = 1.0 if pair.a == "s0" else -1.0
            difference = -sign * pair.difference
            low, high = sorted((-sign * pair.low, -sign * pair.high))
            found[name].append(pair.p < 0.05)
            covered[name].append(low <= study.step <= high)
            if name == "with":
                estimates.append(difference)
                random = one.fit.random
                spreads.append(
                    {str(group): float(sd) for group, sd in zip(random["group"], random["sd"], strict=True)}
                )
    return {
        "found": {name: float(np.mean(each)) for name, each in found.items()},
        "covered": {name: float(np.mean(each)) for name, each in covered.items()},
        "difference": float(np.mean(estimates)),
        "turn": float(np.mean([one.get("item:turn", 0.0) for one in spreads])),
        "page": float(np.mean([one.get("rater:item:system", 0.0) for one in spreads])),
    }


def main() -> None:
    """Print a line for each study and scale."""
    parser = argparse.ArgumentParser(prog="python -m bench.turns", description=__doc__)
    parser.add_argument("--sets", type=int, default=400, metavar="N")
    parser.add_argument("--scale", choices=("line", "points", "both"), default="both")
    asked = parser.parse_args()
    for ordinal in (False, True):
        if asked.scale != "both" and (asked.scale == "points") != ordinal:
            continue
        for study in STUDIES:
            got = run(study, asked.sets, ordinal)
            print(
                f"{'points' if ordinal else 'line':6} turn {study.turn:.1f}, reply {study.reply:.1f}, page "
                f"{study.page:.1f}, true difference {study.step:.1f}: finds {got['found']['with']:.3f} "
                f"(without turn {got['found']['without']:.3f}), covers {got['covered']['with']:.3f} "
                f"({got['covered']['without']:.3f}), mean difference {got['difference']:.2f}, mean SDs: "
                f"turn {got['turn']:.2f}, page {got['page']:.2f}; {asked.sets} sets",
                flush=True,
            )


if __name__ == "__main__":
    main()
