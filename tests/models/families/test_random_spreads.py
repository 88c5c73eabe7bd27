"""Random spreads of raters, scale="~ (1 | rater)": likelihood, gradient, estimates, and what a fit can do."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, stats

from panelist.core.errors import BadFormula, BadModel
from panelist.models.batch import prepare_batch
from panelist.models.fit import fit
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.inference import bootstrap_tests
from panelist.models.inference.bootstrap import refit_once
from panelist.models.inference.bootstrap_tests import leave_out
from panelist.models.inference.likelihood_ratio import compare_fits
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.results.fitted import Fit
from panelist.models.solvers.spread_effects import SpreadEffects
from panelist.numerics.arrays import Floats
from tests.models.designs import make_ratings
from tests.models.families.definitions import log_p
from tests.models.families.designs import build
from tests.models.families.references import FOLDER, case, parameters, refit, template
from tests.models.oracle import differences, expand_lambda, expand_z
from tests.shared_cases import MISSING

FORMULA = "rating ~ system + (1 | rater) + (1 | item)"
SPREAD = "~ (1 | rater)"


def make_frame(raters: int = 10, items: int = 12, omega: float = 0.6, seed: int = 4) -> pd.DataFrame:
    """Ratings of two systems by raters whose residual spread differs."""
    rng = np.random.default_rng(seed)
    rater, item, sigma = rng.normal(0, 0.5, raters), rng.normal(0, 0.5, items), rng.normal(0, omega, raters)
    rows = [
        (f"r{r}", f"i{i}", "ab"[s], rater[r] + item[i] + 0.5 * s + np.exp(sigma[r]) * rng.normal())
        for r in range(raters)
        for i in range(items)
        for s in range(2)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "latent"])
    return frame.assign(rating=np.digitize(frame["latent"], [-1.0, 0.0, 1.2]) + 1).drop(columns="latent")


FRAME = make_frame()


@pytest.fixture(scope="module")
def fitted() -> Fit:
    return fit(FORMULA, FRAME, scale=SPREAD)


def plain_laplace(design: ModelMatrices, link: str, psi: Floats) -> float:
    """N(ψ) from the definition: the mode by scipy, the determinant from differences of h, all dense."""
    assert design.codes is not None
    assert design.stretch is not None
    K, codes = len(design.categories), design.codes.astype(np.int64)
    M = design.nominal.matrix if design.nominal is not None else np.empty((len(codes), 0))
    S = design.scale.matrix if design.scale is not None else np.empty((len(codes), 0))
    s, p, q = (K - 1) * (1 + M.shape[1]), design.X.shape[1], S.shape[1]
    t = psi[: K - 1] + M @ psi[K - 1 : s].reshape(M.shape[1], K - 1)
    fixed, log_sigma = design.X @ psi[s : s + p], S @ psi[s + p : s + p + q]
    V = expand_z(design.factors) @ expand_lambda(design.factors, psi[s + p + q : -1])
    level, width = design.stretch.index, V.shape[1]

    def h(w: Floats) -> float:
        sigma = np.exp(log_sigma + psi[-1] * w[width:][level])
        lost = log_p("cumulative", link, t, fixed + V @ w[:width], sigma, codes)
        return float(0.5 * w @ w - lost.sum())

    def slope(w: Floats) -> Floats:
        return np.asarray(differences(h, w, 2e-3))

    w = np.asarray(optimize.minimize(h, np.zeros(width + len(design.stretch.levels)), jac=slope).x)
    for _ in range(3):
        bend = differences(slope, w, 5e-3)
        w = w - np.linalg.solve(bend, slope(w))
    return h(w) + 0.5 * float(np.linalg.slogdet(differences(slope, w, 5e-3))[1])


@pytest.mark.parametrize(
    ("link", "random", "scale", "nominal"),
    [
        ("probit", "(1 | rater)", SPREAD, None),
        ("cloglog", "(1 | rater) + (1 | item)", "~ x + (1 | rater)", None),
        ("logit", "(system | rater)", "~ (1 | rater)", "~ system"),
        ("loglog", "(1 | item)", "~ (1 | rater)", None),
    ],
)
def test_value_and_gradient_are_those_of_the_definition(
    link: str, random: str, scale: str, nominal: str | None
) -> None:
    ratings = make_ratings(categories=4)
    ratings = ratings[ratings["rater"].isin(sorted(ratings["rater"].unique())[:5])]
    design = build(f"rating ~ system + x + {random}", ratings, scale=scale, nominal=nominal)
    model = SpreadEffects(design, link, make_thresholds("flexible", design.categories))
    s, p, q = model.sizes
    rng = np.random.default_rng(4)
    alpha = np.concatenate([[-1.0, 0.1, 0.9], rng.uniform(-0.1, 0.1, s - 3)])
    tau = rng.uniform(0.3, 0.6, int(model.entries[2].max()) + 1)
    psi = np.concatenate([alpha, rng.uniform(-0.3, 0.3, p + q), tau, [0.5]])
    value, gradient = model.evaluate(psi)
    assert value == pytest.approx(plain_laplace(design, link, psi), rel=1e-7)
    slopes = differences(lambda at: model.evaluate(at)[0], psi, 1e-3)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-6)


def test_without_spreads_of_raters_it_is_the_plain_model() -> None:
    plain = fit(FORMULA, FRAME)
    design = build(FORMULA, FRAME, scale=SPREAD)
    model = SpreadEffects(design, "probit", make_thresholds("flexible", design.categories))
    value, gradient = model.evaluate(np.append(plain.solution.psi, 0.0))
    assert value == pytest.approx(-plain.loglik, abs=1e-9)
    assert np.abs(gradient).max() < 1e-5  # zero is stationary


@pytest.mark.skipif(not FOLDER.exists(), reason=MISSING)
def test_estimates_are_those_of_the_template() -> None:
    name = "crossed_scale_random_rater_probit"
    found, answer = refit(name), case(name)["laplace"]
    assert found.converged
    assert found.loglik == pytest.approx(answer["logLik"], abs=1e-6)
    assert found.n_parameters == answer["n_parameters"]
    estimates, errors = parameters(found)
    np.testing.assert_allclose(estimates, template(answer, "estimate"), atol=1e-4)
    np.testing.assert_allclose(errors, template(answer, "se"), rtol=1e-3)
    assert found.solution.omega == pytest.approx(answer["random"]["scale: rater"]["sd"][0], abs=1e-4)
    for group in ("rater", "item"):
        sd = float(np.sqrt(found.variance_components[group][0, 0]))
        assert sd == pytest.approx(answer["random"][group]["sd"][0], abs=1e-4)


def test_the_spread_of_raters_is_found_and_named(fitted: Fit) -> None:
    assert fitted.converged
    assert fitted.solution.omega == pytest.approx(0.6, rel=0.5)
    last = fitted.random.to_dict("records")[-1]
    assert (last["group"], last["term"]) == ("rater", "log sigma")
    assert fitted.written == f"{FORMULA}, scale {SPREAD}"
    assert "log sigma: how residual spreads differ" in str(fitted)
    own = fitted.random_effects.query("term == 'log sigma'")
    widths = FRAME.groupby("rater")["rating"].std()
    assert own.set_index("level")["mode"].corr(widths) > 0.6
    assert (own["deviation"] < fitted.solution.omega).all()
    assert fitted.laplace_error is None
    assert "mean variance is taken" in str(fitted.icc())


def test_a_likelihood_ratio_tests_it_at_its_boundary(fitted: Fit) -> None:
    plain = fit(FORMULA, FRAME)
    found = compare_fits(plain, fitted)
    assert found.df == 1
    assert found.p_boundary == pytest.approx(found.p / 2)
    assert found.p < 0.001
    with pytest.raises(BadModel, match="random spreads of rater cannot be expressed"):
        compare_fits(fitted, fit("rating ~ system * item + (1 | rater)", FRAME))


def test_sets_drawn_without_it_test_it(fitted: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert leave_out(fitted, "scale").stretch is None
    solution, _ = refit_once(fitted, np.random.default_rng(1))
    assert solution is not None
    assert solution.omega > 0.0
    monkeypatch.setattr(bootstrap_tests, "refit_codes", lambda one, codes: (one.solution, False))
    drawn = fitted.bootstrap_test("scale", n=19, threads=1)  # every set has the ratio of the fit
    assert (drawn.p, drawn.df) == (1.0, 1)
    assert np.isnan(drawn.p_bartlett)  # half of the ratios are zero: no multiple of χ²


def test_its_interval_is_a_profile(fitted: Fit) -> None:
    names = ["sd(rater:log sigma)", "system[T.b]"]
    effect, spread = fitted.intervals("profile", terms=names, threads=1).table().to_dict("records")
    assert (spread["group"], spread["term"]) == ("rater", "log sigma")
    assert 0.0 < spread["low"] < fitted.solution.omega < spread["high"]
    wald = fitted.intervals("wald", terms="system[T.b]").table()
    assert effect["low"] == pytest.approx(wald["low"].iloc[0], abs=0.1)


def test_new_raters_are_averaged_over_their_spreads(fitted: Fit) -> None:
    row = pd.DataFrame({"rater": ["nobody"], "item": ["i1"], "system": ["b"]})
    found = np.asarray(fitted.predict(row, effects="population"))[0]
    variance = sum(float(one[0, 0]) for one in fitted.variance_components.values())

    def below(v: float, k: int) -> float:
        away = fitted.threshold_values[k] - fitted.beta[0]
        share = stats.norm.cdf(away / np.sqrt(np.exp(2 * fitted.solution.omega * v) + variance))
        return float(share * stats.norm.pdf(v))

    up_to = [integrate.quad(below, -9, 9, args=(k,))[0] for k in range(3)]
    np.testing.assert_allclose(np.cumsum(found)[:-1], up_to, atol=1e-8)
    known = row.assign(rater="r3")
    assert abs(np.asarray(fitted.predict(known)) - np.asarray(fitted.predict(row))).max() > 0.01
    typical = np.asarray(fitted.predict(row, effects="none"))[0]
    np.testing.assert_allclose(
        np.cumsum(typical)[:-1], stats.norm.cdf(fitted.threshold_values - fitted.beta[0]), atol=1e-12
    )
    assert fitted.count_unseen(row) == {"item": 0, "rater": 1}


def test_drawn_ratings_have_the_shares_that_are_predicted(fitted: Fit) -> None:
    drawn = fitted.simulate(400, seed=5)
    shares = [(drawn == k).mean() for k in (1, 2, 3, 4)]
    predicted = np.asarray(fitted.predict(effects="population")).mean(axis=0)
    np.testing.assert_allclose(shares, predicted, atol=0.02)
    kept = fitted.simulate(400, seed=5, effects="modes")
    shares = [(kept == k).mean() for k in (1, 2, 3, 4)]
    np.testing.assert_allclose(shares, np.asarray(fitted.predict()).mean(axis=0), atol=0.01)
    assert abs(float(fitted.residuals().mean())) < 0.03


def test_raters_of_one_spread_are_said_to_have_it() -> None:
    found = fit(FORMULA, make_frame(raters=6, omega=0.0, seed=8), scale=SPREAD, test="z")
    assert found.solution.omega == 0.0
    assert found.singular
    assert any("one spread for every rater" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"family": "adjacent", "link": "logit"}, BadModel, r"Use scale='~ rater'.*family='cumulative'"),
        ({"family": "sequential"}, BadModel, "family='cumulative'"),
        ({"link": "cauchit"}, BadModel, "link='probit'"),
        ({"quadrature": 7}, BadModel, "quadrature=1"),
        ({"prior": "weak"}, BadModel, "Leave prior out"),
        ({"model": "lmm"}, BadModel, "Fit model='clmm'"),
        (
            {"formula": "rating ~ system", "model": "clm"},
            BadModel,
            r"Add a random term such as \(1 \| rater\)",
        ),
        ({"scale": "~ rater + (1 | rater)"}, BadFormula, "not both"),
        ({"scale": "~ (1 | rater) + (1 | item)"}, BadFormula, "one random term"),
        ({"scale": "~ (1 | ratter)"}, BadFormula, "Did you mean 'rater'"),
    ],
)
def test_what_has_no_random_spreads_is_refused_with_what_there_is(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        fit(**({"formula": FORMULA, "data": FRAME, "scale": SPREAD} | options))


def test_two_categories_and_batches_have_no_random_spreads() -> None:
    with pytest.raises(BadModel, match="Leave scale out"):
        fit(FORMULA, FRAME.assign(rating=FRAME["rating"] > 2), model="clmm", scale=SPREAD)
    with pytest.raises(BadModel, match="one set at a time"):
        prepare_batch(build(FORMULA, FRAME, scale=SPREAD), "clmm")
