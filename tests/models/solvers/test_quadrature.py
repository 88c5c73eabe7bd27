"""Adaptive quadrature against the Laplace approximation, numerical integration and R."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, ndtr

from panelist.core.errors import BadModel
from panelist.models.fit import fit
from panelist.models.likelihoods import link_functions as links
from panelist.models.likelihoods.link_functions import LINKS, link_code
from panelist.models.likelihoods.nested_likelihood import evaluate_quadrature
from panelist.models.likelihoods.nests import make_nest
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.results.fitted import Fit
from panelist.models.solvers.quadrature import make_modes
from panelist.numerics.arrays import Floats
from tests.models.compiled import compiled
from tests.models.designs import design

evaluate_link = compiled(links.evaluate_link)
REFERENCE = Path(__file__).parents[2] / "reference"
WINE = Path(__file__).parents[4] / "shared" / "data" / "wine"
XSUM = WINE.parent / "xsum_factuality.csv"
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


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("points", [2, 60])
def test_the_gradient_equals_finite_differences(link: str, points: int) -> None:
    built = design(RATER, tiny(), ordinal=True)
    model, _ = make_nest(built, link, make_thresholds("flexible", built.categories), points)
    psi = np.array([-0.7, 0.4, 0.6, 0.9])
    gradient, modes, spare = np.empty(4), np.zeros(4), np.empty(4)
    evaluate_quadrature(model, psi, modes, gradient)
    for k, step in enumerate(1e-5 * np.eye(4)):
        up = evaluate_quadrature(model, psi + step, modes, spare)
        down = evaluate_quadrature(model, psi - step, modes, spare)
        assert gradient[k] == pytest.approx((up - down) / 2e-5, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("points", [2, 41])
def test_any_number_of_points_gives_the_integral(link: str, points: int) -> None:
    built = design(RATER, tiny(), ordinal=True)
    model, _ = make_nest(built, link, make_thresholds("flexible", built.categories), points)
    value = evaluate_quadrature(model, np.array([-0.7, 0.4, 0.6, 1.2]), np.zeros(4), np.empty(4))
    assert -value == pytest.approx(integrate(link, np.array([-0.7, 0.4]), 0.6, 1.2), abs=1e-8)


def test_the_number_of_points_does_not_matter_on_ordinary_data() -> None:
    few, many = paper(3), paper(41)
    assert few.loglik == pytest.approx(many.loglik, abs=1e-8)
    np.testing.assert_allclose(few.beta, many.beta, atol=1e-6)
    assert abs(paper(1).loglik - many.loglik) > 1e-6  # the Laplace approximation is another number


# ---- nested effects ----------------------------------------------------------------------------------------
NESTED = "rating ~ system + (1 | item) + (1 | item:system)"


def outputs(sds: tuple[float, float] = (1.0, 0.8), items: int = 8, seed: int = 3) -> pd.DataFrame:
    """Return three ratings, of 1 to 3, of each output of two systems."""
    rng, rows = np.random.default_rng(seed), []
    for item in range(items):
        level = sds[0] * rng.standard_normal()
        for system in "xy":
            latent = level + sds[1] * rng.standard_normal() + 0.5 * (system == "y") + rng.standard_normal(3)
            rows += [
                (item, system, r, 1 + int(np.searchsorted([-0.5, 0.7], x))) for r, x in enumerate(latent)
            ]
    return pd.DataFrame(rows, columns=["item", "system", "rater", "rating"])


DISTRIBUTIONS: dict[str, Callable[[Floats], Floats]] = {
    "probit": ndtr,
    "logit": expit,
    "cloglog": lambda x: -np.expm1(-np.exp(np.minimum(x, 30.0))),
    "loglog": lambda x: np.exp(-np.exp(np.minimum(-x, 30.0))),
    "cauchit": lambda x: 0.5 + np.arctan(x) / np.pi,
}


def integrate_twice(link: str, frame: pd.DataFrame, psi: Floats, nodes: int = 601) -> float:
    """Return log L of ψ = (two thresholds, β, sd of items, sd of outputs) by a grid over both effects."""
    u = np.linspace(-9.0, 9.0, nodes)
    prior = np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi) * (u[1] - u[0])
    bounds, F, total = np.array([-1e300, *psi[:2], 1e300]), DISTRIBUTIONS[link], 0.0
    away = psi[3] * u[:, None] + psi[4] * u[None, :]
    tables = {
        (system, k): F(bounds[k] - psi[2] * (system == "y") - away)
        - F(bounds[k - 1] - psi[2] * (system == "y") - away)
        for system in "xy"
        for k in (1, 2, 3)
    }
    for _, own in frame.groupby("item"):
        given = np.ones(nodes)
        for system, part in own.groupby("system"):
            product = np.ones_like(away)
            for rating in part["rating"]:
                product *= tables[str(system), int(rating)]
            given *= product @ prior
        total += float(np.log(given @ prior))
    return total


@pytest.mark.parametrize("link", LINKS)
def test_nested_effects_give_the_integral_and_its_gradient(link: str) -> None:
    built = design(NESTED, outputs(), ordinal=True)
    model, _ = make_nest(built, link, make_thresholds("flexible", built.categories), 2)
    truth = np.array([-0.6, 0.9, 0.4, 1.1, 0.7])
    assert [factor.name for factor in built.factors] == ["item:system", "item"]
    psi = truth[[0, 1, 2, 4, 3]]
    gradient, modes, spare = np.empty(5), make_modes(model), np.empty(5)
    value = evaluate_quadrature(model, psi, modes, gradient)
    assert -value == pytest.approx(integrate_twice(link, outputs(), truth), abs=1e-8)
    for k, step in enumerate(1e-5 * np.eye(5)):
        up = evaluate_quadrature(model, psi + step, modes, spare)
        down = evaluate_quadrature(model, psi - step, modes, spare)
        assert gradient[k] == pytest.approx((up - down) / 2e-5, abs=1e-7)


def test_nothing_depends_on_where_the_nodes_begin() -> None:
    built = design(NESTED, outputs((2.0, 6.0)), ordinal=True)
    model, _ = make_nest(built, "probit", make_thresholds("flexible", built.categories), 2)
    psi, spare, modes = np.array([-2.0, 3.0, 1.0, 6.0, 2.0]), np.empty(5), make_modes(model)
    values = [evaluate_quadrature(model, psi, modes + start, spare) for start in (0.0, 3.0, -4.0, 20.0)]
    assert values == pytest.approx([values[0]] * 4, abs=1e-9)
    assert -values[0] == pytest.approx(
        integrate_twice("probit", outputs((2.0, 6.0)), psi[[0, 1, 2, 4, 3]], nodes=1201), abs=1e-7
    )


@pytest.mark.slow
@pytest.mark.parametrize("spread", [(0.8, 0.8), (1.5, 5.0), (4.0, 1.0)])
def test_nested_fits_are_at_the_maximum_for_any_number_of_points(spread: tuple[float, float]) -> None:
    frame = outputs(spread, items=40, seed=4)
    found = fit(NESTED, frame, model="clmm", quadrature=7)
    sds = found.random.set_index("group")["sd"]
    best = np.array([*found.threshold_values, *found.beta, sds["item"], sds["item:system"]])
    assert found.converged
    assert found.loglik == pytest.approx(integrate_twice("probit", frame, best), abs=1e-6)
    for k in range(5):
        for step in (-0.02, 0.02):
            other = best.copy()
            other[k] += step
            assert integrate_twice("probit", frame, other) < found.loglik
    more = fit(NESTED, frame, model="clmm", quadrature=61)
    np.testing.assert_allclose(more.params, found.params, atol=1e-6)
    np.testing.assert_allclose(more.random["sd"], found.random["sd"], atol=1e-5)


def test_the_effects_of_a_nested_fit_are_joint_modes() -> None:
    frame = outputs(items=30)
    found = fit(NESTED, frame, model="clmm", quadrature=7)
    laplace = fit(NESTED, frame, model="clmm")  # near enough that levels are alike in order and size
    ours, theirs = found.random_effects, laplace.random_effects
    assert ours["level"].tolist() == theirs["level"].tolist()
    assert np.corrcoef(ours["mode"], theirs["mode"])[0, 1] > 0.99
    np.testing.assert_allclose(ours["deviation"], theirs["deviation"], rtol=0.25)


def test_an_inner_variance_of_zero_leaves_the_outer_effect() -> None:
    frame = pd.concat([tiny(), tiny()]).reset_index(drop=True)
    frame["half"] = frame["rater"] + np.repeat(["1", "2"], 24)  # both halves of a rater are the same
    nested = fit("rating ~ system + (1 | rater) + (1 | half)", frame, model="clmm", quadrature=7)
    single = fit(RATER, frame, model="clmm", quadrature=7)
    assert nested.singular
    assert nested.random.set_index("group")["sd"]["half"] == 0.0
    assert nested.loglik == pytest.approx(single.loglik, abs=1e-7)
    np.testing.assert_allclose(nested.cov_params, single.cov_params, rtol=1e-4)


# ---- nearly unanimous ratings ------------------------------------------------------------------------------
def near_unanimous(categories: int, sd: float = 5.0) -> pd.DataFrame:
    """Return three ratings of each of 240 outputs of two systems; 85 to 90 % of the outputs are unanimous."""
    rng = np.random.default_rng(11)
    rows = []
    for output in range(240):
        system = output % 2
        latent = 1.5 * system - 2.0 + sd * rng.standard_normal() + rng.standard_normal(3)
        cuts = [0.0] if categories == 2 else [-6.0, -2.0, 2.0, 6.0]
        rows += [(output, "ab"[system], r, int(np.searchsorted(cuts, x))) for r, x in enumerate(latent)]
    return pd.DataFrame(rows, columns=["output", "system", "rater", "rating"])


def maximise_densely(frame: pd.DataFrame) -> tuple[Floats, float]:
    """Return (thresholds, β, sd) and log L of (1 | output), probit, by 1,001 points over u."""
    from scipy.optimize import minimize

    wide = frame.assign(n=1).pivot_table(
        index=["output", "system"], columns="rating", values="n", aggfunc="sum", fill_value=0
    )
    systems = sorted(frame["system"].unique())
    table = wide.reset_index().groupby(["system", *wide.columns], observed=True).size().reset_index(name="c")
    counts = table[list(wide.columns)].to_numpy()  # how often each category, for each distinct output
    X = np.array([[float(system == other) for other in systems[1:]] for system in table["system"]])
    u = np.linspace(-9.0, 9.0, 1001)
    prior = -0.5 * u**2 - 0.5 * np.log(2.0 * np.pi) + np.log(u[1] - u[0])
    cuts = len(wide.columns) - 1

    def lose(psi: Floats) -> float:
        if np.any(np.diff(psi[:cuts]) <= 0.0):
            return np.inf
        eta = (X @ psi[cuts:-1])[:, None] + psi[-1] * u
        edges = np.array([-np.inf, *psi[:cuts], np.inf])
        log_p = np.tile(prior, (len(X), 1))
        for k in range(cuts + 1):
            a, b = edges[k + 1] - eta, edges[k] - eta
            p = np.where(b > 0.0, ndtr(-b) - ndtr(-a), ndtr(a) - ndtr(b))
            log_p += counts[:, [k]] * np.log(np.maximum(p, 1e-300))
        top = log_p.max(axis=1)
        return -float(table["c"] @ (top + np.log(np.exp(log_p - top[:, None]).sum(axis=1))))

    point = np.concatenate([np.linspace(-3.0, 3.0, cuts), np.zeros(X.shape[1]), [3.0]])
    for _ in range(2):
        found = minimize(lose, point, method="BFGS", options={"gtol": 1e-4})
        point = found.x
    return point, -float(found.fun)


def agree_with_dense(frame: pd.DataFrame, points: int, dense: tuple[Floats, float]) -> None:
    found = fit("rating ~ system + (1 | output)", frame, model="clmm", quadrature=points)
    psi, loglik = dense
    assert found.converged
    assert found.loglik == pytest.approx(loglik, abs=1e-4)
    ours = [*found.threshold_values, *found.beta, found.random["sd"][0]]
    np.testing.assert_allclose(ours, psi, rtol=5e-4)


@pytest.mark.parametrize("categories", [2, 5])
def test_nearly_unanimous_ratings_give_the_same_with_any_number_of_points(categories: int) -> None:
    frame = near_unanimous(categories)
    by_output = frame.groupby("output")["rating"]
    assert 0.6 < (by_output.min() == by_output.max()).mean() < 0.95
    dense = maximise_densely(frame)
    for points in (7, 15, 25, 41, 61):
        agree_with_dense(frame, points, dense)


@pytest.mark.skipif(not XSUM.exists(), reason="../shared/data/xsum_factuality.csv is not here")
def test_xsum_gives_the_same_with_any_number_of_points() -> None:
    frame = pd.read_csv(XSUM)
    frame["output"] = frame["item"].astype(str) + ":" + frame["system"]
    dense = maximise_densely(frame)
    assert dense[1] == pytest.approx(-1124.06, abs=0.01)
    for points in (7, 15, 25, 41, 61):
        agree_with_dense(frame, points, dense)


def test_a_spread_without_bound_is_said() -> None:
    frame = near_unanimous(2)
    frame["rating"] = frame.groupby("output")["rating"].transform("first")  # no two raters differ
    found = fit("rating ~ system + (1 | output)", frame, model="clmm", quadrature=7)
    assert not found.converged
    assert any("grows without bound" in note for note in found.notes)


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
    "formula",
    [
        "rating ~ system + (1 | rater) + (1 | item)",
        "rating ~ (system | rater)",
        "rating ~ system + (1 | item) + (1 | item:system) + (1 | rater)",
    ],
)
def test_effects_that_are_not_nested_are_refused(formula: str) -> None:
    with pytest.raises(BadModel, match="two of which one is nested in the other"):
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
    np.testing.assert_allclose(found.params, list(case["coef"].values()), atol=1e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(found.cov_params)), list(case["se"].values()), rtol=1e-5)
    np.testing.assert_allclose(found.random["sd"][0], case["ST"]["judge"][0][0], atol=1e-5)
    np.testing.assert_allclose(found.random_effects["mode"], np.ravel(case["ranef"]["judge"]), atol=1e-5)
