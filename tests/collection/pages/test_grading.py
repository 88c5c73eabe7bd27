"""Checks and practice are graded on the server, from answers alone."""

from typing import Any

import pytest

from panelist.collection.pages.agenda import PlanPage, Sitting
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.grading import grade_checks, grade_practice
from panelist.collection.pages.spoiling import spoil_text
from panelist.design.make import plan_study
from tests.collection.raters import DESIGNS, SCALES, VERBAL, make_study

ONE = (("item0", "system0"),)
FOUR = tuple(("item0", f"system{n}") for n in range(4))


def make_booklet(scale: dict[str, Any], checks: list[dict[str, Any]] | None = None, **more: Any) -> Booklet:
    design = DESIGNS.get(str(scale["type"]), {"type": "full"})
    file: dict[str, Any] = {"checks": {"items": checks}} if checks else {}
    study = make_study({"ease": scale}, design, **file, **more)
    return Booklet(study, plan_study(study))


def grade(
    booklet: Booklet, check: str, first: str, second: str, shown: Any = ONE, again: Any = None
) -> bool | None:
    """Return the grade of a check whose trial was answered so, and the check itself so."""
    field = "c1" if booklet.criterion("ease").scale.comparative else "c1p1"
    trial = PlanPage(1, "trial", "", shown, ("ease",))
    own = PlanPage(2, "check", check, again or shown, ("ease",), due=(check,))
    original = {} if check.startswith("instructed") else {check: 1}
    graded = grade_checks(
        booklet,
        Sitting((trial, own), original),
        own,
        {1: {field: first}, 2: {field: second} if second else {}},
    )
    return graded.get(check)


@pytest.mark.parametrize(
    ("scale", "asked", "given", "passed"),
    [
        ("verbal", "Good", "3", True),
        ("verbal", "3", "2", False),
        ("verbal", "Good", "", False),
        ("binary", "Plausible", "1", True),
        ("binary", "Plausible", "0", False),
        ("vas", "100", "93.5", True),
        ("vas", "100", "80", False),
        ("pairs", "tie", "tie", True),
        ("pairs", "tie", "1", False),
        ("preference", "B2", "B2", True),
        ("preference", "B2", "B1", False),
        ("best-worst", "1,2", "1,2", True),
        ("best-worst", "1,2", "2,1", False),
        ("ranking", "3,2,1", "3,2,1", True),
    ],
)
def test_an_instructed_check_wants_the_answer_it_asks_for(
    scale: str, asked: str, given: str, passed: bool
) -> None:
    check = {"kind": "instructed", "text": "Do as told.", "answers": {"ease": asked}}
    booklet = make_booklet(SCALES[scale], [check])
    shown = {"pairs": 2, "preference": 2, "best-worst": 4, "ranking": 3}.get(scale, 1)
    assert grade(booklet, "instructed-1", "", given, (("check-1", ""),) * shown) is passed


@pytest.mark.parametrize(
    ("scale", "tolerance", "first", "second", "passed"),
    [
        ("likert", 1, "5", "6", True),
        ("likert", 1, "5", "7", False),
        ("likert", 0, "5", "5", True),
        ("vas", 25, "40", "65", True),
        ("vas", 25, "40", "65.1", False),
        ("binary", 1, "1", "0", False),  # a name is not near another
        ("binary", 1, "1", "1", True),
        ("text", 1, "Fine.", "Bad.", None),
        ("likert", 1, "", "5", None),
    ],
)
def test_a_repeated_page_should_get_nearly_the_same_answer(
    scale: str, tolerance: float, first: str, second: str, passed: bool | None
) -> None:
    booklet = make_booklet(SCALES[scale], [{"kind": "repeat", "tolerance": tolerance}])
    assert grade(booklet, "repeat-1", first, second) is passed


def test_a_repeated_comparison_is_graded_by_output_wherever_it_stands() -> None:
    booklet = make_booklet(SCALES["best-worst"], [{"kind": "repeat"}])
    turned = FOUR[::-1]
    assert grade(booklet, "repeat-1", "1,2", "4,3", FOUR, turned) is True
    assert grade(booklet, "repeat-1", "1,2", "1,2", FOUR, turned) is False


