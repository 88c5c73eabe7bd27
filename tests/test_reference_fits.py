"""R's answers for the repository's own data sets (tests/reference), question by question."""

from typing import Any

import numpy as np
import pytest

from tests import reference_adapter as ours
from tests import reference_checks as checks
from tests.reference_cases import OWN, Case, own_case, own_cases, own_files, read_answers

CASES = own_cases()
SURE = (1e-6, 5e-3)  # p-values, absolute and relative: these fits of R are tight


def some(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.id)


def kept(kind: str) -> Any:
    """Parametrise over what the files hold of one kind: (data set, record)."""
    found = [(path.stem, name) for path in own_files() for name in read_answers(path).get(kind, {})]
    return pytest.mark.parametrize(("data", "name"), found, ids=lambda value: str(value))


def record_of(data: str, kind: str, name: str) -> Any:
    return read_answers(OWN / f"{data}.json")[kind][name]


@some(CASES)
def test_fit_agrees_with_r(case: Case) -> None:
    assert checks.check_fit(case, ours.fit_case(case)) == []


@some([case for case in CASES if case.answer.coefficients])
def test_statistics_and_p_values_agree_with_r(case: Case) -> None:
    found = ours.coefficients(ours.fit_case(case))
    wrong = []
    for name, row in case.answer.coefficients.items():
        if row.get("se") is not None and row.get("p") is not None:
            wrong += checks.apart(f"statistic of {name}", found[name]["statistic"], row["statistic"])
            wrong += checks.check_p(name, found[name]["p"], row["p"], *SURE)
    assert wrong == []


@some([case for case in CASES if case.answer.aic is not None])
def test_information_criteria_agree_with_r(case: Case) -> None:
    fitted = ours.fit_case(case)
    assert fitted.aic == pytest.approx(case.answer.aic, abs=2 * checks.LOGLIK_APART)
    assert fitted.bic == pytest.approx(case.answer.bic, abs=2 * checks.LOGLIK_APART)


@some([case for case in CASES if case.answer.modes])
def test_conditional_modes_and_their_deviations_agree_with_r(case: Case) -> None:
    assert checks.check_modes(case.answer.modes, ours.conditional_modes(ours.fit_case(case))) == []


@some([case for case in CASES if case.answer.fitted is not None])
def test_fitted_values_agree_with_r(case: Case) -> None:
    theirs = case.answer.fitted
    assert theirs is not None
    np.testing.assert_allclose(
        ours.fitted_values(ours.fit_case(case))[: len(theirs)],
        theirs,
        rtol=checks.ESTIMATE,
        atol=checks.ESTIMATE,
    )


@some([case for case in CASES if case.answer.population is not None])
def test_means_for_unseen_raters_agree_with_r(case: Case) -> None:
    theirs = case.answer.population
    assert theirs is not None
    np.testing.assert_allclose(
        ours.population_means(ours.fit_case(case))[: len(theirs)],
        theirs,
        rtol=checks.ESTIMATE,
        atol=checks.ESTIMATE,
    )


@some([case for case in CASES if case.answer.anova])
def test_f_tests_agree_with_r(case: Case) -> None:
    assert checks.check_anova(case.answer.anova, ours.anova(ours.fit_case(case))) == []


@some([case for case in CASES if case.answer.kenward_roger])
def test_kenward_roger_agrees_with_r(case: Case) -> None:
    fitted, answer = ours.with_kenward_roger(ours.fit_case(case)), case.answer
    wrong = checks.check_rows("coefficient", answer.kenward_roger, ours.coefficients(fitted))
    assert wrong + checks.check_anova(answer.anova_kenward_roger, ours.anova(fitted)) == []


@kept("likelihood_ratio")
def test_likelihood_ratio_tests_agree_with_r(data: str, name: str) -> None:
    theirs = record_of(data, "likelihood_ratio", name)
    small, large = (ours.fit_case(own_case(data, theirs[end])) for end in ("small", "large"))
    test = ours.likelihood_ratio(small, large)
    assert test["df"] == theirs["df"]
    assert test["chisq"] == pytest.approx(theirs["chisq"], abs=2 * checks.LOGLIK_BELOW)
    assert checks.check_p(name, test["p"], theirs["p"], *SURE) == []


@kept("profile")
def test_profile_intervals_agree_with_r(data: str, name: str) -> None:
    theirs = record_of(data, "profile", name)
    found = ours.profile_intervals(ours.fit_case(own_case(data, theirs["fit"])))
    wrong = []
    for parameter, low, high in zip(theirs["names"], theirs["low"], theirs["high"], strict=True):
        wrong += checks.far(f"low of {parameter}", found[parameter][0], low, checks.ESTIMATE)
        wrong += checks.far(f"high of {parameter}", found[parameter][1], high, checks.ESTIMATE)
    assert wrong == []


@kept("probabilities")
def test_category_probabilities_agree_with_r(data: str, name: str) -> None:
    theirs = record_of(data, "probabilities", name)
    fitted = ours.fit_case(own_case(data, theirs["fit"]))
    for raters in ("typical", "unseen"):
        if raters in theirs:
            found = ours.probabilities(fitted, theirs["systems"], raters)
            np.testing.assert_allclose(found, theirs[raters], rtol=0, atol=checks.ESTIMATE)


@kept("contrasts")
def test_means_and_differences_of_systems_agree_with_emmeans(data: str, name: str) -> None:
    theirs = record_of(data, "contrasts", name)
    fitted = ours.fit_case(own_case(data, theirs["fit"]))
    if name.endswith("kenward_roger"):
        fitted = ours.with_kenward_roger(fitted)
    wrong = checks.check_means(theirs["means"], ours.means(fitted))
    for adjust, table in theirs["pairs"].items():
        wrong += checks.check_pairs(table, ours.pairs(fitted, adjust), *SURE)
    wrong += checks.check_pairs(theirs["tukey_intervals"], ours.pairs(fitted, "tukey"), *SURE)
    assert wrong == []


def test_structured_thresholds_are_what_they_are_called() -> None:
    for name in ("clm_probit", "clmm_probit"):
        symmetric = _thresholds(name + "_symmetric")
        np.testing.assert_allclose(symmetric + symmetric[::-1], 2 * symmetric[2], rtol=0, atol=1e-9)
        equidistant = np.diff(_thresholds(name + "_equidistant"))
        np.testing.assert_allclose(equidistant, equidistant[0], rtol=0, atol=1e-9)


def _thresholds(name: str) -> Any:
    rows = ours.thresholds(ours.fit_case(own_case("paper", name)))
    return np.array([row["estimate"] for row in rows.values()], dtype=float)
