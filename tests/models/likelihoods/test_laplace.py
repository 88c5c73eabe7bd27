"""The Laplace likelihood and its gradient against a dense oracle: every link, every kind of random part."""

from dataclasses import replace

import numpy as np
import pytest

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.covariance import free_entries
from panelist.models.likelihoods.laplace import FINAL, make_laplace_workspace
from panelist.models.likelihoods.link_functions import LINKS
from panelist.models.likelihoods.tangent import make_directions, push_modes
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.search.entry_points import evaluate
from panelist.models.solvers.clmm import solve_clmm
from panelist.numerics.simd import WIDTH
from tests.models.compiled import compiled
from tests.models.designs import PARTS, design, make_ratings
from tests.models.oracle import differences, laplace_value, make_ordinal, package_laplace, starting_psi


def make_design(part: str, categories: int = 5) -> ModelMatrices:
    return design(f"rating ~ system + x + {PARTS[part]}", make_ratings(categories=categories), ordinal=True)


def check(built: ModelMatrices, link: str, structure: str) -> None:
    thresholds = make_thresholds(structure, built.categories)
    psi = starting_psi(built, thresholds, seed=11)
    value, gradient = package_laplace(make_ordinal(built, link, thresholds), psi)
    assert value == pytest.approx(laplace_value(built, link, thresholds.J, psi), rel=1e-10)
    expected = differences(lambda at: laplace_value(built, link, thresholds.J, at), psi)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_value_and_gradient_are_those_of_the_oracle_for_every_link(link: str) -> None:
    check(make_design("crossed"), link, "flexible")


@pytest.mark.parametrize("part", PARTS)
def test_value_and_gradient_are_those_of_the_oracle_for_every_random_part(part: str) -> None:
    check(make_design(part), "probit", "flexible")


@pytest.mark.parametrize("structure", ["symmetric", "equidistant"])
@pytest.mark.parametrize("categories", [5, 6])
def test_value_and_gradient_are_those_of_the_oracle_for_structured_thresholds(
    structure: str, categories: int
) -> None:
    check(make_design("a slope apart", categories), "logit", structure)


def share_effects(built: ModelMatrices, *groups: str) -> ModelMatrices:
    factors = tuple(replace(factor, shared=factor.name in groups) for factor in built.factors)
    return replace(built, factors=factors)


@pytest.mark.parametrize("groups", [("rater",), ("rater", "item")])
def test_effects_that_share_one_standard_deviation_are_those_of_the_oracle(groups: tuple[str, ...]) -> None:
    built = share_effects(make_design("three systems"), *groups)
    assert len(free_entries(built.factors)[0]) > free_entries(built.factors)[2][-1] + 1
    check(built, "probit", "flexible")


def test_the_mode_follows_a_shared_standard_deviation() -> None:
    built = share_effects(make_design("three systems"), "rater", "item")
    thresholds = make_thresholds("flexible", built.categories)
    found = solve_clmm(built, "probit", thresholds)
    assert found.optimum.converged
    assert found.n_parameters == len(thresholds.names) + built.X.shape[1] + 2
    value, gradient = package_laplace(make_ordinal(built, "probit", thresholds), found.psi)
    assert value == pytest.approx(-found.loglik, abs=1e-9)
    assert np.abs(gradient).max() < 1e-5
    for block in found.lambdas:
        np.testing.assert_array_equal(block, block[0, 0] * np.eye(len(block)))


def test_two_categories_are_binomial() -> None:
    """Against the Bernoulli likelihood itself: P(y = 1) = Φ(η − t), integrated by Laplace in each rater."""
    from scipy import optimize
    from scipy.special import log_ndtr

    built = make_design("one factor", categories=2)
    assert built.codes is not None
    thresholds = make_thresholds("flexible", built.categories)
    psi = starting_psi(built, thresholds, seed=3)
    value, _ = package_laplace(make_ordinal(built, "probit", thresholds), psi)
    (rater,) = built.factors
    sign, fixed, total = 2.0 * built.codes - 1.0, built.X @ psi[1:-1] - psi[0], 0.0
    for level in range(len(rater.levels)):
        own = rater.index == level

        def height(u: float, own: "np.ndarray[tuple[int], np.dtype[np.bool_]]" = own) -> float:
            return float(-log_ndtr(sign[own] * (fixed[own] + psi[-1] * u)).sum() + 0.5 * u**2)

        u = float(optimize.minimize_scalar(height, bracket=(-1.0, 1.0), tol=1e-12).x)
        h = 1e-3
        bend = (
            -height(u + 2 * h) + 16 * height(u + h) - 30 * height(u) + 16 * height(u - h) - height(u - 2 * h)
        ) / (12 * h**2)
        total += height(u) + 0.5 * np.log(bend)
    assert value == pytest.approx(total, rel=1e-8)


def test_without_variance_the_value_is_that_of_the_model_without_random_effects() -> None:
    from tests.models.oracle import negative_log_p

    built = make_design("three systems")
    assert built.codes is not None
    thresholds = make_thresholds("flexible", built.categories)
    psi = starting_psi(built, thresholds, seed=2)
    p = built.X.shape[1]
    psi[4 + p :] = 0.0
    value, gradient = package_laplace(make_ordinal(built, "probit", thresholds), psi)
    plain = negative_log_p("probit", built.codes, psi[:4], built.X @ psi[4 : 4 + p]).sum()
    assert value == pytest.approx(plain, rel=1e-13)
    assert np.abs(gradient[4 + p :]).max() == 0.0  # zero is stationary by symmetry


def test_the_mode_is_found_from_anywhere() -> None:
    built = make_design("three systems")
    thresholds = make_thresholds("flexible", built.categories)
    psi = starting_psi(built, thresholds, seed=1)
    model = make_ordinal(built, "probit", thresholds)
    expected, slope = package_laplace(model, psi)
    work, gradient = make_laplace_workspace(model), np.zeros(len(psi))
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 5.0, 60.0):  # the last loses probabilities, and must begin again at zero
        work.u[:] = scale * rng.normal(size=len(work.u))
        assert evaluate(model, psi, work, gradient, FINAL) == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(gradient, slope, atol=1e-6)


def test_thresholds_out_of_order_are_refused() -> None:
    built = make_design("crossed")
    thresholds = make_thresholds("flexible", built.categories)
    psi = starting_psi(built, thresholds, seed=1)
    psi[[0, 1]] = psi[[1, 0]]
    value, _ = package_laplace(make_ordinal(built, "probit", thresholds), psi)
    assert value == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("part", ["crossed", "three systems", "a slope apart"])
def test_the_tangent_of_the_mode_is_its_difference(part: str) -> None:
    built = make_design(part)
    thresholds = make_thresholds("flexible", built.categories)
    psi = starting_psi(built, thresholds, seed=7)
    model = make_ordinal(built, "logit", thresholds)
    work, gradient = make_laplace_workspace(model), np.zeros(len(psi))
    changes = np.random.default_rng(1).normal(size=(len(psi), WIDTH))
    expected = np.empty((len(work.u), WIDTH))
    for lane, change in enumerate(changes.T):
        modes = []
        for step in (-1e-4, 1e-4):
            evaluate(model, psi + step * change, work, gradient, FINAL)
            modes.append(work.u.copy())
        expected[:, lane] = (modes[1] - modes[0]) / 2e-4
    evaluate(model, psi, work, gradient, FINAL)
    directions = make_directions(model)
    directions.change[:] = changes
    compiled(push_modes)(model, work, directions)
    np.testing.assert_allclose(directions.push, expected, rtol=1e-5, atol=1e-6)
