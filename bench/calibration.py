"""Do the automatic comparisons hold their level? Studies are simulated and compared as a user would.

    python -m bench.calibration crossed --sets 2000      # few raters, few items, Latin squares
    python -m bench.calibration unanimous --sets 500     # two and three raters who nearly always agree

A row is one kind of study: the familywise error of what ``compare`` reports where no system differs, and
where they do the coverage of the differences (all pairs at once), of the ranges of ranks, and the share of
pairs that are found. docs/method.md holds the tables.
"""

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from panelist.core.seeds import stream

CUTS = (-1.2, -0.4, 0.4, 1.2)
HALF = (0.0,)
ALPHA = 0.05


@dataclass(frozen=True)
class Study:
    """Who rates what, how much raters and items differ, and what is true of the systems."""

    name: str
    raters: int
    items: int
    systems: int
    rater_system: float
    item_system: float
    cuts: tuple[float, ...] = CUTS
    latin: bool = False  # everybody sees every item once, in one system
    rater: float = 0.5
    item: float = 0.5
    step: float = 0.0  # each system lies so far above the one before it
    polarising: float = 0.0  # SD over raters of the last system alone

    @property
    def effects(self) -> np.ndarray:
        """The latent effects of the systems."""
        return self.step * np.arange(self.systems)


CROSSED = (
    Study("8 × 12 × 3; 0, 0", 8, 12, 3, 0.0, 0.0),
    Study("8 × 12 × 3; .3, .3", 8, 12, 3, 0.3, 0.3),
    Study("8 × 12 × 3; .5, .5", 8, 12, 3, 0.5, 0.5),
    Study("3 × 100 × 2; .3, .5", 3, 100, 2, 0.3, 0.5),
    Study("3 × 100 × 3; .3, .5", 3, 100, 3, 0.3, 0.5),
    Study("5 × 50 × 4; .3, .5", 5, 50, 4, 0.3, 0.5),
    Study("12 × 20 × 3 binary; .3, .5", 12, 20, 3, 0.3, 0.5, cuts=HALF),
    Study("24 × 40 × 3 Latin; .5, .5", 24, 40, 3, 0.5, 0.5, latin=True),
    Study("12 × 12 × 3 Latin; .3, .3", 12, 12, 3, 0.3, 0.3, latin=True),
    Study("6 × 12 × 3 Latin; .3, .5", 6, 12, 3, 0.3, 0.5, latin=True),
    Study("8 × 12 × 6; .3, .3", 8, 12, 6, 0.3, 0.3),
    Study("8 × 12 × 8; .3, .3", 8, 12, 8, 0.3, 0.3),
    Study("24 × 40 × 3; .5, .5", 24, 40, 3, 0.5, 0.5),
    Study("24 × 40 × 3, one system polarises", 24, 40, 3, 0.1, 0.3, polarising=0.8),
)


