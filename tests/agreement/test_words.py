"""Every automatic sentence is checked against the numbers that it is shown with, on many simulated tables."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from panelist.agreement.criterion_table import from_matrix
from panelist.agreement.measure import measure_agreement
from panelist.agreement.reliability import CriterionReliability
from panelist.agreement.statistics.category_margins import agree_on_categories, describe_margins
from panelist.agreement.studies.raters import study_raters
from panelist.numerics.arrays import Floats
from tests.examples import examples

PAIRS_OF_NUMBERS = re.compile(r"is (-?[\d.]+) \((-?[\d.]+) to (-?[\d.]+)")


def to_frame(x: Floats) -> pd.DataFrame:
    unit, rater = np.nonzero(~np.isnan(x))
    return pd.DataFrame(
        {"item": [f"i{u}" for u in unit], "rater": [f"r{r}" for r in rater], "rating": x[unit, rater]}
    )


def simulate(seed: int, raters: int, shift: float, stretch: float, noise: float, skew: float) -> Floats:
    """Return 40 outputs × raters on five points; raters differ in level and in how much of them they use."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(40, 1)) + noise * rng.normal(size=(40, raters))
    latent = latent * np.exp(stretch * rng.normal(size=raters)) + shift * rng.normal(size=raters)
    return np.clip(np.round(3 + skew + latent), 1, 5)


def equal_pairs(x: Floats) -> float:
    """Return the share of equal pairs of ratings, from whole counts: 96 of 120 is .8 to the last digit."""
    equal = [x[:, a] == x[:, b] for a, b in combinations(range(x.shape[1]), 2)]
    return float(np.sum(equal) / np.size(equal))


def mean_rho(x: Floats) -> float:
    found = [
        float(spearmanr(x[:, a], x[:, b]).statistic)
        for a, b in combinations(range(x.shape[1]), 2)
        if np.ptp(x[:, a]) and np.ptp(x[:, b])
    ]
    return float(np.mean(found)) if found else float("nan")


def share_between_raters(x: Floats) -> float:
    """Return the variance of the raters' means, less what noise adds to it, over it and the error."""
    centred = x - x.mean(axis=1, keepdims=True)
    centred = centred - centred.mean(axis=0)
    n, k = x.shape
    error = float((centred**2).sum() / ((n - 1) * (k - 1)))
    between = max(float(x.mean(axis=0).var(ddof=1)) - error / n, 0.0)
    return float(between / (between + error))


tables = st.builds(
    simulate,
    seed=st.integers(0, 100_000),
    raters=st.integers(2, 6),
    shift=st.sampled_from([0.0, 0.3, 1.0]),
    stretch=st.sampled_from([0.0, 0.6]),
    noise=st.sampled_from([0.2, 0.7, 1.2, 3.0]),
    skew=st.sampled_from([-1.0, 0.0, 2.0, 3.5, 4.5]),
)


@pytest.mark.slow
@examples(150)
@given(x=tables)
def test_the_sentence_says_what_the_ratings_show(x: Floats) -> None:
    one = measure_agreement(to_frame(x), measurement="ordinal", interval="none").criteria[0]
    said = one.sentence()
    alpha, rho = one["krippendorff_alpha_ordinal"].estimate, mean_rho(x)
    if np.isnan(alpha) or np.isnan(rho):
        return
    if one["spearman"].mostly_undefined:
        assert "vary too little to say whether they order" in said
        return
    equal = equal_pairs(x)
    assert ("order the items alike" in said and "do not order" not in said) == (rho >= 0.5)
    assert ("order the items somewhat alike" in said) == (0.3 <= rho < 0.5)
    assert ("order the items only slightly alike" in said) == (0.1 <= rho < 0.3)
    assert ("do not order the items alike" in said) == (abs(rho) < 0.1)
    assert ("opposite" in said) == (rho <= -0.1)
    assert ("give much the same ratings" in said) == (alpha >= 0.67)
    if equal >= 0.8 and alpha < 0.67:
        (printed,) = re.findall(r"equal ratings in (\d+) % of comparisons", said)
        assert float(printed) == pytest.approx(100 * equal, abs=0.51)
    else:
        assert "equal ratings in" not in said
    if "do not reliably give the same ratings" in said:
        assert equal < 0.8
        assert alpha < 0.67
    if "differ in level" in said:
        assert share_between_raters(x) >= 0.1
        assert rho - alpha >= 0.1
    if "use the scale differently" in said:
        assert rho - alpha >= 0.1


@examples(60)
@given(x=tables, labels=st.booleans())
def test_notes_on_rare_categories_give_their_numbers(x: Floats, labels: bool) -> None:
    frame = to_frame(x)
    if labels:
        frame["rating"] = frame["rating"].map({k: f"label-{k:g}" for k in range(1, 6)})
    one = measure_agreement(frame, measurement="nominal" if labels else "ordinal", interval="none").criteria[
        0
    ]
    share = pd.Series(x.ravel()).value_counts(normalize=True)
    equal = equal_pairs(x)
    for each in one.coefficients:
        if "prevalence paradox" in each.note:
            assert each.estimate < 0.67
            (most,) = re.findall(r"(\d+) % of the ratings are", each.note)
            (same,) = re.findall(r"although (\d+) % of comparisons are equal", each.note)
            assert (float(most), float(same)) == pytest.approx((100 * share.iloc[0], 100 * equal), abs=0.51)
        again_in = r"([\w.-]+) \([\d.]+ % of all\) is given again by another rater in (\d+) %"
        for name, agreement in re.findall(again_in, each.note):
            value = float(name.removeprefix("label-"))
            given = (x == value).sum(axis=1)
            again = (given * (given - 1)).sum() / (given * (x.shape[1] - 1)).sum()
            assert float(agreement) == pytest.approx(100 * again, abs=0.51)


