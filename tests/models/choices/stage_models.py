"""Small models of stages, made for the tests, and the reference data of pairs and rankings."""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from panelist.models.choices.pairs import GradedPairs, PairGroup
from panelist.models.choices.preferences import RandomPreferences, stack_terms
from panelist.models.choices.stages import ChoiceStages
from panelist.numerics.arrays import Floats, Longs
from tests.shared_cases import SHARED

FOLDER = SHARED / "models2"


@cache
def read_reference(case: str) -> dict[str, Any]:
    """Return one case of the reference numbers of models of choices."""
    cases: dict[str, Any] = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))["cases"]
    found: dict[str, Any] = cases[case]
    return found


def make_stages(
    system: Longs, of_stage: Longs, chosen: Any, groups: dict[str, Longs], sign: Floats | None = None
) -> ChoiceStages:
    """Return stages of plain choices with exchangeable preferences, the first system the reference."""
    k = int(system.max()) + 1
    signs = np.ones(len(system)) if sign is None else sign
    X = (system[:, None] == np.arange(1, k)) * signs[:, None]
    terms = tuple(
        RandomPreferences(
            name, tuple(map(str, range(level.max() + 1))), level, system[:, None], signs[:, None].copy(), k
        )
        for name, level in groups.items()
    )
    return ChoiceStages(X, of_stage, np.asarray(chosen), stack_terms(terms))


def draw_stages(seed: int, stages: int = 30, shown: int = 3, systems: int = 4) -> ChoiceStages:
    """Return choices drawn at random, every third one of the worst."""
    rng = np.random.default_rng(seed)
    system = np.concatenate([rng.permutation(systems)[:shown] for _ in range(stages)])
    of_stage = np.repeat(np.arange(stages), shown)
    chosen = np.arange(shown) == rng.integers(shown, size=stages)[:, None]
    sign = np.where(of_stage % 3 == 0, -1.0, 1.0)
    groups = {"rater": rng.integers(4, size=stages)[of_stage], "item": rng.integers(5, size=stages)[of_stage]}
    return make_stages(system, of_stage, chosen.ravel(), groups, sign)


def read_rankings() -> pd.DataFrame:
    """Return the rankings of the reference."""
    return pd.read_csv(FOLDER / "rankings.csv").rename(columns={"rank": "choice"})


def make_davidson() -> ChoiceStages:
    """Return the pairs with ties of the reference: the first, the second, and a tie between them."""
    frame = pd.read_csv(FOLDER / "pairs_ties.csv")
    names = sorted(set(frame["system_a"]))
    shown = np.stack([pd.Categorical(frame[f"system_{side}"], names).codes for side in "ab"], axis=1)
    n, k = len(frame), len(names)
    column = np.repeat(shown, 3, axis=0).astype(np.int64)
    value = np.tile([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], (n, 1))
    X = np.zeros((3 * n, k + 1))
    for side in (0, 1):
        np.add.at(X, (np.arange(3 * n), column[:, side]), value[:, side])
    X = X[:, 1:]
    X[:, k - 1] = np.tile([0.5, -0.5, 0.0], n)  # position: the first of the two stood first
    X = np.column_stack([X, np.tile([0.0, 0.0, 1.0], n)])
    terms = tuple(
        RandomPreferences(name, tuple(levels), np.repeat(codes, 3).astype(np.int64), column, value, k)
        for name, (codes, levels) in ((one, pd.factorize(frame[one])) for one in ("rater", "item"))
    )
    picked = np.array([1, 2, 0])[
        np.asarray(frame["rating"], dtype=np.int64) - 1
    ]  # the second, a tie, the first
    chosen = np.arange(3) == picked[:, None]
    return ChoiceStages(X, np.repeat(np.arange(n), 3), chosen.ravel(), stack_terms(terms))


def read_pairs(name: str, style: bool = True) -> GradedPairs:
    """Return pairs of the reference: the output called A stood first, grades run up to its favour."""
    frame = pd.read_csv(FOLDER / f"{name}.csv")
    systems = tuple(sorted(set(frame["system_a"])))
    first, second = (pd.Categorical(frame[f"system_{side}"], systems).codes.astype(np.int64) for side in "ab")
    if "winner" in frame:
        answer, points = (frame["winner"] == frame["system_a"]).to_numpy().astype(np.int64), 2
    else:
        answer, points = frame["rating"].to_numpy() - 1, int(frame["rating"].max())
    groups = []
    for group in ("rater", "item"):
        level, names = pd.factorize(frame[group], sort=True)
        groups.append(PairGroup(group, tuple(names), level.astype(np.int64)))
    words = [np.asarray(frame[f"words_{side}"], dtype=np.float64) for side in "ab"]
    longer = {"style": np.log(words[0] / words[1])} if style else {}
    return GradedPairs(systems, first, second, answer, points, tuple(groups), np.ones(len(frame)), longer)
