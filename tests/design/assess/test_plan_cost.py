"""Time and cost of a plan: every page counted, every rater's pay rounded up, and what is missing said."""

from decimal import Decimal
from typing import Any

import pytest

from panelist.design.assess.plan_cost import Cost, cost_plan
from tests.design.small_studies import make_plan, make_sequence, make_study

PAY = {"currency": "EUR", "living_wage": "12.60", "minutes_per_trial": 0.5, "minutes_before": 3}


def make_rows(raters: int = 2, pages: int = 4, **same: Any) -> list[dict[str, Any]]:
    sequence = [f"i{page % 4 + 1} {'ab'[page % 2]}" for page in range(pages)]
    return [row for rater in range(raters) for row in make_sequence(*sequence, rater=f"r{rater}", **same)]


def cost(rows: list[dict[str, Any]], **file: Any) -> Cost:
    return cost_plan(make_plan(rows), make_study(**file))


def test_pay_is_for_all_minutes_rounded_up_for_each_rater() -> None:
    found = cost(make_rows(), pay=PAY)
    (sitting,) = found.occasions
    assert (sitting.pages, sitting.minutes) == ((4, 4), (5.0, 5.0))
    assert sitting.pay == (Decimal("1.05"), Decimal("1.05"))  # 12.60 × 5 / 60
    assert found.total == sitting.total == Decimal("2.10")


def test_practice_and_checks_are_pages_like_others() -> None:
    extra = [
        {"rater": "r0", "order": 5, "phase": "practice", "item": "practice-1", "system": ""},
        {
            "rater": "r0",
            "order": 6,
            "phase": "check",
            "check": "instructed-1",
            "item": "check-1",
            "system": "",
        },
    ]
    (sitting,) = cost(make_rows() + extra, pay=PAY).occasions
    assert (sitting.pages, sitting.minutes) == ((4, 6), (5.0, 6.0))
    assert sitting.pay == (Decimal("1.05"), Decimal("1.26"))
    assert sitting.total == Decimal("2.31")


def test_outputs_and_criteria_on_one_page_are_one_page() -> None:
    rows = make_sequence("i1 a b", "i2 b a")
    rows += [{**row, "criterion": "clarity"} for row in rows]
    (sitting,) = cost(
        rows, scales={"fluency": {"type": "pairs"}, "clarity": {"type": "pairs"}}, pay=PAY
    ).occasions
    assert sitting.pages == (2, 2)


def test_each_cent_is_rounded_before_it_is_summed() -> None:
    found = cost(make_rows(raters=3), pay={**PAY, "living_wage": "12.61"})  # 1.050833… each
    assert found.occasions[0].pay == (Decimal("1.06"), Decimal("1.06"))
    assert found.total == Decimal("3.18")


def test_panel_fee_is_added_and_rounded_up() -> None:
    found = cost(make_rows(), pay={**PAY, "fee_percent": 33.3})
    assert (found.fee, found.total) == (Decimal("0.70"), Decimal("2.80"))  # 0.6993
    assert "of which 0.70 is the panel's fee (33.3 %)" in str(found)


def test_each_sitting_is_counted() -> None:
    found = cost(make_rows() + make_rows(occasion=2, pages=2), pay=PAY, design={"occasions": 2})
    assert [one.pages for one in found.occasions] == [(4, 4), (2, 2)]
    assert [one.total for one in found.occasions] == [Decimal("2.10"), Decimal("1.68")]
    assert found.total == Decimal("3.78")
    assert "occasion" in str(found)


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ({}, "Add minutes_per_trial"),
        ({}, "Add a pay: section"),
        ({"pay": {"hourly": "10"}}, "Add minutes_per_trial"),
        ({"pay": {"minutes_per_trial": 1}}, "Add hourly, living_wage or minimum_wage"),
        ({"pay": {"minutes_per_trial": 1, "hourly": "10"}, "raters": {"paid": "no"}}, "Raters are not paid"),
        ({"raters": {"paid": "other"}}, "other than money"),
    ],
)
def test_what_is_not_known_says_what_to_add(file: dict[str, Any], part: str) -> None:
    found = cost(make_rows(), **file)
    assert found.total is None
    assert part in " ".join(str(found).split())


def test_minutes_are_known_without_a_wage() -> None:
    found = cost(make_rows(), pay={"minutes_per_trial": 1, "minutes_before": 0})
    assert found.occasions[0].minutes == (4.0, 4.0)
    assert found.to_dict()["occasions"][0]["pay"] is None


def test_amounts_are_exact_in_json() -> None:
    whole = cost(make_rows(), pay=PAY).to_dict()
    assert (whole["total"], whole["wage"], whole["currency"]) == ("2.10", "12.60", "EUR")
    assert whole["occasions"][0] == {
        "occasion": 1, "n_raters": 2, "pages": [4, 4], "minutes": [5.0, 5.0],
        "pay": ["1.05", "1.05"], "total": "2.10",
    }  # fmt: skip
