"""The fair-pay rule: its published and computed checks, and rounding that never favours the study."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.study.sections.pay import Pay
from panelist.study.sections.wages import explain_wage, find_multiplier, find_pay, find_wage, round_up

money = st.decimals(0, 200, places=4)


def test_wage_of_the_published_swiss_example() -> None:
    pay = Pay(
        currency="CHF",
        minimum_wage=Decimal("21.70"),
        raters_minimum_wage=Decimal("21.70"),
        living_wage=Decimal("13.53"),
        original_wage=Decimal(1),
        original_minimum_wage=Decimal(1),
    )
    assert find_wage(pay) == Decimal("21.70")


def test_wage_below_the_original_minimum_is_lifted_to_the_living_wage() -> None:
    pay = Pay(
        minimum_wage=Decimal("11.27775"),
        living_wage=Decimal("12.60"),
        original_wage=Decimal("7.824285"),
        original_minimum_wage=Decimal("9.9"),
    )
    assert find_multiplier(pay) < 1
    assert find_wage(pay) == Decimal("12.60")
    assert find_pay(pay, 8) == Decimal("1.68")


def test_generous_original_raises_the_wage() -> None:
    pay = Pay(minimum_wage=Decimal(15), original_wage=Decimal(2), original_minimum_wage=Decimal(3))
    assert find_wage(pay) == Decimal("15.00")  # two thirds would lower it, and nothing does
    pay = Pay(minimum_wage=Decimal(15), original_wage=Decimal(5), original_minimum_wage=Decimal(3))
    assert find_wage(pay) == Decimal("25.00")  # in floats or 28 digits, 15 × 5/3 is not 25
    assert explain_wage(pay) == (
        "25.00 GBP an hour: the minimum wage, raised as the original study raised its own."
    )


def test_unknown_original_leaves_the_minimum_wage_alone() -> None:
    for original in (None, Decimal(0)):
        pay = Pay(minimum_wage=Decimal(9), original_wage=Decimal(20), original_minimum_wage=original)
        assert find_wage(pay) == Decimal("9.00")


def test_wage_where_raters_live_counts_when_it_is_higher() -> None:
    pay = Pay(minimum_wage=Decimal(9), raters_minimum_wage=Decimal("12.41"), currency="EUR")
    assert explain_wage(pay) == "12.41 EUR an hour: the minimum wage where the raters live."


def test_hourly_rate_can_raise_the_wage_and_never_lower_it() -> None:
    assert find_wage(Pay(hourly=Decimal(15), living_wage=Decimal("12.60"))) == Decimal("15.00")
    assert find_wage(Pay(hourly=Decimal(5), living_wage=Decimal("12.60"))) == Decimal("12.60")


def test_no_wage_at_all_says_what_to_add() -> None:
    assert find_wage(Pay()) == 0
    assert "living_wage" in explain_wage(Pay())


@pytest.mark.parametrize(
    ("amount", "rounded"), [("0.001", "0.01"), ("1.68", "1.68"), ("1.680001", "1.69"), ("0", "0.00")]
)
def test_amounts_are_rounded_up_to_the_cent(amount: str, rounded: str) -> None:
    assert round_up(Fraction(amount)) == Decimal(rounded)
    assert str(round_up(Fraction(amount))) == rounded


def test_tenths_of_minutes_are_taken_as_written() -> None:
    # 0.1 as a double is a little more than a tenth, and would cost a cent.
    assert find_pay(Pay(hourly=Decimal(60)), 0.1) == Decimal("0.10")


@given(money, money, money, money, st.decimals("0.5", 50, places=4), st.floats(0.1, 300))
def test_pay_is_never_below_any_floor_and_never_a_cent_too_much(
    minimum: Decimal, raters: Decimal, living: Decimal, original: Decimal, base: Decimal, minutes: float
) -> None:
    pay = Pay(
        minimum_wage=minimum,
        raters_minimum_wage=raters,
        living_wage=living,
        original_wage=original,
        original_minimum_wage=base,
    )
    wage = Fraction(find_wage(pay))
    floors = [Fraction(one) for one in (minimum, raters, living)]
    floors.append(max(floors[:2]) * Fraction(original) / Fraction(base))
    assert 0 <= wage - max(floors) < Fraction(1, 100)
    owed = wage * Fraction(str(minutes)) / 60
    assert 0 <= Fraction(find_pay(pay, minutes)) - owed < Fraction(1, 100)
