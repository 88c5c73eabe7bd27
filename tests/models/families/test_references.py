"""Scale, nominal, sequential and adjacent models against the template in TMB, ordinal's clm and VGAM."""

import numpy as np
import pytest

from panelist.models.fit import fit
from panelist.models.inference.likelihood_ratio import compare_fits
from tests.models.families.references import FOLDER, case, parameters, printed, read, refit, template
from tests.shared_cases import MISSING

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason=MISSING)

MIXED = [
    *(f"{data}_mixed_{side}_{link}" for data, links in (("wine", ("logit", "probit")), ("soup", ("probit",)))
      for side in ("scale", "nominal") for link in links),
    "crossed_scale_probit", "crossed_scale_logit", "crossed_scale_slopes_probit",
    "crossed_scale_by_rater_probit",
    "crossed_nominal_probit", "crossed_nominal_logit", "crossed_nominal_slopes_probit",
    "crossed_sequential_logit", "crossed_sequential_probit", "crossed_sequential_cloglog",
    "crossed_sequential_slopes_logit", "crossed_sequential_nominal_logit",
    "crossed_sequential_data_cumulative_logit", "crossed_sequential_data_adjacent_logit",
    "crossed_adjacent", "crossed_adjacent_slopes", "crossed_adjacent_nominal",
    "adjacent_one_intercept", "sequential_one_intercept",
]  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_mixed_models_are_those_of_the_template(name: str) -> None:
    fitted, answer = refit(name), case(name)["laplace"]
    assert fitted.converged
    assert fitted.loglik == pytest.approx(answer["logLik"], abs=1e-6)
    found, errors = parameters(fitted)
    wanted = template(answer, "estimate")
    assert np.all(np.abs(found - wanted) <= 1e-4 * np.maximum(1.0, np.abs(wanted)))
    np.testing.assert_allclose(errors, template(answer, "se"), rtol=1e-3)
    for group, known in answer["random"].items():
        covariance = fitted.variance_components[group]
        np.testing.assert_allclose(np.sqrt(np.diag(covariance)), known["sd"], rtol=1e-4, atol=1e-4)
        if known["cor"]:
            sd = np.sqrt(np.diag(covariance))
            whole = covariance / np.outer(sd, sd)
            np.testing.assert_allclose(whole.T[np.triu_indices(len(sd), 1)], known["cor"], atol=1e-3)
    if answer.get("n_parameters"):
        assert fitted.n_parameters == answer["n_parameters"]


FLAT = [
    *(f"wine_clm_{what}_{link}" for link in ("logit", "probit")
      for what in ("scale", "scale2", "nominal", "scale_nominal")),
    "plain_clm_scale_logit", "plain_clm_nominal_probit", "soup_clm_scale_probit", "soup_clm_nominal_probit",
]  # fmt: skip


