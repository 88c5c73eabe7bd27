"""What the planner is asked: parameters, and the designs that follow from them."""

from urllib.parse import parse_qsl

import pytest

from panelist.core.errors import BadDesign
from panelist.power.truth.base import Truth
from panelist.web.planner.query import NUMBERS, PAY, PlannerQuery, read_query
from panelist.web.planner.question import (
    MOST_WORK,
    PlannerQuestion,
    check,
    is_too_much,
    list_items,
    list_ratings,
)

USUAL = PlannerQuery("general", "fluency", 0.5, 2, 100, 10, 24, "clmm", 0.8, None)
CHOICES = {
    "preset": {"general": "General"},
    "model": {"clmm": "Ordinal"},
    "criterion": {"fluency": "Fluency"},
}


def test_a_wish_comes_back_from_its_own_address() -> None:
    query = PlannerQuery("general", "fluency", 0.75, 3, 60, 5, 12, "clmm", 0.9, 3.6)
    assert read_query(dict(parse_qsl(query.encode())), USUAL, CHOICES) == (query, {})
    assert read_query(dict(parse_qsl(USUAL.encode())), query, CHOICES)[0].items == 100


def test_what_is_not_named_is_usual() -> None:
    assert read_query({"said": "hello", "pay": " "}, USUAL, CHOICES) == (USUAL, {})


@pytest.mark.parametrize("number", [*NUMBERS, PAY], ids=lambda number: str(number.name))
@pytest.mark.parametrize("text", ["-3", "nan", "inf", "many", "1e9", "<b>"])
def test_a_number_that_cannot_be_taken_is_said_with_what_can(number, text) -> None:  # type: ignore[no-untyped-def]
    query, problems = read_query({number.name: text}, USUAL, CHOICES)
    assert query == USUAL
    assert list(problems) == [number.name]
    assert f"from {number.low:g} to {number.high:g}. Got {text}." in problems[number.name]


def test_half_an_item_and_an_unknown_preset_are_said() -> None:
    _, problems = read_query({"items": "10.5", "preset": "genral"}, USUAL, CHOICES)
    assert problems["items"] == "Items: a whole number from 5 to 500. Got 10.5."
    assert problems["preset"] == "There is no preset 'genral' here. These can be chosen: general."


@pytest.mark.parametrize("items", [5, 6, 17, 100, 500])
@pytest.mark.parametrize("each", range(1, 21))
def test_the_design_itself_is_on_the_curve_once(items: int, each: int) -> None:
    assert items in list_items(items)
    lines = list_ratings(each)
    assert lines[0] == each
    assert len(set(lines)) == len(lines) == 3
    assert min(lines) >= 1


def test_a_design_that_takes_too_long_is_refused_with_the_limit() -> None:
    assert is_too_much(500, 20, 6)
    with pytest.raises(BadDesign, match=rf"60,000 ratings of 6 systems .* at most {MOST_WORK // 36:,}\."):
        check(PlannerQuery("general", "", 0.5, 6, 500, 20, 24, "clmm", 0.8, None))


def test_points_that_take_too_long_are_left_out_of_the_curve() -> None:
    question = PlannerQuestion(
        PlannerQuery("general", "", 0.5, 5, 100, 10, 24, "clmm", 0.8, None), Truth.preset("general")
    )
    assert question.places[0] == (100, 10)
    assert (200, 10) not in question.places
    assert (200, 5) in question.places
