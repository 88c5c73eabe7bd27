"""How often raters are flagged for following a judge: ``python -m bench.judges_guard --sets 500``.

Three systems on six points with the spreads of the preset ``general``, lists of complete items dealt to
raters at random. Honest raters differ in severity, in how widely they use the scale and in noise. The judge
knows what very many people would say (good), only which items are hard (items), nothing (useless), or favours
a system (biased). A copier gives the judge's score, rounded to the points of the scale, with noise or not.
Printed: the share of studies of honest raters in which anybody is flagged (in brackets, the share of raters
with p below .05), and how often one copier among honest raters is flagged.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from bench.judges_coverage import CUTS, MEANS, R_TRUE, spreads
from panelist.core.seeds import stream
from panelist.judges.guard import adjust_together, measure_following
from panelist.judges.units import make_units

COPIERS = (
    ("good", 1.0, 0.0),
    ("good", 1.0, 0.5),
    ("useless", 1.0, 0.0),
    ("useless", 1.0, 0.5),
    ("useless", 0.5, 0.0),
)
JUDGES = ("good", "items", "useless", "biased")

_HOW = {(1.0, 0.0): "copies", (1.0, 0.5): "copies with noise", (0.5, 0.0): "copies half"}


@dataclass(frozen=True)
class GuardWorld:
    """One setting: raters, outputs a rater, ratings an output, the judge, and how many copy it how."""

    raters: int
    outputs: int
    ratings: int
    judge: str = "good"
    copiers: int = 0
    share: float = 1.0  # of a copier's answers that are copied
    noise: float = 0.5  # of copied answers, in latent standard deviations


def count_flags(world: GuardWorld, rng: np.random.Generator) -> tuple[int, int, int, float]:
    """Return flagged honest raters, flagged copiers, tested raters, and the share of honest p below .05."""
    S = len(MEANS)
    N = max(world.raters * world.outputs // (world.ratings * S), 2)
    sd_rater, sd_rater_system, sd_item, sd_cell = spreads()
    truth = np.array(MEANS) + rng.normal(0, sd_item, (N, 1)) + rng.normal(0, sd_cell, (N, S))
    noise = sd_cell * np.sqrt(1 / R_TRUE**2 - 1)
    scores = truth + rng.normal(0, noise, truth.shape)
    if world.judge == "useless":
        scores = rng.normal(0, 1, truth.shape)
    if world.judge == "items":
        scores = truth.mean(axis=1, keepdims=True) + rng.normal(0, noise, truth.shape)
    if world.judge == "biased":
        scores[:, 2] += 1.0
    units = np.concatenate([rng.permutation(N * S) for _ in range(world.ratings)])[
        : world.raters * world.outputs
    ]
    rater = np.arange(len(units)) // world.outputs
    wide = np.exp(rng.normal(0, 0.25, world.raters))
    sigma = np.exp(rng.normal(0, 0.25, world.raters))
    latent = wide[rater] * truth.ravel()[units] + rng.normal(0, sd_rater, world.raters)[rater]
    latent += rng.normal(0, sd_rater_system, (world.raters, S))[rater, units % S]
    latent += sigma[rater] * rng.normal(0, 1, len(units))
    copied = (rater < world.copiers) & (rng.random(len(units)) < world.share)
    like = scores.ravel()[units] + rng.normal(0, world.noise, len(units))
    y = 1.0 + (np.where(copied, like, latent)[:, None] > CUTS).sum(axis=1)
    names = tuple(f"r{k:03}" for k in range(world.raters))
    made = make_units(units.astype(np.int64), rater.astype(np.int64), y, scores.ravel(), names)
    found = adjust_together(measure_following(made, np.arange(N * S) % S, "judge", "quality"))
    honest = [one for one in found.raters if int(one.rater[1:]) >= world.copiers]
    flagged = {one.rater for one in found.flagged}
    low = float(np.mean([one.p < 0.05 for one in honest])) if honest else float("nan")
    caught = sum(f"r{k:03}" in flagged for k in range(world.copiers))
    return len(flagged) - caught, caught, len(found.raters), low


def main(arguments: list[str] | None = None) -> None:
    """Print the table of docs/judges.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=500)
    sets = parser.parse_args(arguments).sets
    sizes = ((6, 60, 3), (12, 20, 2), (12, 40, 3), (24, 20, 3), (24, 40, 3), (60, 12, 3), (60, 24, 3))
    alarms = [f"honest, {judge}" for judge in JUDGES]
    caught = [f"{_HOW[share, noise]}, {kind}" for kind, share, noise in COPIERS]
    head = ["raters", "outputs a rater", "ratings an output", *alarms, *caught]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for raters, outputs, ratings in sizes:
        cells = []
        for judge in JUDGES:
            rng = stream(1, "guard", judge, str(raters), str(outputs))
            done = [count_flags(GuardWorld(raters, outputs, ratings, judge), rng) for _ in range(sets)]
            alarm = float(np.mean([one[0] > 0 for one in done]))
            cells.append(f"{alarm:.3f} ({np.nanmean([one[3] for one in done]):.3f})")
        for kind, share, noise in COPIERS:
            rng = stream(1, "guard", kind, str(share), str(noise), str(raters), str(outputs))
            world = GuardWorld(raters, outputs, ratings, kind, copiers=1, share=share, noise=noise)
            cells.append(f"{np.mean([count_flags(world, rng)[1] for _ in range(sets)]):.2f}")
        print(f"| {raters} | {outputs} | {ratings} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
