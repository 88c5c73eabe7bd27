"""How often intervals corrected by a judge hold the truth: ``python -m bench.judges_coverage --sets 1000``.

Three systems on six points, raters and items crossed, with the spreads of the preset ``general`` of Howcroft
& Rieser (2021), 200 judged items and two ratings an output. The truth is the mean rating by very many raters
of very many items, which has a closed form. PPI++ as published (one label an item, no raters) stands beside.
"""

import argparse
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from bench.ppi import estimate_mean
from panelist.core.seeds import stream
from panelist.judges.correct.estimates import Estimates
from panelist.judges.correct.regression import correct_means
from panelist.judges.correct.strengths import PairData, correct_strengths
from panelist.judges.correct.variants import THESE_ITEMS
from panelist.judges.correct.weights import weigh_means
from panelist.judges.match import JudgedRatings
from panelist.judges.sample import part_by_probability
from panelist.models.inference.adjust import two_sided_quantile
from panelist.numerics.arrays import Bools, Floats
from panelist.power.truth.spread import PRESETS

MEANS = (-0.2, 0.0, 0.35)
CUTS = np.array([-1.6, -0.8, 0.0, 0.8, 1.6])  # six points
PAIRS = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
R_TRUE = 0.85  # of the good judge with what very many people would say, within items
R_MIDDLING = 0.5
SYSTEMS = ("A", "B", "C")


@dataclass(frozen=True)
class World:
    """One setting: who judges how well, how many rate how much, and how items are drawn."""

    judge: str  # good, middling, useless or biased
    raters: int
    labelled: int
    items: int = 200
    ratings: int = 2
    draw: str = "random"  # random, strata (3 : 1 in two halves) or doubt (in proportion)
    strata_in_model: bool = True

    @property
    def name(self) -> str:
        """Its row in the table."""
        share = f"{100 * self.labelled / self.items:.0f} %"
        return f"{self.judge}, {self.raters} raters, {self.labelled} of {self.items} items ({share})"


@cache
def spreads() -> tuple[float, float, float, float]:
    """Return the standard deviations of rater, rater by system, item, and item by system (latent)."""
    raters, items = PRESETS["general"]
    within = raters.slope / np.sqrt(2), items.slope / np.sqrt(2)
    return raters.intercept, float(within[0]), items.intercept, float(within[1])


def true_means(shift: float = 0.0) -> Floats:
    """Return the mean rating of each system by very many raters of very many items.

    ``shift`` is what half of the items add to the third system, and the others take from it.
    """
    total = np.sqrt(1.0 + sum(sd**2 for sd in spreads()))
    found = np.zeros(3)
    for sign in (1.0, -1.0):
        latent = np.array(MEANS) + np.array([0.0, 0.0, sign * shift])
        found += 0.5 * (1 + ndtr((latent[:, None] - CUTS) / total).sum(axis=1))
    return found


def simulate(world: World, rng: np.random.Generator) -> tuple[JudgedRatings, Floats, list[str], Floats]:
    """Return ratings and scores, the probability and the stratum of each item, and the truth."""
    N, S, R = world.items, 3, world.raters
    sd_rater, sd_rater_system, sd_item, sd_cell = spreads()
    unsure = np.arange(N) % 2 == 0 if world.draw != "random" else np.zeros(N, dtype=bool)
    shift = 0.3 if world.draw != "random" else 0.0
    truth = np.array(MEANS) + rng.normal(0, sd_item, (N, 1)) + rng.normal(0, sd_cell, (N, S))
    truth[:, 2] += np.where(unsure, -shift, shift)
    scores = judge_outputs(world, truth, sd_cell, unsure, rng)
    probability, stratum = _draw_probabilities(world, unsure, rng)
    drawn = _draw_items(world, probability, stratum, rng)
    item, system = (
        np.repeat(drawn, S * world.ratings),
        np.tile(np.repeat(np.arange(S), world.ratings), len(drawn)),
    )
    rater = np.argsort(rng.random((len(drawn), R)), axis=1)[:, : S * world.ratings].ravel()
    latent = truth[item, system] + rng.normal(0, sd_rater, R)[rater]
    latent += rng.normal(0, sd_rater_system, (R, S))[rater, system] + rng.normal(0, 1, len(item))
    y = 1.0 + (latent[:, None] > CUTS).sum(axis=1)
    beside = JudgedRatings(
        criterion="quality",
        items=tuple(f"i{k:04}" for k in range(N)),
        systems=SYSTEMS,
        raters=tuple(f"r{k:02}" for k in range(R)),
        item=item.astype(np.int64),
        system=system.astype(np.int64),
        rater=rater.astype(np.int64),
        y=y,
        scores={"judge": scores},
    )
    return beside, probability, stratum, true_means(shift)


