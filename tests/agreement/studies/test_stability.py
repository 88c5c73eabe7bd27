"""Stability: pairs of occasions, per rater and overall; internal consistency over criteria."""

import json

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.coefficients.consistency import measure_consistency
from panelist.agreement.studies.stability import measure_stability
from panelist.core.errors import BadRatings
from tests.shared_cases import MISSING, SHARED

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)


def twice(raters: int = 6, items: int = 25, noise: float = 0.6, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = []
    for rater in range(raters):
        for item in range(items):
            latent = 3 + random.normal()
            for occasion in ("1", "2"):
                rating = int(np.clip(np.rint(latent + noise * random.normal()), 1, 5))
                rows.append((f"r{rater}", f"i{item}", "quality", occasion, rating))
    return pd.DataFrame(rows, columns=["rater", "item", "criterion", "occasion", "rating"])


def pairs_of(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.pivot_table(index=["rater", "item"], columns="occasion", values="rating")


def test_overall_coefficients_are_those_of_the_paired_ratings() -> None:
    frame = twice()
    (found,) = measure_stability(frame, resamples=50)
    pairs = pairs_of(frame)
    assert found.overall.n_items == len(pairs) == 150
    assert found.overall.estimates["pearson"] == pytest.approx(pairs.corr().loc["1", "2"])
    assert found.overall.estimates["percent_agreement"] == pytest.approx((pairs["1"] == pairs["2"]).mean())
    assert found.overall.shift == pytest.approx((pairs["2"] - pairs["1"]).mean())
    squares = ((pairs["1"].to_numpy()[:, None] - pairs["2"].to_numpy()) ** 2).mean()
    kappa = 1 - ((pairs["1"] - pairs["2"]) ** 2).mean() / squares
    assert found.overall.estimates["weighted_kappa_quadratic"] == pytest.approx(kappa)
    assert (
        0
        < found.overall.low["pearson"]
        < found.overall.estimates["pearson"]
        < found.overall.high["pearson"]
        < 1
    )


def test_each_rater_has_coefficients_of_his_own() -> None:
    frame = twice()
    frame.loc[(frame["rater"] == "r2") & (frame["occasion"] == "2"), "rating"] = frame.loc[
        (frame["rater"] == "r2") & (frame["occasion"] == "1"), "rating"
    ].to_numpy()
    (found,) = measure_stability(frame, resamples=20)
    assert [one.rater for one in found.raters] == [f"r{k}" for k in range(6)]
    assert found.raters[2].estimates == pytest.approx(
        {"pearson": 1, "percent_agreement": 1, "weighted_kappa_quadratic": 1, "icc_a1": 1}
    )
    own = pairs_of(frame).loc["r4"]
    assert found.raters[4].estimates["pearson"] == pytest.approx(own["1"].corr(own["2"]))


def test_a_shift_lowers_agreement_but_not_correlation() -> None:
    frame = twice(noise=0.0)
    frame["rating"] += (frame["occasion"] == "2").astype(int)
    (found,) = measure_stability(frame, resamples=20)
    assert found.overall.estimates["pearson"] == pytest.approx(1)
    assert found.overall.estimates["percent_agreement"] == 0
    assert found.overall.shift == pytest.approx(1)
    assert found.overall.estimates["icc_a1"] < 0.9


def test_intervals_repeat_with_their_seed() -> None:
    frame = twice()
    first, again, other = (measure_stability(frame, resamples=40, seed=seed)[0] for seed in (1, 1, 2))
    assert first.overall.low == again.overall.low != other.overall.low


def test_ratings_of_one_occasion_only_are_counted_and_left_out() -> None:
    frame = twice().drop(index=[0, 5])
    (found,) = measure_stability(frame, resamples=20)
    assert found.overall.n_items == 148
    assert "2 ratings were given on one occasion only" in " ".join(found.notes)


def test_occasions_are_in_the_order_of_their_numbers() -> None:
    frame = twice().replace({"occasion": {"1": "2", "2": "10"}})
    (found,) = measure_stability(frame, resamples=20)
    assert (found.first, found.second) == ("2", "10")


def test_texts_of_one_item_are_told_apart() -> None:
    frame = twice(items=10)
    frame["text"] = frame["item"]
    frame["item"] = "one"
    (found,) = measure_stability(frame, resamples=20)
    assert found.overall.n_items == 60


def test_repeated_ratings_within_an_occasion_are_counted() -> None:
    frame = pd.concat([twice(), twice().head(3)])
    (found,) = measure_stability(frame, resamples=20)
    assert found.overall.n_items == 150
    assert "3 ratings repeat one of the same occasion" in " ".join(found.notes)


def test_words_get_kappa_and_percent_agreement() -> None:
    frame = twice()
    frame["rating"] = np.where(frame["rating"] > 3, "good", "bad")
    (found,) = measure_stability(frame, resamples=20)
    assert list(found.overall.estimates) == ["cohen_kappa", "percent_agreement"]
    assert np.isnan(found.overall.shift)


def test_the_result_shows_itself() -> None:
    (found,) = measure_stability(twice(), resamples=20)
    assert "the same raters on occasions 1 and 2: Pearson's r is" in found.sentence()
    assert "Rosenthal 1996" in found.sentence()
    assert json.loads(found.to_json())["occasions"] == ["1", "2"]
    assert "weighted_kappa_quadratic" in str(found)


def test_one_occasion_has_no_stability() -> None:
    with pytest.raises(BadRatings, match="two occasions"):
        measure_stability(twice().query("occasion == '1'"))


def test_occasions_with_nothing_in_common_are_refused() -> None:
    frame = twice()
    frame["item"] = frame["item"] + frame["occasion"]
    with pytest.raises(BadRatings, match="Nobody rated the same item"):
        measure_stability(frame)


def several(n: int = 80, seed: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    matrix = np.rint(4 + random.normal(size=(n, 1)) + 0.8 * random.normal(size=(n, 3)))
    rows = [
        (f"r{case % 4}", f"i{case // 4}", name, matrix[case, part])
        for case in range(n)
        for part, name in enumerate(("clarity", "fluency", "relevance"))
    ]
    return pd.DataFrame(rows, columns=["rater", "item", "criterion", "rating"]), matrix


def alpha_of(matrix: np.ndarray) -> float:
    k = matrix.shape[1]
    whole = matrix.sum(axis=1).var(ddof=1)
    return float(k / (k - 1) * (1 - matrix.var(axis=0, ddof=1).sum() / whole))


def test_criteria_are_the_parts_of_cronbachs_alpha() -> None:
    frame, matrix = several()
    found = measure_consistency(frame)
    assert found.alpha == pytest.approx(alpha_of(matrix))
    assert found.without["clarity"] == pytest.approx(alpha_of(matrix[:, 1:]))
    assert (found.n_rows, found.n_raters) == (80, 4)
    assert found.low < found.alpha < found.high


@needs_shared
def test_alpha_of_the_attitude_data_comes_out_with_feldts_interval() -> None:
    from scipy.stats import f

    cases = json.loads((SHARED / "agreement_cases.json").read_text("utf-8"))
    case = next(case for case in cases if case["id"] == "cronbach_attitude")
    rows = [
        ("one", f"s{i}", f"c{j}", value) for i, row in enumerate(case["data"]) for j, value in enumerate(row)
    ]
    found = measure_consistency(pd.DataFrame(rows, columns=["rater", "item", "criterion", "rating"]))
    alpha = case["expected"]["exact"]["raw_alpha"]
    assert found.alpha == pytest.approx(alpha, abs=1e-12)
    ends = [1 - (1 - alpha) * f.ppf(tail, 29, 29 * 6) for tail in (0.975, 0.025)]
    assert [found.low, found.high] == pytest.approx(ends)
    assert [round(found.low, 2), round(found.high, 2)] == [0.74, 0.92]


def test_a_criterion_that_runs_the_other_way_is_named() -> None:
    frame, _ = several()
    turned = frame["criterion"] == "fluency"
    frame.loc[turned, "rating"] = 8 - frame.loc[turned, "rating"]
    assert any(note.startswith("fluency correlates negatively") for note in measure_consistency(frame).notes)


def test_cases_that_lack_a_criterion_are_counted() -> None:
    frame, _ = several()
    found = measure_consistency(frame.drop(index=[0, 4]))
    assert found.n_rows == 78
    assert "2 of 80 cases lack a criterion" in " ".join(found.notes)


def test_one_criterion_has_no_internal_consistency() -> None:
    with pytest.raises(BadRatings, match="two criteria or more"):
        measure_consistency(several()[0].query("criterion == 'fluency'"))
