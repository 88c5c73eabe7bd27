"""Likelihood-ratio tests against R's anova, and what is refused."""

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from scipy.special import chdtrc

from panelist.core.errors import BadModel
from panelist.models.fit import fit
from panelist.models.inference.likelihood_ratio import compare_fits
from panelist.models.results.fitted import Fit

PAPER = Path(__file__).parents[2] / "reference" / "paper.csv"
CROSSED = "rating ~ system + (1 | rater) + (1 | item)"
NULL = "rating ~ 1 + (1 | rater) + (1 | item)"
MAXIMAL = "rating ~ system + (system | rater) + (system | item)"


@cache
def paper(formula: str, model: str, **options: str) -> Fit:
    return fit(formula, PAPER, model=model, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "model", "small", "large", "options"),
    [
        ("clmm_system", "clmm", NULL, CROSSED, {}),
        ("clmm_slopes", "clmm", CROSSED, MAXIMAL, {}),
        ("lmer_system", "lmm", NULL, CROSSED, {"method": "ML"}),
    ],
)
def test_chisq_df_and_p_agree_with_r(
    name: str, model: str, small: str, large: str, options: dict[str, str]
) -> None:
    theirs = json.loads(PAPER.with_suffix(".json").read_text(encoding="utf-8"))["likelihood_ratio"][name]
    test = compare_fits(paper(small, model, **options), paper(large, model, **options))
    assert test.df == theirs["df"]
    assert test.chisq == pytest.approx(theirs["chisq"], abs=2e-4)
    assert test.p == pytest.approx(theirs["p"], rel=1e-3)


def test_the_order_of_the_fits_does_not_matter() -> None:
    fits = [paper(formula, "clmm") for formula in (NULL, CROSSED, MAXIMAL)]
    test, turned = compare_fits(*fits), compare_fits(*fits[::-1])
    assert test == turned
    assert [step.df for step in test.steps] == [1, 4]
    assert test.formulas == (NULL, CROSSED, MAXIMAL)
    assert test.table()["df"].tolist()[1:] == [1.0, 4.0]
    assert "p, mixture" not in str(test)


def test_one_variance_is_tested_by_an_even_mixture() -> None:
    test = compare_fits(paper("rating ~ system", "clm"), paper("rating ~ system + (1 | rater)", "clmm"))
    assert test.df == 1
    assert test.p_boundary == pytest.approx(test.p / 2)
    slopes = compare_fits(
        paper("rating ~ system + (1 | rater)", "clmm"), paper("rating ~ system + (system | rater)", "clmm")
    )
    assert slopes.df == 2
    assert slopes.p_boundary == pytest.approx((chdtrc(1, slopes.chisq) + chdtrc(2, slopes.chisq)) / 2)
    assert any("1 and 2 degrees of freedom (Self & Liang 1987)" in note for note in slopes.notes)
    assert slopes.to_dict()["p_boundary"] == slopes.p_boundary


def test_a_variance_of_zero_has_a_mixture_p_of_one() -> None:
    singular = PAPER.with_name("singular.csv")
    small = fit("rating ~ system + (1 | item)", singular, model="clmm")
    large = fit("rating ~ system + (1 | item) + (1 | rater)", singular, model="clmm")
    test = compare_fits(small, large)
    assert large.singular
    assert test.chisq == pytest.approx(0.0, abs=1e-6)
    assert test.p_boundary is not None
    assert test.p_boundary > 0.49


def test_more_variances_get_a_caveat_and_no_mixture() -> None:
    test = compare_fits(paper(CROSSED, "clmm"), paper(MAXIMAL, "clmm"))
    assert test.p_boundary is None
    assert any("2 variances are tested at once" in note for note in test.notes)


def test_reml_fits_with_other_fixed_effects_are_refitted_by_ml() -> None:
    test = compare_fits(paper(NULL, "lmm"), paper(CROSSED, "lmm"))
    ml = compare_fits(paper(NULL, "lmm", method="ML"), paper(CROSSED, "lmm", method="ML"))
    assert test.chisq == pytest.approx(ml.chisq, abs=1e-9)
    assert any("refitted by ML" in note for note in test.notes)
    assert ml.notes == ()


def test_reml_fits_with_the_same_fixed_effects_are_compared_as_they_are() -> None:
    small, large = paper("rating ~ system + (1 | item)", "lmm"), paper(CROSSED, "lmm")
    test = compare_fits(small, large)
    assert test.chisq == pytest.approx(2 * (large.loglik - small.loglik))
    assert any("restricted likelihoods (REML) are compared" in note for note in test.notes)


def test_a_linear_model_is_part_of_a_linear_mixed_one() -> None:
    small, large = paper("rating ~ system", "lm"), paper("rating ~ system + (1 | item)", "lmm")
    test = compare_fits(small, large)
    assert test.df == 1
    assert test.chisq == pytest.approx(
        2 * (paper("rating ~ system + (1 | item)", "lmm", method="ML").loglik - small.loglik), abs=1e-8
    )


def test_structured_thresholds_are_part_of_flexible_ones() -> None:
    small, large = paper("rating ~ system", "clm", threshold="equidistant"), paper("rating ~ system", "clm")
    assert compare_fits(small, large).df == 3


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((CROSSED, "lmm", {}), (CROSSED, "clmm", {}), "have no common likelihood"),
        ((NULL, "clmm", {"link": "logit"}), (CROSSED, "clmm", {}), "the links logit and probit"),
        ((CROSSED, "clmm", {}), (CROSSED, "clmm", {}), "8 parameters each"),
        (("rating ~ system + (1 | item)", "clmm", {}), (NULL, "clmm", {}), "parameters each"),
        (("rating ~ system + (1 | item)", "clmm", {}), ("rating ~ 1 + (system | item)", "clmm", {}),
         "its fixed effects cannot be expressed"),
        (("rating ~ system + (1 | item)", "clmm", {}), ("rating ~ system + (system | rater)", "clmm", {}),
         "its random effects of item cannot be expressed"),
    ],
)  # fmt: skip
def test_fits_that_are_not_nested_are_refused(
    a: tuple[str, str, dict[str, str]], b: tuple[str, str, dict[str, str]], message: str
) -> None:
    with pytest.raises(BadModel, match=message):
        compare_fits(paper(a[0], a[1], **a[2]), paper(b[0], b[1], **b[2]))


def test_other_ratings_are_refused() -> None:
    frame = pd.read_csv(PAPER, dtype={"rater": str, "item": str})
    fewer = fit("rating ~ 1", frame.iloc[5:], model="clm")
    with pytest.raises(BadModel, match="missing values"):
        compare_fits(fewer, paper("rating ~ system", "clm"))
    turned = fit("rating ~ 1", frame.assign(rating=frame["rating"].to_numpy()[::-1]), model="clm")
    with pytest.raises(BadModel, match="different ratings"):
        compare_fits(turned, paper("rating ~ system", "clm"))
    with pytest.raises(BadModel, match="two fits or more"):
        compare_fits(turned)


def test_different_approximations_are_refused() -> None:
    laplace = paper("rating ~ 1 + (1 | rater)", "clmm")
    finer = fit("rating ~ system + (1 | rater)", PAPER, model="clmm", quadrature=5)
    with pytest.raises(BadModel, match="Laplace and adaptive quadrature with 5 points"):
        compare_fits(laplace, finer)
