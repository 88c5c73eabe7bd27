"""CV*: every value that was printed, both formulas, and what it must do whatever the scores."""

from math import isfinite, isinf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from panelist.core.errors import BadReproduction
from panelist.reproduction.measures.exact_spread import bound_cv, bound_sd
from panelist.reproduction.measures.precision import cv_star, find_c4, measure_precision
from tests.reproduction.published import BLEU, CV_2022, QRA3, QRA3_MEANS, QRA3_STUDY, R2, WITH_R2, Cv

SCORES = st.lists(st.floats(0.01, 1000), min_size=2, max_size=8)


@pytest.mark.parametrize("case", CV_2022, ids=lambda case: f"{case.source} {case.scores}")
def test_the_formula_of_2022_gives_what_was_printed(case: Cv) -> None:
    assert cv_star(case.scores, case.start) == pytest.approx(case.value, abs=case.within)


@pytest.mark.parametrize("criterion", QRA3)
def test_the_formula_of_qra3_gives_the_tools_output(criterion: str) -> None:
    found = []
    for scores, qra3, old in QRA3[criterion].values():
        within = 1e-12 if len(str(qra3)) > 10 else 5e-5  # some were printed with four decimals only
        assert cv_star(scores, 1, over_correction=False) == pytest.approx(qra3, abs=within)
        assert cv_star(scores, 1) == pytest.approx(old, abs=5e-5)
        found.append(cv_star(scores, 1, over_correction=False))
    assert np.mean(found) == pytest.approx(QRA3_MEANS[criterion], abs=1e-12)


def test_the_mean_over_criteria_is_that_of_the_study() -> None:
    means = [
        np.mean([cv_star(row[0], 1, over_correction=False) for row in rows.values()])
        for rows in QRA3.values()
    ]
    assert np.mean(means) == pytest.approx(QRA3_STUDY, abs=1e-12)


def test_four_studies_of_readability() -> None:
    found = {
        name: cv_star((*row[0], R2[name]), 1, over_correction=False)
        for name, row in QRA3["Readability"].items()
    }
    assert found == pytest.approx(WITH_R2, abs=5e-5)
    assert np.mean(list(found.values())) == pytest.approx(15.293612659155317, abs=1e-12)


def test_c4_is_that_of_the_tables() -> None:
    printed = [0.797885, 0.886227, 0.921318, 0.939986, 0.951533, 0.959369, 0.965030, 0.969311, 0.972659]
    assert [find_c4(n) for n in range(2, 11)] == pytest.approx(printed, abs=5e-7)


def test_interval_and_shares_of_the_script() -> None:
    bleu = measure_precision("NTS_def", BLEU)
    assert (bleu.mean, bleu.s_star) == pytest.approx((85.582857, 1.2904233), abs=1e-6)
    assert (bleu.low, bleu.high) == pytest.approx((0.4514830, 2.1293636), abs=1e-6)
    assert (bleu.within_two, bleu.within_one) == pytest.approx((100, 71.429), abs=5e-4)
    sari = measure_precision("NTS_def", (30.65, 30.65, 29.13, 30.65, 29.96))
    assert (sari.s_star, sari.low, sari.high) == pytest.approx((0.715566, 0.094931, 1.336201), abs=1e-6)
    four = measure_precision("NTS-w2v_def", (31.11, 30.28, 31.11, 29.12))
    assert (four.low, four.high) == pytest.approx((-0.105104, 2.149543), abs=1e-6)
    tool = measure_precision("GT", QRA3["Answer Relevancy"]["GT"][0], 1)
    expected = (0.21723049430965738, -0.14981252724552283, 0.5842735158648376)
    assert (tool.s_star, tool.low, tool.high) == pytest.approx(expected, abs=1e-12)


def test_one_pair_has_five_answers() -> None:
    pair = (4.946281, 4.705394)
    found = measure_precision("GT", pair, 1)
    plain = 100 * found.sd / found.mean
    answers = (found.value, cv_star(pair), found.qra3, plain * (1 + 1 / 8), plain)
    assert answers == pytest.approx((6.2775, 4.9767, 5.5800, 5.0087, 4.4522), abs=5e-5)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_two_scores_have_a_closed_form(a: float, b: float) -> None:
    share = abs(a - b) / (a + b)
    assert cv_star([a, b]) == pytest.approx(199.4010582 * share, rel=1e-8, abs=1e-9)
    assert cv_star([a, b], over_correction=False) == pytest.approx(177.2453851 * share, rel=1e-8, abs=1e-9)


def test_two_scores_cannot_differ_more_than_one_and_zero() -> None:
    assert cv_star([5, 0]) == pytest.approx(199.4, abs=0.01)
    assert cv_star([5, 0], over_correction=False) == pytest.approx(177.2, abs=0.05)


