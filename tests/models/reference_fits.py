"""Fits to the data of tests/reference that several tests of models/ look at; each made once."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from panelist.models.fit import fit
from panelist.models.fitted import Fit

FOLDER = Path(__file__).resolve().parents[1] / "reference"
CROSSED = "rating ~ system + (1 | item) + (1 | rater)"
SLOPES = "rating ~ system + (system | item) + (system | rater)"

# The distribution of each link's latent residual, as scipy calls it.
LATENT = {
    "probit": stats.norm,
    "logit": stats.logistic,
    "cloglog": stats.gumbel_l,
    "loglog": stats.gumbel_r,
    "cauchit": stats.cauchy,
}


@cache
def read_data(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / f"{name}.csv")


@cache
def read_answers(name: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return answers


@cache
def fit_data(name: str, formula: str, model: str, link: str = "probit") -> Fit:
    return fit(formula, read_data(name), model=model, link=link)
