"""Priors: their words, their penalty, and the estimates, against R, brute force and each other."""

from collections.abc import Callable
from functools import cache
from math import inf, log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from panelist.core.errors import BadModel
from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.fit import fit
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design
from panelist.models.inference.likelihood_ratio import compare_fits
from panelist.models.likelihoods.priors import (
    NO_PENALTY,
    Penalty,
    add_penalty,
    correct_columns,
    log_prior,
    measure_penalty,
)
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.prior_words import ALLOWED, Prior, parse_prior
from panelist.models.priors import bound_spreads, centre_effects, make_penalty
from panelist.models.solvers.separation import find_loose
from panelist.numerics.arrays import Floats
from tests.shared_cases import MISSING, SHARED

FOLDER = SHARED / "models2"
needs_references = pytest.mark.skipif(not (FOLDER / "reference.json").exists(), reason=MISSING)
CROSSED = "rating ~ system + (1 | rater) + (1 | item)"
SLOPES = "rating ~ system + (system | rater) + (system | item)"


@cache
def make_separated() -> pd.DataFrame:
    """Four raters on five items; every rating of system c is the highest."""
    rng = np.random.default_rng(3)
    rows = [
        (
            f"r{r}",
            f"i{i}",
            s,
            4 if s == "c" else int(np.clip(round(2 + 0.6 * (s == "b") + rng.normal()), 1, 4)),
        )
        for r in range(4)
        for i in range(5)
        for s in "abc"
    ]
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


@cache
def make_slopes() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    rater, item = rng.normal(0, 0.5, (8, 2)), rng.normal(0, 0.3, (10, 1))
    rows = [
        (
            f"r{r}",
            f"i{i}",
            "ab"[s],
            int(np.clip(round(3 + 0.3 * s + rater[r, s] + item[i, 0] + rng.normal()), 1, 5)),
        )
        for r in range(8)
        for i in range(10)
        for s in range(2)
    ]
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


def design_of(formula: str, data: pd.DataFrame) -> ModelMatrices:
    return build_design(parse_formula(formula), read_ratings(data), ordinal=True)


# ---- words -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "prior", "again"),
    [
        ("weak", Prior(2.5, inf, 1.0), "weak"),
        ("normal(2.5), wishart", Prior(2.5, inf, 1.0), "weak"),
        ("normal(1)", Prior(1.0), "normal(1)"),
        ("t(3, 2.5)", Prior(2.5, 3.0), "t(3, 2.5)"),
        ("wishart(1.5), t( 3,2.5 )", Prior(2.5, 3.0, 1.5), "t(3, 2.5), wishart(1.5)"),
        ("fixed normal(2.5)", Prior(2.5), "normal(2.5)"),
        ("random weak", Prior(strength=1.0), "wishart"),
        ("fixed weak, random wishart(2)", Prior(2.5, inf, 2.0), "normal(2.5), wishart(2)"),
    ],
)
def test_a_prior_is_read_and_written_again(words: str, prior: Prior, again: str) -> None:
    assert parse_prior(words) == prior
    assert prior.words == again
    assert parse_prior(again) == prior


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("weka", "Did you mean 'weak'"),
        ("normal", "not as many numbers"),
        ("t(3)", "not as many numbers"),
        ("normal(-1)", "above 0"),
        ("normal(wide)", "above 0"),
        ("fixed wishart", "not of fixed ones"),
        ("normal(1), t(3, 1)", "says twice"),
        ("weak, wishart", "says twice"),
        ("", "cannot be read"),
        ("normal(2.5", "cannot be read"),
    ],
)
def test_other_words_are_refused_with_what_is_allowed(words: str, said: str) -> None:
    with pytest.raises(BadModel) as raised:
        parse_prior(words)
    assert said in str(raised.value)
    assert ALLOWED in str(raised.value)


