"""The reference fits of scale, nominal, sequential and adjacent models: ../shared/data/models2."""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from panelist.models.fit import fit
from panelist.models.results.fitted import Fit
from panelist.numerics.arrays import Floats
from tests.shared_cases import SHARED

FOLDER = SHARED / "models2"
WINE = {"tempwarm": "temp", "contactyes": "contact", "producttest": "product"}


@cache
def _cases() -> dict[str, Any]:
    cases: dict[str, Any] = json.loads((FOLDER / "reference.json").read_text("utf-8"))["cases"]
    return cases


def case(name: str) -> dict[str, Any]:
    """Return one case of reference.json."""
    found: dict[str, Any] = _cases()[name]
    return found


@cache
def read(name: str) -> pd.DataFrame:
    """Return the data of a case."""
    return pd.read_csv(SHARED / "wine" / name if name == "wine.csv" else FOLDER / name)


def refit(name: str, **changes: Any) -> Fit:
    """Return our fit of the model of a case."""
    known = case(name)
    model, sides = known["model"], {}
    if "formula" in model:
        formula = model["formula"]
        for side in ("scale", "nominal"):
            given = model.get(side)
            sides[side] = None if given in (None, "NULL") else given.replace("~ rater", "~ C(rater)")
    else:
        terms = [WINE[term] for term in np.atleast_1d(model["location"]) if term is not None]
        response = "sureness" if known["data"] == "soup_like.csv" else "rating"
        formula = f"{response} ~ {' + '.join(terms) or '1'} + (1 | {model['group']})"
        for side in ("scale", "nominal"):
            sides[side] = f"~ {WINE[model[side]]}" if model[side] else None
    how = {"link": model["link"], "family": model.get("family", "cumulative"), "test": "z", **sides}
    kind = "clmm" if "|" in formula else "clm"
    return fit(formula, read(known["data"]), model=kind, **(how | changes))


def parameters(fitted: Fit) -> tuple[Floats, Floats]:
    """Return α with nominal effects, β and ζ, and their standard errors."""
    solution = fitted.solution
    every = np.concatenate([solution.alpha, solution.beta, solution.zeta])
    return every, np.sqrt(np.diag(solution.joint_vcov))


def template(answer: dict[str, Any], what: str) -> Floats:
    """Return estimates or standard errors of the template's fit in the same order."""
    parts = [answer[key][what] for key in ("alpha", "gamma", "beta", "zeta") if answer.get(key)]
    return np.concatenate([np.atleast_1d(np.asarray(part, dtype=float)).ravel() for part in parts])


def printed(name: str, what: str) -> Floats:
    """Return a column of the coefficients that an R function printed."""
    return np.array([row[what] for row in case(name)["fit"]["coefficients"]])
