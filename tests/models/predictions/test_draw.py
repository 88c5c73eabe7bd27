"""Ratings drawn from a fit: reproducible, of the right kind, and with its parameters in them."""

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel, PanelistError, UnknownName
from panelist.models.fit import fit
from panelist.models.predictions.draw import simulate_codes
from panelist.models.results.fitted import Fit
from tests.models.reference_fits import CROSSED, SLOPES, fit_data, read_data

SETS = 30


def refit(model: Fit, ratings: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Fit:
    return fit(
        model.formula,
        read_data("paper").assign(rating=ratings),
        model=model.model,
        link=model.link or "probit",
    )


def test_the_same_seed_gives_the_same_ratings_however_many_are_drawn() -> None:
    model = fit_data("paper", SLOPES, "clmm")
    five = model.simulate(5, seed=3)
    assert five.shape == (5, model.n)
    assert (five[:2] == model.simulate(2, seed=3)).all()
    assert not (five == model.simulate(5, seed=4)).all(axis=1).any()
    assert not (five[0] == five[1]).all()


def test_ratings_come_in_the_values_of_the_scale() -> None:
    drawn = fit_data("unused", CROSSED, "clmm").simulate(3)
    assert set(np.unique(drawn)) <= set(read_data("unused")["rating"].astype(float))
    words = np.array(["bad", "poor", "fair", "good", "fine", "best"])
    frame = read_data("paper")
    said = pd.Categorical(words[frame["rating"] - 1], categories=list(words), ordered=True)
    named = fit("rating ~ system", frame.assign(rating=said), model="clm").simulate()
    assert set(named.ravel()) <= set(words)


@pytest.mark.parametrize("link", ["probit", "logit", "cloglog", "loglog", "cauchit"])
def test_with_the_modes_kept_ratings_follow_the_fitted_probabilities(link: str) -> None:
    model = fit_data("paper", CROSSED, "clmm", link)
    rng = np.random.default_rng(2)
    sets = 400
    drawn = np.stack([simulate_codes(model, rng, "modes") for _ in range(sets)])
    table = np.asarray(model.fitted())
    for code in range(table.shape[1]):
        expected = table[:, code]
        spread = np.sqrt((expected * (1.0 - expected)).sum() / sets)
        assert abs((drawn == code).sum() / sets - expected.sum()) < 4.5 * spread
        row = int(expected.argmax())
        error = np.sqrt(expected[row] * (1.0 - expected[row]) / sets)
        assert abs((drawn[:, row] == code).mean() - expected[row]) < 4.5 * error


def test_new_raters_and_items_spread_as_the_covariances_say() -> None:
    model = fit_data("slider", "rating ~ system + (system | rater) + (1 | item)", "lmm")
    rows = [0, 1, 100]
    drawn = model.simulate(4000, seed=1)[:, rows]
    expected = np.diag(np.full(3, model.sigma**2))
    for factor in model.design.factors:
        Z, index = factor.Z[rows], factor.index[rows]
        expected += (Z @ model.variance_components[factor.name] @ Z.T) * (index[:, None] == index)
    spread = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 4000)
    assert (np.abs(np.cov(drawn.T) - expected) < 4.5 * spread).all()
    means = np.asarray(model.predict(effects="population"))[rows]
    assert (np.abs(drawn.mean(axis=0) - means) < 4.5 * np.sqrt(np.diag(expected) / 4000)).all()


@pytest.mark.parametrize(("kind", "link"), [("clmm", "probit"), ("clmm", "logit"), ("lmm", "probit")])
def test_refitted_simulations_return_the_fixed_effects(kind: str, link: str) -> None:
    model = fit_data("paper", CROSSED, kind, link)
    again = [refit(model, ratings) for ratings in model.simulate(SETS, seed=8)]
    assert all(one.converged for one in again)
    estimates = np.array([one.params for one in again])
    error = estimates.std(axis=0, ddof=1) / np.sqrt(SETS)
    assert (np.abs(estimates.mean(axis=0) - model.params) < 4.0 * error).all()


def test_refitted_simulations_return_the_variances() -> None:
    model = fit_data("paper", CROSSED, "lmm")
    again = [refit(model, ratings) for ratings in model.simulate(SETS, seed=9)]
    for name, covariance in model.variance_components.items():
        found = np.array([one.variance_components[name][0, 0] for one in again])
        error = found.std(ddof=1) / np.sqrt(SETS)
        assert abs(found.mean() - covariance[0, 0]) < 3.5 * error
    residual = np.array([one.sigma**2 for one in again])
    assert abs(residual.mean() - model.sigma**2) < 3.5 * residual.std(ddof=1) / np.sqrt(SETS)


def test_what_cannot_be_drawn_is_said() -> None:
    model = fit_data("paper", CROSSED, "clmm")
    with pytest.raises(UnknownName, match="Did you mean 'modes'"):
        model.simulate(effects="mode")
    with pytest.raises(BadModel, match=r"must be a whole number, 1 or more\. Got 0"):
        model.simulate(0)
    with pytest.raises(PanelistError, match="A seed must be a whole number"):
        model.simulate(seed=-1)