def draw(study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """Return one data set."""
    cells = [
        (r, i, s)
        for r in range(study.raters)
        for i in range(study.items)
        for s in range(study.systems)
        if not study.latin or (r + i) % study.systems == s
    ]
    r, i, s = np.array(cells).T
    spread = np.full((study.raters, study.systems), study.rater_system)
    spread[:, -1] = study.polarising or study.rater_system
    latent = study.effects[s] + rng.normal(size=len(r))
    latent += study.rater * rng.normal(size=study.raters)[r] + study.item * rng.normal(size=study.items)[i]
    latent += (spread * rng.normal(size=spread.shape))[r, s]
    latent += study.item_system * rng.normal(size=(study.items, study.systems))[i, s]
    frame = pd.DataFrame({"rater": r, "item": i, "system": s}).astype(str)
    frame["rater"], frame["item"] = "r" + frame["rater"], "i" + frame["item"]
    return frame.assign(
        system="s" + frame["system"], criterion="quality", rating=np.searchsorted(study.cuts, latent) + 1.0
    )


@dataclass(frozen=True)
class Outcome:
    """What one comparison got right: any difference found, all intervals and all ranges of ranks right."""

    found_any: bool
    share_found: float
    covered: bool
    ranked: bool
    model: str
    stepped: bool


def judge(study: Study, seed: int, options: dict[str, Any]) -> Outcome | None:
    """Return the outcome of one simulated study; None where it could not be compared."""
    from panelist.analysis.compare import compare_systems
    from panelist.core.errors import PanelistError

    frame = draw(study, stream(seed, "calibration", study.name))
    if options.get("model") == "items":
        return judge_items(study, frame)
    try:
        found = compare_systems(frame, **options).criteria[0]
    except PanelistError:
        return None
    truth = dict(zip([f"s{k}" for k in range(study.systems)], true_values(study, found.model), strict=True))
    covered, hits = True, []
    for pair in found.pairs:
        gap = truth[pair.a] - truth[pair.b]
        covered &= pair.low - 1e-9 <= gap <= pair.high + 1e-9
        hits.append(pair.p_adjusted < ALPHA)
    ranked = all(
        one.rank_low <= 1 + sum(value > truth[one.system] + 1e-12 for value in truth.values())
        and one.rank_high
        >= study.systems - sum(value < truth[one.system] - 1e-12 for value in truth.values())
        for one in found.systems
    )
    stepped = "(system |" not in found.formula
    return Outcome(any(hits), float(np.mean(hits)), covered, ranked, found.model, stepped)


def judge_items(study: Study, frame: pd.DataFrame) -> Outcome:
    """Return the outcome of paired t-tests of the items' means with Holm's adjustment, raters ignored.

    Where raters hardly differ in what they make of systems, nothing finds more: a yardstick for power.
    """
    from scipy.stats import ttest_rel

    from panelist.models.inference.adjust import adjust_holm

    means = frame.pivot_table(index="item", columns="system", values="rating")
    p = np.array([ttest_rel(means[a], means[b]).pvalue for a, b in combinations(means.columns, 2)])
    hits = adjust_holm(np.nan_to_num(p, nan=1.0)) < ALPHA
    return Outcome(bool(hits.any()), float(hits.mean()), True, True, "items", False)


def true_values(study: Study, model: str) -> np.ndarray:
    """Return the systems' true values on the scale that the model estimates: latent, or points."""
    if model.startswith("cl"):
        return study.effects
    from scipy.special import ndtr

    spread = np.full(study.systems, study.rater_system)
    spread[-1] = study.polarising or study.rater_system
    sd = np.sqrt(1.0 + study.rater**2 + study.item**2 + spread**2 + study.item_system**2)
    above = ndtr((study.effects[:, None] - np.array(study.cuts)[None, :]) / sd[:, None])
    expected: np.ndarray = 1.0 + above.sum(axis=1)
    return expected


def judge_many(job: tuple[Study, range, dict[str, Any]]) -> list[Outcome | None]:
    """Return the outcomes of the studies with these seeds."""
    study, seeds, options = job
    return [judge(study, seed, options) for seed in seeds]


def split(sets: int, size: int) -> Iterator[range]:
    """Return the seeds in portions."""
    for first in range(1, sets + 1, size):
        yield range(first, min(first + size, sets + 1))


def run(study: Study, sets: int, options: dict[str, Any], workers: int) -> list[Outcome | None]:
    """Return the outcomes of so many data sets."""
    jobs = [(study, seeds, options) for seeds in split(sets, 25)]
    if workers == 1:
        return [one for job in jobs for one in judge_many(job)]
    with ProcessPoolExecutor(workers) as pool:
        return [one for part in pool.map(judge_many, jobs) for one in part]


def tell(study: Study, outcomes: list[Outcome | None], seconds: float) -> str:
    """Return one line: the shares with the exact interval of the first."""
    from panelist.power.cells import find_interval

    done = [one for one in outcomes if one is not None]
    n = len(done)
    any_found = sum(one.found_any for one in done)
    low, high = find_interval(any_found, n)
    covered, ranked = (sum(getattr(one, name) for one in done) / n for name in ("covered", "ranked"))
    found = float(np.mean([one.share_found for one in done]))
    linear = sum(not one.model.startswith("cl") for one in done)
    return (
        f"| {study.name} | {n} | {any_found / n:.3f} ({low:.3f}–{high:.3f}) | {covered:.3f} | {ranked:.3f} | "
        f"{found:.3f} | {sum(one.stepped for one in done) / n:.2f} | {linear / n:.2f} | "
        f"{len(outcomes) - n} | {1e3 * seconds / max(len(outcomes), 1):.0f} |"
    )


HEADER = (
    "| study | sets | any found | intervals cover | ranks cover | pairs found | smaller model | led by lmm | "
    "failed | ms |\n|---|---|---|---|---|---|---|---|---|---|"
)


def main(arguments: list[str] | None = None) -> None:
    """Print a table of one family of studies."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibration", description=__doc__)
    parser.add_argument("family", choices=sorted(FAMILIES))
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--only", type=int, nargs="*", help="the places of the studies, from 0")
    parser.add_argument(
        "--step",
        type=float,
        default=0.0,
        help="latent distance of neighbouring systems; unanimous: in SDs of outputs",
    )
    parser.add_argument("--test", default="t", help="t or z")
    parser.add_argument("--model", default="auto", help="as in compare; items: t-tests of the items' means")
    parser.add_argument("--prior", default=None, help="as in compare: weak")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(arguments)
    options = {"test": asked.test, "model": asked.model, "prior": asked.prior}
    print(HEADER, flush=True)
    studies = FAMILIES[asked.family]
    for place in asked.only if asked.only is not None else range(len(studies)):
        unit = studies[place].item_system if asked.family == "unanimous" else 1.0
        study = replace(studies[place], step=unit * asked.step)
        start = perf_counter()
        outcomes = run(study, asked.sets, options, asked.workers)
        print(tell(study, outcomes, perf_counter() - start), flush=True)


def _unanimous() -> tuple[Study, ...]:
    """Return studies of two and three raters whose outputs differ so much that most are rated alike."""
    studies = []
    for raters in (2, 3):
        for points, cuts in (("binary", (2.0,)), ("five points", (-2.0, 0.0, 2.0, 4.0))):
            for spread in (1.0, 2.5, 5.0):
                name = f"{raters} raters, {points}, outputs differ by {spread:g}"
                wide = tuple(spread * cut / 2.0 for cut in cuts)
                study = Study(name, raters, 100, 3, 0.2, spread, cuts=wide, rater=0.3, item=spread / 2)
                studies.append(study)
    return tuple(studies)


FAMILIES = {"crossed": CROSSED, "unanimous": _unanimous()}

if __name__ == "__main__":
    main()
