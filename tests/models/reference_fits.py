"""Fits to the data of tests/reference that several tests of models/ look at; each made once."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from panelist.core.tables.ratings import read_ratings
from panelist.models.fit import fit
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design
from panelist.models.results.fitted import Fit
from panelist.numerics.arrays import Floats
from tests.reference_cases import Answer, Case, group_key, r_names

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


def design_of(case: Case) -> ModelMatrices:
    return build_design(parse_formula(case.formula), read_ratings(case.frame()), ordinal=False)


def covariances_of(design: ModelMatrices, answer: Answer) -> list[Floats]:
    """R's estimates, arranged as the factors of the design."""
    covariances = []
    for factor in design.factors:
        covariance = np.zeros((len(factor.columns),) * 2)
        for low, high in factor.blocks:
            wanted = (group_key(factor.name), r_names(factor.columns[low:high]))
            (block,) = (b for b in answer.blocks if (group_key(b.group), list(b.terms)) == wanted)
            covariance[low:high, low:high] = block.covariance
        covariances.append(covariance)
    return covariances
