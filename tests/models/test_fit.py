"""The four models end to end: against direct maximisation, against bad input, and with a record kept."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel, PanelistError
from panelist.models.fit import fit
from panelist.models.likelihoods.thresholds import STRUCTURES, make_thresholds
from panelist.models.search.starts import start_alpha
from panelist.numerics.arrays import Floats
from tests.models.oracle import LINKS, differences, minimise, negative_log_p
from tests.models.small_tables import make_frame

CROSSED = "rating ~ system + (1 | rater) + (1 | item)"


@pytest.mark.parametrize("link", LINKS)
def test_clm_is_the_direct_maximum(link: str) -> None:
    fitted = fit("rating ~ system + x", make_frame(), model="clm", link=link)
    design = fitted.design
    assert design.codes is not None
    codes, X = design.codes, design.X

    def value(psi: Floats) -> float:
        cuts = np.concatenate([psi[:1], psi[0] + np.cumsum(np.exp(psi[1:4]))])
        with np.errstate(all="ignore"):  # a first step that goes too far
            return float(np.nan_to_num(negative_log_p(link, codes, cuts, X @ psi[4:]).sum(), nan=np.inf))

    cuts = start_alpha(codes, make_thresholds("flexible", design.categories), link, 1.0)
    start = np.concatenate([cuts[:1], np.log(np.diff(cuts)), np.zeros(X.shape[1])])
    best, at = minimise(value, start, jac=lambda psi: differences(value, psi))
    assert fitted.loglik == pytest.approx(-best, abs=1e-7)
    np.testing.assert_allclose(fitted.beta, at[4:], atol=1e-5)
    hessian = differences(lambda at: differences(_plain(link, codes, X), at), fitted.params)
    np.testing.assert_allclose(fitted.cov_params, np.linalg.inv(hessian), rtol=1e-5, atol=1e-9)


def _plain(link: str, codes: Any, X: Floats) -> Any:
    return lambda psi: float(negative_log_p(link, codes, psi[:4], X @ psi[4:]).sum())


@pytest.mark.parametrize("structure", ["symmetric", "equidistant"])
def test_structured_thresholds_fit_no_better_than_free_ones_and_keep_their_shape(structure: str) -> None:
    free = fit("rating ~ system + x", make_frame(), model="clm")
    bound = fit("rating ~ system + x", make_frame(), model="clm", threshold=structure)
    assert bound.loglik <= free.loglik + 1e-9
    assert bound.n_parameters < free.n_parameters
    gaps = np.diff(bound.threshold_values)
    np.testing.assert_allclose(gaps, gaps[::-1] if structure == "symmetric" else gaps.mean(), atol=1e-10)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_two_categories_are_binomial_regression(link: str) -> None:
    """Iteratively reweighted least squares on 0 and 1; its intercept is minus the threshold."""
    frame = make_frame()
    frame["rating"] = (frame["rating"] > 3).astype(int)
    fitted = fit("rating ~ system + x", frame, model="clm", link=link)
    X = np.column_stack([np.ones(len(frame)), fitted.design.X])
    y = frame["rating"].to_numpy(float)
    beta: Floats = np.zeros(3)
    F, _, f = LINKS[link]
    for _ in range(50):
        eta = X @ beta
        mean, density = F(eta), f(eta)
        weight = density**2 / (mean * (1.0 - mean))
        beta = np.linalg.solve((X.T * weight) @ X, (X.T * weight) @ (eta + (y - mean) / density)).astype(
            float
        )
    mean = F(X @ beta)
    np.testing.assert_allclose(fitted.params, np.concatenate([[-beta[0]], beta[1:]]), atol=1e-7)
    assert fitted.loglik == pytest.approx(np.log(np.where(y == 1.0, mean, 1.0 - mean)).sum(), abs=1e-9)


def test_lm_is_least_squares() -> None:
    fitted = fit("rating ~ system * x", make_frame(), model="lm")
    X, y = fitted.design.X, fitted.design.y
    beta, square, *_ = np.linalg.lstsq(X, y, rcond=None)
    n, p = X.shape
    np.testing.assert_allclose(fitted.beta, beta, rtol=1e-10, atol=1e-12)
    assert fitted.sigma == pytest.approx(np.sqrt(square[0] / (n - p)), rel=1e-12)
    np.testing.assert_allclose(fitted.vcov, fitted.sigma**2 * np.linalg.inv(X.T @ X), rtol=1e-9)
    residual = y - X @ beta
    sd = np.sqrt((residual**2).mean())
    density = -0.5 * (residual / sd) ** 2 - np.log(sd) - 0.5 * np.log(2.0 * np.pi)
    assert fitted.loglik == pytest.approx(density.sum(), rel=1e-12)
    assert set(fitted.coefficients["df"]) == {n - p}


def test_balanced_reml_is_the_analysis_of_variance() -> None:
    """One way, balanced: σ² is the mean square within, the variance of raters the excess between over n."""
    frame = make_frame().query("system == 'a'")
    fitted = fit("rating ~ 1 + (1 | rater)", frame, model="lmm")
    by_rater = frame.groupby("rater")["rating"]
    within = float(((frame["rating"] - by_rater.transform("mean")) ** 2).sum() / (len(frame) - 12))
    between = 15.0 * float(by_rater.mean().var())
    assert fitted.sigma**2 == pytest.approx(within, rel=1e-6)
    assert fitted.variance_components["rater"][0, 0] == pytest.approx((between - within) / 15.0, rel=1e-6)
    assert fitted.coefficients["se"][0] == pytest.approx(np.sqrt(between / len(frame)), rel=1e-6)
    assert fitted.coefficients["df"][0] == pytest.approx(11.0, rel=1e-3)


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_fit_ends_at_a_point_without_slope(model: str) -> None:
    fitted = fit("rating ~ system + (system | rater) + (1 | item)", make_frame(), model=model)
    record = fitted.optimum
    assert record.converged
    assert record.gradient < 1e-4
    assert record.steps > 3  # of the whole search, whatever was tried at its end
    assert record.evaluations > record.steps
    assert 1.0 <= record.condition < 1e6
    assert record.tolerance > 0.0
    assert "BFGS with the exact gradient" in record.method
    assert record.reason == "the predicted gain of another step is below the tolerance"
    assert json.loads(fitted.to_json())["optimum"]["evaluations"] == record.evaluations


# ---- bad input: one clear error, and never another exception ----------------------------------------------


def changed(**columns: Any) -> pd.DataFrame:
    return make_frame().assign(**columns)


def with_cell(column: str, value: Any) -> pd.DataFrame:
    frame = make_frame().astype({column: object})
    frame.loc[7, column] = value
    return frame


BAD = {
    "an unknown column": (make_frame(), "rating ~ sytem + (1 | rater)", ["'sytem'", "system"]),
    "an unknown group": (make_frame(), "rating ~ system + (1 | ratr)", ["'ratr'", "rater"]),
    "an unknown response": (make_frame(), "rtaing ~ system + (1 | rater)", ["rtaing", "rating"]),
    "text ratings": (changed(rating="good"), CROSSED, ["rating", "'good'", "row 1"]),
    "one word among numbers": (with_cell("rating", "n/k"), CROSSED, ["rating", "'n/k'", "row 8"]),
    "one category": (changed(rating=3), CROSSED, ["3", "nothing to model"]),
    "every rating missing": (changed(rating=np.nan), CROSSED, ["rating"]),
    "an infinite rating": (with_cell("rating", np.inf), CROSSED, ["rating", "infinite"]),
    "an infinite covariate": (with_cell("x", -np.inf), "rating ~ x + (1 | rater)", ["x", "infinite"]),
    "an empty table": (make_frame().iloc[:0], CROSSED, ["empty"]),
    "a table without columns": (pd.DataFrame(), CROSSED, ["empty"]),
    "a system with one level": (changed(system="a"), CROSSED, ["system", "one level"]),
    "a group with one level": (changed(rater="r"), CROSSED, ["rater", "one level"]),
    "no tilde": (make_frame(), "rating + system", ["~"]),
    "an open bracket": (make_frame(), "rating ~ system + (1 | rater", ["rating ~ system + (1 | rater"]),
    "an empty formula": (make_frame(), "", ["formula"]),
    "a bar without a group": (make_frame(), "rating ~ system + (1 | )", ["|"]),
    "two tildes": (make_frame(), "rating ~ system ~ item", ["~"]),
    "a bare bar": (make_frame(), "rating ~ 1 | rater", ["|"]),
    "code in a formula": (make_frame(), "rating ~ __import__('os') + (1 | rater)", ["__import__"]),
    "more columns than rows": (make_frame().iloc[:8], "rating ~ item*system + (1|rater)", ["rows"]),
    "no table": (42, CROSSED, ["int"]),
    "no file": ("no-such-file.csv", CROSSED, ["no-such-file.csv"]),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("model", ["auto", "clmm", "lmm"])
def test_bad_input_is_one_clear_error(case: str, model: str) -> None:
    data, formula, words = BAD[case]
    with pytest.raises(PanelistError) as caught:
        fit(formula, data, model=model)
    for word in words:
        assert word in str(caught.value)


def test_missing_values_are_left_out_and_counted() -> None:
    frame = make_frame().astype({"rating": float})
    frame.loc[[3, 9], "rating"] = np.nan
    frame.loc[5, "rater"] = None
    for model in ("clmm", "lmm"):
        fitted = fit(CROSSED, frame, model=model)
        assert fitted.n == len(frame) - 3
        assert any("3 of 360 rows left out" in text for text in fitted.notes)
        whole = fit(CROSSED, frame.dropna(subset=["rating", "rater"]), model=model)
        assert fitted.loglik == pytest.approx(whole.loglik, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "clmn"}, ["'clmn'", "clmm"]),
        ({"link": "probt"}, ["'probt'", "probit"]),
        ({"method": "reml"}, ["'reml'", "REML"]),
        ({"threshold": "flex"}, ["'flex'", "flexible"]),
        ({"quadrature": 0, "model": "clmm"}, ["quadrature", "0"]),
        ({"quadrature": 5, "model": "clmm"}, ["two of which one is nested in the other"]),
        ({"model": "clm"}, ["no random effects", "(1 | rater)", "clmm"]),
        ({"model": "lm"}, ["no random effects", "lmm"]),
    ],
)
def test_unknown_options_are_named(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(PanelistError) as caught:
        fit(CROSSED, make_frame(), **options)
    for word in words:
        assert word in str(caught.value)


def test_a_mixed_model_needs_a_random_term() -> None:
    with pytest.raises(PanelistError, match=r"A clmm needs a random term such as \(1 \| rater\)"):
        fit("rating ~ system", make_frame(), model="clmm")


def test_auto_takes_categories_for_ordinal_and_sliders_for_linear_and_says_so() -> None:
    frame = make_frame()
    ordinal = fit(CROSSED, frame)
    assert ordinal.model == "clmm"
    assert any("ordered categories, hence an ordinal model" in text for text in ordinal.notes)
    slider = frame.assign(rating=np.clip(20.0 * frame["rating"] + 3.0 * frame["x"], 0.0, 100.0))
    linear = fit(CROSSED, slider)
    assert linear.model == "lmm"
    assert any("hence a linear model" in text for text in linear.notes)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_structure_fits_a_mixed_model(structure: str) -> None:
    fitted = fit(CROSSED, make_frame(), model="clmm", threshold=structure)
    assert fitted.converged
    assert (np.diff(fitted.threshold_values) > 0.0).all()


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_hundred_thousand_ratings_are_no_trouble(model: str) -> None:
    rng = np.random.default_rng(1)
    n, raters, items = 100_000, 200, 2_000
    frame = pd.DataFrame(
        {
            "rater": rng.integers(0, raters, n).astype(str),
            "item": rng.integers(0, items, n).astype(str),
            "system": np.where(rng.random(n) < 0.5, "a", "b"),
        }
    )
    latent = (
        rng.normal(0.0, 0.5, raters)[frame["rater"].astype(int)]
        + rng.normal(0.0, 0.7, items)[frame["item"].astype(int)]
        + 0.3 * (frame["system"] == "b")
        + rng.normal(size=n)
    )
    frame["rating"] = 1 + np.searchsorted([-1.0, 0.0, 1.0], latent)
    fitted = fit(CROSSED, frame, model=model)
    assert fitted.converged
    sds = fitted.random.set_index("group")["sd"]
    if model == "clmm":
        assert abs(fitted.beta[0] - 0.3) < 4.5 * fitted.coefficients["se"][0]
        assert sds["item"] == pytest.approx(0.7, rel=0.1)
        assert sds["rater"] == pytest.approx(0.5, rel=0.25)


def test_ratings_given_before_the_formula_are_told_apart() -> None:
    with pytest.raises(
        BadModel, match=r"formula comes first, as text, and the ratings second. Found DataFrame"
    ):
        fit(make_frame(), "rating ~ system")  # type: ignore[arg-type]
