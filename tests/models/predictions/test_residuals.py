"""Residuals: their definitions, and that a right model leaves nothing in them."""

import numpy as np
import pytest
from scipy import stats

from panelist.core.errors import UnknownName
from panelist.models.fit import fit
from panelist.models.likelihoods.link_functions import LINKS
from panelist.models.predictions.residuals import _quantile
from tests.models.reference_fits import CROSSED, LATENT, fit_data, read_data


def test_probability_scale_residuals_compare_what_lies_below_with_what_lies_above() -> None:
    model = fit_data("paper", CROSSED, "clmm")
    residuals = model.residuals()
    table = np.asarray(model.fitted())
    codes = model.design.codes
    assert codes is not None
    for row, code in enumerate(codes):
        expected = table[row, :code].sum() - table[row, code + 1 :].sum()
        assert residuals[row] == pytest.approx(expected, abs=1e-12)
    assert residuals.abs().max() < 1.0


def test_probability_scale_residuals_of_a_clm_average_zero_at_its_margins() -> None:
    # With a threshold for every gap and no covariate the fitted probabilities are the shares observed.
    residuals = fit("rating ~ 1", read_data("paper"), model="clm").residuals()
    assert residuals.mean() == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("link", LINKS)
def test_quantiles_undo_the_link_in_both_tails(link: str) -> None:
    x = np.linspace(-6.0, 3.0, 19) if link == "cloglog" else np.linspace(-3.0, 6.0, 19)
    lower, upper = LATENT[link].cdf(x), LATENT[link].sf(x)
    np.testing.assert_allclose(_quantile(link, lower, upper), x, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_surrogate_residuals_of_a_right_model_follow_the_link(link: str) -> None:
    truth = fit_data("paper", "rating ~ system", "clm", link)
    many = truth.simulate(1, seed=6)[0]
    model = fit("rating ~ system", read_data("paper").assign(rating=many), model="clm", link=link)
    residuals = np.asarray(model.residuals("surrogate", seed=1))
    centre = 0.0 if link == "cauchit" else LATENT[link].mean()
    assert stats.kstest(residuals + centre, LATENT[link].cdf).pvalue > 1e-3


def test_surrogate_residuals_lie_between_the_thresholds_of_their_rating() -> None:
    model = fit_data("paper", CROSSED, "clmm")
    latent = np.asarray(model.residuals("surrogate", seed=2) + model.predict(kind="latent"))
    codes = np.searchsorted(model.threshold_values, latent)
    assert (codes == model.design.codes).all()
    assert (model.residuals("surrogate", seed=2) == model.residuals("surrogate", seed=2)).all()
    assert (model.residuals("surrogate", seed=2) != model.residuals("surrogate", seed=3)).all()


def test_residuals_of_linear_models_are_what_the_fit_leaves() -> None:
    model = fit_data("slider", CROSSED, "lmm")
    left = read_data("slider")["rating"] - model.fitted()
    np.testing.assert_allclose(model.residuals(), left, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.residuals("standardised"), left / model.sigma, rtol=1e-9, atol=1e-9)


def test_standardised_residuals_of_an_lm_allow_for_leverage() -> None:
    model = fit_data("covariate", "rating ~ system + words", "lm")
    X = model.design.X
    leverage = np.diag(X @ np.linalg.inv(X.T @ X) @ X.T)
    expected = model.residuals() / (model.sigma * np.sqrt(1.0 - leverage))
    np.testing.assert_allclose(model.residuals("standardised"), expected, rtol=1e-9)


def test_residuals_keep_the_places_of_rows_when_some_were_left_out() -> None:
    frame = read_data("slider").copy()
    frame.loc[[0, 7], "rating"] = np.nan
    residuals = fit("rating ~ system", frame, model="lm").residuals()
    assert 0 not in residuals.index
    assert 7 not in residuals.index
    assert len(residuals) == len(frame) - 2


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="Residuals of a clmm cannot be of the kind 'response'"):
        fit_data("paper", CROSSED, "clmm").residuals("response")
    with pytest.raises(UnknownName, match="Did you mean 'standardised'"):
        fit_data("slider", CROSSED, "lmm").residuals("standardized")
