"""Adaptive quadrature against the Laplace approximation, numerical integration and R."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel
from panelist.models.arrays import Floats
from panelist.models.fit import fit
from panelist.models.fitted import Fit
from panelist.models.solvers import links
from panelist.models.solvers.links import LINKS, link_code
from panelist.models.solvers.quadrature import evaluate_quadrature, make_scalar_model
from panelist.models.solvers.thresholds import make_thresholds
from tests.models.compiled import compiled
from tests.models.designs import design

evaluate_link = compiled(links.evaluate_link)
REFERENCE = Path(__file__).parents[1] / "reference"
WINE = Path(__file__).parents[3] / "shared" / "data" / "wine"
RATER = "rating ~ system + (1 | rater)"


@cache
def paper(points: int, formula: str = RATER) -> Fit:
    return fit(formula, REFERENCE / "paper.csv", model="clmm", quadrature=points)


def tiny() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"rater": np.repeat(list("abcd"), 6), "system": list("xy") * 12})
    frame["rating"] = 1 + np.minimum(rng.integers(0, 3, 24) + np.tile([0, 1], 12), 2)
    return frame


def integrate(link: str, thresholds: Floats, beta: float, tau: float) -> float:
    """Return log L of the tiny data by the trapezium rule over the random effect."""
    u = np.linspace(-14.0, 14.0, 40_001)
    code, frame, total = link_code(link), tiny(), 0.0
    bounds = np.array([-np.inf, *thresholds, np.inf])
    F = np.vectorize(lambda x: 0.0 if x == -np.inf else 1.0 if x == np.inf else evaluate_link(code, x)[0])
    for _, own in frame.groupby("rater"):
        log_p = -0.5 * u**2 - 0.5 * np.log(2 * np.pi)
        for system, rating in zip(own["system"], own["rating"], strict=True):
            eta = beta * (system == "y") + tau * u
            log_p += np.log(np.maximum(F(bounds[rating] - eta) - F(bounds[rating - 1] - eta), 1e-300))
        total += float(np.log(np.trapezoid(np.exp(log_p), u)))
    return total


def test_one_point_is_the_laplace_approximation() -> None:
    from panelist.models.solvers.quadrature import solve_by_quadrature

    laplace = paper(1)
    assert laplace.structure is not None
    found = solve_by_quadrature(laplace.design, "probit", laplace.structure, 1)
    assert found.loglik == pytest.approx(laplace.loglik, abs=1e-8)
    np.testing.assert_allclose(found.beta, laplace.beta, atol=1e-5)
    np.testing.assert_allclose(found.alpha, laplace.solution.alpha, atol=1e-5)
    np.testing.assert_allclose(found.lambdas[0], laplace.solution.lambdas[0], atol=1e-5)
    np.testing.assert_allclose(found.joint_vcov, laplace.solution.joint_vcov, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found.modes[0], laplace.solution.modes[0], atol=1e-5)
    np.testing.assert_allclose(found.deviations[0], laplace.solution.deviations[0], atol=1e-5)
    assert found.n_parameters == laplace.n_parameters


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("points", [1, 2, 9])
def test_the_gradient_equals_finite_differences(link: str, points: int) -> None:
    built = design(RATER, tiny(), ordinal=True)
    model = make_scalar_model(built, link, make_thresholds("flexible", built.categories), points)
    psi = np.array([-0.7, 0.4, 0.6, 0.9])
    gradient, modes, spare = np.empty(4), np.zeros(4), np.empty(4)
    evaluate_quadrature(model, psi, modes, gradient)
    for k, step in enumerate(1e-5 * np.eye(4)):
        up = evaluate_quadrature(model, psi + step, modes, spare)
        down = evaluate_quadrature(model, psi - step, modes, spare)
        assert gradient[k] == pytest.approx((up - down) / 2e-5, abs=1e-7)


@pytest.mark.parametrize("link", ["probit", "logit", "cloglog"])
def test_many_points_are_the_integral(link: str) -> None:
    built = design(RATER, tiny(), ordinal=True)
    model = make_scalar_model(built, link, make_thresholds("flexible", built.categories), 41)
    value = evaluate_quadrature(model, np.array([-0.7, 0.4, 0.6, 1.2]), np.zeros(4), np.empty(4))
    assert -value == pytest.approx(integrate(link, np.array([-0.7, 0.4]), 0.6, 1.2), abs=1e-8)


def test_fifteen_points_are_enough() -> None:
    few, many = paper(15), paper(41)
    assert few.loglik == pytest.approx(many.loglik, abs=1e-8)
    np.testing.assert_allclose(few.beta, many.beta, atol=1e-6)
    assert abs(paper(1).loglik - many.loglik) > 1e-6  # the Laplace approximation is another number


def test_a_slope_alone_is_a_scalar_effect() -> None:
    frame = tiny().assign(x=np.tile([-1.0, 0.5, 2.0], 8))
    laplace = fit("rating ~ system + (0 + x | rater)", frame, model="clmm")
    finer = fit("rating ~ system + (0 + x | rater)", frame, model="clmm", quadrature=20)
    assert finer.converged
    assert finer.loglik == pytest.approx(laplace.loglik, abs=0.3)
    assert finer.random["term"].tolist() == ["x"]


def test_a_variance_of_zero_leaves_the_model_without_random_effects() -> None:
    frame = pd.DataFrame({"rater": np.repeat(list("abcdef"), 12), "system": list("xy") * 36})
    frame["rating"] = np.tile([1, 2, 2, 3, 3, 1, 1, 3, 2, 2, 3, 3], 6)  # every rater gives the same
    mixed = fit(RATER, frame, model="clmm", quadrature=7)
    plain = fit("rating ~ system", frame, model="clm")
    assert mixed.singular
    assert mixed.converged
    assert mixed.random["sd"].tolist() == [0.0]
    assert mixed.loglik == pytest.approx(plain.loglik, abs=1e-8)
    np.testing.assert_allclose(mixed.solution.joint_vcov, plain.solution.joint_vcov, rtol=1e-5)
    assert any("the variance of Intercept over rater is estimated as zero" in note for note in mixed.notes)


@pytest.mark.parametrize(
    "formula", ["rating ~ system + (1 | rater) + (1 | item)", "rating ~ (system | rater)"]
)
def test_more_than_one_effect_is_refused(formula: str) -> None:
    with pytest.raises(BadModel, match="exactly one random effect"):
        paper(5, formula)


def test_too_many_points_are_refused() -> None:
    with pytest.raises(BadModel, match="at most 100 points; 101"):
        paper(101)


@pytest.mark.skipif(not WINE.exists(), reason="../shared/data/wine is not here")
@pytest.mark.parametrize("points", [5, 10])
def test_wine_agrees_with_r(points: int) -> None:
    cases = json.loads((WINE / "clmm_cases.json").read_text(encoding="utf-8"))["cases"]
    case = next(case for case in cases if case["id"] == f"wine_ri_probit_nAGQ{points}")
    found = fit("rating ~ temp + contact + (1 | judge)", WINE / "wine.csv", model="clmm", quadrature=points)
    assert found.loglik == pytest.approx(case["loglik"], abs=1e-8)
    np.testing.assert_allclose(found.joint_estimates, list(case["coef"].values()), atol=1e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(found.joint_vcov)), list(case["se"].values()), rtol=1e-5)
    np.testing.assert_allclose(found.random["sd"][0], case["ST"]["judge"][0][0], atol=1e-5)
    np.testing.assert_allclose(found.modes["mode"], np.ravel(case["ranef"]["judge"]), atol=1e-5)