@pytest.mark.parametrize(
    ("n", "plain", "c4_only", "both", "over_only"),
    [(2, 8.03, 10.07, 11.33, 9.04), (3, 8.88, 10.02, 10.86, 9.62), (5, 9.42, 10.02, 10.52, 9.89)],
)
def test_c4_alone_is_close_to_unbiased(
    n: int, plain: float, c4_only: float, both: float, over_only: float
) -> None:
    draws = np.random.default_rng(3).normal(100, 10, (400_000, n))
    ratio = 100 * float((draws.std(axis=1, ddof=1) / draws.mean(axis=1)).mean())
    over = 1 + 1 / (4 * n)
    found = (ratio, ratio / find_c4(n), ratio * over / find_c4(n), ratio * over)
    assert found == pytest.approx((plain, c4_only, both, over_only), abs=0.03)
    assert cv_star(draws[0]) == pytest.approx(
        over * 100 * draws[0].std(ddof=1) / draws[0].mean() / find_c4(n), rel=1e-12
    )


@given(SCORES, st.floats(0.01, 100), st.randoms())
def test_neither_unit_nor_order_of_studies_matters(scores: list[float], unit: float, random: object) -> None:
    shuffled = sorted(scores, key=lambda _: random.random())  # type: ignore[attr-defined]
    found = cv_star(scores)
    assert cv_star([unit * score for score in scores]) == pytest.approx(found, rel=1e-6, abs=1e-6)
    assert cv_star(shuffled) == pytest.approx(found, rel=1e-9, abs=1e-9)
    assert cv_star([score + 7 for score in scores], 7) == pytest.approx(found, rel=1e-6, abs=1e-6)


@given(SCORES)
def test_the_formula_of_2022_is_larger_by_its_last_factor(scores: list[float]) -> None:
    found = measure_precision("a", scores)
    assert found.value == pytest.approx((1 + 1 / (4 * len(scores))) * found.qra3)
    assert found.low <= found.s_star <= found.high
    assert 0 <= found.within_one <= found.within_two <= 100


def test_equal_scores_have_no_spread() -> None:
    found = measure_precision("a", [4, 4, 4], 1)
    assert (found.value, found.low, found.high, found.within_one) == (0, 0, 0, 0)


def test_scores_at_the_start_of_the_scale_have_no_cv() -> None:
    found = measure_precision("a", [1, 1], 1)
    assert isnan(found.value)
    assert "undefined" in found.note


@pytest.mark.parametrize(
    ("scores", "start", "part"),
    [
        ([4.0], 0, "only one score"),
        ([-6.0, 1.0], 0, "--scale-min"),
        ([4.0, 2.0], 3, "below 3"),
        ([float("nan"), 1.0], 0, "not a number"),
    ],
)
def test_what_is_no_score_on_the_scale_is_refused(scores: list[float], start: float, part: str) -> None:
    with pytest.raises(BadReproduction, match=part):
        measure_precision("a", scores, start)


def find_brute_cv(m: float, s: float, n: int) -> tuple[float, float]:
    """Return the CVs that the observed √n m/s leaves in neither tail, by scipy's noncentral t."""
    t = np.sqrt(n) * m / s
    grid = np.geomspace(1e-3, 1e3, 20_001)
    below = stats.nct.cdf(t, n - 1, np.sqrt(n) / grid)
    kept = grid[(below >= 0.025) & (below <= 0.975)]
    return float(kept[0]), float(kept[-1])


@pytest.mark.parametrize(("m", "s", "n"), [(10, 1, 3), (10, 3, 3), (3.2, 0.1, 2), (3.2, 1.4, 5), (80, 25, 7)])
def test_the_exact_interval_of_cv_inverts_the_noncentral_t(m: float, s: float, n: int) -> None:
    assert bound_cv(m, s, n) == pytest.approx(find_brute_cv(m, s, n), rel=1e-3)


def test_the_exact_interval_of_a_tiny_cv_is_that_of_sigma() -> None:
    low, high = bound_sd(1.0, 3)
    assert bound_cv(1e6, 1.0, 3) == pytest.approx((low / 1e6, high / 1e6), rel=1e-6)
    chi = stats.chi2.ppf([0.975, 0.025], 2)
    assert (low, high) == pytest.approx(tuple(np.sqrt(2 / chi)), rel=1e-9)


def test_two_scores_far_apart_set_no_upper_limit() -> None:
    found = measure_precision("a", [2, 4], 1)
    assert found.cv_exact_low > 0
    assert isinf(found.cv_exact_high)
    assert isfinite(found.sd_exact_high)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("cv", [0.05, 0.25])
def test_the_exact_interval_covers_at_its_level_and_never_goes_below_nought(n: int, cv: float) -> None:
    scores = np.abs(np.random.default_rng(n).normal(1, cv, (400, n)))
    found = [measure_precision("a", row) for row in scores]
    exact = np.mean([one.cv_exact_low <= 100 * cv <= one.cv_exact_high for one in found])
    assert 0.92 < exact <= 1
    assert min(one.cv_exact_low for one in found) > 0
    assert min(one.low for one in found) < 0 or n == 5


@given(SCORES)
def test_the_exact_intervals_lie_above_nought_and_hold_their_estimates(scores: list[float]) -> None:
    found = measure_precision("a", scores)
    if found.sd == 0:
        assert isnan(found.cv_exact_low)  # equal scores do not show how far others lie
        assert isnan(found.sd_exact_high)
        return
    assert 0 <= found.sd_exact_low <= found.sd <= found.sd_exact_high
    assert 0 <= found.cv_exact_low <= 100 * found.sd / found.mean <= found.cv_exact_high
