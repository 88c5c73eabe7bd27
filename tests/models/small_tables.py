"""Small tables of ratings that several tests of models fit, and responses drawn for them."""

from typing import Any

import numpy as np
import pandas as pd


def make_frame(
    raters: int = 12, items: int = 15, rater_sd: float = 0.8, item_sd: float = 0.6, seed: int = 2
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    cells = [(f"r{r}", f"i{i}", s) for r in range(raters) for i in range(items) for s in "ab"]
    frame = pd.DataFrame(cells, columns=["rater", "item", "system"])
    rater = frame["rater"].map({f"r{r}": v for r, v in enumerate(rng.normal(0.0, rater_sd, raters))})
    item = frame["item"].map({f"i{i}": v for i, v in enumerate(rng.normal(0.0, item_sd, items))})
    latent = rater + item + 0.5 * (frame["system"] == "b") + rng.normal(size=len(frame))
    frame["rating"] = 1 + np.searchsorted([-1.2, -0.3, 0.5, 1.4], latent)
    frame["x"] = rng.normal(size=len(frame))
    return frame


def even_frame() -> pd.DataFrame:
    """Every rater gives the same ratings, so that raters differ less than chance would have it."""
    frame = make_frame(rater_sd=0.0)
    shifted = frame["item"].str[1:].astype(int) + frame["rater"].str[1:].astype(int)
    return frame.assign(rating=1 + (shifted + 2 * (frame["system"] == "b")) % 5)


SLOPES = "rating ~ system + (system | rater) + (system | item)"

INTERCEPTS = "rating ~ system + (1 | rater) + (1 | item)"

ONE_FACTOR = "rating ~ system + (1 | rater)"

CASES = {
    "two systems, slopes": (2, 1.0, SLOPES),
    "three systems, slopes": (3, 1.0, SLOPES),
    "unbalanced, slopes": (2, 0.7, SLOPES),
    "intercepts only": (3, 0.8, INTERCEPTS),
    "one factor": (2, 1.0, ONE_FACTOR),
}


def make_table(systems: int = 2, share: float = 1.0, seed: int = 1) -> pd.DataFrame:
    """Raters see half of the items, each in all systems; ``share`` of the rows are kept."""
    rows = [
        (f"r{rater:02d}", f"i{item:02d}", "abc"[system])
        for rater in range(8)
        for item in range(14)
        for system in range(systems)
        if (rater + item) % 2 == 0
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    frame["rating"] = np.resize(np.arange(1, 6), len(frame))
    return frame.sample(frac=share, random_state=seed).reset_index(drop=True)


def draw(frame: pd.DataFrame, sets: int, seed: int = 3, points: int = 5) -> Any:
    """Return codes (sets, rows) cut from a latent judgement with spread over raters and items."""
    rng = np.random.default_rng(seed)
    rater, item, system = (pd.factorize(frame[name], sort=True)[0] for name in ("rater", "item", "system"))
    latent = rng.normal(size=(sets, len(frame))) + 0.4 * system
    for index in (rater, item):
        latent += rng.normal(0.0, 0.6, (sets, index.max() + 1))[:, index]
        latent += rng.normal(0.0, 0.4, (sets, index.max() + 1))[:, index] * system
    return np.searchsorted(np.linspace(-1.2, 1.6, points - 1), latent)
