"""P-values adjusted for multiplicity, and the studentised range behind Tukey's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from panelist.core.errors import UnknownName
from panelist.models.inference import studentised_range
from panelist.models.inference.adjust import (
    ADJUSTMENTS,
    HypothesisFamily,
    find_adjustment,
    two_sided_p,
    two_sided_quantile,
)
from panelist.models.inference.studentised_range import studentised_range_quantile, studentised_range_tail
from tests.examples import examples

# R 4.2.2: ptukey(q, k, df, lower.tail = FALSE), as (q, k, df, p).
PTUKEY = [
    (2, 3, 2, 0.476560568374146),
    (3.5, 3, 2, 0.229471520694271),
    (5, 3, 2, 0.127423402672001),
    (8, 3, 2, 0.0539910002771326),
    (2, 6, 2, 0.734742281646228),
    (3.5, 6, 2, 0.405438272139692),
    (5, 6, 2, 0.236087893002973),
    (8, 6, 2, 0.103242426831557),
    (2, 20, 2, 0.945668057295137),
    (3.5, 20, 2, 0.663054028332825),
    (5, 20, 2, 0.425925860605651),
    (8, 20, 2, 0.199405165815673),
    (2, 3, 5.67, 0.395245390300316),
    (3.5, 3, 5.67, 0.109462174899714),
    (5, 3, 5.67, 0.0309453252935693),
    (8, 3, 5.67, 0.00378344384036544),
    (2, 6, 5.67, 0.721236079775289),
    (3.5, 6, 5.67, 0.269050963559807),
    (5, 6, 5.67, 0.0859585818738092),
    (8, 6, 5.67, 0.0114695658238256),
    (2, 20, 5.67, 0.977453088307536),
    (3.5, 20, 5.67, 0.627426663610326),
    (5, 20, 5.67, 0.265760966334972),
    (8, 20, 5.67, 0.0437644264879958),
    (2, 3, 20.4, 0.352404974240329),
    (3.5, 3, 20.4, 0.0554811853597726),
    (5, 3, 20.4, 0.00550822234739767),
    (8, 3, 20.4, 4.12980454443934e-05),
    (2, 6, 20.4, 0.718472457297338),
    (3.5, 6, 20.4, 0.177829829010065),
    (5, 6, 20.4, 0.0215257325715748),
    (8, 6, 20.4, 0.000184276791812765),
    (2, 20, 20.4, 0.99298973837021),
    (3.5, 20, 20.4, 0.610927088423347),
    (5, 20, 20.4, 0.128940571043708),
    (8, 20, 20.4, 0.00163024783144183),
    (2, 3, 150, 0.336162679680247),
    (3.5, 3, 150, 0.038173472332694),
    (5, 3, 150, 0.00156254209221385),
    (8, 3, 150, 2.26764883870523e-07),
    (2, 6, 150, 0.718392710545682),
    (3.5, 6, 150, 0.138273828773813),
    (5, 6, 150, 0.00704303823511199),
    (8, 6, 150, 1.12512483918525e-06),
    (2, 20, 150, 0.997137729773053),
    (3.5, 20, 150, 0.604756521242169),
    (5, 20, 150, 0.0621496282217388),
    (8, 20, 150, 1.38126059040511e-05),
    (2, 3, 1713.34491197812, 0.333733712919652),
    (3.5, 3, 1713.34491197812, 0.0357845560681356),
    (5, 3, 1713.34491197812, 0.00121460216466618),
    (8, 3, 1713.34491197812, 5.40516948976943e-08),
    (2, 6, 1713.34491197812, 0.718432064347183),
    (3.5, 6, 1713.34491197812, 0.132126514505879),
    (5, 6, 1713.34491197812, 0.0055812519718127),
    (8, 6, 1713.34491197812, 2.69522700824254e-07),
    (2, 20, 1713.34491197812, 0.997619892015498),
    (3.5, 20, 1713.34491197812, 0.603710100717149),
    (5, 20, 1713.34491197812, 0.0522979106877997),
    (8, 20, 1713.34491197812, 3.37463764932266e-06),
    (2, 3, np.inf, 0.33349932504015),
    (3.5, 3, np.inf, 0.0355570418634439),
    (5, 3, np.inf, 0.00118399123098678),
    (8, 3, np.inf, 4.62144007506993e-08),
    (2, 6, np.inf, 0.71843659538586),
    (3.5, 6, np.inf, 0.131530447606992),
    (5, 6, np.inf, 0.0054503968461338),
    (8, 6, np.inf, 2.30524197952775e-07),
    (2, 20, np.inf, 0.997664251551206),
    (3.5, 20, np.inf, 0.603604998790997),
    (5, 20, np.inf, 0.0513646634542545),
    (8, 20, np.inf, 2.89016139276566e-06),
]

# scipy 1.16: stats.studentized_range.ppf(level, k, df), as (level, k, df, q). R's own qtukey is coarser: it
# stops at 1e-4 and gives 44.53 for the first of these.
QUANTILES = [
    (0.99, 20, 2.0, 37.943462287637324),
    (0.99, 6, 2.0, 26.629041325501476),
    (0.95, 6, 2.0, 11.734296919318643),
    (0.95, 3, 5.67226306160573, 4.412746593692809),
    (0.95, 4, 1713.34491197812, 3.6367271650189528),
    (0.80, 20, 20.4, 4.646056163115069),
    (0.95, 6, np.inf, 4.030092053180576),
    (0.99, 2, 2.0, 14.03584785916495),
]


@pytest.mark.parametrize(("q", "k", "df", "p"), PTUKEY)
def test_studentised_range_equals_ptukey(q: float, k: int, df: float, p: float) -> None:
    ours = studentised_range_tail(np.array(q), k, np.array(df))
    assert float(ours) == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize(
    ("k", "df"), [(3, 5.67), (20, 20.4), (6, 1.0), (30, np.inf), (100, 1713.3), (2, 0.7)]
)
def test_studentised_range_equals_scipys_to_ten_digits(k: int, df: float) -> None:
    from scipy.stats import studentized_range

    q = np.array([1.0, 4.0, 9.0])
    np.testing.assert_allclose(
        studentised_range_tail(q, k, np.array(df)), studentized_range.sf(q, k, df), atol=1e-10, rtol=1e-8
    )


def test_studentised_range_of_two_is_the_t_test_far_into_the_tail() -> None:
    t, df = np.array([0.1, 2.0, 6.0, 9.0, 20.0]), np.array([3.0, 5.67, 12.0, 1e12, np.inf])
    tail = studentised_range_tail(t * np.sqrt(2), 2, df)
    np.testing.assert_allclose(tail, two_sided_p(t, df), rtol=1e-8)


@pytest.mark.parametrize(("confidence", "k", "df", "q"), QUANTILES)
def test_quantile_equals_scipys(confidence: float, k: int, df: float, q: float) -> None:
    ours = studentised_range_quantile(confidence, k, np.array(df))
    assert float(ours) == pytest.approx(q, rel=1e-9)


@pytest.mark.slow
@examples(50)
@given(st.integers(3, 40), st.floats(0.6, 1e6) | st.just(float("inf")), st.floats(0.5, 0.999))
def test_quantile_undoes_the_tail(k: int, df: float, confidence: float) -> None:
    q = studentised_range_quantile(confidence, k, np.array(df))
    assert float(studentised_range_tail(q, k, np.array(df))) == pytest.approx(1 - confidence, rel=1e-6)


def test_unknown_stays_unknown() -> None:
    tail = studentised_range_tail(np.array([np.nan, 2.0, np.inf, 0.0]), 3, np.array([5.0, np.nan, 5.0, 5.0]))
    np.testing.assert_allclose(tail, [np.nan, np.nan, 0.0, 1.0], rtol=1e-13)
    assert np.isnan(studentised_range_quantile(0.95, 3, np.array([np.nan]))).all()


def test_the_pairs_of_twenty_systems_are_each_right() -> None:
    df = np.linspace(20, 2000, 190)
    together = studentised_range_tail(np.full(190, 3.1), 20, df)
    for place in (0, 77, 189):
        alone = studentised_range_tail(np.array([3.1]), 20, df[[place]])
        assert together[place] == pytest.approx(alone[0], rel=1e-9)


def test_stepwise_methods_equal_p_adjust() -> None:
    # R 4.2.2: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.5, NA, 0.04), method); nan is left out of the count.
    p = np.array([0.01, 0.04, 0.03, 0.005, 0.5, np.nan, 0.04])
    family = HypothesisFamily(two_sided_quantile(1 - p, np.full(7, np.inf)), np.full(7, np.inf), 4)
    expected: dict[str, list[float]] = {
        "holm": [0.05, 0.12, 0.12, 0.03, 0.5, np.nan, 0.12],
        "bonferroni": [0.06, 0.24, 0.18, 0.03, 1, np.nan, 0.24],
        "bh": [0.03, 0.048, 0.048, 0.03, 0.5, np.nan, 0.048],
        "none": p.tolist(),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(find_adjustment(name).adjust(family), values, rtol=1e-12)


def _families() -> st.SearchStrategy[HypothesisFamily]:
    def build(k: int, data: st.DataObject) -> HypothesisFamily:
        m = k * (k - 1) // 2
        statistic = data.draw(arrays(float, m, elements=st.floats(-12, 12)))
        df = data.draw(st.floats(0.8, 1e5) | st.just(float("inf")))
        return HypothesisFamily(statistic, np.full(m, df), k)

    return st.builds(build, st.integers(2, 7), st.data())


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ADJUSTMENTS))
@examples(50)
@given(family=_families())
def test_adjusted_is_never_below_raw_and_keeps_the_order(name: str, family: HypothesisFamily) -> None:
    adjusted = ADJUSTMENTS[name].adjust(family)
    assert (adjusted >= family.p).all()
    assert (adjusted <= 1).all()
    ordered = adjusted[np.argsort(-np.abs(family.statistic), kind="stable")]
    assert (np.diff(ordered) >= -1e-12).all()


@examples(50)
@given(family=_families())
def test_holm_and_tukey_are_no_stricter_than_bonferroni(family: HypothesisFamily) -> None:
    bonferroni = ADJUSTMENTS["bonferroni"].adjust(family)
    for name in ("tukey", "holm", "bh"):
        assert (ADJUSTMENTS[name].adjust(family) <= bonferroni * (1 + 1e-8) + 1e-12).all()


@pytest.mark.parametrize("name", ["tukey", "bonferroni", "none"])
def test_interval_excludes_zero_exactly_when_p_is_below_the_level(name: str) -> None:
    t = np.array([2.0, 2.3, 2.6, 2.9, 3.2, 3.5])
    family = HypothesisFamily(t, np.array([5.67, 9.0, 20.4, 150.0, 1713.3, np.inf]), 4)
    method = ADJUSTMENTS[name]
    for confidence in (0.8, 0.95, 0.99):
        excludes: np.ndarray[tuple[int], np.dtype[np.bool_]] = t > method.critical(confidence, family)
        np.testing.assert_array_equal(excludes, method.adjust(family) < 1 - confidence)


def test_one_pair_is_never_adjusted() -> None:
    family = HypothesisFamily(np.array([2.1]), np.array([14.2]), 2)
    for name in ADJUSTMENTS:
        np.testing.assert_array_equal(ADJUSTMENTS[name].adjust(family), family.p)
        assert float(ADJUSTMENTS[name].critical(0.95, family)[0]) == pytest.approx(2.1420, abs=1e-4)


def test_unknown_adjustment_is_answered_with_the_nearest() -> None:
    assert find_adjustment("BH") is find_adjustment("fdr")
    with pytest.raises(UnknownName, match=r"No adjustment is called 'tuckey'\. Did you mean 'tukey'"):
        find_adjustment("tuckey")


@pytest.mark.parametrize(("k", "low", "high"), [(3, 1.0, 4.0), (20, 5.0, 60.0), (200, 40.0, 900.0)])
def test_many_degrees_of_freedom_at_once_are_as_each_alone(k: int, low: float, high: float) -> None:
    df = np.linspace(low, high, 250)
    q = np.linspace(0.1, 12.0, 250)
    tails, quantiles = studentised_range_tail(q, k, df), studentised_range_quantile(0.95, k, df)
    for place in (0, 17, 101, 180, 249):
        alone = df[place : place + 1]
        np.testing.assert_allclose(
            tails[place], studentised_range_tail(q[place : place + 1], k, alone)[0], rtol=1e-11
        )
        np.testing.assert_allclose(quantiles[place], studentised_range_quantile(0.95, k, alone)[0], rtol=1e-9)


def test_hardly_a_degree_of_freedom_gives_bonferronis_bound() -> None:
    found = studentised_range_quantile(0.95, 3, np.array([0.02]))
    assert found == pytest.approx(np.sqrt(2) * two_sided_quantile(1 - 0.05 / 3, np.array([0.02])), rel=1e-8)


def test_infinite_degrees_of_freedom_alone_need_no_table() -> None:
    found = studentised_range_tail(np.array([2.0, 3.5]), 3, np.array([np.inf, np.inf]))
    assert found == pytest.approx([0.333499325, 0.035557042], abs=1e-9)  # R: ptukey(c(2, 3.5), 3, Inf)


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high", "k"), [(40.0, 60.0, 16), (3.0, 400.0, 14), (1.0, 8.0, 10)])
def test_quantiles_of_many_pairs_come_from_a_few_and_are_the_same(low: float, high: float, k: int) -> None:
    df = np.random.default_rng(4).uniform(low, high, k * (k - 1) // 2)
    studentised_range._quantile.cache_clear()
    found = studentised_range_quantile(0.95, k, df)
    assert studentised_range._quantile.cache_info().misses < len(df) / 2
    exact = [studentised_range._quantile(0.95, k, float(value)) for value in df]
    np.testing.assert_allclose(found, exact, rtol=1e-9)
