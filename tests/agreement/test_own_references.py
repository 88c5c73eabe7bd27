"""Our coefficients against R on ratings of our own (tests/reference/agreement): no other data are needed."""

import json
from typing import Any

import pytest

from panelist.agreement.cleaning import make_tables
from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.coefficients.icc import icc_interval
from panelist.agreement.coefficients.kendall_w import check_concordance
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.statistics.moments import Moments
from tests.reference_cases import ROOT

FOLDER = ROOT / "tests" / "reference" / "agreement"
ANSWERS: dict[str, Any] = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
BOTH = [
    "pearson",
    "spearman",
    "kendall_tau_b",
    "goodman_kruskal_gamma",
    "cohen_kappa",
    "weighted_kappa_quadratic",
]


def read(name: str) -> RatingTable:
    [one] = make_tables(FOLDER / f"{name}.csv")
    return one.table


@pytest.mark.parametrize("data", ["panel", "crowd"])
@pytest.mark.parametrize("name", BOTH)
def test_the_mean_over_pairs_is_that_of_r(data: str, name: str) -> None:
    assert COEFFICIENTS[name](read(data)) == pytest.approx(ANSWERS[data][name], abs=1e-12)


@pytest.mark.parametrize("name", ["icc_1", "icc_k", "icc_a1", "icc_ak", "icc_c1", "icc_ck"])
def test_iccs_and_f_intervals_of_a_panel_are_those_of_r(name: str) -> None:
    theirs = ANSWERS["panel"]["icc"][name]
    table = read("panel")
    limits = icc_interval(name, Moments.prepare(table, "interval").weigh(), 0.95)
    assert COEFFICIENTS[name](table) == pytest.approx(theirs["estimate"], abs=1e-12)
    assert limits == pytest.approx((theirs["low"], theirs["high"]), abs=1e-10)


@pytest.mark.parametrize("name", ["icc_1", "icc_k"])
def test_one_way_iccs_of_a_crowd_are_those_of_the_unbalanced_analysis_of_variance(name: str) -> None:
    found = COEFFICIENTS[name].estimate(read("crowd"))
    assert found.value == pytest.approx(ANSWERS["crowd"][name], abs=1e-12)
    assert found.n_items == 40
    assert "Henderson" in found.note


def test_cronbachs_alpha_and_kendalls_w_of_a_panel_are_those_of_r() -> None:
    theirs, table = ANSWERS["panel"], read("panel")
    assert COEFFICIENTS["cronbach_alpha"](table) == pytest.approx(theirs["cronbach_alpha"], abs=1e-12)
    tested = check_concordance(table, permutations=100)
    assert (tested.w, tested.chi2) == pytest.approx((theirs["kendall_w"], theirs["kendall_chi2"]), rel=1e-12)
    assert tested.p == pytest.approx(theirs["kendall_p"], rel=1e-8)
    assert tested.p_permutation == 1 / 101
