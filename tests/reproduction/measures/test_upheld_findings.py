"""Findings: QRA3's P, verdicts and rules, stated and derived findings."""

from itertools import combinations
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from panelist.core.errors import BadReproduction
from panelist.reproduction.measures.pair_tests import PairTest, PairTests
from panelist.reproduction.measures.upheld_findings import (
    RULES,
    FindingCheck,
    check_finding,
    count_agreements,
    derive_findings,
    list_stated,
)
from panelist.reproduction.measures.verdicts import NOT_UPHELD, UNDECIDED, UPHELD
from panelist.study.sections.findings import Finding
from tests.reproduction.published import LI, QRA3, QRA3_TYPE_II, R2

TABLES = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 4), min_size=k, max_size=k), min_size=2, max_size=4)
)


def rows(criterion: str) -> list[list[float]]:
    return [list(column) for column in zip(*(row[0] for row in QRA3[criterion].values()), strict=True)]


def test_the_output_of_qra3() -> None:
    counted = {criterion: count_agreements(rows(criterion)) for criterion in QRA3}
    assert counted == {criterion: (row[4], 9) for criterion, row in QRA3_TYPE_II.items()}
    assert [sum(column) for column in zip(*counted.values(), strict=True)] == [24, 27]
    four = [*rows("Readability"), [R2[name] for name in QRA3["Readability"]]]
    assert count_agreements(four) == (18, 18)


@pytest.mark.parametrize("task", LI)
def test_orders_of_li_et_al(task: str) -> None:
    assert count_agreements([list(LI[task].original), list(LI[task].again)]) == (LI[task].upheld, 6)


@given(TABLES)
def test_brute_force_counts_the_same(table: list[list[int]]) -> None:
    agree = total = 0
    for one, other in combinations(table, 2):
        for i, j in combinations(range(len(one)), 2):
            total += 1
            agree += (one[i] > one[j]) - (one[i] < one[j]) == (other[i] > other[j]) - (other[i] < other[j])
    assert count_agreements(table) == (agree, total)
    assert count_agreements(table[::-1]) == (agree, total)
    assert count_agreements([[3 * value + 1 for value in row] for row in table]) == (agree, total)


def test_rounding_is_no_order() -> None:
    assert count_agreements([[0.1 + 0.2, 0.3], [5.0, 5.0]]) == (1, 1)


def say_pair(difference: float, se: float = nan, df: float = 50.0) -> PairTests:
    """Return one pair whose analysis has this standard error; nan is one without an analysis."""
    if isnan(se):
        return PairTests({("a", "b"): PairTest(difference)})
    p = 2 * stats.t.sf(abs(difference) / se, df)
    reach = stats.t.ppf(0.975, df) * se
    low, high = difference - reach, difference + reach
    return PairTests({("a", "b"): PairTest(difference, difference, se, df, float(p), low, high)})


def check(sign: str, original: PairTests, repeat: PairTests, margin: float | None = None) -> FindingCheck:
    return check_finding(
        Finding("x", "a", sign, "b"), original, [("repeat", repeat)], stated=True, margin=margin
    )


@pytest.mark.parametrize(
    ("repeat", "direction", "significant", "interval", "verdict"),
    [
        (say_pair(0.4, 0.15), True, True, True, UPHELD),
        (say_pair(0.4, 0.3), True, False, True, UNDECIDED),
        (say_pair(2.0, 0.2), True, True, False, UPHELD),
        (say_pair(-0.1, 0.4), False, False, True, UNDECIDED),
        (say_pair(-0.5, 0.1), False, False, False, NOT_UPHELD),
        (say_pair(0.0, 0.4), False, False, True, UNDECIDED),
        (say_pair(0.02, 0.05), True, False, False, NOT_UPHELD),  # shown to be smaller than the margin
        (say_pair(0.4), True, None, None, UNDECIDED),
    ],
)
def test_three_rules_and_a_verdict(
    repeat: PairTests, direction: bool, significant: bool | None, interval: bool | None, verdict: str
) -> None:
    original = say_pair(0.5, 0.2)
    found = check(">", original, repeat)
    assert [found.upheld(rule) for rule in RULES] == [direction, significant, interval]
    assert found.verdict == verdict
    turned = check_finding(Finding("x", "b", "<", "a"), original, [("repeat", repeat)], stated=True)
    assert [turned.upheld(rule) for rule in RULES] == [direction, significant, interval]
    assert turned.verdict == verdict


