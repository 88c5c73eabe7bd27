"""The worked examples of textbooks and papers (../shared/data/agreement_cases.json), to the digits given."""

from typing import Any

import numpy as np
import pytest

from panelist.agreement.coefficient import COEFFICIENTS, Level
from panelist.agreement.coefficients.fleiss import fleiss_se
from panelist.agreement.coefficients.gwet import gwet_se
from panelist.agreement.coefficients.icc import icc_interval
from panelist.agreement.coefficients.kappa import distances, kappa_se
from panelist.agreement.coefficients.kendall_w import check_concordance
from panelist.agreement.criterion_table import RatingTable, from_matrix
from panelist.agreement.statistics.moments import Moments
from panelist.agreement.statistics.rater_pairs import PairTables
from panelist.agreement.statistics.unit_sums import UnitSums
from tests.agreement.shared_ratings import needs_shared, read_case

pytestmark = needs_shared


def from_counts(counts: list[list[int]]) -> RatingTable:
    """Return ratings that give these counts of categories; who gave which does not matter."""
    width = max(sum(row) for row in counts)
    rows = [[c for c, n in enumerate(row) for _ in range(n)] for row in counts]
    return from_matrix([[*map(float, row), *[None] * (width - len(row))] for row in rows])


def from_cross(table: list[list[int]]) -> RatingTable:
    """Return the ratings of two raters that give this contingency table."""
    rows = [[float(i), float(j)] for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return from_matrix(rows)


@pytest.mark.parametrize("name", ["krippendorff2011_A", "krippendorff2011_B", "krippendorff2011_D"])
def test_krippendorffs_own_examples(name: str) -> None:
    case = read_case(name)
    table = from_matrix(np.array(case["data"], dtype=object).T)
    for measurement, exact in case["expected"]["exact"].items():
        found = COEFFICIENTS[f"krippendorff_alpha_{measurement}"](table)
        assert found == pytest.approx(exact, abs=1e-12)
        assert round(found, 3) == case["expected"]["published"][measurement]


@pytest.mark.parametrize("name", ["fleiss1971_diagnoses_counts", "fleiss_wikipedia"])
def test_fleiss_kappa_of_counts(name: str) -> None:
    case = read_case(name)
    found = COEFFICIENTS["fleiss_kappa"](from_counts(case["data"]))
    assert found == pytest.approx(case["expected"]["exact"]["kappa"], abs=1e-12)
    assert round(found, 2) == case["expected"]["published"]["kappa"]


def test_fleiss_diagnoses_by_psychiatrist() -> None:
    case = read_case("fleiss1971_diagnoses_raw")
    exact = case["expected"]["exact"]
    data = np.array(case["data"], dtype=object)
    assert COEFFICIENTS["fleiss_kappa"](from_matrix(data)) == pytest.approx(
        exact["fleiss_kappa_6"], abs=1e-12
    )
    three = from_matrix(data[:, :3])
    assert COEFFICIENTS["fleiss_kappa"](three) == pytest.approx(exact["fleiss_kappa_raters123"], abs=1e-12)
    assert COEFFICIENTS["cohen_kappa"](three) == pytest.approx(exact["light_kappa_raters123"], abs=1e-12)
    two = from_matrix(data[:, 1:3])
    assert COEFFICIENTS["cohen_kappa"](two) == pytest.approx(exact["cohen_kappa_rater2_3"], abs=1e-12)


def test_cohens_weighted_kappa_of_1968_with_its_own_weights() -> None:
    case = read_case("cohen1968")
    exact, counts = case["expected"]["exact"], np.array(case["data"], dtype=float)
    assert kappa_se(counts, 1 - np.eye(3)) == pytest.approx((exact["kappa"], exact["se_kappa"]), abs=1e-12)
    weights = np.array(case["params"]["disagreement_weights"], dtype=float)
    assert kappa_se(counts, weights) == pytest.approx(
        (exact["weighted_kappa"], exact["se_weighted"]), abs=1e-12
    )
    assert COEFFICIENTS["cohen_kappa"](from_cross(case["data"])) == pytest.approx(exact["kappa"], abs=1e-12)


def test_standard_errors_of_fleiss_cohen_and_everitt() -> None:
    case = read_case("fleiss_cohen_everitt1969")
    exact, counts = case["expected"]["exact"], np.array(case["data"], dtype=float)
    assert kappa_se(counts, 1 - np.eye(3)) == pytest.approx((exact["kappa"], exact["se_kappa"]), abs=1e-12)
    weights = 1 - np.array(case["params"]["agreement_weights"])
    assert kappa_se(counts, weights) == pytest.approx(
        (exact["weighted_kappa"], exact["se_weighted"]), abs=1e-12
    )


def test_multiple_sclerosis_of_landis_and_koch() -> None:
    case = read_case("landis_koch1977_ms_winnipeg")
    exact, table = case["expected"]["exact"], from_cross(case["data"])
    pairs = PairTables.prepare(table, "ordinal").weigh()
    for name, key, se, power in (
        ("cohen_kappa", "kappa", "se", 0),
        ("weighted_kappa_linear", "linear", "se_linear", 1),
        ("weighted_kappa_quadratic", "quadratic", "se_quadratic", 2),
    ):
        assert COEFFICIENTS[name](table) == pytest.approx(exact[key], abs=1e-12)
        counts, points = pairs.cross()
        assert kappa_se(counts, distances(points, power)) == pytest.approx((exact[key], exact[se]), abs=1e-12)


def test_the_six_iccs_of_shrout_and_fleiss() -> None:
    case = read_case("shrout_fleiss1979")
    table = from_matrix(case["data"])
    moments = Moments.prepare(table, "interval").weigh()
    names = {
        "ICC1": "icc_1",
        "ICC2": "icc_a1",
        "ICC3": "icc_c1",
        "ICC1k": "icc_k",
        "ICC2k": "icc_ak",
        "ICC3k": "icc_ck",
    }
    for theirs, ours in names.items():
        exact = case["expected"]["exact"][theirs]
        found = COEFFICIENTS[ours](table)
        assert found == pytest.approx(exact["est"], abs=1e-12)
        assert round(found, 2) == case["expected"]["published"][theirs]
        limits = (exact["lower95"], exact["upper95"])
        assert icc_interval(ours, moments, 0.95) == pytest.approx(limits, abs=1e-12)
    w = case["expected"]["also"]["kendall_W_ties"]
    assert COEFFICIENTS["kendall_w"](table) == pytest.approx(w, abs=1e-12)


def test_siegels_applicants() -> None:
    case = read_case("siegel1956_W")
    found = check_concordance(from_matrix(case["data"]))
    exact = case["expected"]["exact"]
    assert (found.w, found.chi2) == pytest.approx((exact["W"], exact["chi2"]), abs=1e-12)
    assert round(found.w, 2) == case["expected"]["published"]["W"]
    assert abs(found.p - found.p_permutation) < 0.1


def test_gwets_four_raters_with_gaps() -> None:
    exact = read_case("gwet2014_raw4raters")["expected"]["exact"]
    table = from_matrix(read_case("gwet2014_raw4raters")["data"])
    sums = UnitSums.prepare(table, "nominal").weigh()
    plain = exact["unweighted"]
    assert COEFFICIENTS["percent_agreement"](table) == pytest.approx(plain["AC"]["pa"], abs=1e-12)
    assert COEFFICIENTS["fleiss_kappa"](table) == pytest.approx(plain["fleiss_kappa"]["coef"], abs=1e-12)
    assert fleiss_se(sums) == pytest.approx(plain["fleiss_kappa"]["se"], abs=1e-12)
    assert COEFFICIENTS["gwet_ac1"](table) == pytest.approx(plain["AC"]["coef"], abs=1e-12)
    assert gwet_se(sums, "nominal") == pytest.approx(plain["AC"]["se"], abs=1e-12)
    alpha = COEFFICIENTS["krippendorff_alpha_nominal"](table)
    assert alpha == pytest.approx(plain["krippendorff_alpha_irrCAC"]["coef"], abs=5e-6)
    weights_of: dict[Level, str] = {"ordinal": "ordinal", "interval": "quadratic"}
    for measurement, weights in weights_of.items():
        theirs: dict[str, Any] = exact[weights]["AC"]
        assert COEFFICIENTS["gwet_ac2"](table, measurement) == pytest.approx(theirs["coef"], abs=1e-12)
        assert gwet_se(sums, measurement) == pytest.approx(theirs["se"], abs=1e-12)


def test_gwets_diagnoses_of_two_raters() -> None:
    exact = read_case("gwet_cont4x4diagnosis")["expected"]["exact"]
    table = from_cross(read_case("gwet_cont4x4diagnosis")["data"])
    sums = UnitSums.prepare(table, "nominal").weigh()
    for ours, theirs in (
        ("cohen_kappa", "cohen"),
        ("scott_pi", "scott"),
        ("gwet_ac1", "AC1"),
        ("krippendorff_alpha_nominal", "alpha"),
        ("weighted_kappa_linear", "cohen_linear"),
        ("weighted_kappa_quadratic", "cohen_quadratic"),
    ):
        assert COEFFICIENTS[ours](table) == pytest.approx(exact[theirs]["coef"], abs=5e-9)
    # for a contingency table Gwet divides the variance by n, for raw ratings by n - 1
    to_table = np.sqrt((table.n_units - 1) / table.n_units)
    assert fleiss_se(sums) * to_table == pytest.approx(exact["scott"]["se"], abs=5e-9)
    assert gwet_se(sums, "nominal") * to_table == pytest.approx(exact["AC1"]["se"], abs=5e-9)
    ac2 = exact["AC2_quadratic"]
    assert COEFFICIENTS["gwet_ac2"](table, "interval") == pytest.approx(ac2["coef"], abs=5e-9)
    assert gwet_se(sums, "interval") * to_table == pytest.approx(ac2["se"], abs=5e-9)


def test_agrestis_job_satisfaction() -> None:
    case = read_case("agresti_jobsat")
    table, exact = from_cross(case["data"]), case["expected"]["exact"]
    found = COEFFICIENTS["goodman_kruskal_gamma"](table)
    assert found == pytest.approx(exact["gamma"], abs=1e-12)
    assert round(found, 3) == case["expected"]["published"]["gamma"]
    assert COEFFICIENTS["kendall_tau_b"](table) == pytest.approx(exact["tau_b"], abs=1e-12)


def test_cronbachs_alpha_of_the_attitude_data() -> None:
    case = read_case("cronbach_attitude")
    found = COEFFICIENTS["cronbach_alpha"](from_matrix(case["data"]))
    assert found == pytest.approx(case["expected"]["exact"]["raw_alpha"], abs=1e-12)