def test_models_without_a_place_for_a_prior_refuse_it() -> None:
    data = make_slopes()
    with pytest.raises(BadModel, match="belongs to the ordinal models"):
        fit(CROSSED, data, model="lmm", prior="weak")
    with pytest.raises(BadModel, match="no random effects, and wishart"):
        fit("rating ~ system", data, model="clm", prior="wishart")
    with pytest.raises(BadModel, match="Quadrature takes no prior"):
        fit("rating ~ system + (1 | rater)", data, model="clmm", prior="weak", quadrature=5)


# ---- the penalty -------------------------------------------------------------------------------------------
def make_mixed_penalty() -> Penalty:
    return Penalty(
        np.array([[1.0, 0.0], [-0.5, 1.0], [0.3, 0.7]]),
        np.array([4, 3]),
        np.array([2.5, 1.0, 0.5]),
        np.array([inf, 3.0, 7.0]),
        np.array([2, 1]),
        np.array([1.0, 1.5]),
    )


def test_slopes_and_curvature_of_a_penalty_are_its_differences() -> None:
    penalty, psi, h = make_mixed_penalty(), np.array([0.3, -1.0, 0.8, -0.4, 0.2]), 1e-5
    gradient, hessian, nothing = np.zeros(5), np.zeros((5, 5)), np.empty((0, 0))
    value = add_penalty(penalty, psi, gradient, hessian)
    assert value == pytest.approx(measure_penalty(penalty, psi), abs=1e-12)
    for k, step in enumerate(h * np.eye(5)):
        up, down = np.zeros(5), np.zeros(5)
        rise = add_penalty(penalty, psi + step, up, nothing) - add_penalty(penalty, psi - step, down, nothing)
        assert gradient[k] == pytest.approx(rise / (2 * h), abs=1e-8)
        np.testing.assert_allclose(hessian[k], (up - down) / (2 * h), atol=1e-7)
    columns = np.tile(-gradient / h, (5, 1))
    correct_columns(penalty, psi, np.full(5, h), columns)
    np.testing.assert_allclose(columns, hessian, atol=2e-3)


def test_a_penalty_does_not_depend_on_how_many_thresholds_come_first() -> None:
    penalty, psi = make_mixed_penalty(), np.array([0.3, -1.0, 0.8, -0.4, 0.2])
    longer = np.concatenate([[5.0, 6.0], psi])
    assert measure_penalty(penalty, psi) == measure_penalty(penalty, longer)


def test_an_empty_penalty_is_nothing() -> None:
    gradient = np.zeros(3)
    assert NO_PENALTY.is_empty
    assert add_penalty(NO_PENALTY, np.ones(3), gradient, np.zeros((3, 3))) == 0.0
    assert not gradient.any()
    assert make_penalty(None, design_of(CROSSED, make_slopes()), "probit").is_empty


def test_rows_of_a_factor_are_its_effects_about_their_mean() -> None:
    R = centre_effects(design_of("rating ~ system", make_separated()))
    np.testing.assert_allclose(R, np.array([[-1, -1], [2, -1], [-1, 2]]) / 3.0, atol=1e-12)


def test_rows_of_numbers_and_interactions_do_not_depend_on_units_or_coding() -> None:
    data = make_separated().assign(
        words=lambda d: 10.0 + np.arange(len(d)) % 7, place=lambda d: 1 + d.index % 3
    )
    data["position"] = np.arange(len(data)) % 2
    other = data.assign(words=1000 * data.words + 5)
    design = design_of("rating ~ words + position", data)
    np.testing.assert_allclose(
        centre_effects(design), [[data.words.std(ddof=0), 0.0]]
    )  # and none of position
    for formula in ("rating ~ system * words", "rating ~ system * C(place)", "rating ~ system + log(words)"):
        turned = formula.replace("system", "C(system, contr.sum)")
        one, two = design_of(formula, data), design_of(turned, data if "log" in formula else other)
        _same_quadratic_form(one, two)


