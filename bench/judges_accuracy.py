"""How often intervals of pairwise accuracy hold it: ``python -m bench.judges_accuracy --sets 1000``.

Systems differ by equal steps; the judge answers in whole points, people's means in halves. The truth of a row
is the mean of the estimates over all its data sets: the accuracy of as many items as these.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from panelist.core.seeds import stream
from panelist.judges.worth.accuracy import accuracy_of_outputs, resample_soft_accuracy, soft_accuracy
from panelist.judges.worth.ceiling import Draws
from panelist.numerics.arrays import Floats


@dataclass(frozen=True)
class Beside:
    """How far the outer systems are apart, the judge's r, and the points that it adds to the best system."""

    name: str
    apart: float
    r: float
    favour: float = 0.0


JUDGES = (Beside("good", 1.0, 0.8), Beside("useless", 0.1, 0.0), Beside("favours the best", 0.4, 0.6, 0.5))
SIZES = ((12, 3), (12, 10), (30, 3), (30, 10), (100, 3), (100, 10))


def simulate(one: Beside, items: int, systems: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return people's means and the judge's scores, items × systems."""
    shape = (items, systems)
    truth = np.linspace(-one.apart / 2, one.apart / 2, systems) + rng.normal(size=shape)
    people = np.round(2 * (3 + truth + rng.normal(0, 0.85, shape))) / 2
    judge = np.round(3 + 1.2 * (one.r * truth + np.sqrt(1 - one.r**2) * rng.normal(size=shape)))
    judge[:, -1] += one.favour
    return people, judge


def run(one: Beside, items: int, systems: int, sets: int, seed: int = 1) -> list[tuple[float, float, float]]:
    """Return truth, coverage and mean width of the soft accuracy of systems, and of that of outputs."""
    rng, draws = stream(seed, "judges accuracy", one.name, items, systems), Draws(500, 0, 0.95)
    rows = []
    for _ in range(sets):
        people, judge = simulate(one, items, systems, rng)
        soft = soft_accuracy(people, judge, flips=None), *resample_soft_accuracy(people, judge, draws)
        ties = accuracy_of_outputs(people, judge, draws)
        rows.append((soft, (ties.split_half, ties.low, ties.high)))
    found = []
    for estimate, low, high in np.array(rows).transpose(1, 2, 0):
        truth = estimate.mean()
        found.append((truth, np.mean((low <= truth) & (truth <= high)), np.mean(high - low)))
    return [(float(truth), float(coverage), float(width)) for truth, coverage, width in found]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one row per judge and size."""
    parser = argparse.ArgumentParser(prog="python -m bench.judges_accuracy", description=__doc__)
    parser.add_argument("--sets", type=int, default=300, metavar="N", help="data sets a row")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    asked = parser.parse_args(arguments)
    head = ("judge", "items", "systems", "soft", "coverage / width", "with ties", "coverage / width")
    print(f"| {' | '.join(head)} |")
    print("|---|---|---|---|---|---|---|")
    for one in JUDGES:
        for items, systems in SIZES:
            cells = [
                f"{truth:.2f} | {coverage:.3f} / {width:.2f}"
                for truth, coverage, width in run(one, items, systems, asked.sets, asked.seed)
            ]
            print(f"| {one.name} | {items} | {systems} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