@pytest.mark.parametrize(
    ("first", "second", "passed"),
    [("A2", "B2", True), ("A2", "B1", True), ("A1", "tie", True), ("A2", "A2", False), ("A1", "A1", False)],
)
def test_a_repeated_grade_should_be_near_the_first_one_for_each_output(
    first: str, second: str, passed: bool
) -> None:
    booklet = make_booklet(SCALES["preference"], [{"kind": "repeat"}])
    assert grade(booklet, "repeat-1", first, second, FOUR[:2], FOUR[1::-1]) is passed


@pytest.mark.parametrize(
    ("margin", "whole", "spoilt", "passed"),
    [
        (0, "5", "4", True),
        (0, "5", "5", False),
        (2, "5", "3", True),
        (2, "5", "4", False),
        (0, "3", "6", False),
    ],
)
def test_a_spoilt_copy_should_be_rated_lower(margin: float, whole: str, spoilt: str, passed: bool) -> None:
    booklet = make_booklet(SCALES["likert"], [{"kind": "degraded", "margin": margin}])
    assert grade(booklet, "degraded-1", whole, spoilt) is passed


def test_a_spoilt_output_should_not_be_chosen_as_the_best() -> None:
    booklet = make_booklet(SCALES["best-worst"], [{"kind": "degraded"}])
    page = PlanPage(2, "check", "degraded-1", FOUR, ("ease",))
    place = booklet.spoilt_place(page) + 1
    other = place % 4 + 1
    assert grade(booklet, "degraded-1", "1,2", f"{place},{other}", FOUR) is False
    assert grade(booklet, "degraded-1", "1,2", f"{other},{place}", FOUR) is True


def test_several_criteria_are_averaged_for_a_spoilt_copy_and_all_count_for_a_repeat() -> None:
    checks = {"items": [{"kind": "degraded", "margin": 1}, {"kind": "repeat", "tolerance": 1}]}
    study = make_study({"a": SCALES["likert"], "b": SCALES["likert"]}, {"type": "full"}, checks=checks)
    booklet = Booklet(study, plan_study(study))
    trial = PlanPage(1, "trial", "", ONE, ("a", "b"))
    for name, expected in (("degraded-1", True), ("repeat-1", False)):
        own = PlanPage(2, "check", name, ONE, ("a", "b"), due=(name,))
        answers = {1: {"c1p1": "6", "c2p1": "4"}, 2: {"c1p1": "3", "c2p1": "5"}}
        assert grade_checks(booklet, Sitting((trial, own), {name: 1}), own, answers) == {name: expected}


def test_checks_of_a_plan_are_due_when_both_pages_are_answered() -> None:
    checks = {"items": [{"kind": "repeat", "count": 1, "distance": 2}, {"kind": "degraded", "count": 1}]}
    study = make_study(checks=checks)
    booklet = Booklet(study, plan_study(study))
    for place in booklet.agenda.places:
        sitting = booklet.agenda.sitting(place, 1)
        assert set(sitting.originals) == {"repeat-1", "degraded-1"}
        for name, original in sitting.originals.items():
            own, first = sitting.check(name), sitting.page(original)
            assert first is not None
            assert own.outputs == first.outputs
            (due,) = [page for page in sitting.pages if name in page.due]
            assert due.order == max(own.order, original)


def practise(scale: dict[str, Any], right: list[str], given: str, outputs: int = 1) -> Any:
    shown = {"output": "Try"} if outputs == 1 else {"outputs": [f"Try {n}" for n in range(outputs)]}
    items = [{**shown, "right": {"ease": right}}]
    booklet = make_booklet(scale, practice={"items": items})
    page = booklet.agenda.sitting("r001", 1).practice[0]
    return grade_practice(
        booklet, page, {"c1" if booklet.criterion("ease").scale.comparative else "c1p1": given}
    )