def _same_quadratic_form(one: ModelMatrices, two: ModelMatrices) -> None:
    """Check that the penalty of any prediction is the same by both codings."""
    beta = np.random.default_rng(1).normal(size=one.X.shape[1])
    eta = np.column_stack([np.ones(len(one.X)), one.X]) @ np.concatenate([[0.0], beta])
    moved = np.linalg.lstsq(np.column_stack([np.ones(len(two.X)), two.X]), eta, rcond=None)[0][1:]
    first, second = (np.sort(np.abs(centre_effects(d) @ b)) for d, b in ((one, beta), (two, moved)))
    np.testing.assert_allclose(first, second, atol=1e-8)


# ---- estimates ---------------------------------------------------------------------------------------------
def _dense_laplace(design: ModelMatrices, psi: Floats) -> float:
    """Return N of two crossed intercepts, by dense algebra and Newton in plain numpy."""
    s, p = len(design.categories) - 1, design.X.shape[1]
    t, eta0, sds = psi[:s], design.X @ psi[s : s + p], np.abs(psi[s + p :])
    if (np.diff(t) <= 0).any():
        return 1e10
    Z = np.hstack(
        [
            sd * (f.index[:, None] == np.arange(len(f.levels)))
            for sd, f in zip(sds, design.factors, strict=True)
        ]
    )
    edges = np.concatenate([[-40.0], t, [40.0]])
    codes = np.asarray(design.codes)
    high, low, u = edges[codes + 1], edges[codes], np.zeros(Z.shape[1])
    for _ in range(50):
        eta = eta0 + Z @ u
        P = norm.cdf(high - eta) - norm.cdf(low - eta)
        d1 = (norm.pdf(high - eta) - norm.pdf(low - eta)) / P
        d2 = (-(high - eta) * norm.pdf(high - eta) + (low - eta) * norm.pdf(low - eta)) / P
        H = Z.T @ ((d1**2 - d2)[:, None] * Z) + np.eye(Z.shape[1])
        step = np.linalg.solve(H, Z.T @ d1 + u)
        u = u - step
        if np.abs(step).max() < 1e-11:
            break
    return float(-np.log(P).sum() + 0.5 * u @ u + 0.5 * np.linalg.slogdet(H)[1])


def test_the_mode_and_its_curvature_are_those_found_by_brute_force() -> None:
    design = design_of(CROSSED, make_separated())
    fitted = fit(CROSSED, make_separated(), model="clmm", prior="weak")

    def objective(psi: Floats) -> float:
        beta, sds = psi[3:5], psi[5:]
        effects = np.array([0.0, *beta])
        quadratic = 0.5 * ((effects - effects.mean()) ** 2).sum() / 2.5**2
        return float(_dense_laplace(design, psi) + quadratic - np.log(np.abs(sds)).sum())

    start = fitted.solution.psi + 0.05
    limits: Any = {"xatol": 1e-7, "fatol": 1e-11, "maxfev": 20000, "maxiter": 20000, "adaptive": True}
    found = minimize(objective, start, method="Nelder-Mead", options=limits)
    assert objective(fitted.solution.psi) <= found.fun + 1e-7
    np.testing.assert_allclose(np.abs(fitted.solution.psi), np.abs(found.x), atol=2e-4)
    assert fitted.loglik == pytest.approx(-_dense_laplace(design, fitted.solution.psi), abs=1e-7)
    h, k = 1e-3, len(start)
    H = np.empty((k, k))
    at = fitted.solution.psi
    for a in range(k):
        for b in range(k):
            e, f = h * np.eye(k)[a], h * np.eye(k)[b]
            H[a, b] = objective(at + e + f) - objective(at + e - f)
            H[a, b] += objective(at - e - f) - objective(at - e + f)
    H /= 4 * h * h
    np.testing.assert_allclose(fitted.coefficients["se"], np.sqrt(np.diag(np.linalg.inv(H)))[3:5], rtol=1e-3)