def judge_outputs(
    world: World, truth: Floats, sd_cell: float, unsure: Bools, rng: np.random.Generator
) -> Floats:
    """Return the judge's score of each output; ``unsure`` marks items where it knows less."""
    r = R_MIDDLING if world.judge == "middling" else R_TRUE
    noise = sd_cell * np.sqrt(1 / r**2 - 1)
    if world.judge == "useless":
        return rng.normal(0, np.sqrt(truth.var()), truth.shape)
    spread = np.where(unsure, 3 * noise, noise)[:, None]
    scores = truth + rng.normal(0, 1, truth.shape) * spread
    favour = 1.0 if world.judge == "biased" else 0.0
    scores[:, 2] += np.where(unsure, 0.6, 0.0) + favour
    return np.asarray(scores)


def _draw_probabilities(world: World, unsure: Bools, rng: np.random.Generator) -> tuple[Floats, list[str]]:
    n, N = world.labelled, world.items
    if world.draw == "strata":
        inner = np.where(unsure, 3.0, 1.0)
    elif world.draw == "doubt":
        inner = np.where(unsure, 3.0, 1.0) * rng.uniform(0.6, 1.4, N)
    else:
        inner = np.ones(N)
    return inner * n / inner.sum(), ["unsure" if one else "sure" for one in unsure]


