"""Simulated ratings and scores as the tables a person would have."""

from dataclasses import replace

import numpy as np
import pandas as pd

from bench.judges_coverage import World, simulate
from panelist.judges.match import JudgedRatings


def tables(beside: JudgedRatings) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return ratings and judges' scores as a person would have them."""
    rows = [
        (judge, beside.items[i], beside.systems[s], grid[i, s])
        for judge, grid in beside.scores.items()
        for i in range(len(beside.items))
        for s in range(len(beside.systems))
    ]
    return beside.frame(), pd.DataFrame(rows, columns=["judge", "item", "system", "rating"])


def honest(seed: int = 5) -> JudgedRatings:
    """Return twelve honest raters beside a good judge."""
    return simulate(World("good", 12, 60, items=80), np.random.default_rng(seed))[0]


def with_copier(beside: JudgedRatings) -> JudgedRatings:
    """Return the same with a first rater who gives the judge's scores."""
    scores = beside.scores["judge"][beside.item, beside.system]
    copied = np.clip(np.round(3.5 + scores), 1, 6)
    return replace(beside, y=np.where(beside.rater == 0, copied, beside.y))


def make_beside(labelled: int, items: int, *, raters: int, ratings: int, seed: int) -> JudgedRatings:
    """Return outputs of three systems, each rated by some raters drawn for it (all: a complete table)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 0.5, (items, 1)) + rng.normal(0, 0.6, (items, 3)) + np.array([0.0, 0.2, 0.5])
    item, system, rater = (
        np.concatenate(parts)
        for parts in zip(
            *[
                (np.full(ratings, i), np.full(ratings, s), rng.permutation(raters)[:ratings])
                for i in range(labelled)
                for s in range(3)
            ],
            strict=True,
        )
    )
    y = truth[item, system] + rng.normal(0, 0.5, raters)[rater] + rng.normal(0, 0.8, len(item))
    y += rng.normal(0, 0.3, (raters, 3))[rater, system]
    return JudgedRatings(
        criterion="quality",
        items=tuple(f"i{k:03}" for k in range(items)),
        systems=("A", "B", "C"),
        raters=tuple(f"r{k}" for k in range(raters)),
        item=item,
        system=system,
        rater=rater,
        y=np.clip(np.round(3 + y), 1, 6),
        scores={"judge": truth + rng.normal(0, 0.5, truth.shape)},
    )
