"""Every fit of R in ../shared/data: the real ratings, the synthetic ones, and wine."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import reference_adapter as ours
from tests import reference_checks as checks
from tests.reference_cases import Case, read_answers
from tests.shared_cases import (
    MISSING,
    MODELS,
    NOT_OURS,
    SHARED,
    contrast_files,
    restarted,
    shared_case,
    shared_cases,
    shared_files,
    wine_cases,
)

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)

CASES = [*shared_cases(), *wine_cases()]


def some(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.id)


@some([case for case in CASES if case.trust == "full"])
def test_fit_agrees_with_r(case: Case) -> None:
    assert checks.check_fit(case, ours.fit_case(case)) == []


@some([case for case in CASES if case.trust == "bound"])
def test_fit_is_no_worse_where_r_stopped_early_or_ran_off(case: Case) -> None:
    assert checks.check_bound(case, ours.fit_case(case)) == []


@some([case for case in CASES if case.separated and "maximal" not in case.id])
def test_separated_data_reach_the_supremum_that_r_reached(case: Case) -> None:
    assert ours.fit_case(case).loglik == pytest.approx(case.answer.loglik, abs=checks.LOGLIK_APART)


@some([case for case in CASES if case.answer.modes and case.trust == "full"])
def test_conditional_modes_agree_with_r(case: Case) -> None:
    assert checks.check_modes(case.answer.modes, ours.conditional_modes(ours.fit_case(case))) == []


@some([case for case in CASES if case.answer.anova and case.trust == "full"])
def test_f_tests_agree_with_r(case: Case) -> None:
    assert checks.check_anova(case.answer.anova, ours.anova(ours.fit_case(case))) == []


@some([case for case in CASES if case.answer.kenward_roger and case.trust == "full"])
def test_kenward_roger_agrees_with_r(case: Case) -> None:
    fitted, answer = ours.with_kenward_roger(ours.fit_case(case)), case.answer
    wrong = checks.check_rows("coefficient", answer.kenward_roger, ours.coefficients(fitted))
    assert wrong + checks.check_anova(answer.anova_kenward_roger, ours.anova(fitted)) == []


@pytest.mark.parametrize(("case", "best"), restarted(), ids=lambda value: getattr(value, "id", ""))
def test_maximal_fit_reaches_the_best_of_rs_three_starts(case: Case, best: float) -> None:
    assert -checks.LOGLIK_BELOW <= ours.fit_case(case).loglik - best <= checks.LOGLIK_APART


ONE_WAY = [path for path in shared_files() if "lm" in read_answers(path)]


@pytest.mark.parametrize("path", ONE_WAY, ids=lambda path: path.stem)
def test_tukey_differences_of_a_plain_linear_model_agree_with_r(path: Path) -> None:
    pairs = ours.pairs(ours.fit_case(shared_case(path, "lm")), "tukey")
    theirs = read_answers(path)["anova_oneway"]["tukey_system"]
    assert len(pairs) == len(theirs)
    wrong = []
    for (a, b), row in pairs.items():
        hers = theirs[f"{b}-{a}"]  # TukeyHSD turns the pairs round
        for mine, column in (("estimate", "diff"), ("high", "lwr"), ("low", "upr")):
            wrong += checks.far(f"{mine} of {a} - {b}", row[mine], -hers[column], checks.ESTIMATE)
        wrong += checks.check_p(f"{a} - {b}", row["p_adjusted"], hers["p adj"], 1e-6, 1e-2)
    assert wrong == []


@pytest.mark.parametrize(("path", "fits"), contrast_files(), ids=lambda path: path.stem)
def test_means_and_differences_of_systems_agree_with_emmeans(path: Path, fits: Path) -> None:
    answers = read_answers(path)
    ordinal = ours.fit_case(shared_case(fits, "clmm_intercept_probit"))
    linear = ours.fit_case(shared_case(fits, "lmer_intercept_REML"))
    wrong = checks.check_means(answers["emmeans"], ours.means(ordinal))
    wrong += checks.check_means(answers["lmer"]["emmeans"], ours.means(linear))
    for adjust, table in answers["contrasts"].items():
        wrong += checks.check_pairs(table, ours.pairs(ordinal, adjust.lower()), 1e-6, 2e-2)
    for adjust in ("tukey", "holm"):
        table = answers["lmer"][f"contrasts_{adjust}"]
        wrong += checks.check_pairs(table, ours.pairs(linear, adjust), 1e-6, 2e-2)
    assert wrong == []


@pytest.mark.parametrize(("path", "fits"), contrast_files(), ids=lambda path: path.stem)
def test_likelihood_ratio_of_the_systems_agrees_with_r(path: Path, fits: Path) -> None:
    large = shared_case(fits, "clmm_intercept_probit")
    small = replace(large, formula=large.formula.replace("system", "1"))
    test = ours.likelihood_ratio(ours.fit_case(small), ours.fit_case(large))
    theirs = read_answers(path)["lrt_system"]
    assert test["df"] == theirs["df"]
    assert test["chisq"] == pytest.approx(theirs["chisq"], abs=2 * checks.LOGLIK_APART)


def test_nothing_but_what_is_listed_is_left_out() -> None:
    asked = {case.id.split("-")[-1] for case in CASES}
    there = {name for path in shared_files() for name in read_answers(path) if name.split("_")[0] in MODELS}
    there |= {record["id"] for record in read_answers(SHARED / "wine" / "clmm_cases.json")["cases"]}
    assert there - asked == set(NOT_OURS)
