"""How often intervals of the ratings that a judge's score replaces, and of its true r, hold the truth.

``python -m bench.judges_replaced --sets 500``. Worlds as in bench.judges_coverage, with a middling judge too.
The true number k follows from the same worlds without their samples: of 100,000 items the mean rating of each
output by very many raters has a closed form, and so have the parts of the variance.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from bench.judges_coverage import CUTS, MEANS, World, simulate, spreads
from panelist.core.seeds import stream
from panelist.judges.worth.replaced import measure_replaced
from panelist.numerics.arrays import Floats

MANY = 100_000
WORLDS = (
    World("good", 6, 40),
    World("good", 24, 40),
    World("good", 24, 100),
    World("middling", 6, 40),
    World("middling", 24, 40),
    World("middling", 24, 100),
    World("useless", 24, 40),
)


@dataclass(frozen=True)
class Replacements:
    """Coverage of the intervals of k, and of r_true, in one world, and where those of k lie."""

    truth: float
    coverage: float
    true_r: float
    coverage_of_r: float
    median: float
    unlimited: float
    """The share of intervals without an upper end."""
    silent: float
    """The share of data sets in which nothing is said."""
    sets: int


def _rate(latent: Floats, rest: float) -> Floats:
    """Return the mean rating of outputs (or by raters) whose other parts are normal with this variance."""
    return np.asarray(1 + ndtr((latent[..., None] - CUTS) / np.sqrt(rest)).sum(axis=-1))


def find_truth(world: World, seed: int = 1) -> tuple[float, float]:
    """Return k on the points of the scale, e/σ²_d · σ²_e/(e + σ²_d), and r, √(e/(e + σ²_d))."""
    if world.judge == "useless":
        return 0.0, 0.0
    rng = stream(seed, "judges replaced", "truth", world.judge)
    sd_rater, sd_rater_system, sd_item, sd_cell = spreads()
    raters, items = sd_rater**2 + sd_rater_system**2, sd_item**2 + sd_cell**2
    many = replace(world, items=MANY)
    truth = np.array(MEANS) + rng.normal(0, sd_item, (MANY, 1)) + rng.normal(0, sd_cell, (MANY, 3))
    f = _scores(many, truth, sd_cell, rng)
    mean = _rate(truth, 1.0 + raters)
    centred = [_centre(one) for one in (mean, f)]
    free = (MANY - 1) * 2
    e = float((centred[0] * centred[1]).sum()) ** 2 / float((centred[1] ** 2).sum()) / free
    left = float((centred[0] ** 2).sum()) / free - e
    by_rater = _rate(np.array(MEANS) + rng.normal(0, np.sqrt(raters), (MANY, 3)), 1.0 + items)
    above = ndtr((np.array(MEANS)[:, None] - CUTS) / np.sqrt(1.0 + raters + items))
    weight = 2 * np.arange(len(CUTS)) + 1
    whole = (above * weight).sum(axis=-1) - above.sum(axis=-1) ** 2
    noise = float((whole - mean.var(axis=0) - by_rater.var(axis=0)).mean())
    return e / left * noise / (e + left), float(np.sqrt(e / (e + left)))


def _centre(grid: Floats) -> Floats:
    return np.asarray(grid - grid.mean(axis=1, keepdims=True) - grid.mean(axis=0) + grid.mean())


def _scores(world: World, truth: Floats, sd_cell: float, rng: np.random.Generator) -> Floats:
    from bench.judges_coverage import judge_outputs

    return judge_outputs(world, truth, sd_cell, np.zeros(len(truth), dtype=bool), rng)


def run(world: World, sets: int, seed: int = 1) -> Replacements:
    """Return how often the intervals of k and r hold them."""
    rng, (truth, r) = stream(seed, "judges replaced", world.name), find_truth(world)
    found = [measure_replaced(simulate(world, rng)[0], "judge") for _ in range(sets)]
    said = [one for one in found if np.isfinite(one.low)]
    return Replacements(
        truth,
        float(np.mean([one.low <= truth <= one.high for one in said])),
        r,
        float(np.mean([one.r_low <= r <= one.r_high for one in said])),
        float(np.median([one.equivalent if np.isfinite(one.equivalent) else np.inf for one in said])),
        float(np.mean([not np.isfinite(one.high) for one in said])),
        1 - len(said) / sets,
        sets,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one row per world."""
    parser = argparse.ArgumentParser(prog="python -m bench.judges_replaced", description=__doc__)
    parser.add_argument("--sets", type=int, default=500, metavar="N", help="data sets a row")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    asked = parser.parse_args(arguments)
    print("world\ttrue k\tcoverage\tmedian k\tno upper end\tnothing said\ttrue r\tcoverage of r\tsets")
    for world in WORLDS:
        one = run(world, asked.sets, asked.seed)
        print(
            f"{world.name}\t{one.truth:.2f}\t{one.coverage:.3f}\t{one.median:.2f}\t{one.unlimited:.3f}\t"
            f"{one.silent:.3f}\t{one.true_r:.2f}\t{one.coverage_of_r:.3f}\t{one.sets}",
            flush=True,
        )


if __name__ == "__main__":
    main()
