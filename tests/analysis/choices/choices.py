"""Tables of comparisons with known strengths, made for the tests."""

import json
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.choices.trials import ChoiceTrials, read_trials
from panelist.core.tables.ratings import read_ratings
from tests.shared_cases import MISSING, SHARED

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)
D2T = ("grammaticality", "coherence", "repetition")
SYSTEMS = ("gold", "template", "ed_cc", "hier", "macro")


def trials_of(frame: pd.DataFrame, criterion: str = "choice") -> ChoiceTrials:
    """Return the trials in a frame."""
    return read_trials(read_ratings(frame), criterion)


@cache
def read_d2t(criterion: str) -> tuple[ChoiceTrials, dict[str, Any]]:
    """Return the pairs of the best-worst reproduction, and what R says of them."""
    name = f"reprohum_d2t_{criterion}"
    reference = json.loads((SHARED / "reference" / f"{name}__pairwise.json").read_text(encoding="utf-8"))
    frame = pd.read_csv(SHARED / f"{name}.csv").assign(first="a")  # the output called A stood first
    return read_trials(read_ratings(frame), criterion), reference


def make_sets(
    strengths: dict[str, float],
    shown: int,
    raters: int,
    items: int,
    kind: str,
    seed: int = 1,
    taste: float = 0.0,
) -> pd.DataFrame:
    """Return long choices of raters who draw Gumbel noise, so that Plackett and Luce's model is the truth.

    ``taste`` is the standard deviation of a rater's own view of each system: answers then hang together.
    """
    rng = np.random.default_rng(seed)
    names = list(strengths)
    theta = np.array(list(strengths.values()))
    sets = list(combinations(range(len(names)), shown))
    rows = []
    for r in range(raters):
        own = theta + rng.normal(0.0, taste, len(theta))
        for i in range(items):
            members = np.array(sets[rng.integers(len(sets))])
            place = (-(own[members] + rng.gumbel(size=shown))).argsort().argsort() + 1
            if kind == "best-worst":  # the worst of the rest, by −theta
                rest = np.flatnonzero(place != 1)
                worst = rest[(-own[members][rest] + rng.gumbel(size=shown - 1)).argmax()]
            for at, system in enumerate(members):
                choice = str(place[at])
                if kind != "ranking":
                    choice = "best" if place[at] == 1 else ""
                    if kind == "best-worst" and at == worst:
                        choice = "worst"
                    if kind == "pairs" and place[at] == 2:
                        choice = "worst"
                rows.append((f"r{r}", f"i{i}", f"r{r}-{i}", names[system], choice, at + 1))
    return pd.DataFrame(rows, columns=["rater", "item", "trial", "system", "choice", "position"])


def make_pairs(rows: list[tuple[str, str, str, str]], item: str = "i") -> pd.DataFrame:
    """Return pairs in rows of (rater, first, second, winner or tie)."""
    return pd.DataFrame(
        [
            {"rater": rater, "item": f"{item}{n}", "system_a": a, "system_b": b, "winner": winner}
            for n, (rater, a, b, winner) in enumerate(rows)
        ]
    )
