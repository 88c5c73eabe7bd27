"""Estimates with priors against ../shared/data/models2: a template in TMB, checked there by blme and arm."""

import json
from collections.abc import Callable
from functools import cache
from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.tables.ratings import read_ratings
from panelist.models.fit import fit
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design
from panelist.models.likelihoods.link_functions import LATENT_SD
from panelist.models.likelihoods.priors import Penalty, log_prior
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.prior_words import Prior
from panelist.models.priors import make_penalty
from panelist.models.solvers.clm import solve_clm
from panelist.models.solvers.clmm import solve_clmm
from tests.shared_cases import MISSING, SHARED

FOLDER = SHARED / "models2"
pytestmark = pytest.mark.skipif(not (FOLDER / "reference.json").exists(), reason=MISSING)
CROSSED = "rating ~ system + (1 | rater) + (1 | item)"


@cache
def read_cases() -> dict[str, Any]:
    cases: dict[str, Any] = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))["cases"]
    return cases


def _solve_reference(case: dict[str, Any], penalty_of: Callable[[ModelMatrices], Penalty]) -> Any:
    formula, link = case["model"]["formula"], case["model"]["link"]
    data = pd.read_csv(FOLDER / case["data"])
    if "high" in formula:
        least = data.rating.max() if "highest" in case["model"]["response"] else 3
        data, formula = data.assign(rating=(data.rating >= least) + 1), formula.replace("high", "rating")
    if "no random terms" in str(case["model"].get("prior", "")):
        formula = formula.split(" + (")[0]
    design = build_design(parse_formula(formula), read_ratings(data), ordinal=True)
    thresholds = make_thresholds("flexible", design.categories)
    solve = solve_clmm if design.factors else solve_clm
    penalty = penalty_of(design)
    return solve(design, link, thresholds, penalty), penalty


def _penalise(link: str, prior: str) -> Callable[[ModelMatrices], Penalty]:
    """Return the maker of the penalty that a reference has, its words being its own."""

    def make(design: ModelMatrices) -> Penalty:
        p = design.X.shape[1]
        df = 3.0 if "t(3)" in prior else inf
        strength = 1.5 if "1.5" in prior else 1.0 if "log det" in prior or "ishart" in prior else None
        centred = "mean" in prior
        fixed = "no prior on coefficients" not in prior and "2.5" in prior.replace("m + 2.5", "")
        scale = 2.5 / LATENT_SD[link] if fixed else None
        penalty = make_penalty(Prior(scale, df, strength), design, link)
        return (
            penalty
            if centred or not fixed
            else penalty._replace(rows=np.eye(p), scale=np.full(p, 2.5), df=np.full(p, df))
        )

    return make


KINDS = ("fixed_normal", "fixed_t", "fixed_centred", "mixed_normal", "mixed_t", "mixed_centred_wishart")
WITH_PRIORS = [
    *(f"map_{kind}_{link}" for kind in KINDS for link in ("probit", "logit")),
    *("map_binary_fixed_normal", "map_binary_fixed_t", "map_binary_normal", "map_binary_normal_wishart"),
    *("map_binary_normal_blme_default", "map_binary_t", "map_binary_plain", "map_binary_slopes"),
]  # fmt: skip


@pytest.mark.parametrize("name", WITH_PRIORS)
def test_estimates_with_a_prior_are_those_of_the_references(name: str) -> None:
    case = read_cases()[name]
    found, penalty = _solve_reference(case, _penalise(case["model"]["link"], case["model"]["prior"]))
    _check(found, penalty, case["map"])


@pytest.mark.parametrize("c", ["1", "1.5"])
def test_slopes_that_collapse_without_a_prior_are_those_of_the_references(c: str) -> None:
    case = read_cases()[f"map_slopes_wishart_{c}"]
    prior = Prior(strength=float(c))
    found, penalty = _solve_reference(case, lambda design: make_penalty(prior, design, "probit"))
    _check(found, penalty, case["map"])


def test_the_distance_of_a_separated_system_is_that_of_the_reference() -> None:
    case = read_cases()["map_reference_level"]
    data = pd.read_csv(FOLDER / "separated.csv")
    found = fit(CROSSED, data, model="clmm", prior="fixed weak")
    wanted = case["centred_amber"]["beta"]["estimate"]
    np.testing.assert_allclose(found.beta, wanted, atol=4e-4)
    assert any("it is 3.65 above birch" in note for note in found.notes)


def _check(found: Any, penalty: Penalty, wanted: dict[str, Any]) -> None:
    assert found.optimum.converged
    assert found.loglik == pytest.approx(wanted["logLik"], abs=1e-6)
    np.testing.assert_allclose(found.alpha, wanted["alpha"]["estimate"], atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(found.beta, wanted["beta"]["estimate"], atol=1e-4, rtol=1e-4)
    se = np.sqrt(np.diag(found.joint_vcov))
    np.testing.assert_allclose(se, wanted["alpha"]["se"] + wanted["beta"]["se"], rtol=1e-3)
    psi = found.psi if len(found.psi) else np.concatenate([found.alpha, found.beta])
    zero = any(sd < 0.01 for one in wanted.get("random", {}).values() for sd in one["sd"])
    if not zero:
        assert log_prior(penalty, psi) == pytest.approx(wanted["log_prior"], abs=2e-4)
    for one, block in zip(wanted.get("random", {}).values(), found.lambdas, strict=True):
        covariance = block @ block.T
        np.testing.assert_allclose(np.sqrt(np.diag(covariance)), one["sd"], atol=1e-4)
        if one["cor"]:
            r = covariance[1, 0] / sqrt(covariance[0, 0] * covariance[1, 1])
            assert r == pytest.approx(one["cor"][0], abs=1e-3)