@pytest.mark.parametrize(
    ("repeat", "verdict"),
    [
        (say_pair(0.0, 0.5), UNDECIDED),  # a tiny repeat that finds nothing
        (say_pair(0.1, 0.3), UNDECIDED),
        (say_pair(0.1, 0.03), UPHELD),  # a precise one that finds a trivial difference
        (say_pair(0.0, 0.03), UPHELD),
        (say_pair(0.9, 0.1), NOT_UPHELD),
        (say_pair(-0.9, 0.1), NOT_UPHELD),
        (say_pair(0.4, 0.15), NOT_UPHELD),  # a difference, and not shown to lie within the margin
        (say_pair(0.0), UNDECIDED),  # a tie of printed scores
    ],
)
def test_that_two_systems_are_the_same_is_judged_by_equivalence(repeat: PairTests, verdict: str) -> None:
    for original in (say_pair(0.05, 0.25), say_pair(0.0, 0.25)):
        found = check("=", original, repeat)
        assert (found.verdict, found.upheld()) == (verdict, verdict == UPHELD)
        declared = check("=", original, repeat, margin=found.margin)
        assert declared.verdict == verdict


def test_two_one_sided_tests_are_the_inner_interval_within_the_margin() -> None:
    for difference in (-0.3, -0.1, 0.0, 0.2, 0.35):
        for se in (0.05, 0.1, 0.2):
            found = check("=", say_pair(0, 0.3), say_pair(difference, se), margin=0.4)
            reach = stats.t.ppf(0.95, 50) * se
            inside = bool(abs(difference) + reach < 0.4)
            assert found.upheld() is inside
            assert found.evidence[0].p_equivalent == pytest.approx(
                stats.t.sf((0.4 - abs(difference)) / se, 50), rel=1e-9
            )


def test_without_a_declared_margin_it_is_what_the_original_had_a_third_of_power_for() -> None:
    margin = check("=", say_pair(0, 0.2, df=38), say_pair(0, 0.1)).margin
    t = stats.t.ppf(0.975, 38)
    power = stats.nct.sf(t, 38, margin / 0.2) + stats.nct.cdf(-t, 38, margin / 0.2)
    assert power == pytest.approx(1 / 3, abs=1e-9)
    assert check("=", say_pair(0, 0.2), say_pair(0, 0.1), margin=0.7).margin == 0.7
    assert isnan(check("=", say_pair(0), say_pair(0, 0.1)).margin)
    assert check("=", say_pair(0), say_pair(0, 0.001)).verdict == UNDECIDED


def test_a_prediction_holds_the_errors_of_both_studies() -> None:
    original, repeat = say_pair(0.5, 0.3, df=10), say_pair(0.0, 0.4, df=20)
    [one] = check(">", original, repeat).evidence
    df = 0.5**4 / (0.3**4 / 10 + 0.4**4 / 20)
    reach = stats.t.ppf(0.975, df) * 0.5
    assert (one.predicted_low, one.predicted_high) == pytest.approx((0.5 - reach, 0.5 + reach))


def test_a_finding_that_the_original_did_not_find_is_not_refuted_by_a_small_difference() -> None:
    small = say_pair(0.01, 0.02)
    assert check(">", say_pair(0.5, 0.2), small).verdict == NOT_UPHELD
    assert check(">", say_pair(0.1, 0.2), small).verdict == UNDECIDED


def test_an_original_that_finds_no_difference_shows_that_systems_are_the_same() -> None:
    assert check("=", say_pair(0.1, 0.2), say_pair(0, 0.1)).shown is True
    assert check("=", say_pair(0.9, 0.2), say_pair(0, 0.1)).shown is False
    assert check("=", say_pair(0.1), say_pair(0, 0.1)).shown is None
    assert check("<", say_pair(0.1), say_pair(0, 0.1)).shown is False


def test_a_finding_must_hold_in_every_repeat() -> None:
    repeats = [("repeat 1", say_pair(0.4, 0.1)), ("repeat 2", say_pair(-0.4))]
    found = check_finding(Finding("x", "a", ">", "b"), say_pair(0.5), repeats, stated=False)
    assert (found.upheld(), found.upheld("significant"), found.verdict) == (False, None, UNDECIDED)
    assert [one.direction for one in found.evidence] == [True, False]
    opposite = [repeats[0], ("repeat 2", say_pair(-0.4, 0.1))]
    found = check_finding(Finding("x", "a", ">", "b"), say_pair(0.5), opposite, stated=False)
    assert found.verdict == NOT_UPHELD


def test_derived_findings_put_the_higher_first() -> None:
    tests = PairTests({("a", "b"): PairTest(-1), ("a", "c"): PairTest(0), ("b", "c"): PairTest(1)})
    found = [f"{one.first} {one.sign} {one.second}" for one in derive_findings("x", tests, ["a", "b", "c"])]
    assert found == ["b > a", "a = c", "b > c"]


def test_stated_findings_are_sorted_out() -> None:
    found, notes = list_stated(["x: a > b", "y: a > b", "x: a > z"], "x", ["a", "b"])
    assert found == [Finding("x", "a", ">", "b")]
    assert "names 'z'" in notes[0]
    with pytest.raises(BadReproduction, match="is written as"):
        list_stated(["a beats b"], "x", ["a", "b"])
