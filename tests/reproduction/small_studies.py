"""Small ratings tables, made here, for studies and their repeats."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.shared_cases import MISSING, SHARED

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)


def make_ratings(
    seed: int,
    *,
    effects: dict[str, float] | None = None,
    raters: int = 6,
    items: int = 15,
    criterion: str = "fluency",
    points: int = 5,
) -> pd.DataFrame:
    """Return ratings of every output by every rater; the latent effects are in residual standard
    deviations."""
    rng = np.random.default_rng(seed)
    systems = effects or {"rules": 0.0, "tuned": 0.8, "human": 1.6}
    of_rater, of_item = rng.normal(0, 0.4, raters), rng.normal(0, 0.5, items)
    rows = []
    for r in range(raters):
        for i in range(items):
            for name, effect in systems.items():
                latent = effect + of_rater[r] + of_item[i] + rng.normal()
                rating = int(np.clip(np.round((points + 1) / 2 - 0.8 + latent), 1, points))
                rows.append((f"r{r}", f"i{i:02}", name, criterion, rating))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "criterion", "rating"])


def write(frame: pd.DataFrame, path: Path) -> Path:
    """Return the path of the table, written as CSV."""
    frame.to_csv(path, index=False)
    return path


def scores_table(criterion: str, scores: dict[str, float]) -> pd.DataFrame:
    """Return a table criterion, system, score."""
    rows = [(criterion, name, score) for name, score in scores.items()]
    return pd.DataFrame(rows, columns=["criterion", "system", "score"])
