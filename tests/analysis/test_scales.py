"""Two scales compared: R's numbers for the stand-in of Belz & Kow, brute force, and bad input."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import from_matrix
from panelist.analysis.scales.compare_scales import compare_scales
from panelist.analysis.scales.matching import parse_match
from panelist.analysis.scales.measures import (
    concordance,
    correlate,
    fisher_interval,
    noncentral_f,
    overlap,
    share_interval,
    subtract_intervals,
)
from panelist.analysis.scales.scale_comparison import ScaleComparison, ScalesOnCriterion
from panelist.core.errors import BadModel, BadRatings, UnknownName
from tests.examples import examples
from tests.shared_cases import MISSING, SHARED

SYNTHETIC = SHARED / "synthetic"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return dict(json.loads((SYNTHETIC / "syn09_bk__reference.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> ScaleComparison:
    """Return the 7-point scale against the slider, which was used twice."""
    path = tmp_path_factory.mktemp("scales") / "vas.csv"
    runs = [pd.read_csv(SYNTHETIC / f"syn09_bk_vas_{run}.csv").assign(occasion=run) for run in "ab"]
    pd.concat(runs).to_csv(path, index=False)
    return compare_scales(
        SYNTHETIC / "syn09_bk_vds7.csv",
        path,
        validity=SYNTHETIC / "syn09_bk_id_accuracy.csv",
        labels=("VDS-7", "VAS"),
        resamples=200,
    )


def make_ratings(
    means: dict[str, float],
    raters: int = 6,
    items: int = 8,
    points: int | None = None,
    seed: int = 1,
    **more: Any,
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for r in range(raters):
        for i in range(items):
            for system, mean in means.items():
                value = mean + rng.normal()
                rows.append((f"r{r}", f"i{i}", system, round(value) if points else value))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"]).assign(**more)


@needs_shared
def test_interchangeability_is_rs(compared: ScaleComparison, reference: dict[str, Any]) -> None:
    expected = reference["interchangeability"]["vds7_vs_vas_a"]
    found = compared["adequacy"]
    r = found["Pearson's r"].both
    assert (r.value, r.p) == pytest.approx((expected["pearson"], expected["pearson_p"]), rel=1e-9)
    assert found["Spearman's rho"].both.value == pytest.approx(expected["spearman"])
    low, high = stats.pearsonr(*_means(reference)).confidence_interval(0.95)
    assert (r.low, r.high) == pytest.approx((low, high), abs=1e-9)


def _means(reference: dict[str, Any]) -> list[list[float]]:
    names = ("syn09_bk_vds7", "syn09_bk_vas_a")
    return [list(reference["system_means"][name].values()) for name in names]


@needs_shared
def test_reliability_is_rs(compared: ScaleComparison, reference: dict[str, Any]) -> None:
    expected = reference["reliability_kendall_w_over_rater_by_system_means"]
    found = compared["adequacy"]["Kendall's W, systems"]
    assert found.a.value == pytest.approx(expected["syn09_bk_vds7"]["W_tie_corrected"], abs=1e-12)
    assert found.b.value == pytest.approx(expected["syn09_bk_vas_a"]["W_tie_corrected"], abs=1e-12)
    for side in (found.a, found.b, found.difference):
        assert side.low < side.value < side.high


@needs_shared
def test_stability_is_rs_and_missing_where_there_is_one_occasion(
    compared: ScaleComparison, reference: dict[str, Any]
) -> None:
    found = compared["adequacy"]["Pearson's r, retest"]
    expected = reference["stability_individual_vas_a_vs_b"]["pearson"]
    assert found.b.value == pytest.approx(expected, abs=1e-9)
    assert found.b.low < found.b.value < found.b.high
    assert np.isnan(found.a.value)
    assert found.note == "VDS-7 has one occasion"


@needs_shared
def test_sensitivity_and_f_ratios_are_rs(compared: ScaleComparison, reference: dict[str, Any]) -> None:
    found = compared["adequacy"]
    for side, name in (("a", "syn09_bk_vds7"), ("b", "syn09_bk_vas_a")):
        expected = reference["f_ratios"][name]
        count = getattr(found["pairs that differ"], side)
        assert (count.value, count.detail) == (expected["tukey_n_significant_05"], " of 28")
        assert count.low <= count.value <= count.high
        for measure, factor in (("system", "system"), ("rater", "participant"), ("text type (item)", "item")):
            ratio = getattr(found[f"F-ratio of {measure}"], side)
            assert (ratio.value, ratio.p) == pytest.approx(
                (expected[factor]["F"], expected[factor]["p"]), rel=1e-7
            )


@needs_shared
def test_validity_is_rs(compared: ScaleComparison, reference: dict[str, Any]) -> None:
    pearson = compared["adequacy"]["Pearson's r with id_accuracy"]
    spearman = compared["adequacy"]["Spearman's rho with id_accuracy"]
    for side, name in (("a", "syn09_bk_vds7"), ("b", "syn09_bk_vas_a")):
        expected = reference["validity_vs_id_accuracy"][name]
        one = getattr(pearson, side)
        assert (one.value, one.p) == pytest.approx((expected["pearson"], expected["pearson_p"]), rel=1e-8)
        assert getattr(spearman, side).value == pytest.approx(expected["spearman"])
    assert pearson.difference.low < pearson.difference.value < pearson.difference.high


@needs_shared
def test_verdict_is_in_words(compared: ScaleComparison) -> None:
    said = " ".join(compared["adequacy"].verdict)
    assert "agree closely (r = 0.99" in said
    assert "can replace each other" in said
    assert "Raters order the systems more alike on VAS" in said
    assert "Both scales tell 19 of 28 pairs of systems apart." in said
    assert "On VAS the system matters more than who rates (19 % of the variance against 16 %)." in said
    assert "No difference in Pearson's r with id_accuracy is shown" in said
    assert said.split(".")[0] in str(compared).replace("\n", " ")


@needs_shared
def test_json_holds_every_reading(compared: ScaleComparison) -> None:
    (one,) = json.loads(compared.to_json())["criteria"]
    assert one["scales"] == ["VDS-7", "VAS"]
    names = {row["name"] for row in one["properties"]}
    assert names == {"interchangeability", "reliability", "stability", "sensitivity", "effects", "validity"}
    assert set(one["properties"][0]["both"]) == {"value", "low", "high", "p", "share", "detail"}
    assert one["counts"][0] == {"ratings": 896, "raters": 8, "items": 112, "systems": 8}


def test_concordance_is_that_of_the_agreement_table() -> None:
    rng = np.random.default_rng(2)
    matrix = rng.integers(1, 5, (7, 6)).astype(float)  # systems × raters, with ties
    ranks = stats.rankdata(matrix, axis=0).T
    ranks -= ranks.mean(axis=1, keepdims=True)
    found = concordance(ranks @ ranks.T, np.ones((1, 6)))[0]
    assert found == pytest.approx(COEFFICIENTS["kendall_w"](from_matrix(matrix), "ordinal"), abs=1e-12)


def test_a_rater_drawn_twice_is_no_second_opinion() -> None:
    rng = np.random.default_rng(2)
    ranks = stats.rankdata(rng.normal(size=(30, 5)), axis=1) - 3.0
    c = ranks @ ranks.T
    draws = rng.multinomial(30, np.full(30, 1 / 30), 2000).astype(float)
    whole = concordance(c, np.ones((1, 30)))[0]
    assert concordance(c, draws).mean() == pytest.approx(whole, abs=0.004)
    twice = np.array([np.einsum("i,ij,j->", w, c, w) / (30 * (w @ np.diag(c))) for w in draws])
    assert twice.mean() > whole + 0.02  # what counting copies would give


def test_correlations_row_by_row_are_scipys() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(4, 6)).round(1), rng.normal(size=(4, 6)).round(1)
    for row in range(4):
        assert correlate(a, b)[row] == pytest.approx(stats.pearsonr(a[row], b[row]).statistic)
        assert correlate(a, b, ranks=True)[row] == pytest.approx(stats.spearmanr(a[row], b[row]).statistic)
    assert np.isnan(correlate(np.ones(4), b[0, :4]))


def test_interval_of_the_share_of_variance_covers() -> None:
    rng = np.random.default_rng(4)
    k, n, spread = 4, 20, 0.45
    means = np.array([-1.0, -0.2, 0.4, 0.8]) * spread
    means -= means.mean()
    truth = float((means**2).mean() / ((means**2).mean() + 1))
    covered = 0
    for _ in range(300):
        y = means[:, None] + rng.normal(size=(k, n))
        F = float(stats.f_oneway(*y).statistic)
        low, high = share_interval(F, k - 1, k * n - k, 0.95)
        covered += low <= truth <= high
    assert 0.92 <= covered / 300 <= 0.98


@examples(200)
@given(
    F=st.one_of(st.floats(0, 1e3), st.floats(0, 1e300)),
    df1=st.integers(1, 500),
    df2=st.one_of(st.integers(1, 30), st.integers(1, 2_000_000)),
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_shares_of_variance_have_an_interval_for_every_f_ratio(
    F: float, df1: int, df2: int, confidence: float
) -> None:
    low, high = share_interval(F, df1, df2, confidence)
    assert 0 <= low <= high <= 1
    more = share_interval(F * 2 + 1, df1, df2, confidence)
    assert more[0] >= low - 1e-6
    assert more[1] >= high - 1e-6


def test_the_ends_of_a_share_put_f_at_the_tails_of_its_distribution() -> None:
    for F, df1, df2 in ((3.2, 2, 57), (250.0, 7, 1000), (9e6, 4, 40)):
        for end, tail in zip(share_interval(F, df1, df2, 0.9), (0.95, 0.05), strict=True):
            nc = end / (1 - end) * (df1 + df2 + 1)
            assert stats.ncf.cdf(F, df1, df2, nc) == pytest.approx(tail, abs=1e-6)


@pytest.mark.parametrize("F", [0.5, 2.0, 40.0, 900.0])
@pytest.mark.parametrize(("df1", "df2"), [(1, 3), (3, 57), (40, 2000)])
def test_the_non_central_f_distribution_is_what_simulation_and_scipy_give(
    F: float, df1: int, df2: int
) -> None:
    rng = np.random.default_rng(1)
    for nc in (0.0, 3.0, 0.8 * df1 * F, 60_000.0):
        drawn = rng.noncentral_chisquare(df1, nc, 100_000) if nc else rng.chisquare(df1, 100_000)
        below = float(np.mean(drawn / df1 / (rng.chisquare(df2, 100_000) / df2) <= F))
        found = noncentral_f(F, df1, df2, nc)
        assert found == pytest.approx(below, abs=0.01)
        theirs = stats.ncf.cdf(F, df1, df2, nc) if nc else stats.f.cdf(F, df1, df2)
        if np.isfinite(theirs) and nc < 30_000:
            assert found == pytest.approx(theirs, abs=1e-9)


def test_the_interval_of_a_share_is_smooth_where_the_computation_changes() -> None:
    for df2 in (3, 60, 5000):
        below, above = (share_interval(1e8 * factor / 4, 4, df2, 0.95) for factor in (0.999, 1.001))
        assert below == pytest.approx(above, abs=1e-6)


def test_infinite_f_ratios_have_no_interval() -> None:
    assert np.isnan(share_interval(float("inf"), 2, 10, 0.95)).all()


def test_difference_of_two_correlations_with_one_measure_covers() -> None:
    rng = np.random.default_rng(5)
    S = np.array([[1, 0.7, 0.6], [0.7, 1, 0.3], [0.6, 0.3, 1]])  # a, b, x: r(a,x) = .6, r(b,x) = .3
    n, covered, alone = 40, 0, 0
    for _ in range(400):
        R = np.asarray(np.corrcoef(rng.multivariate_normal(np.zeros(3), S, n).T))
        a, b = ((R[i, 2], *fisher_interval(R[i, 2], n, 0.95)) for i in (0, 1))
        low, high = subtract_intervals(a, b, overlap(R[0, 2], R[1, 2], R[0, 1]))
        covered += low <= 0.3 <= high
        low, high = subtract_intervals(a, b)
        alone += low <= 0.3 <= high
    assert 0.92 <= covered / 400 <= 0.98
    assert alone > covered  # taking them as unrelated is too wide


@examples(25)
@given(
    seed=st.integers(0, 10_000),
    apart=st.sampled_from([0.0, 0.3, 1.5]),
    severity=st.sampled_from([0.0, 0.5, 2.0]),
)
def test_every_sentence_of_the_verdict_has_its_numbers_the_right_way_round(
    seed: int, apart: float, severity: float
) -> None:
    rng = np.random.default_rng(seed)
    frames = []
    for k in range(2):
        frame = make_ratings({f"s{j}": apart * j for j in range(4)}, seed=seed + k)
        shift = {f"r{r}": severity * rng.normal() for r in range(6)}
        frames.append(frame.assign(rating=frame["rating"] + frame["rater"].map(shift)))
    (found,) = compare_scales(*frames, labels=("A", "B"), resamples=20).criteria
    shares = {
        label: tuple(getattr(found[f"F-ratio of {name}"], side).share for name in ("system", "rater"))
        for label, side in (("A", "a"), ("B", "b"))
    }
    said = " ".join(found.verdict)
    for label, text in re.findall(r"On (A|B) (the system matters more than who rates \(.*?\))", said):
        numbers = [float(number) for number in re.findall(r"(\d+) %", text)]
        assert numbers == pytest.approx([100 * share for share in shares[label]], abs=0.51)
        assert numbers[0] > numbers[1]
    for label, text in re.findall(r"On (A|B) (who rates matters more .*?\(.*?\))", said):
        numbers = [float(number) for number in re.findall(r"(\d+) %", text)]
        assert numbers == pytest.approx([100 * share for share in shares[label][::-1]], abs=0.51)
        assert numbers[0] > numbers[1]
    for more, a, less, b in re.findall(
        r"(A|B) tells (\d+) of \d+ pairs of systems apart, (A|B) (\d+)\.", said
    ):
        counts = {"A": found["pairs that differ"].a.value, "B": found["pairs that differ"].b.value}
        assert (counts[more], counts[less]) == (int(a), int(b))
        assert int(a) > int(b)
    for one in found.properties:
        for side in (one.a, one.b, one.both, one.difference):
            if np.isfinite(side.low) and np.isnan(side.share):
                assert side.low <= side.value <= side.high


def test_scales_that_run_against_each_other_are_said_to() -> None:
    up = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    down = {name: 6 - mean for name, mean in up.items()}
    found = compare_scales(make_ratings(up), make_ratings(down, seed=2), resamples=50, labels=("up", "down"))
    assert "run against each other" in found["rating"].verdict[0]


def test_scales_that_measure_different_things_are_not_interchangeable() -> None:
    one = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0}
    other = {"a": 3.0, "b": 5.0, "c": 1.0, "d": 4.0, "e": 3.5}
    found = compare_scales(make_ratings(one), make_ratings(other, seed=2), resamples=50, labels=("x", "y"))
    assert "not interchangeable" in found["rating"].verdict[0]


def test_three_systems_that_agree_prove_little() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.0}
    found = compare_scales(make_ratings(means), make_ratings(means, seed=2), resamples=20, labels=("x", "y"))
    assert "3 systems are too few to rule out less than 0.9" in found["rating"].verdict[0]


def test_who_rates_may_matter_more_than_the_system() -> None:
    means = {"a": 1.0, "b": 1.1, "c": 1.2}
    harsh = make_ratings(means)
    harsh["rating"] += harsh["rater"].str[1:].astype(int)
    found = compare_scales(harsh, make_ratings(means, seed=2), resamples=20, labels=("x", "y"))["rating"]
    assert any("On x who rates matters more than which system is rated" in said for said in found.verdict)
    ratio = found["F-ratio of rater"].a
    assert ratio.low < ratio.share < ratio.high


def test_criteria_are_matched_by_name_and_by_hand() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.0}
    first = pd.concat([make_ratings(means, criterion=name) for name in ("fluency", "clarity", "odd")])
    second = pd.concat([make_ratings(means, criterion=name) for name in ("readability", "clarity")])
    found = compare_scales(first, second, match={"fluency": "readability"}, resamples=20, labels=("x", "y"))
    assert [one.criterion for one in found.criteria] == ["fluency / readability", "clarity"]
    assert "x: without a partner, so left out: odd." in found.notes
    with pytest.raises(UnknownName, match="Did you mean 'readability'"):
        compare_scales(first, second, match={"fluency": "redability"})
    lone = compare_scales(
        first[first["criterion"] == "odd"], make_ratings(means), resamples=20, labels=("x", "y")
    )
    assert "each has one criterion" in lone.notes[0]
    with pytest.raises(BadRatings, match="--match fluency=grace"):
        compare_scales(
            first[first["criterion"] != "clarity"], second.replace("clarity", "grace"), labels=("x", "y")
        )


def test_a_table_without_criteria_beside_several_is_asked_which_it_rates() -> None:
    rows = [(r, i, s, 3) for r in "xy" for i in "12" for s in "abc"]
    plain = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    named = pd.concat([plain.assign(criterion=name) for name in ("fluency", "grace")])
    for pair, which in (((named, plain), "y"), ((plain, named), "x")):
        with pytest.raises(
            BadRatings, match=rf"{which} has no column criterion, .* has fluency, grace: which"
        ):
            compare_scales(*pair, labels=("x", "y"))
    with pytest.raises(BadRatings, match="has no columns 'rating'"):  # first things first
        compare_scales(named, pd.DataFrame({"a": [1], "b": [2]}))


@pytest.mark.parametrize("text", ["fluency", "=b", "a="])
def test_a_match_is_two_names(text: str) -> None:
    with pytest.raises(BadRatings, match="--match takes A=B"):
        parse_match([text])


def test_one_rater_one_item_or_two_systems_leave_the_rest_standing() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.5}
    one_rater = compare_scales(
        make_ratings(means, raters=1), make_ratings(means, seed=2), resamples=20, labels=("x", "y")
    )["rating"]
    assert "fewer than two raters saw every system" in one_rater["Kendall's W, systems"].note
    assert np.isfinite(one_rater["Pearson's r"].both.value)
    one_item = compare_scales(
        make_ratings(means, items=1), make_ratings(means, items=1, seed=2), resamples=20, labels=("x", "y")
    )["rating"]
    assert np.isnan(one_item["pairs that differ"].a.low)
    assert any("There is one item" in note for note in one_item.notes)
    two = {name: means[name] for name in "ab"}
    pair = compare_scales(make_ratings(two), make_ratings(two, seed=2), resamples=20, labels=("x", "y"))[
        "rating"
    ]
    assert "with 2 systems a correlation says nothing" in pair["Pearson's r"].note
    assert "cannot be said" in pair.verdict[0]


def test_constant_ratings_are_said_not_to_tell() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.5}
    flat = make_ratings(means).assign(rating=3)
    found = compare_scales(flat, make_ratings(means, seed=2), resamples=20, labels=("x", "y"))["rating"]
    assert "equal means on one scale" in found["Pearson's r"].note
    assert np.isnan(found["F-ratio of system"].a.value)
    assert found["pairs that differ"].a.value == 0


def test_what_is_left_out_is_named() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.5}
    first = make_ratings(means | {"extra": 9.0})
    first.loc[0, "rating"] = np.nan
    found = compare_scales(first, make_ratings(means, items=9, seed=2), resamples=20, labels=("x", "y"))[
        "rating"
    ]
    assert "x: systems that the other scale lacks are left out: extra." in found.notes
    assert "x: 1 of 192 rows are incomplete and left out." in found.notes
    assert "1 of 9 items were rated on one scale only." in found.notes
    assert found.systems == ("a", "b", "c")


def test_raters_who_did_not_see_every_system_are_counted() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.5}
    first = make_ratings(means)
    first = first[(first["rater"] != "r0") | (first["system"] != "b")]
    found = compare_scales(first, make_ratings(means, seed=2), resamples=20, labels=("x", "y"))["rating"]
    assert found["Kendall's W, systems"].note == "on x from the 5 of 6 raters who saw every system"


def test_text_type_is_used_where_the_table_has_it() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.5}
    frames = [
        make_ratings(means, seed=seed).assign(text_type=lambda f: np.where(f["item"] < "i4", "news", "sport"))
        for seed in (1, 2)
    ]
    found = compare_scales(*frames, resamples=20, labels=("x", "y"))["rating"]
    y, kind = frames[0]["rating"], frames[0]["text_type"]
    expected = stats.f_oneway(y[kind == "news"], y[kind == "sport"]).statistic
    assert found["F-ratio of text type"].a.value == pytest.approx(expected)


def outside(path: Path, **columns: list[Any]) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_outside_measures_are_found_or_asked_for(tmp_path: Path) -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.5}
    first, second = make_ratings(means), make_ratings(means, seed=2)
    several = outside(tmp_path / "v.csv", system=["a", "b", "c"], speed=[1, 2, 3], accuracy=[0.1, 0.5, 0.6])
    with pytest.raises(BadRatings, match=r"'speed', 'accuracy'\. Name one with --measure"):
        compare_scales(first, second, validity=several, resamples=20)
    found = compare_scales(
        first, second, validity=several, measure="accuracy", resamples=20, labels=("x", "y")
    )
    one: ScalesOnCriterion = found["rating"]
    means_of_a = first.groupby("system")["rating"].mean()
    expected = stats.pearsonr(means_of_a, [0.1, 0.5, 0.6]).statistic
    assert one["Pearson's r with accuracy"].a.value == pytest.approx(expected)
    with pytest.raises(BadRatings, match="Did you mean 'accuracy'"):
        compare_scales(first, second, validity=several, measure="acuracy", resamples=20)
    few = outside(tmp_path / "few.csv", system=["a", "z"], score=[1, 2])
    with pytest.raises(BadRatings, match="score for 1 of the systems"):
        compare_scales(first, second, validity=few, resamples=20)
    single = outside(tmp_path / "s.csv", system=list("abcabc"), score=[1, 2, 3, 3, 2, 4])
    mean = compare_scales(first, second, validity=single, resamples=20, labels=("x", "y"))["rating"]
    assert mean["Pearson's r with score"].a.value == pytest.approx(
        stats.pearsonr(means_of_a, [2, 2, 3.5]).statistic
    )


def test_bad_input_says_what_to_do() -> None:
    means = {"a": 1.0, "b": 2.0, "c": 3.5}
    first = make_ratings(means)
    with pytest.raises(BadRatings, match="share 0 systems"):
        compare_scales(first, make_ratings({"x": 1.0, "y": 2.0}), labels=("x", "y"))
    with pytest.raises(BadRatings, match="are not numbers"):
        compare_scales(first.assign(rating="good"), first, labels=("x", "y"))
    with pytest.raises(BadRatings, match="no column 'rater'"):
        compare_scales(first.drop(columns="rater"), first, labels=("x", "y"))
    with pytest.raises(BadModel, match="between 0 and 1"):
        compare_scales(first, first, confidence=95)
    with pytest.raises(BadModel, match="at least 2 resamples"):
        compare_scales(first, first, resamples=0)


def test_the_same_seed_gives_the_same_intervals() -> None:
    means = {"a": 1.0, "b": 1.4, "c": 2.0, "d": 2.2}
    first, second = make_ratings(means), make_ratings(means, seed=2)
    one, two = (compare_scales(first, second, resamples=50, seed=7).to_json() for _ in range(2))
    assert one == two
    assert one != compare_scales(first, second, resamples=50, seed=8).to_json()
