"""Intervals against R and against direct optimisation; tests of terms."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from panelist.core.errors import BadModel, UnknownName
from panelist.models.fit import fit
from panelist.models.inference.intervals import Intervals
from panelist.models.inference.profile import find_target
from panelist.models.results.fitted import Fit
from panelist.numerics.blas_threads import single_threaded_blas

REFERENCE = Path(__file__).parents[2] / "reference"
Z = 1.959963984540054
CROSSED = "rating ~ system + (1 | item) + (1 | rater)"


@cache
def made(data: str, formula: str, model: str, **options: Any) -> Fit:
    return fit(formula, REFERENCE / f"{data}.csv", model=model, **options)


@cache
def answers(data: str) -> Any:
    return json.loads((REFERENCE / f"{data}.json").read_text(encoding="utf-8"))


def ends(found: Intervals) -> dict[str, tuple[float, float]]:
    return {
        p.names[0]: (low, high) for p, low, high in zip(found.parameters, found.low, found.high, strict=True)
    }


# ---- Wald ----------------------------------------------------------------------------------------
def test_wald_intervals_are_the_estimate_and_its_errors() -> None:
    ordinal = made("three", CROSSED, "clmm").with_degrees("z")
    table = ordinal.intervals().table()
    assert table["kind"].tolist() == ["threshold"] * 4 + ["effect"] * 2
    se = np.sqrt(np.diag(ordinal.solution.joint_vcov))
    np.testing.assert_allclose(table["high"] - table["low"], 2 * Z * se, rtol=1e-10)
    linear = made("slider", CROSSED, "lmm")
    width = linear.intervals(confidence=0.9, terms="system[T.b]").table()["high"] - linear.beta[1]
    df = linear.coefficients["df"][1]
    from scipy.stats import t

    assert width[0] == pytest.approx(t.ppf(0.95, df) * linear.coefficients["se"][1], rel=1e-8)


def test_kenward_roger_widens_wald_intervals_as_its_errors_say() -> None:
    from scipy.stats import t

    adjusted = made("slider", CROSSED, "lmm").with_degrees("kenward-roger")
    row = adjusted.coefficients.iloc[1]
    found = adjusted.intervals(terms="system[T.b]")
    assert found.high[0] - found.low[0] == pytest.approx(2 * t.ppf(0.975, row["df"]) * row["se"], rel=1e-8)


def test_a_deviation_has_no_wald_interval_and_the_note_says_what_to_do() -> None:
    found = made("three", CROSSED, "clmm").intervals(terms=["sd(item:Intercept)", "system[T.b]"])
    assert [p.term for p in found.parameters] == ["system[T.b]"]
    assert "method='profile' or 'bootstrap'" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"method": "profil"}, "Did you mean 'profile'"), ({"terms": "system[T.z]"}, "Did you mean 'system")],
)
def test_unknown_words_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        made("three", CROSSED, "clmm").intervals(**options)  # type: ignore[arg-type]


def test_a_level_outside_nought_and_one_is_refused() -> None:
    with pytest.raises(BadModel, match="between 0 and 1"):
        made("three", CROSSED, "clmm").intervals(confidence=95)


# ---- profile -------------------------------------------------------------------------------------
@pytest.mark.slow
def test_profile_intervals_of_a_linear_mixed_model_agree_with_lme4() -> None:
    theirs = answers("slider")["profile"]["lmer"]
    found = made("slider", CROSSED, "lmm").intervals("profile")
    ours = ends(found)
    names = {"sd_(Intercept)|item": "sd(item:Intercept)", "sd_(Intercept)|rater": "sd(rater:Intercept)",
             "sigma": "sd(residual)", "(Intercept)": "Intercept", "systemb": "system[T.b]",
             "systemc": "system[T.c]"}  # fmt: skip
    for name, low, high in zip(theirs["names"], theirs["low"], theirs["high"], strict=True):
        assert ours[names[name]] == pytest.approx((low, high), rel=1e-5)
    assert "refitted by ML" in found.notes[0]
    assert found.parameters[-1].estimate == pytest.approx(made("slider", CROSSED, "lmm", method="ML").sigma)


def test_profile_intervals_of_an_ordinal_model_agree_with_clm() -> None:
    theirs = answers("three")["profile"]["clm_probit"]
    found = made("three", "rating ~ system", "clm").intervals("profile", terms=["system[T.b]", "system[T.c]"])
    np.testing.assert_allclose(found.low, theirs["low"], atol=1e-6)
    np.testing.assert_allclose(found.high, theirs["high"], atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "group", "place", "word"),
    [
        ("effect", "", 0, "system[T.b]"),
        ("threshold", "", 2, "3|4"),
        ("sd", "rater", 1, "sd(rater:system[T.b])"),
        ("sd", "item", 0, "sd(item:Intercept)"),
    ],
)
@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_the_best_fit_at_an_end_is_worse_by_half_the_squared_quantile(
    model: str, kind: str, group: str, place: int, word: str
) -> None:
    """A general optimiser, from points of its own, must find the same loss."""
    if (model, kind) == ("lmm", "threshold"):
        kind, word = "residual", "sd(residual)"
    if (model, kind) == ("lmm", "effect"):
        place = 1  # after the intercept
    fitted = made("paper", "rating ~ system + (system | rater) + (1 | item)", model, method="ML")
    found = fitted.intervals("profile", terms=word)
    target = find_target(fitted, kind, group, place)
    free = np.delete(np.arange(len(target.optimum)), target.place)
    start = target.objective.evaluate(target.optimum)[0]
    assert start == pytest.approx(
        -fitted.loglik - (fitted.n * np.log(target.unit) if model == "lmm" else 0.0), abs=1e-6
    )
    for end in (found.low[0], found.high[0]):
        held = np.log(end / target.unit) if target.logarithmic else end / target.unit

        def constrained(x: Any, held: float = held) -> tuple[float, Any]:
            value, gradient = target.objective.evaluate(np.insert(x, target.place, held))
            return min(value, 1e10), gradient[free]

        losses = []
        for push in (0.0, 0.1, -0.1):
            begin = target.optimum[free] + push * np.cos(np.arange(len(free)))
            with single_threaded_blas(0):
                result = minimize(constrained, begin, method="BFGS", jac=True, options={"gtol": 1e-7})
            losses.append(float(result.fun) - start)
        if kind != "sd" or end > 0.0:
            assert min(losses) == pytest.approx(Z**2 / 2, abs=1e-4)
        else:  # the deviation may be zero
            assert min(losses) < Z**2 / 2


def test_a_variance_of_zero_has_an_interval_from_zero() -> None:
    fitted = made("singular", CROSSED, "clmm")
    assert fitted.random.set_index("group")["sd"]["rater"] == 0.0
    found = ends(fitted.intervals("profile", terms=["sd(rater:Intercept)", "sd(item:Intercept)"]))
    assert found["sd(rater:Intercept)"][0] == 0.0
    assert 0.05 < found["sd(rater:Intercept)"][1] < 1.0


def test_separated_data_set_no_bound_on_one_side() -> None:
    frame = pd.DataFrame({"system": ["a"] * 30 + ["b"] * 30, "rating": [1, 2, 3] * 10 + [4, 5] * 15})
    found = fit("rating ~ system", frame, model="clm").intervals("profile")
    bounds = ends(found)
    assert bounds["system[T.b]"][1] == np.inf
    assert np.isfinite(bounds["system[T.b]"][0])
    assert np.isfinite(bounds["1|2"]).all()
    assert bounds["3|4"][1] == np.inf
    assert any("no bound on that side" in note for note in found.notes)


def test_the_unit_of_a_covariate_scales_its_profile_and_nothing_else() -> None:
    frame = pd.read_csv(REFERENCE / "covariate.csv", dtype={"rater": str, "item": str})
    for model in ("clmm", "lmm"):
        small, large = (
            fit("rating ~ words + (1 | rater)", frame.assign(words=frame["words"] * unit), model=model)
            for unit in (1.0, 1e4)
        )
        one, other = (ends(found.intervals("profile")) for found in (small, large))
        assert one["words"] == pytest.approx(tuple(1e4 * end for end in other["words"]), rel=1e-4)
        name = "sd(rater:Intercept)"
        assert one[name] == pytest.approx(other[name], rel=1e-4)


def test_the_profile_of_a_linear_model_is_that_of_its_likelihood() -> None:
    fitted = made("slider", "rating ~ system", "lm")
    found = ends(fitted.intervals("profile"))
    X, y, n = fitted.design.X, fitted.design.y, fitted.n
    for end in found["system[T.b]"]:
        rest = np.delete(X, 1, axis=1)
        moved = y - end * X[:, 1]
        residual = moved - rest @ np.linalg.lstsq(rest, moved, rcond=None)[0]
        loglik = -0.5 * n * (1 + np.log(2 * np.pi * residual @ residual / n))
        assert fitted.loglik - loglik == pytest.approx(Z**2 / 2, abs=1e-8)
    square = fitted.sigma**2 * (n - 3)
    for end in found["sd(residual)"]:
        loglik = -0.5 * (n * np.log(2 * np.pi * end**2) + square / end**2)
        assert fitted.loglik - loglik == pytest.approx(Z**2 / 2, abs=1e-6)


def test_the_profile_under_quadrature_is_that_of_quadrature() -> None:
    formula = "rating ~ system + (1 | rater)"
    laplace, finer = (made("paper", formula, "clmm", quadrature=points) for points in (1, 15))
    one, other = (ends(found.intervals("profile")) for found in (laplace, finer))
    for name in one:
        assert one[name] == pytest.approx(other[name], abs=0.02)
        assert one[name] != pytest.approx(other[name], abs=1e-9)


def test_threads_do_not_change_a_profile() -> None:
    fitted = made("three", CROSSED, "clmm")
    assert fitted.intervals("profile", threads=1) == fitted.intervals("profile", threads=3)


# ---- bootstrap -----------------------------------------------------------------------------------
def test_a_bootstrap_of_a_linear_model_comes_near_the_exact_interval() -> None:
    fitted = made("slider", "rating ~ system", "lm")
    exact, drawn = fitted.intervals(), fitted.intervals("bootstrap", n=4000, seed=3)
    width = np.subtract(exact.high, exact.low)
    # The 2.5 % point of 4,000 normal draws has a standard error of 1.1 % of the width.
    np.testing.assert_allclose((np.array(drawn.low[:3]) - exact.low) / width, 0.0, atol=0.04)
    np.testing.assert_allclose((np.array(drawn.high[:3]) - exact.high) / width, 0.0, atol=0.04)


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_bootstrap_depends_on_its_seed_and_on_nothing_else(model: str) -> None:
    fitted = made("paper", CROSSED, model)
    calls: list[tuple[int, int]] = []
    one = fitted.intervals(
        "bootstrap", n=40, seed=1, threads=1, on_progress=lambda now: calls.append((now.done, now.total))
    )
    two = fitted.intervals("bootstrap", n=40, seed=1, threads=4)
    other = fitted.intervals("bootstrap", n=40, seed=2)
    assert (one.low, one.high, one.notes) == (two.low, two.high, two.notes)
    assert one.low != other.low
    assert calls == [(k, 40) for k in range(1, 41)]
    assert "40 sets of ratings were drawn from the model" in one.notes[0]
    low, high, estimate = (np.array(values) for values in (one.low, one.high, fitted.params))
    assert np.all(low[: len(estimate)] < estimate)
    assert np.all(estimate < high[: len(estimate)])


def test_singular_refits_are_counted_and_kept() -> None:
    found = made("singular", CROSSED, "clmm").intervals("bootstrap", n=30, terms="sd(rater:Intercept)")
    assert found.low == (0.0,)
    assert any("refits were singular and are kept" in note for note in found.notes)


def test_a_category_that_is_seldom_drawn_leaves_its_threshold_without_a_bound() -> None:
    rating = [1] * 20 + [2] * 20 + [3] * 1
    frame = pd.DataFrame({"rating": rating, "system": (["a", "b"] * 21)[:41]})
    found = fit("rating ~ system", frame, model="clm").intervals("bootstrap", n=60, seed=4)
    bounds = ends(found)
    assert bounds["2|3"][1] == np.inf
    assert np.isfinite(bounds["1|2"]).all()
    assert np.isfinite(bounds["system[T.b]"]).all()
    assert any("a category did not occur" in note for note in found.notes)


def test_one_drawn_set_is_no_bootstrap() -> None:
    with pytest.raises(BadModel, match="2 sets of ratings or more"):
        made("slider", "rating ~ system", "lm").intervals("bootstrap", n=1)


# ---- tests of terms ------------------------------------------------------------------------------
def plain(term: str) -> str:
    return ":".join(part.removeprefix("C(").split(",")[0].rstrip(")") for part in term.split(":"))


@pytest.mark.parametrize("data", ["unbalanced", "three", "slider", "covariate"])
def test_f_tests_agree_with_lmertest(data: str) -> None:
    compared = 0
    for record in answers(data)["fits"].values():
        if record.get("model") not in ("lmm", "lmer") or not record.get("anova") or record.get("distrust"):
            continue
        method = "ML" if record.get("method") == "ML" or record.get("REML") is False else "REML"
        fitted = made(data, record["formula"], "lmm", method=method)
        for ddf, key in (("satterthwaite", "anova"), ("kenward-roger", "anova_kenward_roger")):
            if record.get(key) and not (method == "ML" and ddf == "kenward-roger"):
                table = fitted.anova(ddf=ddf).table().to_dict("records")
                ours = {plain(str(row["term"])): row for row in table}
                assert set(ours) == set(record[key])
                for term, row in record[key].items():
                    for column in ("num_df", "den_df", "F"):
                        assert ours[term][column] == pytest.approx(row[column], rel=2e-3), (term, column)
                    compared += 1
    assert compared > 0


def test_the_test_of_a_linear_model_is_classical() -> None:
    fitted = made("slider", "rating ~ system", "lm")
    null = made("slider", "rating ~ 1", "lm")
    (row,) = fitted.anova().table().to_dict("records")
    before, after = (f.sigma**2 * (f.n - len(f.beta)) for f in (null, fitted))
    assert row["F"] == pytest.approx((before - after) / 2 / fitted.sigma**2)
    assert (row["num_df"], row["den_df"]) == (2, fitted.n - 3)


def test_an_ordinal_model_tested_by_z_has_wald_tests() -> None:
    fitted = made("three", CROSSED, "clmm").with_degrees("z")
    (row,) = fitted.anova().table().to_dict("records")
    assert row["chisq"] == pytest.approx(fitted.beta @ np.linalg.solve(fitted.vcov, fitted.beta))
    assert row["df"] == 2
    two = made("paper", CROSSED, "clmm").with_degrees("z")
    (row,) = two.anova().table().to_dict("records")
    assert row["chisq"] == pytest.approx(two.coefficients["statistic"][0] ** 2)
    assert row["p"] == pytest.approx(two.coefficients["p"][0])


def test_kenward_roger_is_refused_for_ml_and_unknown_words_are_told() -> None:
    with pytest.raises(BadModel, match="made for REML"):
        made("slider", CROSSED, "lmm", method="ML").anova(ddf="kenward-roger")
    with pytest.raises(UnknownName, match="kenward-roger"):
        made("slider", CROSSED, "lmm").with_degrees("kenward-rogers")


def test_kenward_roger_reaches_coefficients_contrasts_and_tests() -> None:
    fitted = made("unbalanced", CROSSED, "lmm")
    adjusted = fitted.with_degrees("kenward-roger")
    assert np.all(adjusted.coefficients["se"] >= fitted.coefficients["se"])
    row = adjusted.coefficients.iloc[-1]
    L = np.eye(len(adjusted.beta))[-1:]
    assert adjusted.degrees(L)[0] == pytest.approx(row["df"])
    assert adjusted.anova().degrees == "kenward-roger"
    assert adjusted.with_degrees("kenward-roger") is adjusted
