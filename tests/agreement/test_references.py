"""Our coefficients against those of R on real ratings (../shared/data/reference), to R's last digits."""

import numpy as np
import pytest

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.coefficients.icc import icc_interval
from panelist.agreement.coefficients.kendall_w import check_concordance
from panelist.agreement.criterion_table import make_table
from panelist.agreement.statistics.moments import Moments
from panelist.agreement.statistics.rater_pairs import measure_each_pair
from tests.agreement.shared_ratings import REFERENCES, needs_shared, read_reference, table_of

EXACT = 1e-12
PAIRWISE = {
    "gamma": "goodman_kruskal_gamma", "spearman": "spearman", "tau_b": "kendall_tau_b", "pearson": "pearson",
    "cohen_kappa": "cohen_kappa", "percent_agreement": "percent_agreement",
}  # fmt: skip
WEIGHTED = {
    "cohen_kappa_linear": "weighted_kappa_linear",
    "cohen_kappa_quadratic": "weighted_kappa_quadratic",
}
ICCS = {
    "ICC1": "icc_1",
    "ICC2": "icc_a1",
    "ICC3": "icc_c1",
    "ICC1k": "icc_k",
    "ICC2k": "icc_ak",
    "ICC3k": "icc_ck",
}
WITH_PAIRS = [name for name in REFERENCES if "pairwise" in read_reference(name)["agreement"]]
COMPLETE = [name for name in REFERENCES if "icc" in read_reference(name)["agreement"]]
pytestmark = needs_shared


@pytest.mark.parametrize("name", REFERENCES)
def test_the_table_has_the_units_raters_and_ratings_that_r_saw(name: str) -> None:
    found, table = read_reference(name)["agreement"], table_of(name)
    assert table.n_ratings == found["n_ratings"]
    assert table.n_units == found["n_units"]
    if not found["duplicated_unit_rater"]:
        assert table.n_raters == found["n_raters"]


@pytest.mark.parametrize("name", REFERENCES)
def test_krippendorff_and_fleiss_are_those_of_r(name: str) -> None:
    found, table = read_reference(name)["agreement"], table_of(name)
    for measurement, theirs in found["krippendorff"].items():
        one = COEFFICIENTS[f"krippendorff_alpha_{measurement}"].estimate(table)
        assert one.value == pytest.approx(theirs["alpha"], abs=EXACT)
        assert one.n_items == theirs["n_units"]
    general = found["fleiss_generalised"]
    assert COEFFICIENTS["fleiss_kappa"](table) == pytest.approx(general["kappa"], abs=EXACT)
    assert COEFFICIENTS["percent_agreement"](table) == pytest.approx(general["P_observed"], abs=EXACT)
    if found["fleiss"]["kappa"] is not None:
        assert COEFFICIENTS["fleiss_kappa"](table) == pytest.approx(found["fleiss"]["kappa"], abs=EXACT)


@pytest.mark.parametrize("name", WITH_PAIRS)
def test_every_pair_of_raters_and_the_mean_over_pairs_are_those_of_r(name: str) -> None:
    found, table = read_reference(name)["agreement"]["pairwise"], table_of(name)
    pairs = measure_each_pair(table).set_index(["a", "b"])
    assert len(pairs) == found["n_pairs"]
    for theirs, ours in PAIRWISE.items():
        assert pairs[ours].mean() == pytest.approx(found["mean"][theirs], abs=EXACT)
        if ours != "percent_agreement":  # ours goes over outputs, not over pairs
            assert COEFFICIENTS[ours](table) == pytest.approx(found["mean"][theirs], abs=EXACT)
    for pair in found["pairs"] or []:
        row = pairs.loc[(pair["a"], pair["b"])]
        assert row["n"] == pair["n"]
        for theirs, ours in PAIRWISE.items():
            wanted = np.nan if pair[theirs] is None else pair[theirs]
            assert row[ours] == pytest.approx(wanted, abs=EXACT, nan_ok=True)


@pytest.mark.parametrize("name", WITH_PAIRS)
def test_weighted_kappas_are_those_of_r_where_values_are_numbered_as_r_numbered_them(name: str) -> None:
    """R took the places among the values that a pair used; ours are distances of the values themselves."""
    found, matrix = read_reference(name)["agreement"]["pairwise"], table_of(name).matrix()
    pairs = measure_each_pair(table_of(name))
    places = {name: {rater: i for i, rater in enumerate(table_of(name).raters)} for name in (name,)}[name]
    ours: dict[str, list[float]] = {theirs: [] for theirs in WEIGHTED}
    for a, b in zip(pairs["a"], pairs["b"], strict=True):
        both = matrix[:, [places[a], places[b]]]
        both = both[~np.isnan(both).any(axis=1)]
        code = np.unique(both, return_inverse=True)[1].reshape(-1, 2)
        units = np.repeat(np.arange(len(code)), 2)
        table = make_table(units, np.tile(["a", "b"], len(code)), code.ravel().astype(float))
        for theirs, name_here in WEIGHTED.items():
            ours[theirs].append(COEFFICIENTS[name_here](table))
    for theirs, values in ours.items():
        assert np.nanmean(values) == pytest.approx(found["mean"][theirs], abs=EXACT)


@pytest.mark.parametrize("name", COMPLETE)
def test_iccs_and_their_intervals_are_those_of_r(name: str) -> None:
    found, table = read_reference(name)["agreement"], table_of(name)
    moments = Moments.prepare(table, "interval").weigh()
    for theirs, ours in ICCS.items():
        one = COEFFICIENTS[ours].estimate(table)
        assert one.value == pytest.approx(found["icc"][theirs]["ICC"], abs=1e-11)
        assert one.n_items == found["complete_units"]
        limits = [found["icc"][theirs][end] for end in ("lower", "upper")]
        assert icc_interval(ours, moments, 0.95) == pytest.approx(limits, abs=1e-11)


@pytest.mark.parametrize("name", COMPLETE)
def test_kendalls_w_its_test_and_cronbachs_alpha_are_those_of_r(name: str) -> None:
    found, table = read_reference(name)["agreement"], table_of(name)
    theirs = found["kendall_w"]
    tested = check_concordance(table, permutations=20)
    assert tested.w == COEFFICIENTS["kendall_w"](table)
    assert tested.w == pytest.approx(theirs["W_tie_corrected"], abs=EXACT)
    assert tested.chi2 == pytest.approx(theirs["chisq"], rel=1e-12)
    assert tested.df == theirs["df"]
    assert tested.p == pytest.approx(theirs["p"], rel=1e-6)
    assert COEFFICIENTS["cronbach_alpha"](table) == pytest.approx(found["cronbach"]["raw_alpha"], abs=1e-11)
