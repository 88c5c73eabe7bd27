"""The measured error of the Laplace approximation, against integrals that can be taken."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.fit import fit
from panelist.models.inference.laplace_error import FactorError, LaplaceError, worst_of
from panelist.models.likelihoods.link_functions import LINKS
from panelist.models.likelihoods.nested_likelihood import evaluate_quadrature
from panelist.models.likelihoods.nests import make_nest
from panelist.models.results.fitted import Fit
from panelist.models.solvers.clmm import make_model, make_workspace
from panelist.models.solvers.laplace_shift import TRUSTED, measure_levels
from panelist.models.solvers.quadrature import make_modes
from panelist.numerics.arrays import Floats
from tests.models.designs import design

XSUM = Path(__file__).parents[4] / "shared" / "data" / "xsum_factuality.csv"


def simulate(
    sd: float,
    categories: int,
    seed: int,
    items: int = 40,
    systems: int = 3,
    raters: int = 3,
    spread: float = 0.0,
) -> pd.DataFrame:
    """Return ratings of every output by every rater; ``sd`` is that of outputs, ``spread`` that of raters."""
    rng = np.random.default_rng(seed)
    total = np.hypot(1.0, sd)
    latent = 0.4 * total * np.arange(systems)[:, None] + sd * rng.standard_normal((items, systems, 1))
    latent = latent + spread * rng.standard_normal(raters) + rng.standard_normal((items, systems, raters))
    cuts = [0.4 * total] if categories == 2 else 0.7 * total * np.array([-1.0, 0.0, 1.0, 2.0])
    item, system, rater = np.indices(latent.shape)
    frame = pd.DataFrame({"item": item.ravel(), "system": [f"s{k}" for k in system.ravel()]})
    frame["rater"] = [f"r{k}" for k in rater.ravel()]
    frame["output"] = [f"{i}-{s}" for i, s in zip(frame["item"], frame["system"], strict=True)]
    return frame.assign(rating=np.searchsorted(cuts, latent.ravel()))


def errors_at(found: Fit, psi: Floats) -> tuple[Floats, Floats]:
    assert found.link is not None
    assert found.structure is not None
    model = make_model(found.design, found.link, found.structure)
    return measure_levels(model, make_workspace(model), psi)


def slopes_by_differences(found: Fit, psi: Floats) -> Floats:
    steps = 1e-4 * np.eye(len(psi))
    return np.array(
        [(errors_at(found, psi + h)[0].sum() - errors_at(found, psi - h)[0].sum()) / 2e-4 for h in steps]
    )


# ---- one factor: the integral is known ---------------------------------------------------------------------
@pytest.mark.parametrize("link", LINKS)
def test_with_one_effect_the_error_is_the_integral_less_laplace(link: str) -> None:
    frame = simulate(2.0, 5, seed=1)
    found = fit("rating ~ system + (1 | output)", frame, model="clmm", link=link)
    assert found.structure is not None
    exact, _ = make_nest(found.design, link, found.structure, 7)
    psi, slopes = found.solution.psi, np.empty(len(found.solution.psi))
    value = -evaluate_quadrature(exact, psi, make_modes(exact), slopes)
    assert found.laplace_error is not None
    assert found.laplace_error.loglik_error == pytest.approx(value - found.loglik, abs=0.02)
    # The slopes of N by Laplace vanish at its optimum, so that those of the error are those of log L.
    np.testing.assert_allclose(errors_at(found, psi)[1], -slopes, atol=0.05)


@pytest.mark.parametrize(("sd", "categories"), [(1.0, 2), (2.0, 5), (3.0, 5)])
def test_the_predicted_shift_is_the_one_that_quadrature_makes(sd: float, categories: int) -> None:
    frame = simulate(sd, categories, seed=2)
    laplace = fit("rating ~ system + (1 | output)", frame, model="clmm")
    exact = fit("rating ~ system + (1 | output)", frame, model="clmm", quadrature=7)
    error = laplace.laplace_error
    assert error is not None
    true = (exact.beta - laplace.beta) / np.sqrt(np.diag(laplace.vcov))
    assert error.trusted == (np.abs(true).max() < TRUSTED)
    np.testing.assert_allclose(error.shift_of(np.eye(2)), true, atol=0.05)
    total = np.hypot(1.0, laplace.random["sd"][0])
    moved = abs(exact.random["sd"][0] - laplace.random["sd"][0]) / total
    assert error.spread == pytest.approx(moved, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("categories", [2, 5])
def test_nearly_unanimous_ratings_are_not_trusted(categories: int, seed: int) -> None:
    frame = simulate(6.0, categories, seed)
    laplace = fit("rating ~ system + (1 | output)", frame, model="clmm")
    exact = fit("rating ~ system + (1 | output)", frame, model="clmm", quadrature=7)
    assert np.abs((exact.beta - laplace.beta) / np.sqrt(np.diag(laplace.vcov))).max() > 0.5
    assert laplace.laplace_error is not None
    assert not laplace.laplace_error.trusted
    assert sum("Laplace approximation does not hold" in note for note in laplace.notes) == 1
    assert exact.laplace_error is None


@pytest.mark.skipif(not XSUM.exists(), reason="../shared/data/xsum_factuality.csv is not here")
@pytest.mark.parametrize("others", ["", " + (1 | rater) + (1 | item)"])
def test_xsum_is_not_trusted(others: str) -> None:
    frame = pd.read_csv(XSUM)
    frame["output"] = frame["item"].astype(str) + ":" + frame["system"]
    found = fit(f"rating ~ system{others} + (1 | output)", frame, model="clmm")
    assert found.laplace_error is not None
    assert not found.laplace_error.trusted
    assert max(found.laplace_error.factors, key=lambda one: abs(one.loglik_error)).name == "output"
    assert any("the levels of output have few ratings" in note for note in found.notes)


# ---- more effects, more factors ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "terms", ["(1 | output) + (1 | rater)", "(system | item)", "(system | rater) + (1 | item) + (1 | output)"]
)
def test_the_slopes_of_the_error_equal_finite_differences(terms: str) -> None:
    found = fit(f"rating ~ system + {terms}", simulate(2.0, 5, 3, systems=2, spread=0.5), model="clmm")
    rng = np.random.default_rng(4)
    psi = found.solution.psi + 0.02 * rng.standard_normal(len(found.solution.psi))
    _, slopes = errors_at(found, psi)
    np.testing.assert_allclose(slopes, slopes_by_differences(found, psi), atol=0.02)


def test_two_effects_of_one_factor_are_integrated_over_their_plane() -> None:
    frame = simulate(2.0, 2, seed=5, items=15, systems=2)
    found = fit("rating ~ system + (system | item)", frame, model="clmm")
    Lambda, beta, cut = found.solution.lambdas[0], float(found.beta[0]), float(found.threshold_values[0])
    u = np.linspace(-7.0, 7.0, 301)
    first, second = np.meshgrid(u, u, indexing="ij")
    prior = np.exp(-0.5 * (first**2 + second**2)) / (2.0 * np.pi) * (u[1] - u[0]) ** 2
    total = 0.0
    for _, own in frame.groupby("item"):
        share = prior.copy()
        for system, rating in zip(own["system"], own["rating"], strict=True):
            z = np.array([1.0, float(system == "s1")]) @ Lambda
            eta = beta * (system == "s1") + z[0] * first + z[1] * second
            share *= ndtr(eta - cut) if rating else ndtr(cut - eta)
        total += float(np.log(share.sum()))
    assert found.laplace_error is not None
    assert found.laplace_error.loglik_error == pytest.approx(total - found.loglik, abs=0.01)


def test_with_crossed_factors_the_error_is_close_to_the_integral_over_all() -> None:
    frame = simulate(1.5, 2, seed=6, items=20, systems=2, raters=3, spread=0.6)
    found = fit("rating ~ system + (1 | output) + (1 | rater)", frame, model="clmm")
    assert found.random["sd"].min() > 0.1
    sds = dict(zip(found.random["group"], found.random["sd"], strict=True))
    cut, beta = float(found.threshold_values[0]), float(found.beta[0])
    u = np.linspace(-7.0, 7.0, 141)
    prior = np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi) * (u[1] - u[0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)  # the raters' effects, all three at once
    weights = weights / weights.sum()
    yes = {
        system: ndtr(beta * (system == "s1") + sds["rater"] * nodes[:, None] + sds["output"] * u - cut)
        for system in ("s0", "s1")
    }
    grid = np.zeros((21, 21, 21))  # log L given the raters' effects, outputs integrated one by one
    wide = frame.pivot_table(index=["output", "system"], columns="rater", values="rating")
    for system, *ratings in wide.reset_index().drop(columns="output").itertuples(index=False):
        first, second, third = (yes[system] if rating else 1.0 - yes[system] for rating in ratings)
        grid += np.log(np.einsum("au,bu,cu,u->abc", first, second, third, prior, optimize=True))
    top = grid.max()
    total = top + np.log(np.einsum("abc,a,b,c->", np.exp(grid - top), weights, weights, weights))
    assert found.laplace_error is not None
    missing = float(total) - found.loglik
    assert abs(missing) > 0.3  # there is something to measure
    assert found.laplace_error.loglik_error == pytest.approx(missing, rel=0.25)


# ---- ordinary studies --------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_an_ordinary_study_is_trusted(seed: int) -> None:
    frame = simulate(0.5, 5, seed, items=12, raters=8, spread=0.4)
    found = fit("rating ~ system + (1 | rater) + (1 | item) + (1 | output)", frame, model="clmm")
    assert found.laplace_error is not None
    assert found.laplace_error.trusted
    assert found.laplace_error.worst < 0.1
    assert not any("Laplace" in note for note in found.notes)
    assert "holds" in found.laplace_error.sentence()


def test_a_variance_of_zero_makes_no_error() -> None:
    frame = pd.DataFrame({"rater": np.repeat(list("abcdef"), 12), "system": list("xy") * 36})
    frame["rating"] = np.tile([1, 2, 2, 3, 3, 1, 1, 3, 2, 2, 3, 3], 6)
    error = fit("rating ~ system + (1 | rater)", frame, model="clmm").laplace_error
    assert error is not None
    assert error.loglik_error == pytest.approx(0.0, abs=1e-3)  # levels are measured to five digits
    assert error.worst < 1e-3


def test_a_linear_model_has_no_laplace_error() -> None:
    frame = simulate(0.5, 5, seed=1)
    assert fit("rating ~ system + (1 | rater)", frame, model="lmm").laplace_error is None
    assert fit("rating ~ system", frame, model="clm").laplace_error is None


def test_a_contrast_is_measured_in_its_own_standard_error() -> None:
    error = LaplaceError((FactorError("item", -3.0),), np.array([0.1, -0.2]), np.diag([0.04, 0.09]), 0.1)
    assert not error.trusted
    np.testing.assert_allclose(error.shift_of(np.array([1.0, -1.0])), 0.3 / np.sqrt(0.13))
    assert error.worst == pytest.approx(2.0 / 3.0)
    assert "the levels of item have few ratings" in error.sentence()
    assert worst_of(np.empty(0)) == 0.0
    assert worst_of(np.array([0.1, np.nan])) == np.inf


def test_standard_deviations_that_move_far_are_a_reason_for_distrust() -> None:
    still = np.array([0.001])
    near, far = (LaplaceError((FactorError("item", 9.0),), still, np.eye(1), x) for x in (0.05, 0.5))
    assert near.trusted
    assert not far.trusted
    assert "standard deviations by 50 %" in far.sentence()


def test_a_likelihood_far_too_high_is_a_reason_for_distrust() -> None:
    errors = (FactorError("item", -9.0), FactorError("rater", 9.0))
    assert not LaplaceError(errors, np.array([0.001]), np.eye(1), 0.01).trusted


def test_a_batch_measures_what_a_fit_does_when_asked() -> None:
    frame = simulate(3.0, 5, seed=7)
    built = design("rating ~ system + (1 | output)", frame, ordinal=True)
    assert built.codes is not None
    L = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    measured = fit_batch(prepare_batch(built, "clmm", measured=True), built.codes[None, :])
    single = fit("rating ~ system + (1 | output)", frame, model="clmm").laplace_error
    assert single is not None
    np.testing.assert_allclose(measured.laplace_shift(L)[0], single.shift_of(L), atol=1e-3)
    assert measured.spread[0] == pytest.approx(single.spread, abs=1e-3)
    assert measured.holds_for(L).tolist() == [single.holds_for(L)]
    plain = fit_batch(prepare_batch(built, "clmm"), built.codes[None, :])
    assert np.isnan(plain.laplace_shift(L)).all()