@pytest.mark.parametrize(
    "formula", ["rating ~ system", CROSSED, "rating ~ system + (system | rater) + (1 | item)"]
)
def test_the_reference_level_does_not_matter(formula: str) -> None:
    data = make_separated()
    turned = (
        formula.replace("system +", "C(system, contr.treatment(base='c')) +")
        if "|" in formula
        else ("rating ~ C(system, contr.treatment(base='c'))")
    )
    turned = turned.replace("(system |", "(C(system, contr.treatment(base='c')) |")
    model = "clmm" if "|" in formula else "clm"
    one, two = (fit(text, data, model=model, prior="weak") for text in (formula, turned))
    assert one.converged
    assert two.converged
    assert one.loglik == pytest.approx(two.loglik, abs=1e-6)
    (b, c), (a, b2) = one.beta, two.beta
    assert (b, c) == pytest.approx((b2 - a, -a), abs=1e-6)
    assert one.coefficients["se"][1] == pytest.approx(two.coefficients["se"][0], rel=1e-3)  # by differences
    if model == "clmm":
        for name, covariance in one.variance_components.items():
            assert covariance[0, 0] >= 0.0
            spread = two.variance_components[name]
            if len(spread) == 1:
                np.testing.assert_allclose(covariance, spread, atol=1e-6)


def test_without_a_prior_nothing_changes() -> None:
    plain, none = (
        fit(SLOPES, make_slopes(), model="clmm"),
        fit(SLOPES, make_slopes(), model="clmm", prior="none"),
    )
    assert plain.loglik == none.loglik
    np.testing.assert_array_equal(plain.beta, none.beta)
    assert plain.prior is None
    assert plain.to_dict()["prior"] is None
    assert plain.to_dict()["aic"] == plain.aic
    assert "prior" not in str(plain)


def test_a_collapsed_variance_is_kept_from_zero() -> None:
    plain, weak = (fit(SLOPES, make_slopes(), model="clmm", prior=prior) for prior in (None, "weak"))
    assert plain.singular
    assert not weak.singular
    assert weak.converged
    assert weak.loglik < plain.loglik
    assert weak.random["sd"].min() > 0.05
    np.testing.assert_allclose(weak.beta, plain.beta, atol=0.1)
    fixed_only = fit(SLOPES, make_slopes(), model="clmm", prior="fixed weak")
    assert fixed_only.singular  # spreads have no prior, and zero is tried as ever


def test_spreads_that_the_ratings_do_not_limit_are_bounded_and_that_is_said() -> None:
    formula = "rating ~ system + (system | rater) + (1 | item)"
    weak = fit(formula, make_separated(), model="clmm", prior="weak")
    assert weak.converged
    assert weak.random["sd"].max() < 5.0
    assert any("do not limit how far random effects may spread" in note for note in weak.notes)
    design = design_of(formula, make_separated())
    plain = make_penalty(parse_prior("weak"), design, "probit")
    bounded = bound_spreads(plain, design, "probit")
    rater = np.array([[0.5, 0.0, 0.0], [-0.2, 0.4, 0.0], [0.3, 0.1, 0.6]])
    psi = np.concatenate([np.zeros(5), _stack(rater), [0.7]])
    levels = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]) @ rater  # each system's, by rater
    wanted = 0.5 * ((levels**2).sum() + 0.7**2) / 2.5**2
    assert measure_penalty(bounded, psi) - measure_penalty(plain, psi) == pytest.approx(wanted, abs=1e-12)
    crossed = fit(CROSSED, make_separated(), model="clmm", prior="weak")
    assert not any("do not limit" in note for note in crossed.notes)


def _stack(block: Floats) -> Floats:
    """Return the lower triangle as τ has it, column by column."""
    return np.concatenate([block[c:, c] for c in range(len(block))])


