"""Intraclass shares on the latent and on the rating scale."""

import json

import numpy as np
import pytest

from panelist.models.fit import fit
from tests.models.reference_fits import CROSSED, SLOPES, fit_data, read_answers, read_data


@pytest.mark.parametrize("link", ["probit", "logit", "cloglog", "loglog"])
def test_shares_divide_the_latent_variance(link: str) -> None:
    model = fit_data("paper", CROSSED, "clmm", link)
    table = model.icc().table.set_index("group")
    assert list(table.index) == ["fixed effects", "item", "rater", "residual"]
    assert table["share"].sum() == pytest.approx(1.0, abs=1e-12)
    assert table["icc"][1:].sum() == pytest.approx(1.0, abs=1e-12)
    residual = {"probit": 1.0, "logit": np.pi**2 / 3.0}.get(link, np.pi**2 / 6.0)
    sd = model.random.set_index("group")["sd"]
    assert table.loc["item", "icc"] == pytest.approx(
        sd["item"] ** 2 / (sd["item"] ** 2 + sd["rater"] ** 2 + residual), rel=1e-12
    )


def test_shares_of_a_linear_model_are_those_of_r() -> None:
    answer = read_answers("slider")["fits"]["lmer"]
    variances = {block["group"]: block["sd"][0] ** 2 for block in answer["random"]}
    total = sum(variances.values()) + answer["sigma"] ** 2
    table = fit_data("slider", answer["formula"], "lmm").icc().table.set_index("group")
    for group, variance in variances.items():
        assert table.loc[group, "icc"] == pytest.approx(variance / total, rel=1e-3)


def test_with_slopes_a_variance_is_its_mean_over_the_rows() -> None:
    model = fit_data("paper", SLOPES, "clmm")
    table = model.icc().table.set_index("group")["variance"]
    for factor in model.design.factors:
        rows = [z @ model.variance_components[factor.name] @ z for z in factor.Z]
        assert table[factor.name] == pytest.approx(np.mean(rows), rel=1e-12)
    assert table["fixed effects"] == pytest.approx(np.var(model.design.X @ model.beta, ddof=1), rel=1e-12)


def test_shares_do_not_depend_on_the_coding_of_the_slopes() -> None:
    frame = read_data("three")
    treatment = fit("rating ~ system + (system | item) + (1 | rater)", frame, model="lmm").icc().table
    sums = "rating ~ C(system, Sum) + (0 + system | item) + (1 | rater)"
    np.testing.assert_allclose(
        treatment["variance"], fit(sums, frame, model="lmm").icc().table["variance"], rtol=1e-3
    )


def test_a_cauchy_residual_has_no_shares_and_says_so() -> None:
    shares = fit_data("paper", CROSSED, "clmm", "cauchit").icc()
    assert shares.table["share"].isna().all()
    assert shares.table["variance"].notna().sum() == 3
    assert "no variance" in shares.notes[0]
    assert "no variance" in str(shares)


def test_shares_show_themselves_and_become_json() -> None:
    shares = fit_data("slider", CROSSED, "lmm").icc()
    assert "Shares of variance on the rating scale" in str(shares)
    whole = json.loads(shares.to_json())
    assert [row["group"] for row in whole["shares"]] == ["fixed effects", "item", "rater", "residual"]
    assert whole["shares"][0]["icc"] is None


def test_a_model_without_random_effects_has_fixed_and_residual_shares() -> None:
    table = fit_data("slider", "rating ~ system", "lm").icc().table
    assert list(table["group"]) == ["fixed effects", "residual"]
    assert table["share"].sum() == pytest.approx(1.0)
