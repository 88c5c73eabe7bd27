"""The profiled deviance of linear mixed models, and its gradient, from the n × n covariance."""

import numpy as np
import pytest

from panelist.models.fit import fit
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import free_entries
from panelist.models.likelihoods.deviance import make_deviance_workspace, settle
from panelist.models.search.linear import covariance_slopes
from panelist.numerics.arrays import Floats
from tests.models.compiled import compiled
from tests.models.designs import PARTS, design, make_ratings
from tests.models.oracle import (
    deviance_value,
    differences,
    expand_lambda,
    expand_z,
    make_linear,
    minimise,
    package_deviance,
)


def make_design(part: str) -> ModelMatrices:
    frame = make_ratings()
    frame["rating"] = frame["rating"] + 0.3 * frame["x"] + 0.01 * np.arange(len(frame))
    return design(f"rating ~ system + x + {PARTS[part]}", frame)


def some_theta(built: ModelMatrices) -> Floats:
    rng = np.random.default_rng(9)
    rows, columns, _ = free_entries(built.factors)
    return np.where(rows == columns, rng.uniform(0.3, 1.1, len(rows)), rng.uniform(-0.5, 0.5, len(rows)))


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("part", PARTS)
def test_value_and_gradient_are_those_of_the_oracle(part: str, reml: bool) -> None:
    built = make_design(part)
    theta = some_theta(built)
    value, gradient, _ = package_deviance(make_linear(built, reml), theta)
    assert value == pytest.approx(deviance_value(built, theta, reml), rel=1e-11)
    expected = differences(lambda at: deviance_value(built, at, reml), theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("small", [0.0, 1e-6, 9e-5, 2e-4, 1e-2])
@pytest.mark.parametrize("entry", [0, 2, 3, 5])
def test_slopes_are_exact_where_a_variance_nearly_vanishes(entry: int, small: float) -> None:
    frame = make_ratings()
    frame["rating"] = frame["rating"] + 0.3 * frame["x"] + 0.01 * np.arange(len(frame))
    built = design("rating ~ x + (x | rater) + (x | item)", frame)
    theta = np.array([0.6, 0.2, 0.5, 0.4, -0.3, 0.7])
    theta[entry] = small
    _, gradient, _ = package_deviance(make_linear(built, False), theta)
    expected = differences(lambda at: deviance_value(built, at, False), theta)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("part", ["crossed", "three systems"])
def test_fixed_effects_are_generalised_least_squares(part: str) -> None:
    built = make_design(part)
    theta = some_theta(built)
    _, _, beta = package_deviance(make_linear(built, True), theta)
    V = expand_z(built.factors) @ expand_lambda(built.factors, theta)
    inverse = np.linalg.inv(np.eye(len(V)) + V @ V.T)
    expected = np.linalg.solve(built.X.T @ inverse @ built.X, built.X.T @ inverse @ built.y)
    np.testing.assert_allclose(beta, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.slow
def test_slopes_of_the_covariance_are_its_differences() -> None:
    built = make_design("three systems")
    theta = some_theta(built)
    model = make_linear(built, True)
    work = make_deviance_workspace(model)
    assert compiled(settle)(model, theta, work)
    p = built.X.shape[1]
    found = np.empty((len(theta), p, p))
    compiled(covariance_slopes)(model, work, found)

    def covariance(at: Floats) -> Floats:
        V = expand_z(built.factors) @ expand_lambda(built.factors, at)
        whole = np.linalg.inv(np.eye(len(V)) + V @ V.T)
        return np.linalg.inv(built.X.T @ whole @ built.X).astype(float)

    np.testing.assert_allclose(found, differences(covariance, theta), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["REML", "ML"])
def test_a_fit_ends_where_scipy_finds_nothing_better(method: str) -> None:
    frame = make_ratings()
    frame["rating"] = frame["rating"] + 0.3 * frame["x"]
    fitted = fit("rating ~ system + (1 | rater) + (x | item)", frame, model="lmm", method=method)
    built = fitted.design
    best = min(
        minimise(
            lambda theta: deviance_value(built, theta, method == "REML"),
            np.full(4, start) * np.array([1.0, 0.0, 1.0, 1.0]),
            options={"gtol": 1e-6},
        )[0]
        for start in (0.2, 1.0)
    )
    assert -2.0 * fitted.loglik <= best + 1e-6
    assert -2.0 * fitted.loglik >= best - 1e-4


def test_a_constant_response_scale_does_not_matter() -> None:
    frame = make_ratings()
    one = fit("rating ~ system + (1 | rater) + (1 | item)", frame, model="lmm")
    frame["rating"] = 1e6 * frame["rating"] - 3e6
    other = fit("rating ~ system + (1 | rater) + (1 | item)", frame, model="lmm")
    np.testing.assert_allclose(other.beta[1:], 1e6 * one.beta[1:], rtol=1e-7, atol=1e-3)
    assert other.sigma == pytest.approx(1e6 * one.sigma, rel=1e-7)
