import pytest

from panelist.collection.session.submit import judge_checks, judge_practice
from panelist.study.sections.briefing import Practice
from panelist.study.sections.checks import Checks


def make_checks(then: str, allowed: int) -> Checks:
    item = {"kind": "repeat"}
    return Checks.model_validate({"items": [item], "then": then, "allowed": allowed})


@pytest.mark.parametrize("then", ["flag", "warn", "screen out", "exclude"])
def test_the_consequence_is_the_one_that_is_written(then: str) -> None:
    follows = judge_checks(make_checks(then, 0), {}, {"repeat-1": False})
    assert follows.kind == then
    assert follows.reason == "failed 1 of 1 checks (repeat-1), 0 allowed"


@pytest.mark.parametrize(("allowed", "kind"), [(0, "flag"), (1, "flag"), (2, "none")])
def test_earlier_failures_count(allowed: int, kind: str) -> None:
    before = {"repeat-1": False, "instructed-1": True}
    assert judge_checks(make_checks("flag", allowed), before, {"repeat-2": False}).kind == kind


def test_nothing_follows_from_a_check_that_was_passed() -> None:
    before = {"repeat-1": False, "repeat-2": False}
    assert judge_checks(make_checks("screen out", 0), before, {"repeat-3": True}).kind == "none"
    assert judge_checks(make_checks("screen out", 0), before, {}).kind == "none"


def test_a_check_answered_anew_counts_once() -> None:
    assert judge_checks(make_checks("flag", 1), {"repeat-1": False}, {"repeat-1": False}).kind == "none"


def test_a_study_without_checks_judges_nobody() -> None:
    assert judge_checks(None, {}, {"repeat-1": False}).kind == "none"


@pytest.mark.parametrize(
    ("right", "attempt", "kind"),
    [(2, 1, "none"), (3, 2, "none"), (1, 1, "again"), (1, 2, "screen out"), (0, 3, "screen out")],
)
def test_practice_may_be_repeated_while_there_are_attempts(right: int, attempt: int, kind: str) -> None:
    practice = Practice.model_validate({"items": [{"output": "x"}] * 3, "pass_mark": 2, "attempts": 2})
    assert judge_practice(practice, right, attempt).kind == kind


def test_without_a_pass_mark_everybody_goes_on() -> None:
    practice = Practice.model_validate({"items": [{"output": "x"}]})
    assert judge_practice(practice, 0, 1).kind == "none"