def test_separated_effects_get_an_estimate_that_is_marked_and_no_test() -> None:
    plain, weak = (fit(CROSSED, make_separated(), model="clmm", prior=prior) for prior in (None, "weak"))
    assert np.isnan(plain.coefficients["se"][1])
    assert any("--prior weak" in note for note in plain.notes)
    assert np.isfinite(weak.coefficients["se"]).all()
    assert np.isnan(weak.coefficients["p"][1])
    assert np.isfinite(weak.coefficients["p"][0])
    text = str(weak)
    assert "system[T.c] *prior*" in text
    assert "with a weak prior" in weak.title()
    assert weak.to_dict()["prior"] == "weak"
    assert weak.to_dict()["aic"] is None
    (said,) = [note for note in weak.notes if "has no limit" in note]
    assert said.startswith(
        "all 20 ratings of system c are 4: by likelihood alone its distance from the others has"
    )
    half, double = (
        fit(CROSSED, make_separated(), model="clmm", prior=f"normal({s}), wishart") for s in (1.25, 5)
    )
    sizes = [f"{one.beta[1] - one.beta[0]:.2f}" for one in (weak, half, double)]
    assert f"it is {sizes[0]} above b; half and double that SD give {sizes[1]} and {sizes[2]}" in said
    assert "Bayesian" not in text
    table = weak.anova().table()
    assert np.isnan(table["p"][0])


def test_only_contrasts_that_can_run_off_are_loose() -> None:
    design = design_of("rating ~ C(system, contr.treatment(base='c'))", make_separated())
    thresholds = make_thresholds("flexible", design.categories)
    loose = find_loose(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]), design, thresholds)
    assert loose.tolist() == [True, True, False]
    both = make_separated().assign(rating=lambda d: d.rating.where(d.system == "a", 4))
    design = design_of("rating ~ system", both)
    thresholds = make_thresholds("flexible", design.categories)
    assert find_loose(np.array([[1.0, -1.0]]), design, thresholds).all()  # both are beyond the scale


def test_what_needs_the_likelihood_alone_is_refused() -> None:
    weak = fit(CROSSED, make_slopes(), model="clmm", prior="weak")
    smaller = fit("rating ~ 1 + (1 | rater) + (1 | item)", make_slopes(), model="clmm", prior="weak")
    asked: list[Callable[[], Any]] = [
        lambda: weak.aic,
        lambda: weak.bic,
        lambda: compare_fits(smaller, weak),
        lambda: weak.intervals("profile"),
        lambda: weak.with_degrees("lrt").coefficients,
        lambda: weak.with_degrees("lrt").anova(),
        lambda: weak.bootstrap_test("system", n=19),
        lambda: fit(CROSSED, make_slopes(), model="clmm", prior="weak", test="lrt"),
    ]
    for ask in asked:
        with pytest.raises(BadModel, match=r"was fitted with a prior \(weak\)"):
            ask()
    assert np.isfinite(weak.intervals("wald").low).all()
    assert np.isfinite(weak.intervals("bootstrap", n=4, threads=1).low).all()


@pytest.mark.parametrize(("formula", "model"), [(SLOPES, "clmm"), ("rating ~ system", "clm")])
def test_a_batch_with_a_prior_has_the_numbers_of_single_fits(formula: str, model: str) -> None:
    data = make_slopes()
    batch = prepare_batch(design_of(formula, data), model, prior="weak")
    fits = fit_batch(batch, np.array([data.rating - 1, np.minimum(data.rating - 1, 2)]), threads=1)
    for row, ratings in enumerate((data.rating, np.minimum(data.rating, 3))):
        single = fit(formula, data.assign(rating=ratings), model=model, prior="weak")
        np.testing.assert_allclose(fits.beta[row], single.beta, atol=1e-7)
        assert fits.loglik[row] == pytest.approx(single.loglik, abs=1e-7)


def test_the_constant_of_a_prior_is_that_of_its_density() -> None:
    penalty = make_mixed_penalty()._replace(df=np.full(3, inf))
    psi = np.zeros(4) + np.array([0.0, 0.0, 1.0, 1.0])
    assert log_prior(penalty, psi) == pytest.approx(-1.5 * log(2 * np.pi) - log(2.5) - log(0.5))
