"""What a fit of each family can do: predictions, draws, residuals, intervals, tests; and what is refused."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadFormula, BadModel, UnknownName
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.fit import fit
from panelist.models.inference.bootstrap import refit_once
from panelist.models.inference.contrasts import estimate_means
from panelist.models.inference.likelihood_ratio import compare_fits
from panelist.models.inference.small_sample import SmallSample
from panelist.models.results.fitted import Fit
from panelist.models.solvers.adjacent_integral import Integral
from tests.models.families.designs import build
from tests.models.oracle import differences

FORMULA = "rating ~ system + (1 | rater) + (1 | item)"
KINDS: dict[str, dict[str, Any]] = {
    "scale": {"scale": "~ system"},
    "nominal": {"nominal": "~ system"},
    "sequential": {"family": "sequential", "link": "logit"},
    "adjacent": {"family": "adjacent", "link": "logit"},
    "adjacent, both": {"family": "adjacent", "link": "logit", "nominal": "~ system", "scale": "~ half"},
}


def make_frame(systems: int = 2, raters: int = 10, items: int = 12, seed: int = 3) -> pd.DataFrame:
    """Ratings whose spread differs by system."""
    rng = np.random.default_rng(seed)
    rater, item = rng.normal(0, 0.5, raters), rng.normal(0, 0.6, items)
    rows = [
        (f"r{r:02}", f"i{i:02}", "abc"[s], "xy"[i % 2], rater[r] + item[i] + 0.5 * s + (1 + s) * rng.normal())
        for r in range(raters)
        for i in range(items)
        for s in range(systems)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "half", "latent"])
    return frame.assign(rating=np.digitize(frame["latent"], [-1.2, 0.0, 1.4]) + 1).drop(columns="latent")


FRAME = make_frame()


@pytest.fixture(scope="module", params=KINDS)
def fitted(request: pytest.FixtureRequest) -> Fit:
    return fit(FORMULA, FRAME, **KINDS[request.param])


def test_the_likelihood_is_that_of_the_predicted_probabilities_at_the_modes(fitted: Fit) -> None:
    table = np.asarray(fitted.predict())
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert fitted.design.codes is not None
    given = -np.log(table[np.arange(fitted.n), fitted.design.codes]).sum()
    u = sum(
        float(((np.linalg.solve(block, modes.T)) ** 2).sum())
        for block, modes in zip(fitted.solution.lambdas, fitted.solution.modes, strict=True)
    )
    # N = h(û) + ½ log|H|, and the determinant is above one.
    assert given + 0.5 * u < -fitted.loglik


def test_new_rows_get_the_predictions_of_the_same_rows(fitted: Fit) -> None:
    there = np.asarray(fitted.predict(FRAME.drop(columns="rating")))
    np.testing.assert_allclose(there, np.asarray(fitted.predict()), rtol=1e-12)
    assert (fitted.predict(kind="class") == fitted.predict(FRAME, kind="class").to_numpy()).all()
    average = np.asarray(fitted.predict(FRAME, effects="population"))
    np.testing.assert_allclose(average.sum(axis=1), 1.0)


def test_drawn_ratings_have_the_shares_that_are_predicted(fitted: Fit) -> None:
    drawn = fitted.simulate(300, seed=5)
    predicted = np.asarray(fitted.predict(effects="population"))
    for system in ("a", "b"):
        own = (FRAME["system"] == system).to_numpy()
        shares = [(drawn[:, own] == k).mean() for k in (1, 2, 3, 4)]
        np.testing.assert_allclose(shares, predicted[own].mean(axis=0), atol=0.02)
    np.testing.assert_array_equal(fitted.simulate(2, seed=5), drawn[:2])


def test_residuals_are_zero_on_average(fitted: Fit) -> None:
    assert abs(float(fitted.residuals().mean())) < 0.02
    if fitted.family == "cumulative":
        surrogate = fitted.residuals("surrogate")
        assert abs(float(surrogate.mean())) < 0.15
        assert float(surrogate.std()) == pytest.approx(1.0, abs=0.15)
    else:
        with pytest.raises(BadModel, match="need one latent scale"):
            fitted.residuals("surrogate")


def test_profiles_and_wald_intervals_enclose_every_estimate(fitted: Fit) -> None:
    wald = fitted.intervals("wald").table()
    assert len(wald) == len(fitted.solution.alpha) + len(fitted.beta) + len(fitted.solution.zeta)
    names = [name for name in wald["term"] if "system" in name][:1]
    profile = fitted.intervals("profile", terms=names, threads=1).table()
    assert (profile["low"] < profile["estimate"]).all()
    assert (profile["estimate"] < profile["high"]).all()
    near = wald[wald["term"].isin(names)]
    np.testing.assert_allclose(profile["low"].to_numpy()[:1], near["low"].to_numpy()[:1], atol=0.3)


def test_an_effect_on_the_spread_has_an_interval_of_its_own_name() -> None:
    found = fit(FORMULA, FRAME, scale="~ system").intervals("profile", terms="scale: system[T.b]", threads=1)
    (row,) = found.table().to_dict("records")
    assert row["term"] == "scale: system[T.b]"
    assert 0.0 < row["low"] < row["estimate"] < row["high"]


def test_a_drawn_set_is_fitted_again(fitted: Fit) -> None:
    solution, _ = refit_once(fitted, np.random.default_rng(1))
    assert solution is not None
    assert len(solution.alpha) == len(fitted.solution.alpha)
    assert len(solution.zeta) == len(fitted.solution.zeta)


def test_the_json_has_family_test_scale_and_nominal(fitted: Fit) -> None:
    found = json.loads(fitted.to_json())
    assert (found["family"], found["test"]) == (fitted.family, "t")
    assert [row["term"] for row in found["scale"]] == list(fitted.scale["term"])
    assert all(row["ratio"] == pytest.approx(np.exp(row["estimate"])) for row in found["scale"])
    assert all(set(row) == {"threshold", "term", "estimate", "se"} for row in found["nominal"])
    shown = str(fitted)
    assert ("Scale effects" in shown) == bool(found["scale"])
    assert ("Nominal effects" in shown) == bool(found["nominal"])
    if fitted.family == "sequential":
        assert "steps go from 1 up to 4" in shown


def test_a_batch_gives_the_numbers_of_a_fit(fitted: Fit) -> None:
    assert fitted.design.codes is not None
    how: dict[str, Any] = {"link": fitted.link, "family": fitted.family, "measured": True}
    found = fit_batch(prepare_batch(fitted.design, "clmm", **how), fitted.design.codes[None], threads=1)
    assert found.loglik[0] == pytest.approx(fitted.loglik, abs=1e-8)
    np.testing.assert_allclose(found.beta[0], fitted.beta, atol=1e-7)
    np.testing.assert_allclose(found.p[0], fitted.coefficients["p"], atol=1e-7)


def test_degrees_of_freedom_come_from_the_linear_analogue(fitted: Fit) -> None:
    plain = fit(FORMULA, FRAME)
    if len(fitted.beta):
        np.testing.assert_allclose(fitted.coefficients["df"], plain.coefficients["df"], rtol=1e-6)
    else:
        assert isinstance(fitted.uncertainty, SmallSample)
        np.testing.assert_allclose(
            fitted.uncertainty.degrees(np.array([[0.0, 1.0]])), plain.coefficients["df"], rtol=1e-6
        )


def test_the_spread_is_found() -> None:
    found = fit(FORMULA, FRAME, scale="~ system").scale
    assert float(found["ratio"].iloc[0]) == pytest.approx(2.0, rel=0.35)
    alone, both = (fit(FORMULA, FRAME, scale=side) for side in (None, "~ system"))
    assert compare_fits(alone, both).p < 0.001
    with pytest.raises(BadModel, match="compare by AIC"):
        compare_fits(alone, fit(FORMULA, FRAME, family="sequential"))


@pytest.mark.parametrize("mixed", [True, False])
def test_sequential_and_cumulative_cloglog_are_one_model(mixed: bool) -> None:
    """Läärä & Matthews 1985: exp(t_k) cumulative = Σ_{j≤k} exp(t_j) sequential."""
    formula = FORMULA if mixed else "rating ~ system"
    one, other = (
        fit(formula, FRAME, link="cloglog", family=family) for family in ("cumulative", "sequential")
    )
    assert one.loglik == pytest.approx(other.loglik, abs=1e-9)
    np.testing.assert_allclose(one.beta, other.beta, atol=1e-7)
    for block, same in zip(one.solution.lambdas, other.solution.lambdas, strict=True):
        np.testing.assert_allclose(block, same, atol=1e-6)
    summed = np.log(np.cumsum(np.exp(other.solution.alpha)))
    np.testing.assert_allclose(one.solution.alpha, summed, atol=1e-6)


def test_adjacent_categories_turn_round_and_steps_do_not() -> None:
    turned = FRAME.assign(rating=5 - FRAME["rating"])
    logliks = {
        family: [fit(FORMULA, data, link="logit", family=family).loglik for data in (FRAME, turned)]
        for family in ("adjacent", "sequential")
    }
    assert logliks["adjacent"][0] == pytest.approx(logliks["adjacent"][1], abs=1e-7)
    assert abs(logliks["sequential"][0] - logliks["sequential"][1]) > 0.1


def test_a_nominal_model_with_all_cells_free_is_as_many_models() -> None:
    """Without random effects the likelihood of a cell is that of its ratings alone."""
    whole = fit("rating ~ 1", FRAME, model="clm", nominal="~ system")
    apart = [fit("rating ~ 1", FRAME[FRAME["system"] == name], model="clm") for name in "ab"]
    assert whole.loglik == pytest.approx(sum(one.loglik for one in apart), abs=1e-9)
    for name, one in zip("ab", apart, strict=True):
        np.testing.assert_allclose(
            whole.cell_thresholds.loc[f"system {name}"], one.threshold_values, atol=1e-6
        )


def test_raters_have_spreads_about_their_mean_with_a_prior() -> None:
    found = fit(FORMULA, FRAME, scale="~ rater")
    assert list(found.scale["term"]) == [f"rater {name}" for name in sorted(FRAME["rater"].unique())]
    assert float(found.scale["estimate"].sum()) == pytest.approx(0.0, abs=1e-12)
    free = fit(FORMULA, FRAME, scale="~ C(rater)")
    assert found.loglik < free.loglik
    assert found.design.codes is not None
    batch = fit_batch(prepare_batch(found.design, "clmm", test="z"), found.design.codes[None], threads=1)
    assert batch.loglik[0] == pytest.approx(found.loglik, abs=1e-8)
    spread = np.append(0.0, free.solution.zeta)
    assert found.scale["estimate"].std() < spread.std()
    assert "normal prior of SD 0.5" in str(found)
    with pytest.raises(BadModel, match=r"with a prior .*on the log of each spread"):
        compare_fits(fit(FORMULA, FRAME), found)
    with pytest.raises(BadModel, match="with a prior"):
        print(found.aic)
    assert found.to_dict()["aic"] is None


def test_a_system_crossed_with_raters_has_no_prior() -> None:
    """Only a grouping factor by itself has its spreads pooled."""
    design = build("rating ~ system + (1 | rater) + (1 | rater:system)", FRAME, scale="~ system")
    assert design.scale is not None
    assert (design.scale.names, design.scale.pooled) == (("system[T.b]",), ())


def test_a_rater_with_one_category_is_named() -> None:
    same = FRAME.assign(rating=FRAME["rating"].where(FRAME["rater"] != "r03", 2))
    ends = same.assign(rating=same["rating"].where(same["rater"] != "r05", 1 + 3 * (same["item"] > "i05")))
    found = fit(FORMULA, ends, scale="~ rater")
    assert found.converged
    assert any("rater r03 used one category" in note for note in found.notes)
    assert any("rater r05 used the two ends of the scale alone" in note for note in found.notes)


def test_likelihood_ratios_test_terms_and_effects() -> None:
    frame = make_frame(systems=3)
    found = fit(FORMULA, frame, test="lrt")
    without = fit("rating ~ 1 + (1 | rater) + (1 | item)", frame)
    (term,) = found.anova().table().to_dict("records")
    assert (term["chisq"], term["df"]) == (pytest.approx(2 * (found.loglik - without.loglik), abs=1e-6), 2)
    assert found.coefficients["statistic"].abs().max() == pytest.approx(np.sqrt(term["chisq"]), rel=0.3)
    assert "likelihood-ratio tests" in str(found.anova())


def _own(fitted: Fit) -> dict[str, Any]:
    """Return the options that a fit was made with."""
    sides = {"scale": fitted.design.scale, "nominal": fitted.design.nominal}
    how = {name: None if side is None else f"~ {side.text}" for name, side in sides.items()}
    return {"family": fitted.family, "link": fitted.link, "model": "clmm", **how}


def test_terms_are_tested_by_ratings_drawn_without_them(fitted: Fit) -> None:
    with pytest.raises(UnknownName, match=r"no term 'sistem' to test\. Did you mean 'system'"):
        fitted.bootstrap_test("sistem", n=19)
    if not len(fitted.beta):  # thresholds hold the location too: the whole system is left out
        without = fit("rating ~ 1 + (1 | rater) + (1 | item)", FRAME, **{**_own(fitted), "nominal": None})
        whole = fitted.bootstrap_test("system", n=19)
        assert whole.chisq == pytest.approx(2.0 * (fitted.loglik - without.loglik), abs=1e-6)
        assert whole.df == len(fitted.nominal)
        alike = fit(FORMULA, FRAME, **{**_own(fitted), "nominal": None})
        parallel = fitted.bootstrap_test("nominal", n=19)
        assert parallel.chisq == pytest.approx(2.0 * (fitted.loglik - alike.loglik), abs=1e-6)
        assert parallel.df == len(fitted.nominal) - 1
        return
    if fitted.design.scale is not None:
        spread = fitted.bootstrap_test("scale", n=39, seed=3)
        against = compare_fits(fitted, fit(FORMULA, FRAME))
        assert spread.chisq == pytest.approx(against.chisq, abs=1e-6)
        assert spread.df == 1
        assert spread.p < 0.05
    found = fitted.bootstrap_test("system", n=39, seed=2)
    (term,) = fitted.with_degrees("lrt").anova().table().to_dict("records")
    assert found.chisq == pytest.approx(term["chisq"], abs=1e-6)
    assert found.df == 1
    assert found.p == pytest.approx(term["p"], abs=0.1)
    assert found.p_bartlett == pytest.approx(term["p"], abs=0.1)
    assert found.failed < 4
    assert fitted.bootstrap_test("system", n=39, seed=2, threads=1) == found


def test_latent_means_exist_for_one_latent_scale_alone() -> None:
    with pytest.raises(BadModel, match="no latent means"):
        estimate_means(fit(FORMULA, FRAME, family="sequential"), "system")
    with pytest.raises(BadModel, match="no one latent residual"):
        fit(FORMULA, FRAME, family="adjacent", link="logit").icc()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"model": "lmm", "scale": "~ system"}, BadModel, "Fit model='clmm'"),
        ({"nominal": "~ system", "scale": "~ system"}, BadFormula, "in nominal and in scale"),
        ({"family": "adjacent"}, BadModel, "Use link='logit'"),
        ({"family": "sequential", "scale": "~ system"}, BadModel, "nominal='~ system'"),
        ({"family": "sequental"}, UnknownName, "sequential"),
        ({"family": "cratio"}, UnknownName, "family='sequential'; its cloglog is link='loglog'"),
        ({"scale": "~ system + ("}, BadFormula, "A right one: scale='~ system'"),
        ({"nominal": "~ sistem"}, BadFormula, "system"),
        ({"nominal": "~ (1 | rater)"}, BadFormula, "random term cannot"),
        ({"scale": "~ (system | rater)"}, BadFormula, r"scale='~ \(1 | rater\)'"),
        ({"nominal": "rating ~ system"}, BadFormula, "right-hand side alone"),
        ({"nominal": "~ 1"}, BadFormula, "no term"),
        ({"nominal": "~ rating"}, BadFormula, "the ratings themselves"),
        ({"nominal": "~ number"}, BadModel, "C\\(number\\)"),
        ({"nominal": "~ system", "threshold": "mirrored"}, BadModel, "Use threshold='symmetric'"),
        ({"scale": "~ 1"}, BadFormula, "A right one: scale='~ system'"),
        ({"family": "adjacent", "link": "logit", "quadrature": 500}, BadModel, "at most 100"),
    ],
)
def test_what_has_no_model_is_refused_with_the_nearest_that_has(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    frame = FRAME.assign(number=np.arange(len(FRAME)) % 7 / 2)
    formula = "rating ~ system + (1 | rater)" if "quadrature" in options else FORMULA
    with pytest.raises(error, match=words):
        fit(formula, frame, **options)


@pytest.mark.parametrize("side", ["scale", "nominal"])
def test_two_categories_have_neither_scale_nor_nominal_effects(side: str) -> None:
    how: dict[str, Any] = {side: "~ system"}
    with pytest.raises(BadModel, match=f"Leave {side} out"):
        fit(FORMULA, FRAME.assign(rating=FRAME["rating"] > 2), model="clmm", **how)


def test_adjacent_categories_need_every_category_in_every_cell() -> None:
    frame = FRAME.assign(rating=FRAME["rating"].where(FRAME["system"] == "b", FRAME["rating"].clip(upper=3)))
    with pytest.raises(BadModel, match="No rating of system a is 4"):
        fit(FORMULA, frame, family="adjacent", link="logit", nominal="~ system")
    steps = fit(FORMULA, frame, family="sequential", nominal="~ system")
    assert steps.converged
    assert np.isinf(steps.cell_thresholds["3|4"].to_numpy()).any()


def test_a_level_with_one_category_has_no_spread() -> None:
    same = FRAME.assign(rating=FRAME["rating"].where(FRAME["system"] == "b", 3))
    every: tuple[dict[str, Any], ...] = ({}, {"prior": "weak"}, {"model": "clm"})
    for how in every:
        formula = "rating ~ system" if "model" in how else FORMULA
        with pytest.raises(BadModel, match=r"Every rating of system a is 3, .*nominal='~ system'"):
            fit(formula, same, scale="~ system", **how)
    half = FRAME["half"] == "x"
    cell = FRAME.assign(rating=FRAME["rating"].where(~half | (FRAME["system"] == "b"), 3))
    with pytest.raises(BadModel, match="system a and half x is 3"):
        fit(FORMULA, cell, scale="~ system:half")
    assert fit(FORMULA, cell, scale="~ system + half").converged


def test_a_level_with_the_ends_alone_is_named() -> None:
    ends = FRAME.assign(rating=FRAME["rating"].where(FRAME["system"] == "b", 1 + 3 * (FRAME["rating"] > 2)))
    found = fit(FORMULA, ends, scale="~ system")
    assert not found.converged
    assert any("every rating of system a is 1 or 4, the two ends" in note for note in found.notes)


def test_thresholds_that_would_cross_are_named() -> None:
    """Category 2 is common in one of four cells alone, which no sum of two effects allows."""
    counts = {"ax": (28, 0, 14, 8), "ay": (26, 1, 14, 9), "bx": (14, 1, 20, 15), "by": (8, 28, 8, 6)}
    rows = [
        (f"r{at % 5}", cell[0], cell[1], k + 1)
        for cell, own in counts.items()
        for at, k in enumerate(np.repeat(np.arange(4), own))
    ]
    frame = pd.DataFrame(rows, columns=["rater", "system", "half", "rating"])
    for formula in ("rating ~ 1 + (1 | rater)", "rating ~ 1"):
        found = fit(formula, frame, nominal="~ system + half")
        assert not found.converged
        (said,) = (note for note in found.notes if "not converged" in note)
        assert (
            "thresholds 1|2 and 2|3 of system a and half x met and would cross (no rating there is 2)" in said
        )
        assert "nominal='~ system:half'" in said
        assert "family='sequential'" in said
        assert fit(formula, frame, nominal="~ system:half").converged
        assert fit(formula, frame, nominal="~ system + half", family="sequential").converged


def test_cells_stand_in_the_order_of_the_levels_and_sides_are_written() -> None:
    frame = make_frame(systems=3, raters=6)
    found = fit(FORMULA, frame, nominal="~ system")
    assert list(found.cell_thresholds.index) == ["system a", "system b", "system c"]
    assert f"{FORMULA}, nominal ~ system" in found.title()
    assert fit(FORMULA, frame, scale="~ rater").written == f"{FORMULA}, scale ~ rater"
    tested = compare_fits(fit(FORMULA, frame), found)
    assert (tested.steps[0].smaller, tested.steps[0].larger) == (FORMULA, f"{FORMULA}, nominal ~ system")


def test_adjacent_categories_are_integrated_over_one_effect() -> None:
    how: dict[str, Any] = {"family": "adjacent", "link": "logit"}
    formula = "rating ~ system + (1 | rater)"
    sides: tuple[dict[str, Any], ...] = ({}, {"scale": "~ half", "nominal": "~ system"})
    plain, both = (fit(formula, FRAME, quadrature=7, **how, **more) for more in sides)
    for found, more in zip((plain, both), sides, strict=True):
        laplace = fit(formula, FRAME, **how, **more)
        assert found.converged
        assert 0.0 < abs(found.loglik - laplace.loglik) < 0.1
        model = Integral(found.design, found.structure, 7)  # type: ignore[arg-type]
        psi = np.concatenate([found.solution.alpha, found.beta, found.solution.zeta, [0.4]]) + 0.05
        near = differences(lambda x, model=model: model.evaluate(x)[0], psi, 1e-3)  # type: ignore[misc]
        np.testing.assert_allclose(model.evaluate(psi)[1], near, atol=1e-6)
        assert found.random_effects["mode"].corr(laplace.random_effects["mode"]) > 0.999
    names = ("system[T.b]", "sd(rater:Intercept)")
    table = plain.intervals("profile", terms=names, threads=1).table()
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()
    with pytest.raises(BadModel, match="needs one random effect"):
        fit(FORMULA, FRAME, quadrature=7, **how)