@pytest.mark.parametrize(
    ("scale", "right", "given", "direction"),
    [
        ("likert", ["2", "3"], "3", "same"),
        ("likert", ["2", "3"], "5", "higher"),
        ("likert", ["2", "3"], "1", "lower"),
        ("likert", ["1", "7"], "4", "other"),
        ("verbal", ["Good"], "3", "same"),
        ("binary", ["Plausible"], "0", "other"),
        ("vas", ["80"], "72", "same"),
        ("vas", ["80"], "60", "lower"),
        ("vas", ["60", "90"], "75", "same"),
        ("vas", ["60", "90"], "95", "higher"),
        ("text", ["Fine."], "Fine.", "same"),
    ],
)
def test_practice_says_where_an_answer_lies(scale: str, right: list[str], given: str, direction: str) -> None:
    result = practise(SCALES[scale], right, given)
    assert result.direction == direction
    assert result.right is (direction == "same")


def test_any_of_the_answers_to_a_comparison_passes() -> None:
    assert practise(SCALES["pairs"], ["tie", "1"], "1", 2).right
    assert not practise(SCALES["pairs"], ["tie", "1"], "2", 2).right
    assert practise(SCALES["preference"], ["A2", "A1"], "A1", 2).right
    assert not practise(SCALES["preference"], ["A2", "A1"], "tie", 2).right


def test_feedback_shows_every_point_with_ours_and_theirs() -> None:
    (mark,) = practise(VERBAL, ["2", "Good"], "1").marks
    assert [(choice.label, ours, theirs) for choice, ours, theirs in mark.rows] == [
        ("Bad", False, True),
        ("So-so", True, False),
        ("Good", True, False),
    ]
    assert (mark.given, mark.ours) == ("1 Bad", ("2 So-so", "3 Good"))


def test_practice_without_right_answers_is_not_marked() -> None:
    booklet = make_booklet(VERBAL, practice={"items": [{"output": "Try", "why": "It reads well."}]})
    result = grade_practice(booklet, booklet.agenda.sitting("r001", 1).practice[0], {"c1p1": "1"})
    assert (result.right, result.direction, result.marks) == (None, "ours", ())


@pytest.mark.parametrize("how", ["shuffle words", "repeat words", "drop words"])
def test_a_spoilt_text_is_always_the_same_and_never_the_whole_one(how: str) -> None:
    text = "A frosty start, with fog patches slow to clear."
    spoilt = {spoil_text(text, how, 7, "item", "system") for _ in range(3)}
    assert len(spoilt) == 1
    assert text not in spoilt
    assert spoilt != {spoil_text(text, how, 8, "item", "system")}
    words = sorted(spoilt.pop().split())
    if how == "shuffle words":
        assert words == sorted(text.split())
    elif how == "repeat words":
        assert len(words) > len(text.split())
        assert set(words) == set(text.split())
    else:
        assert 0 < len(words) < len(text.split())


@pytest.mark.parametrize("how", ["shuffle words", "repeat words", "drop words"])
@pytest.mark.parametrize("text", ["One", "two words", "the the the", ""])
def test_short_texts_can_be_spoilt_too(how: str, text: str) -> None:
    for seed in range(5):
        spoilt = spoil_text(text, how, seed)
        assert spoilt != text or not text


@pytest.mark.parametrize("how", ["shuffle words", "repeat words", "drop words"])
def test_a_spoilt_copy_keeps_lines_and_indentation(how: str) -> None:
    whole = "def f(x):\n    if x is None:\n\treturn 1 + 2\n\n    return x or 0\n"
    spoilt = spoil_text(whole, how, 1, "item0", "system0")
    assert spoilt != whole
    indents = ["", "    ", "\t", "", "    ", ""]
    assert [line[: len(line) - len(line.lstrip())] for line in spoilt.split("\n")] == indents
    assert set(spoilt.split()) <= set(whole.split())


@pytest.mark.parametrize("seed", range(50))
def test_a_dropped_word_leaves_no_double_space(seed: int) -> None:
    spoilt = spoil_text("  one two\n  three four\nfive six", "drop words", seed)
    assert spoilt.startswith("  ")
    assert not any(line.endswith(" ") or "  " in line.lstrip() for line in spoilt.split("\n"))