@pytest.mark.parametrize("name", [*FLAT, "soup_clm_symmetric_scale_probit"])
def test_models_without_random_effects_are_those_of_clm(name: str) -> None:
    fitted = refit(name, **({"threshold": "symmetric"} if "symmetric" in name else {}))
    assert fitted.converged
    assert fitted.loglik == pytest.approx(case(name)["fit"]["logLik"], abs=1e-7)
    assert fitted.n_parameters == case(name)["fit"]["n_parameters"]
    found, errors = parameters(fitted)
    np.testing.assert_allclose(found, printed(name, "estimate"), atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(errors, printed(name, "se"), rtol=1e-4)


# What VGAM prints: signs of thresholds (and nominal effects), and of effects, to be ours.
STEPS = {
    "wine_sratio_logit": (1, -1), "wine_sratio_probit": (1, -1), "wine_sratio_cloglog": (1, -1),
    "wine_cratio_logit": (-1, 1), "plain_sratio_logit": (1, -1), "wine_sratio_nominal": (1, -1),
    "wine_acat": (-1, 1), "adjacent_fixed": (-1, 1), "wine_acat_nominal": (-1, 1),
    "plain_acat_nominal": (-1, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_steps_and_adjacent_categories_are_those_of_vgam(name: str) -> None:
    fitted, (of_thresholds, of_effects) = refit(name), STEPS[name]
    assert fitted.loglik == pytest.approx(case(name)["fit"]["logLik"], abs=1e-7)
    rows = {row["name"]: row for row in case(name)["fit"]["coefficients"]}
    thresholds = [row for key, row in rows.items() if key[-2] == ":"]
    effects = [row for key, row in rows.items() if key[-2] != ":"]
    found, errors = parameters(fitted)
    wanted = [of_thresholds * row["estimate"] for row in thresholds]
    wanted += [of_effects * row["estimate"] for row in effects]
    np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=1e-5)
    if fitted.family == "adjacent":  # VGAM's are of expected information, ours of the observed
        np.testing.assert_allclose(errors, [row["se"] for row in thresholds + effects], rtol=1e-4)


def test_the_cumulative_cloglog_model_is_the_sequential_one() -> None:
    fitted = refit("wine_sratio_cloglog", family="cumulative")
    answer = case("wine_sratio_cloglog")["cumulative_cloglog"]
    assert fitted.loglik == pytest.approx(answer["logLik"], abs=1e-7)
    assert fitted.loglik == pytest.approx(refit("wine_sratio_cloglog").loglik, abs=1e-9)


def test_a_continuation_ratio_with_cloglog_is_our_loglog() -> None:
    fitted = refit("wine_cratio_cloglog", family="sequential", link="loglog")
    assert fitted.loglik == pytest.approx(case("wine_cratio_cloglog")["fit"]["logLik"], abs=1e-7)


INTEGRATED = [
    *(f"wine_mixed_{side}_{link}" for side in ("scale", "nominal") for link in ("logit", "probit")),
    "soup_mixed_scale_probit", "soup_mixed_nominal_probit",
]  # fmt: skip


@pytest.mark.parametrize("name", [*INTEGRATED, "sequential_one_intercept", "adjacent_one_intercept"])
def test_quadrature_reaches_the_integral_itself(name: str) -> None:
    fitted, answer = refit(name, quadrature=10), case(name)["quadrature_61"]
    assert fitted.loglik == pytest.approx(answer["logLik"], abs=1e-6)
    found, errors = parameters(fitted)
    np.testing.assert_allclose(found, answer["estimate"][:-1], atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(errors, answer["se"][:-1], rtol=1e-3)
    assert float(fitted.random["sd"].iloc[0]) == pytest.approx(answer["estimate"][-1], abs=1e-4)


@pytest.mark.parametrize("name", ["wine_mixed_nominal_logit", "sequential_one_intercept"])
def test_the_error_of_laplace_is_what_quadrature_gains(name: str) -> None:
    error, answer = refit(name).laplace_error, case(name)
    assert error is not None
    gain = answer["quadrature_61"]["logLik"] - answer["laplace"]["logLik"]
    assert error.loglik_error == pytest.approx(gain, rel=0.05)
    assert error.trusted


LRT = {"scale": "lrt_of_scale", "nominal": "lrt_of_proportional_odds"}


@pytest.mark.parametrize("link", ["probit", "logit"])
@pytest.mark.parametrize("side", LRT)
def test_likelihood_ratios_compare_with_the_location_alone(side: str, link: str) -> None:
    name = f"crossed_{side}_{link}"
    larger, answer = refit(name), case(name)[LRT[side]]
    formula = "rating ~ system + (1 | rater) + (1 | item)"
    smaller = fit(formula, read(case(name)["data"]), link=str(larger.link), test="z")
    zero = case(f"crossed_{side}0_{link}")["laplace"]
    assert smaller.loglik == pytest.approx(zero["logLik"], abs=1e-6)
    found = compare_fits(larger, smaller)
    assert found.chisq == pytest.approx(answer["chisq"], abs=1e-5)
    assert found.df == answer["df"]
    assert found.p == pytest.approx(answer["p"], rel=1e-4)


def test_a_category_that_a_cell_never_uses_is_taken_out_and_named() -> None:
    """Nobody rated cold wine 5: R prints thresholds of 24.9 and no standard error."""
    fitted = refit("wine_clm_logit", nominal="~ temp", scale=None)
    assert fitted.converged
    assert any("no rating of temp cold is 5" in note for note in fitted.notes)
    assert any("no rating of temp warm is 1" in note for note in fitted.notes)
    assert any("temp" in note and "left to the nominal effects" in note for note in fitted.notes)
    assert np.isinf(fitted.cell_thresholds["4|5"].to_numpy()).tolist() == [True, False]
    assert len(fitted.solution.alpha) == 3 + 3
    assert np.isfinite(parameters(fitted)[1]).all()
    table = np.asarray(fitted.predict())
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    shown = str(fitted)
    assert "temp cold" in shown[shown.index("Thresholds") :]
    assert "none beyond what it uses" in shown
    assert "inf" not in shown