def _draw_items(
    world: World, probability: Floats, stratum: list[str], rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the items that people rate: a fixed number in each stratum, or systematic in proportion."""
    if world.draw == "doubt":
        order = rng.permutation(world.items)
        reached = np.cumsum(probability[order])
        marks = np.arange(world.labelled) + rng.uniform()
        return np.sort(order[np.searchsorted(reached, marks).clip(max=world.items - 1)])
    names = np.array(stratum, dtype=object)
    drawn = [
        rng.choice(
            np.flatnonzero(names == name), round(float(probability[names == name].sum())), replace=False
        )
        for name in sorted(set(stratum))
    ]
    return np.sort(np.concatenate(drawn))


@dataclass(frozen=True)
class Tally:
    """Coverage, mean width and bias of one way in one world."""

    way: str
    coverage: float
    width: float
    bias: float
    sets: int


def run(world: World, sets: int, seed: int = 1) -> list[Tally]:
    """Return how often each way's 95 % intervals hold the truth, over the three differences (and means)."""
    rng = stream(seed, "judges coverage", world.name, world.draw, str(world.strata_in_model))
    found: dict[str, list[tuple[Bools, Floats, Floats]]] = {}
    for _ in range(sets):
        beside, probability, stratum, truth = simulate(world, rng)
        for way, estimate, low, high, target in list_intervals(world, beside, probability, stratum, truth):
            found.setdefault(way, []).append(
                ((low <= target) & (target <= high), high - low, estimate - target)
            )
    return _tally(found, sets)


def list_intervals(
    world: World, beside: JudgedRatings, probability: Floats, stratum: list[str], truth: Floats
) -> Iterator[tuple[str, Floats, Floats, Floats, Floats]]:
    """Give each way's estimates and intervals, and what they should hold: differences, then means."""
    contrasts = (("", PAIRS), (", means", np.eye(3)))
    strata = stratum if world.draw == "strata" and world.strata_in_model else None
    ways: list[tuple[str, Estimates]] = [
        ("people alone", correct_means(beside, {})),
        ("2.1", correct_means(beside, stratum=strata)),
        ("2.2", weigh_means(beside, probability)),
    ]
    if world.draw == "doubt":
        ways.append(("2.1, parts", correct_means(beside, stratum=part_by_probability(probability))))
    for suffix, rows in contrasts:
        for name, one in ways:
            variance, df = one.measure(rows)
            reach = two_sided_quantile(0.95, df) * np.sqrt(variance)
            estimate = rows @ one.estimate
            yield name + suffix, estimate, estimate - reach, estimate + reach, rows @ truth
        yield ("naive PPI++" + suffix, *_naive(beside, rows), rows @ truth)
        yield ("judge alone" + suffix, *_alone(beside, rows), rows @ truth)


def _naive(beside: JudgedRatings, rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return PPI++ on item means: one label an item, raters ignored."""
    f, here = beside.scores["judge"], beside.labelled
    made = [estimate_mean(beside.means[here] @ row, f[here] @ row, f[~here] @ row) for row in rows]
    return (
        np.array([one.value for one in made]),
        np.array([one.low for one in made]),
        np.array([one.high for one in made]),
    )


def _alone(beside: JudgedRatings, rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the judge's own differences, moved to people's scale by its spread, with their t interval."""
    f, here = beside.scores["judge"], beside.labelled
    scale = float(np.nanstd(beside.means[here])) / float(f[here].std())
    values = ((f - f[here].mean()) * scale + float(np.nanmean(beside.means[here]))) @ rows.T
    estimate = values.mean(axis=0)
    reach = 1.97 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return estimate, estimate - reach, estimate + reach


def run_fixed(world: World, sets: int, seed: int = 1) -> list[Tally]:
    """Return how often intervals about these N items hold their own means by very many raters."""
    rng = stream(seed, "judges coverage of fixed items", world.name)
    sd_rater, sd_rater_system, sd_item, sd_cell = spreads()
    rest = np.sqrt(1.0 + sd_rater**2 + sd_rater_system**2)
    found: dict[str, list[tuple[Bools, Floats, Floats]]] = {}
    for _ in range(sets):
        again = deepcopy(rng)  # what simulate draws first are the items
        latent = np.array(MEANS) + again.normal(0, sd_item, (world.items, 1))
        latent = latent + again.normal(0, sd_cell, (world.items, 3))
        truth = 1 + ndtr((latent[..., None] - CUTS) / rest).sum(axis=-1).mean(axis=0)
        beside = simulate(world, rng)[0]
        for way, scores in (("people alone", {}), ("2.1", None)):
            one = correct_means(beside, scores, variants=frozenset({THESE_ITEMS}))
            variance, df = one.measure(PAIRS)
            reach = two_sided_quantile(0.95, df) * np.sqrt(variance)
            off = PAIRS @ one.estimate - PAIRS @ truth
            found.setdefault(way, []).append((np.abs(off) <= reach, 2 * reach, off))
    return _tally(found, sets)


def _tally(found: dict[str, list[tuple[Bools, Floats, Floats]]], sets: int) -> list[Tally]:
    """Return coverage, width and bias of each way."""
    return [
        Tally(
            way,
            float(np.mean([one[0] for one in rows])),
            float(np.mean([one[1] for one in rows])),
            float(np.mean([one[2][-1] for one in rows])),
            sets,
        )
        for way, rows in found.items()
    ]


def simulate_pairs(world: World, rng: np.random.Generator) -> tuple[PairData, Floats]:
    """Return answers about pairs by people and a judge, and the strengths that very many people would "
    "give."""
    N, S, R = world.items, 3, world.raters
    _, sd_rater_system, _, sd_cell = spreads()
    truth = np.array(MEANS) + rng.normal(0, sd_cell, (N, S))
    noise = sd_cell * np.sqrt(1 / R_TRUE**2 - 1)
    f = rng.normal(0, sd_cell, (N, S)) if world.judge == "useless" else truth + rng.normal(0, noise, (N, S))
    f[:, 2] += 0.5 if world.judge == "biased" else 0.0
    sides = np.array(list(combinations(range(S), 2)))
    drawn = np.sort(rng.choice(N, world.labelled, replace=False))
    item = np.repeat(drawn, len(sides) * world.ratings)
    which = np.tile(np.repeat(np.arange(len(sides)), world.ratings), len(drawn))
    rater = np.argsort(rng.random((len(drawn), R)), axis=1)[:, : len(sides) * world.ratings].ravel()
    own = rng.normal(0, sd_rater_system, (R, S))
    a, b = sides[which].T
    lead = (
        truth[item, a] - truth[item, b] + own[rater, a] - own[rater, b] + rng.normal(0, np.sqrt(2), len(item))
    )
    score = np.where(np.abs(lead) < TIE, 0.5, (lead > 0).astype(float))
    judged = np.repeat(np.arange(N), len(sides))
    ja, jb = sides[np.tile(np.arange(len(sides)), N)].T
    gap = f[judged, ja] - f[judged, jb] + rng.normal(0, 0.4, len(judged))
    answer = np.where(np.abs(gap) < TIE, 0.5, (gap > 0).astype(float))
    data = PairData(
        systems=SYSTEMS,
        items=tuple(f"i{k:04}" for k in range(N)),
        raters=tuple(f"r{k:02}" for k in range(R)),
        item=item.astype(np.int64),
        a=a.astype(np.int64),
        b=b.astype(np.int64),
        rater=rater.astype(np.int64),
        score=score,
        judge_names=("judge",),
        judged_item=judged.astype(np.int64),
        judged_a=ja.astype(np.int64),
        judged_b=jb.astype(np.int64),
        judges=answer[:, None],
    )
    return data, true_strengths()


TIE = 0.3  # a lead below it is a tie


@cache
def true_strengths() -> Floats:
    """Return the strengths that fit the win rates of very many people, ties as half wins."""
    from panelist.judges.correct.strengths import fit_strengths

    _, sd_rater_system, _, sd_cell = spreads()
    total = np.sqrt(2 * sd_cell**2 + 2 * sd_rater_system**2 + 2.0)
    sides = np.array(list(combinations(range(3), 2)))
    lead = np.array(MEANS)[sides[:, 0]] - np.array(MEANS)[sides[:, 1]]
    win = 0.5 * (ndtr((lead - TIE) / total) + ndtr((lead + TIE) / total))
    return fit_strengths(sides[:, 0], sides[:, 1], win, 3).theta


def run_pairs(world: World, sets: int, seed: int = 1) -> list[Tally]:
    """Return how often intervals of differences of strengths hold the truth, with and without the judge."""
    rng = stream(seed, "judges coverage of pairs", world.name)
    found: dict[str, list[tuple[Bools, Floats, Floats]]] = {}
    for _ in range(sets):
        data, truth = simulate_pairs(world, rng)
        corrected = correct_strengths(data)
        assert corrected.people is not None
        for way, one in (("people alone", corrected.people), ("2.3", corrected)):
            variance, df = one.measure(PAIRS)
            reach = two_sided_quantile(0.95, df) * np.sqrt(variance)
            off = PAIRS @ one.estimate - PAIRS @ truth
            found.setdefault(way, []).append((np.abs(off) <= reach, 2 * reach, off))
    return _tally(found, sets)


WORLDS = tuple(
    World(judge, raters, labelled)
    for judge in ("good", "useless", "biased")
    for raters in (6, 24)
    for labelled in (40, 100)
)
UNEQUAL = (
    World("good", 24, 40, draw="strata", strata_in_model=False),
    World("good", 24, 40, draw="strata"),
    World("good", 24, 40, draw="doubt"),
    World("good", 24, 100, draw="doubt"),
)
FIXED = (World("good", 24, 40), World("good", 24, 100), World("good", 24, 190), World("useless", 6, 100))
OF_PAIRS = tuple(
    World(judge, raters, labelled)
    for judge in ("good", "useless", "biased")
    for raters, labelled in ((6, 40), (24, 40), (24, 100))
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one row per world and way."""
    parser = argparse.ArgumentParser(prog="python -m bench.judges_coverage", description=__doc__)
    parser.add_argument("--sets", type=int, default=1000, metavar="N", help="data sets a row")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument(
        "--only", choices=("ratings", "unequal", "pairs", "fixed"), help="one part of the tables"
    )
    parser.add_argument("--draw", choices=("random", "strata", "doubt"), help="only worlds drawn like this")
    asked = parser.parse_args(arguments)
    print("world\tway\tcoverage\twidth\tbias of the last difference\tsets")
    parts = {"ratings": (WORLDS, run), "unequal": (UNEQUAL, run), "pairs": (OF_PAIRS, run_pairs)}
    parts["fixed"] = (FIXED, run_fixed)
    for name, (worlds, measure) in parts.items():
        for world in worlds if asked.only in (None, name) else ():
            if asked.draw not in (None, world.draw):
                continue
            title = world.name if name != "unequal" else f"{world.name}, {world.draw}"
            title += ", strata ignored" if not world.strata_in_model else ""
            for one in measure(world, asked.sets, asked.seed):
                print(
                    f"{title}\t{one.way}\t{one.coverage:.3f}\t{one.width:.2f}\t{one.bias:+.3f}\t{one.sets}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