@pytest.mark.slow
@examples(25)
@given(x=tables)
def test_printed_intervals_hold_the_estimate_they_stand_behind(x: Floats) -> None:
    found = measure_agreement(to_frame(x), measurement="ordinal", resamples=60)
    numbers = PAIRS_OF_NUMBERS.findall(found.criteria[0].sentence())
    for estimate, low, high in numbers:
        assert float(low) <= float(estimate) <= float(high)


def measured(x: Floats, measurement: str) -> CriterionReliability:
    return measure_agreement(to_frame(x), measurement=measurement, interval="none").criteria[0]


def test_a_medium_correlation_is_not_called_no_common_order() -> None:
    x = simulate(seed=4, raters=4, shift=0.0, stretch=0.0, noise=1.2, skew=0.0)
    assert 0.3 <= mean_rho(x) < 0.5
    assert (
        "raters do not reliably give the same ratings and order the items somewhat alike"
        in measured(x, "ordinal").sentence()
    )


def test_raters_with_the_same_margins_do_not_differ_in_level() -> None:
    rng = np.random.default_rng(1)
    first = np.repeat(np.arange(1.0, 6.0), 20)
    second = first.copy()
    moved = rng.choice(100, 40, replace=False)
    second[moved] = rng.permutation(second[moved])
    one = measured(np.column_stack([first, second]), "ordinal")
    assert one["krippendorff_alpha_ordinal"].estimate < 0.67
    assert one["spearman"].estimate >= 0.5
    assert "level" not in one.sentence()
    assert "single ratings differ too much to stand for each other" in one.sentence()


def rare_label() -> Floats:
    """Return 200 outputs by two raters: each gives the rare point to six, and never to the same ones."""
    x = np.full((200, 2), 5.0)
    x[:6, 0] = x[6:12, 1] = 1.0
    return x


@pytest.mark.parametrize("measurement", ["nominal", "ordinal"])
def test_a_rare_category_that_nobody_finds_again_is_named(measurement: str) -> None:
    one = measured(rare_label(), measurement)
    alpha, gwet = (
        next(each for each in one.coefficients if each.name.startswith(start))
        for start in ("krippendorff", "gwet")
    )
    for each in (alpha, gwet):
        assert "1 (3.0 % of all) is given again by another rater in 0 %" in each.note
    assert "97 % of the ratings are 5, so it is low although 94 % of comparisons" in alpha.note
    assert "high because 97 % of the ratings are 5" in gwet.note
    assert "94 %" in one.sentence()
    assert "neither" not in one.sentence()


def test_intervals_from_few_outputs_with_one_frequent_category_are_said_to_be_narrow() -> None:
    x = np.full((60, 5), 5.0)
    x[:10] = np.random.default_rng(1).integers(1, 6, (10, 5))
    few = measure_agreement(to_frame(x), measurement="ordinal", resamples=40).criteria[0]
    many = measure_agreement(to_frame(np.tile(x, (2, 1))), measurement="ordinal", resamples=40).criteria[0]
    assert "somewhat narrow" in few["krippendorff_alpha_ordinal"].note
    assert "somewhat narrow" not in few["percent_agreement"].note
    assert "somewhat narrow" not in many["krippendorff_alpha_ordinal"].note


def test_specific_agreement_is_that_of_a_two_by_two_table() -> None:
    """Cicchetti & Feinstein: 2a / (2a + b + c) for the positive, 2d / (2d + b + c) for the negative."""
    x = np.array([[1, 1]] * 5 + [[1, 0]] * 3 + [[0, 1]] * 2 + [[0, 0]] * 30)
    found = {one.label: one.agreement for one in agree_on_categories(from_matrix(x))}
    assert found == pytest.approx({"1": 10 / 15, "0": 60 / 65})


def test_margins_of_labels_have_no_level() -> None:
    x = np.array([["a", "b"], ["a", "a"], ["b", "b"]], dtype=object)
    margins = describe_margins(from_matrix(x))
    assert np.isnan(margins.level)
    assert margins.equal == pytest.approx(2 / 3)


def test_people_are_called_raters_never_judges() -> None:
    x = simulate(seed=1, raters=5, shift=0.5, stretch=0.3, noise=0.7, skew=1.0)
    found = measure_agreement(to_frame(x), measurement="ordinal", coefficients="all", resamples=20)
    texts = [str(found), str(study_raters([("fluency", found.criteria[0].table)]))]  # type: ignore[list-item]
    texts.append(str(found.criteria[0].checklist))
    assert not any(re.search(r"\bjudges?\b", text, re.IGNORECASE) for text in texts)
