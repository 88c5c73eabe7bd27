"""Every block of reference.json within its own tolerances (its README says who computed it)."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from bench.ppi import estimate_mean, regress_mean
from panelist.core.tables.ratings import read_ratings
from panelist.judges.correct.covariates import rank_scores
from panelist.judges.correct.regression import correct_means
from panelist.judges.correct.strengths import correct_strengths, fit_strengths
from panelist.judges.correct.weights import weigh_means
from panelist.judges.match_pairs import match_pairs
from panelist.judges.table import read_judges
from panelist.judges.units import Units, make_units
from panelist.judges.worth.accuracy import accuracy_of_outputs, accuracy_of_systems, soft_accuracy
from panelist.judges.worth.agreement import AnswerAgreement
from panelist.judges.worth.alt_test import pool_raters, run_alt_test
from panelist.judges.worth.bias import measure_favour, measure_length
from panelist.judges.worth.calibration import calibrate
from panelist.judges.worth.levels import (
    ItemSums,
    correlate,
    measure_levels,
    paired_correlation,
    percentile,
    resample_items,
)
from panelist.judges.worth.measure import measure_judges
from panelist.judges.worth.replaced import measure_replaced
from panelist.numerics.arrays import Floats
from tests.judges.shared_judges import hanna, judges, keys, needs_shared, pairs, reference, synthetic, table

pytestmark = needs_shared


def check_worth(expected: dict[str, Any], people: Floats, judge: Floats, systems: tuple[str, ...]) -> None:
    levels, ties = measure_levels(people, judge, systems), accuracy_of_outputs(people, judge)
    found = {
        **{f"output_{k}": v for k, v in _three(levels.output).items()},
        **{f"system_{k}": v for k, v in _three(levels.system).items()},
        "by_item_pearson": levels.by_item_pearson,
        "by_item_kendall_b": levels.by_item_kendall,
        "by_item_n": levels.by_item_n,
        "paired_pearson": levels.paired,
        "paired_min": levels.paired_lowest,
        "paired_max": levels.paired_highest,
        "paired_mean_over_pairs": levels.paired_mean,
        "largest_saving": levels.largest_saving,
        "pairwise_accuracy_systems": accuracy_of_systems(people, judge),
        "spa_normal": soft_accuracy(people, judge, flips=None),
        "acc_eq_eps0": ties.at_zero,
        "acc_eq_best": ties.best,
        "acc_eq_epsilon": ties.epsilon,
        "acc_eq_split_half": ties.split_half,
    }
    known = {name: value for name, value in expected.items() if name in found}
    assert {name: found[name] for name in known} == pytest.approx(known, abs=1e-6)
    if "spa_100000" in expected:
        assert soft_accuracy(people, judge, flips=20_000) == pytest.approx(expected["spa_100000"], abs=0.004)
        flipped = expected["spa_mt_metrics_eval_1000_seed4"]
        assert soft_accuracy(people, judge) == pytest.approx(flipped, abs=0.01)
    if "system_pearson_lowest_without_one" in expected:
        name, lowest = expected["system_pearson_lowest_without_one"]
        assert levels.system_lowest_without_one[0] == name
        assert levels.system_lowest_without_one[1] == pytest.approx(lowest, abs=1e-6)
    if "system_pearson_without_Human" in expected:
        kept = [at for at, name in enumerate(systems) if name != "Human"]
        r = correlate(people[:, kept].mean(axis=0), judge[:, kept].mean(axis=0))
        assert r == pytest.approx(expected["system_pearson_without_Human"], abs=1e-6)


def _three(one: Any) -> dict[str, float]:
    return {"pearson": one.pearson, "spearman": one.spearman, "kendall_b": one.kendall}


@pytest.mark.parametrize("key", keys("hanna", "worth"))
def test_worth_on_hanna(key: str) -> None:
    criterion, judge = key.split("|")
    beside = hanna(criterion, judge)
    expected = reference()["hanna"]["worth"][key]
    check_worth(expected, beside.means, beside.scores[judge], beside.systems)
    if "bootstrap_items_95" in expected:
        drawn = resample_items([ItemSums.prepare(beside.means, beside.scores[judge])])[0]
        for name, values in zip(("output", "system", "paired"), drawn, strict=True):
            ends = expected["bootstrap_items_95"][f"{name}_pearson"]
            assert percentile(values, 0.95) == pytest.approx(ends, abs=0.03)


def test_places_are_not_persons() -> None:
    for criterion, expected in reference()["hanna"]["places_are_not_persons"].items():
        frame = table("hanna_people")
        frame = frame[frame["criterion"] == criterion]
        wide = frame.pivot_table(index=["item", "system"], columns="place", values="rating").to_numpy()
        r = np.mean([correlate(wide[:, i], wide[:, j]) for i, j in combinations(range(3), 2)])
        assert r == pytest.approx(expected["mean_correlation_of_places"], abs=1e-9)


@pytest.mark.parametrize("judge", keys("syn_worth"))
def test_worth_on_synthetic_ratings(judge: str) -> None:
    beside, expected = synthetic(), reference()["syn_worth"][judge]
    check_worth(expected, beside.means, beside.scores[judge], beside.systems)
    rows = beside.labelled
    sums = ItemSums.prepare(beside.means[rows], beside.scores[judge][rows])
    output, _, paired = resample_items([sums])[0]  # r of three systems is noise, in the reference as well
    for name, values in (("output_pearson", output), ("paired_pearson", paired)):
        assert percentile(values, 0.95) == pytest.approx(expected["bootstrap_items_95"][name], abs=0.03)


def test_small_cases() -> None:
    case = reference()["small_cases"]
    ties = accuracy_of_outputs(np.array([case["gold"]], float), np.array([case["metric"]], float))
    assert (ties.best, ties.epsilon) == pytest.approx(tuple(case["acc_eq_best"]))
    assert ties.at_zero == pytest.approx(case["acc_eq_eps0"])
    people, judge = (np.array(case["spa"][f"{who}_by_system"], float).T for who in ("gold", "metric"))
    exact = case["spa"]["exact_share_at_or_above"]
    assert soft_accuracy(people, judge, flips=100_000) == pytest.approx(exact, abs=0.004)
    swapped = case["spa"]["exact_share_at_or_above_systems_swapped"]
    turned = soft_accuracy(people[:, ::-1], judge[:, ::-1], flips=100_000)
    assert turned == pytest.approx(swapped, abs=0.004)


@pytest.mark.parametrize("judge", keys("worth_by_components"))
def test_worth_by_components(judge: str) -> None:
    found, expected = measure_replaced(synthetic(), judge), reference()["worth_by_components"][judge]
    mine = {
        "v_within": found.v_within,
        "gamma_within": found.gamma_within,
        "r_true": found.r_true,
        "r_observed_expected": found.r_observed,
        "saving": found.saving,
        "n_eff": found.n_eff,
        "equivalent_people": found.equivalent,
    }
    assert mine == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize("key", keys("bias"))
def test_bias(key: str) -> None:
    expected = reference()["bias"][key]
    if key.startswith("syn"):
        beside, judge, length = synthetic(), "favours-C", table("syn_outputs")
        words, plus = length.pivot_table(index="item", columns="system", values="words"), 0.0
    else:
        _, criterion, judge = key.split("|")
        beside, length = hanna(criterion, judge), table("hanna_metrics")
        length = length[length["metric"] == "Text length"]
        words, plus = length.pivot_table(index="item", columns="system", values="value"), 1.0
    f = beside.scores[judge]
    whole = np.isfinite(f).all(axis=1, keepdims=True)
    people = np.where(whole, beside.means, np.nan)
    favour = {
        one.system: {"mean": one.estimate, "se": one.se, "low": one.low, "high": one.high}
        for one in measure_favour(beside, judge, f, model=False)
    }
    for system, values in expected["favour"].items():
        assert favour[system] == pytest.approx(values, abs=1e-6)
    grid = words.loc[list(beside.items), list(beside.systems)].to_numpy(float)
    slope = measure_length(people, f, grid + plus)  # HANNA's reference has log(length + 1)
    assert slope is not None
    assert vars(slope) == pytest.approx(expected["length"], abs=1e-6)
    for point, row in zip(calibrate(beside.means, f, True), expected.get("calibration", []), strict=False):
        found = (point.judge_score, point.outputs, point.people_mean)
        assert found == pytest.approx((row["judge_score"], row["outputs"], row["people_mean"]), abs=1e-6)


@pytest.mark.slow
def test_pairs_of_pandalm() -> None:
    people, machines, words = pairs("pandalm_pairs")
    for one in measure_judges(people, machines, outputs=words, combine=False, resamples=100).judges:
        expected = reference()["pandalm"][one.judge]
        output = one.level("output")
        found = (output.people, output.judge_alike, output.pearson, one.reliability, one.disattenuated)
        names = ["person_vs_others_pearson", "judge_vs_same_others_pearson"]
        names += ["score_pearson_with_mean_of_people", "reliability_mean", "disattenuated"]
        assert found == pytest.approx([expected[name] for name in names], abs=1e-6)
        assert (one.n_outputs, sum(one.missing.values())) == (expected["n"], expected["no_answer"])
        assert isinstance(one.agreement, AnswerAgreement)
        for rater in one.agreement.raters:
            assert rater.with_judge == pytest.approx(expected["agreement_with_each"][rater.rater], abs=1e-6)
            others = expected["person_agreement_with_others"][rater.rater]
            assert rater.with_others == pytest.approx(others, abs=1e-6)
        assert one.length is not None
        slopes = (one.length.slope, one.length.se, one.length.judge_slope, one.length.people_slope)
        names = ["slope", "se_hc1", "judge_alone_slope", "people_slope"]
        assert slopes == pytest.approx([expected["length"][name] for name in names], abs=1e-6)
        for bias in one.bias:
            rate = expected["win_rate_by_system"][bias.system]
            assert (bias.estimate, bias.se) == pytest.approx(
                (rate["judge_minus_people"], rate["se"]), abs=1e-6
            )


def test_both_orders_of_a_judge() -> None:
    people, machines, words = pairs("syn_pairs")
    one = measure_judges(people, machines, outputs=words, resamples=100).judges[0]
    expected, place = reference()["swap"]["syn_pairs|swapper"], one.position
    assert place is not None
    assert one.length is not None
    counts = (place.answered_in_both, place.missing_in_one, place.to_first, place.to_second)
    names = ["answered_in_both", "no_answer_in_one_order"]
    names += ["reversed_towards_first", "reversed_towards_second"]
    assert list(counts) == [expected[name] for name in names]
    found = (place.same, place.bias, place.se, one.level("output").pearson, one.length.slope, one.length.se)
    names = ["same_answer", "position_bias", "position_bias_se", "pearson_both_orders"]
    names += ["length_slope", "length_slope_se_by_item"]
    assert found == pytest.approx([expected[name] for name in names], abs=1e-6)


def test_pairs_of_unknown_raters_say_so() -> None:
    people, machines, _ = pairs("syn_pairs")
    nobody = people.drop(columns="rater")
    one = measure_judges(nobody, machines, resamples=100).judges[0]
    assert (one.alt_test, one.agreement) == (None, None)
    assert "raters are unknown: no ceiling and no alt-test" in one.notes
    alone = people[people["rater"] == people["rater"].iloc[0]]
    assert (
        "one rater only: no ceiling and no alt-test"
        in measure_judges(alone, machines, resamples=100).judges[0].notes
    )


def make_alt_units(name: str, judge: str) -> Units:
    frame = table(name).rename(columns={"item": "unit"})
    if "winner" in frame:
        frame = frame.assign(rating=frame["winner"].map({"a": 1.0, "b": 0.0, "tie": 0.5}))
    code = {unit: at for at, unit in enumerate(sorted(frame["unit"].unique()))}
    people = frame[frame["kind"] == "person"]
    raters = tuple(sorted(people["rater"].unique()))
    f = np.full(len(code), 3.0 if judge.startswith("constant") else np.nan)
    own = frame[frame["rater"] == judge].dropna(subset="rating")
    f[own["unit"].map(code).to_numpy(dtype=np.int64)] = own["rating"]
    place = {name: at for at, name in enumerate(raters)}
    rater = people["rater"].map(place).to_numpy(dtype=np.int64)
    unit = people["unit"].map(code).to_numpy(dtype=np.int64)
    return make_units(unit, rater, people["rating"].to_numpy(dtype=float), f, raters)


@pytest.mark.parametrize("key", keys("alt_test", "per_rater"))
def test_alt_test(key: str) -> None:
    name, judge, *rest = key.split("|")
    expected = reference()["alt_test"]["per_rater"][key]
    equality = name == "pandalm" or rest[0] == "accuracy"
    units = make_alt_units("pandalm_pairs" if name == "pandalm" else "syn_alt", judge)
    found = run_alt_test(units, float(rest[-1].split()[-1]), "equality" if equality else "distance")
    assert found is not None
    assert found.winning_rate == expected["winning_rate"]
    assert found.advantage == pytest.approx(expected["advantage"], abs=1e-9)
    assert found.n_units == expected["units"]
    for one, row in zip(found.raters, expected["raters"], strict=True):
        assert (one.rater, one.n, one.wins) == (row["rater"], row["n"], row["wins"])
        assert (one.d, one.t, one.advantage) == pytest.approx(
            (row["d"], row["t"], row["advantage"]), abs=1e-9
        )
        assert one.p == pytest.approx(row["p"], abs=1e-6)


@pytest.mark.parametrize("judge", keys("alt_test", "pooled_syn_alt_neg_rmse"))
def test_alt_test_of_pooled_raters(judge: str) -> None:
    from panelist.judges.worth.alt_test import _score

    units = make_alt_units("syn_alt", judge).answered()
    person, machine, kept = _score(units, "distance")
    d, near = (person >= machine).astype(float) - (machine >= person), (machine >= person).astype(float)
    expected = reference()["alt_test"]["pooled_syn_alt_neg_rmse"][judge]
    for epsilon in (0.1, 0.2):
        found = pool_raters(d, near, units.rater[kept], units.unit[kept], epsilon)
        assert found.n == expected["n"]
        assert (found.mean_d, found.se, found.advantage) == pytest.approx(
            (expected["mean_d"], expected["se"], expected["advantage"]), abs=1e-5
        )
        assert found.df == pytest.approx(expected["df"], abs=0.05)
        assert found.p == pytest.approx(expected[f"p_epsilon_{epsilon}"], abs=1e-4)


@pytest.mark.parametrize("key", keys("ppi"))
def test_naive_ppi_that_stands_beside(key: str) -> None:
    expected = reference()["ppi"][key]
    y, f, here = _ppi_case(key)
    for name, weight in (("tuned", None), ("lambda_1", 1.0), ("people_only", 0.0)):
        found = estimate_mean(y[here], f[here], f[~here], weight)
        row = expected[name]
        assert (found.value, found.low, found.high) == pytest.approx(
            (row["estimate"], row["low"], row["high"]), abs=1e-8
        )
        assert found.weight == pytest.approx(row.get("lambda", weight), abs=1e-8)
    estimate, se, slope = regress_mean(y[here], f[here], f)
    row = expected["regression"]
    assert (estimate, se, slope) == pytest.approx((row["estimate"], row["se"], row["gamma"]), abs=1e-8)


def _ppi_case(key: str) -> tuple[Floats, Floats, Any]:
    """Return people's values (nan where unlabelled is fine), the judge's, and which items are labelled."""
    if key.startswith("hanna"):
        _, criterion, judge, what = key.split("|")
        beside = hanna(criterion, judge)
        at = {name: place for place, name in enumerate(beside.systems)}
        ends = [what.removeprefix("mean ")] if what.startswith("mean ") else what.split(" - ")
        row = np.zeros(len(at))
        row[[at[name] for name in ends]] = [1.0, -1.0][: len(ends)]
        here = np.isin(np.array(beside.items), table("hanna_labelled_20")["item"].to_numpy())
        return beside.means @ row, beside.scores[judge] @ row, here
    _, what, judge = key.split("|")
    system = what.removeprefix("win rate of ")
    frame = table("pandalm_pairs")
    frame = frame[(frame["system_a"] == system) | (frame["system_b"] == system)]
    score = frame["winner"].map({"a": 1.0, "b": 0.0, "tie": 0.5})
    frame = frame.assign(score=np.where(frame["system_a"] == system, score, 1 - score))
    people = frame[frame["kind"] == "person"].groupby("item")["score"].mean()
    machine = frame[frame["rater"] == judge].set_index("item")["score"].dropna()
    people = people.reindex(machine.index)
    here = machine.index.isin(table("pandalm_labelled_200")["item"])
    return people.to_numpy(), machine.to_numpy(), here


@pytest.mark.parametrize("key", keys("aipw"))
def test_weights(key: str) -> None:
    name, judge = key.split("|")
    drawn = "strata" in name
    beside = synthetic("syn_strata_people" if drawn else "syn_people")
    sample = table("syn_sample").set_index("item").loc[list(beside.items)]
    probability = sample["strata_probability" if drawn else "probability"].to_numpy()
    expected = reference()["aipw"][key]
    found = weigh_means(beside, probability, {judge: beside.scores[judge]})
    assert found.estimate == pytest.approx(list(expected["theta"].values()), abs=1e-8)
    rows = np.array([[1.0, -1, 0], [1, 0, -1], [0, 1, -1]])
    se = np.sqrt(np.einsum("ij,jk,ik->i", rows, found.by_item, rows))
    assert se == pytest.approx(list(expected["se_items"].values()), abs=1e-8)
    slopes = {one.term: one.estimate for one in found.slopes}
    assert slopes["within"] == pytest.approx(expected["gamma_within"], abs=1e-8)
    assert slopes["between"] == pytest.approx(expected["gamma_between"], abs=1e-8)
    alone = weigh_means(beside, probability, {})
    assert alone.estimate == pytest.approx(list(expected["hajek_people_only"].values()), abs=1e-8)


@pytest.mark.parametrize("judge", ["gpt-3.5-turbo", "pandalm-7b"])
def test_strengths(judge: str) -> None:
    people, machines, _ = pairs("pandalm_pairs")
    people = people[people["item"].isin(table("pandalm_labelled_200")["item"])]
    data = match_pairs(read_ratings(people), read_judges(machines), "choice", [judge])
    expected, found = reference()["bradley_terry"][f"pandalm 200 labelled|{judge}"], correct_strengths(data)
    assert found.people is not None
    assert (found.n_items, found.n_labelled) == (expected["N"], expected["n"])
    assert found.weights[0] == pytest.approx(expected["lambda"], abs=1e-6)
    assert found.estimate == pytest.approx(expected["theta"], abs=1e-6)
    assert found.by_item == pytest.approx(np.array(expected["cov"]), abs=1e-6)
    assert found.people.estimate == pytest.approx(expected["theta_people"], abs=1e-6)
    assert np.sqrt(np.diag(found.people.by_item)) == pytest.approx(expected["se_people"], abs=1e-6)


def test_strengths_of_peoples_means() -> None:
    people, machines, _ = pairs("pandalm_pairs")
    data = match_pairs(read_ratings(people), read_judges(machines), "choice", ["pandalm-7b"])
    expected = reference()["bradley_terry"]["pandalm all 999, people's mean scores"]
    found = fit_strengths(data.a, data.b, data.score, len(data.systems))
    assert found.theta == pytest.approx(expected["theta"], abs=1e-6)


@pytest.mark.parametrize("key", keys("mixed_regression"))
def test_mixed_regression(key: str) -> None:
    expected = reference()["mixed_regression"][key]
    beside, scores, stratum = _regression_case(key)
    found = correct_means(beside, scores, stratum=stratum)
    S = len(found.systems)
    rows = np.array([np.eye(S)[i] - np.eye(S)[j] for i, j in combinations(range(S), 2)])
    estimate, se, low, high = found.intervals(rows)
    df = found.measure(rows)[1]
    for at, pair in enumerate(expected["pairs"]):
        assert (estimate[at], se[at]) == pytest.approx((pair["difference"], pair["se"]), abs=1e-4)
        assert df[at] == pytest.approx(pair["df"], abs=0.1)
        assert (low[at], high[at]) == pytest.approx((pair["low"], pair["high"]), abs=1e-4)
        if "v_people" in pair:
            people, items = found.split(rows[at : at + 1])
            assert (people[0], items[0]) == pytest.approx((pair["v_people"], pair["v_items"]), abs=1e-5)
    assert found.estimate == pytest.approx([one["estimate"] for one in expected["means"]], abs=1e-4)
    errors = np.sqrt(found.measure(np.eye(S))[0])
    assert errors == pytest.approx([one["se"] for one in expected["means"]], abs=1e-4)
    slopes = [(one.estimate, one.se) for one in found.slopes]
    assert slopes == [
        pytest.approx((one["estimate"], one["se"]), abs=1e-4) for one in expected.get("slopes", [])
    ]
    for at, (i, j) in enumerate(combinations(range(S), 2)):
        if "lmerTest" in expected:
            row = expected["lmerTest"][f"{found.systems[i]}-{found.systems[j]}"]
            assert (estimate[at], se[at]) == pytest.approx((row["difference"], row["se"]), abs=1e-4)
            assert df[at] == pytest.approx(row["df"], abs=0.1)


def _regression_case(key: str) -> tuple[Any, Any, Any]:
    if key.startswith("hanna"):
        _, criterion, judge = key.split("|")
        beside = hanna(criterion, judge, labelled=True)
        return beside, None, None
    name, what = key.split("|")
    beside = synthetic("syn_strata_people" if "strata" in name else "syn_people")
    if what == "people only":
        return beside, {}, None
    if what == "all three":
        return beside, None, None
    judge = what.removesuffix(", midranks")
    grid = beside.scores[judge]
    scores = {judge: rank_scores(grid) if what.endswith("midranks") else grid}
    known = dict(zip(table("syn_sample")["item"], table("syn_sample")["stratum"], strict=True))
    return beside, scores, [known[item] for item in beside.items] if "strata" in name else None


def test_paired_r_is_the_pooled_correlation_of_differences() -> None:
    beside = hanna("coherence", "ChatGPT prompt 1")
    y, f = beside.means, beside.scores["ChatGPT prompt 1"]
    sums = np.zeros(3)
    for i, j in combinations(range(y.shape[1]), 2):
        a, b = y[:, i] - y[:, j], f[:, i] - f[:, j]
        sums += np.cov(a, b)[[0, 0, 1], [1, 0, 1]]
    assert paired_correlation(y, f) == pytest.approx(sums[0] / np.sqrt(sums[1] * sums[2]), abs=1e-12)


def test_scores_off_the_scale_are_refused_by_name_and_count() -> None:
    from panelist.judges.scale import match_scales

    scores = judges("hanna_judges")
    _, found = match_scales(scores.on("surprise"), np.array([1.0, 5.0]))
    assert found["Mistral-7B prompt 1"].n_off == 80
    assert "80 of 1,056" in found["Mistral-7B prompt 1"].note
