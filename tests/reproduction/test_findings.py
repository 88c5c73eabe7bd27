"""Findings: QRA3's P, the three rules, stated and derived findings."""

from itertools import combinations
from math import nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from panelist.core.errors import BadReproduction
from panelist.reproduction.findings import check_finding, count_agreements, derive_findings, list_stated
from panelist.reproduction.pair_tests import PairTest, PairTests
from panelist.study.findings import Finding
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


@settings(deadline=None)
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


def say_pair(difference: float, p: float = nan, low: float = nan, high: float = nan) -> PairTests:
    return PairTests({("a", "b"): PairTest(difference, p, p, low, high)})


@pytest.mark.parametrize(
    ("repeat", "direction", "significant", "interval"),
    [
        (say_pair(0.4, 0.01, 0.1, 0.7), True, True, True),
        (say_pair(0.4, 0.2, -0.1, 0.9), True, False, True),
        (say_pair(2.0, 0.001, 1.5, 2.5), True, True, False),
        (say_pair(-0.1, 0.8, -0.9, 0.7), False, False, False),
        (say_pair(0.0, 1.0, -0.9, 0.9), False, False, False),
        (say_pair(0.4), True, None, None),
    ],
)
def test_three_rules(
    repeat: PairTests, direction: bool, significant: bool | None, interval: bool | None
) -> None:
    found = check_finding(Finding("x", "a", ">", "b"), say_pair(0.5), [("repeat", repeat)], stated=True)
    assert (found.upheld(), found.upheld("significant"), found.upheld("interval")) == (
        direction,
        significant,
        interval,
    )
    turned = check_finding(Finding("x", "b", "<", "a"), say_pair(0.5), [("repeat", repeat)], stated=True)
    assert [turned.upheld(rule) for rule in ("direction", "significant", "interval")] == [
        direction,
        significant,
        interval,
    ]


def test_a_finding_must_hold_in_every_repeat() -> None:
    repeats = [("repeat 1", say_pair(0.4, 0.01)), ("repeat 2", say_pair(-0.4))]
    found = check_finding(Finding("x", "a", ">", "b"), say_pair(0.5), repeats, stated=False)
    assert (found.upheld(), found.upheld("significant")) == (False, None)
    assert [one.direction for one in found.evidence] == [True, False]


def test_alike_is_upheld_by_a_test_that_finds_nothing() -> None:
    found = check_finding(
        Finding("x", "a", "=", "b"), say_pair(0.0), [("r", say_pair(0.1, 0.6, -0.2, 0.4))], stated=True
    )
    assert (found.upheld(), found.upheld("significant"), found.upheld("interval")) == (False, True, True)


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
