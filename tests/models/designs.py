"""Small tables for the tests of matrices, and the designs made of them."""

from typing import Any

import numpy as np
import pandas as pd

from panelist.core.tables.ratings import Ratings
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import Factor, ModelMatrices, build_design

CROSSED = "rating ~ system + (system | rater) + (1 | item)"


def make_frame(raters: int = 4, items: int = 6, systems: str = "abc", seed: int = 1) -> pd.DataFrame:
    """Every rater rates every output; ratings from 1 to 5 that all occur."""
    rng = np.random.default_rng(seed)
    cells = [(str(r), str(i), s) for r in range(1, raters + 1) for i in range(1, items + 1) for s in systems]
    frame = pd.DataFrame(cells, columns=["rater", "item", "system"])
    frame["rating"] = np.resize(np.arange(1, 6), len(frame))
    frame["x"] = rng.normal(size=len(frame))
    frame["z"] = rng.normal(size=len(frame))
    frame["list"] = np.where(frame["item"].astype(int) < 4, "A", "B")
    return frame


def design(text: str, frame: pd.DataFrame, ordinal: bool = False, names: Any = None) -> ModelMatrices:
    return build_design(parse_formula(text), Ratings(frame, names or {}), ordinal=ordinal)


def factor(built: ModelMatrices, name: str) -> Factor:
    return next(factor for factor in built.factors if factor.name == name)


def with_values(column: str, changes: dict[int, Any]) -> pd.DataFrame:
    frame = make_frame().astype({column: object})
    for row, value in changes.items():
        frame.loc[row, column] = value
    return frame.astype({column: float}) if column in ("x",) else frame


PARTS = {
    "one factor": "(1 | rater)",
    "crossed": "(1 | rater) + (1 | item)",
    "nested": "(1 | list/item)",
    "three factors": "(1 | rater) + (1 | item) + (1 | rater:list)",
    "three systems": "(system | rater) + (system | item)",
    "a slope apart": "(x || rater) + (1 | item)",
    "a slope alone": "(0 + x | rater) + (1 + x | item)",
}


def make_ratings(seed: int = 5, categories: int = 5) -> pd.DataFrame:
    """An unbalanced table: a fifth of the cells of a crossed design are missing."""
    rng = np.random.default_rng(seed)
    frame = make_frame(raters=5, items=7, seed=seed)
    frame["rating"] = rng.integers(1, categories + 1, len(frame))
    frame.loc[: categories - 1, "rating"] = np.arange(1, categories + 1)
    return frame.sample(frac=0.8, random_state=seed).reset_index(drop=True)
