"""The state machine: who sees what next, and what is stored, without a server."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from panelist.collection.pages.models import (
    BackgroundPage,
    BreakPage,
    CommentsPage,
    ConsentPage,
    EndPage,
    ExamplesPage,
    FeedbackPage,
    InstructionsPage,
    PracticePage,
    RatingPage,
)
from panelist.collection.session.answering import NotAsked
from panelist.collection.session.visit_flow import next_page, submit_answer
from panelist.scales.base import BadAnswer
from panelist.study.reading.load import load_study
from tests.collection.raters import (
    DESIGNS,
    SCALES,
    TEMPLATE_NAMES,
    Walk,
    fill,
    load_template,
    make_study,
    walk_through,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
DAY = 86_400.0


def rate(walk: Walk) -> RatingPage:
    page = walk.go_to(RatingPage)
    assert isinstance(page, RatingPage)
    return page


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_every_template_can_be_walked_from_consent_to_the_code(name: str) -> None:
    walk = walk_through(load_template(name))
    end = walk.finish()
    assert (end.kind, walk.visit.state) == ("finished", "finished")
    assert len(end.code) == 8
    kinds = [type(page) for page in walk.pages]
    briefing = [ConsentPage, BackgroundPage, InstructionsPage, ExamplesPage, PracticePage, FeedbackPage]
    assert [kind for kind in dict.fromkeys(kinds) if kind in briefing] == briefing
    assert kinds[-2:] == [CommentsPage, EndPage]


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.rglob("study*.yaml")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_example_can_be_walked_to_its_end(path: Path) -> None:
    walk = walk_through(load_study(path))
    end = walk.finish()
    walk.now = 1e9
    while end.kind == "waiting":
        walk.send({"page": end.id})
        end = walk.finish()
        walk.now += 1e9
    assert end.kind == "finished"
    occasions = walk.booklet.agenda.occasions("r001")
    planned = {
        (time, page.order)
        for time in range(1, occasions + 1)
        for page in walk.booklet.agenda.sitting("r001", time).pages
    }
    assert set(walk.history.given) == planned


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_every_page_of_the_plan_is_answered_once_and_nothing_else(name: str) -> None:
    walk = walk_through(load_template(name))
    walk.finish()
    table = walk.booklet.agenda.sitting("r001", 1).pages
    assert set(walk.history.given) == {(1, page.order) for page in table}
    answers = [given for outcome in walk.outcomes for given in outcome.answers if given.phase != "practice"]
    criteria = {(page.order, name) for page in table if page.phase != "practice" for name in page.criteria}
    assert {(given.item, given.criterion) for given in answers} == {
        (page.outputs[0][0], name) for page in table if page.phase != "practice" for name in page.criteria
    }
    assert len(answers) >= len(criteria)


@pytest.mark.parametrize("scale", sorted(SCALES))
def test_every_scale_takes_its_answers_and_names_what_is_missing(scale: str) -> None:
    study = make_study({"judged": SCALES[scale]}, DESIGNS.get(scale, make_study().file.design.model_dump()))
    walk = walk_through(study)
    page = rate(walk)
    (asked,) = page.asked
    refused = walk.send({"page": page.id})
    assert refused.move is None
    assert isinstance(refused.again, RatingPage)
    assert [missing.name for missing in refused.again.missing] == [asked.name]
    assert refused.again.missing[0].problem.startswith("please_")
    assert asked.name == ("c1" if study.criteria[0].scale.comparative else "c1p1")
    taken = walk.send(fill(page))
    assert [given.name for given in taken.answers] == [asked.name]
    assert taken.move is not None


def test_a_visit_that_was_invited_stands_at_the_first_step_that_the_study_has() -> None:
    assert walk_through(load_template("likert")).turn().state == "consent"
    plain = walk_through(make_study())
    assert plain.turn().state == "rating"
    assert isinstance(plain.look(), RatingPage)


def test_who_declines_leaves_nothing() -> None:
    walk = walk_through(load_template("likert"))
    outcome = walk.send({"page": "consent", "consent": "no"})
    assert (outcome.answers, outcome.events) == ((), ())
    end = walk.look()
    assert isinstance(end, EndPage)
    assert (end.kind, end.code) == ("declined", "")


def test_all_boxes_must_be_ticked_and_those_that_were_stay_so() -> None:
    walk = walk_through(load_template("likert"))
    outcome = walk.send({"page": "consent", "consent": "yes", "box2": "1"})
    assert isinstance(outcome.again, ConsentPage)
    assert outcome.again.missing
    assert outcome.again.ticked == (False, True, False)
    assert outcome.move is None


def test_background_answers_are_kept_checked_and_put_raters_into_groups() -> None:
    questions = [
        {"name": "native", "question": "First language?", "options": ["Yes", "No"], "groups": {"Yes": "in"}},
        {"name": "age", "question": "Age?", "type": "number"},
        {"name": "job", "question": "Job?", "type": "text", "required": False},
    ]
    walk = walk_through(make_study(background=questions))
    refused = walk.send({"page": "background", "b1": "Perhaps", "b2": "many"})
    assert isinstance(refused.again, BackgroundPage)
    assert [asked.problem for asked in refused.again.questions] == ["please_choose", "please_number", ""]
    taken = walk.send({"page": "background", "b1": "Yes", "b2": "41"})
    assert taken.group == "in"
    assert walk.history.events("background") == [{"native": "Yes", "age": "41", "job": ""}]


def test_a_form_that_comes_twice_changes_nothing() -> None:
    walk = walk_through(make_study())
    form = fill(rate(walk))
    assert walk.send(form).move is not None
    at = walk.visit
    again = walk.send(form)
    assert (again.move, again.answers, again.again) == (None, (), None)
    assert walk.visit == at


def test_a_move_says_where_the_visit_was() -> None:
    walk = walk_through(make_study(), state="rating")
    move = walk.send(fill(rate(walk))).move
    assert move is not None
    assert move.seen_at == ("rating", 1, 1)
    assert (move.state, move.page) == ("rating", 2)


def test_what_was_answered_on_an_incomplete_page_is_stored() -> None:
    walk = walk_through(make_study({"a": SCALES["verbal"], "b": SCALES["vas"]}))
    page = rate(walk)
    refused = walk.send({"page": page.id, "c1p1": "2", "key-c1p1": "abcdefgh"})
    assert [(given.name, given.value, given.key) for given in refused.answers] == [("c1p1", "2", "abcdefgh")]
    assert isinstance(refused.again, RatingPage)
    assert [asked.value for asked in refused.again.asked] == ["2", ""]


def test_unanswered_questions_pass_where_nothing_is_forced() -> None:
    walk = walk_through(make_study(collecting={"forced": False}))
    page = rate(walk)
    outcome = walk.send({"page": page.id})
    assert outcome.move is not None
    assert outcome.answers == ()
    rubbish = walk.send({"page": walk.look().id, "c1p1": "99"})
    assert rubbish.move is None


def test_going_back_shows_what_was_answered_where_the_study_allows_it() -> None:
    walk = walk_through(make_study(collecting={"back": True}))
    first = rate(walk)
    assert not first.back
    walk.send(fill(first, {"c1p1": "3"}))
    second = rate(walk)
    assert second.back
    walk.press_back({"page": second.id})
    again = rate(walk)
    assert (again.id, again.asked[0].value) == (first.id, "3")
    changed = walk.send(fill(again, {"c1p1": "1"}))
    assert changed.answers[0].value == "1"
    assert walk.look().id == second.id


def test_nobody_goes_back_where_the_study_does_not_allow_it() -> None:
    walk = walk_through(make_study())
    walk.go_on()
    page = rate(walk)
    assert not page.back
    assert walk.press_back({"page": page.id}).move is None


def test_a_pause_keeps_the_answers_and_goes_on_at_the_same_page() -> None:
    walk = walk_through(make_study({"a": SCALES["verbal"], "b": SCALES["verbal"]}))
    page = rate(walk)
    walk.press_pause({"page": page.id, "c2p1": "3"})
    stop = walk.look()
    assert isinstance(stop, BreakPage)
    assert stop.kind == "pause"
    walk.go_on()
    again = rate(walk)
    assert again.id == page.id
    assert [asked.value for asked in again.asked] == ["", "3"]


def test_a_break_is_offered_after_every_so_many_pages() -> None:
    walk = walk_through(make_study(breaks={"every": 2}))
    walk.finish()
    kinds = [page.kind if isinstance(page, BreakPage) else "rate" for page in walk.pages[:-1]]
    assert kinds == ["rate", "rate", "break", "rate", "rate", "break", "rate", "rate"]
    breaks = [page for page in walk.pages if isinstance(page, BreakPage)]
    assert [(page.n, page.total) for page in breaks] == [(2, 6), (4, 6)]


def practice(**more: Any) -> dict[str, Any]:
    items = [{"output": f"Try {n}", "right": {"ease": ["2", "Good"]}, "why": "Because."} for n in (1, 2)]
    return {"items": items, "pass_mark": 2, **more}


def practise(walk: Walk, *values: str) -> None:
    for value in values:
        page = walk.look()
        assert isinstance(page, PracticePage)
        walk.send(fill(page, {"c1p1": value}))
        assert isinstance(walk.look(), FeedbackPage)
        walk.send({"page": walk.look().id})


def test_practice_that_passes_leads_to_the_ratings() -> None:
    walk = walk_through(make_study(practice=practice()))
    practise(walk, "2", "3")
    assert type(walk.look()) is RatingPage


def test_practice_may_be_tried_twice_and_then_screens_out() -> None:
    outcomes = {"screened_out": {"code": "OUT1", "redirect": "https://panel.example/?cc={code}&who={id}"}}
    walk = walk_through(make_study(practice=practice(), collecting={"outcomes": outcomes}), outside_id="a&b")
    practise(walk, "2", "1")
    stop = walk.look()
    assert isinstance(stop, BreakPage)
    assert stop.kind == "again"
    walk.send({"page": stop.id})
    assert walk.look().id == "1-1"
    practise(walk, "1", "3")
    end = walk.look()
    assert isinstance(end, EndPage)
    assert (end.kind, end.code) == ("screened_out", "OUT1")
    assert end.redirect == "https://panel.example/?cc=OUT1&who=a%26b"
    assert "1 of 2 practice items right, 2 needed, attempt 2" in walk.visit.reason


def test_a_second_attempt_at_the_practice_can_pass() -> None:
    walk = walk_through(make_study(practice=practice()))
    practise(walk, "1", "1")
    walk.send({"page": walk.look().id})
    practise(walk, "2", "2")
    assert type(walk.look()) is RatingPage


def test_trying_one_item_again_teaches_but_does_not_count() -> None:
    walk = walk_through(make_study(practice=practice(attempts=1)))
    page = walk.look()
    walk.send(fill(page, {"c1p1": "1"}))
    walk.send({"page": walk.look().id, "again": "1"})
    assert walk.look().id == page.id
    practise(walk, "2", "2")
    assert walk.visit.state == "screened_out"


def test_practice_that_only_flags_lets_everybody_on() -> None:
    walk = walk_through(make_study(practice=practice(failed="flag", attempts=1)))
    practise(walk, "1", "1")
    assert type(walk.look()) is RatingPage
    assert [detail["about"] for kind, detail in walk.history.happened if kind == "flag"] == ["practice"]


def test_practice_begins_empty_in_every_attempt() -> None:
    walk = walk_through(make_study(practice=practice()))
    practise(walk, "1", "1")
    walk.send({"page": walk.look().id})
    page = walk.look()
    assert isinstance(page, PracticePage)
    assert page.asked[0].value == ""


def checked(then: str, allowed: int = 0, **more: Any) -> Walk:
    check = {"kind": "instructed", "text": "Choose Good.", "answers": {"ease": "Good"}}
    return walk_through(make_study(checks={"items": [check], "then": then, "allowed": allowed}, **more))


def fail_check(walk: Walk) -> None:
    """Answer Bad everywhere until the check has been answered."""
    while "check" not in walk.events():
        walk.go_on({"c1p1": "1"} if type(walk.look()) is RatingPage else None)


@pytest.mark.parametrize(("then", "event"), [("flag", "flag"), ("warn", "warning"), ("exclude", "exclude")])
def test_a_failed_check_has_the_consequence_that_the_study_names(then: str, event: str) -> None:
    walk = checked(then)
    fail_check(walk)
    assert walk.history.events("check") == [{"occasion": 1, "check": "instructed-1", "passed": False}]
    assert event in walk.events()
    stop = walk.look()
    assert isinstance(stop, BreakPage) == (then == "warn")
    end = walk.finish()
    assert end.kind == "finished"
    assert len(end.code) == 8
    assert walk.visit.state == ("excluded" if then == "exclude" else "finished")


def test_a_failed_check_can_end_the_visit_at_once() -> None:
    walk = checked("screen out")
    fail_check(walk)
    assert walk.visit.state == "screened_out"
    assert walk.visit.reason == "failed 1 of 1 checks (instructed-1), 0 allowed"


def test_nothing_follows_while_no_more_fail_than_allowed() -> None:
    walk = checked("screen out", allowed=1)
    fail_check(walk)
    assert walk.finish().kind == "finished"


def test_a_check_that_is_passed_has_no_consequence() -> None:
    walk = checked("screen out")
    while "check" not in walk.events():
        walk.go_on({"c1p1": "3"})
    assert walk.history.events("check")[0]["passed"] is True
    assert walk.finish().kind == "finished"


def test_a_page_may_end_by_itself_but_not_before_its_time() -> None:
    walk = walk_through(make_study(collecting={"page_seconds": 30}))
    page = rate(walk)
    assert page.seconds == 30
    early = walk.send({"page": page.id, "timed_out": "1"}, elapsed=5.0)
    assert early.again is not None
    late = walk.send({"page": page.id, "timed_out": "1"}, elapsed=30.5)
    assert late.move is not None
    assert late.answers == ()
    assert walk.events() == ["timed out"]


def test_the_time_for_a_sitting_ends_it() -> None:
    walk = walk_through(make_study(collecting={"minutes": 0.5}))
    end = walk.finish()
    assert (end.kind, walk.visit.state) == ("timed_out", "released")
    assert len(walk.history.given) == 3  # ten seconds each


def test_a_second_occasion_waits_for_its_day() -> None:
    design = {
        "type": "lists",
        "trials_per_rater": 6,
        "ratings_per_output": 2,
        "occasions": 2,
        "days_between": 7,
    }
    walk = walk_through(make_study(design=design, closing={"comments": "Anything?"}))
    walk.now = 1000.0
    waiting = walk.finish()
    assert (waiting.kind, waiting.open, waiting.opens) == ("waiting", False, 1000.0 + 7 * DAY)
    walk.now += 6 * DAY
    assert walk.send({"page": waiting.id}).move is None
    walk.now += 2 * DAY
    again = walk.look()
    assert isinstance(again, EndPage)
    assert again.open
    walk.send({"page": again.id})
    assert rate(walk).id == "2-1"
    assert walk.finish().kind == "finished"
    assert {occasion for occasion, _ in walk.history.given} == {1, 2}


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_study_that_is_not_open_says_so_but_ends_stay_ends(state: str) -> None:
    walk = walk_through(make_study(), state="rating")
    page = next_page(walk.turn(), state)
    assert isinstance(page, EndPage)
    assert page.kind == state
    walk.visit = replace(walk.visit, state="finished", code="C")
    end = next_page(walk.turn(), state)
    assert isinstance(end, EndPage)
    assert (end.kind, end.code) == ("finished", "C")


def test_a_visit_without_a_place_is_told_that_all_are_taken() -> None:
    walk = walk_through(make_study(), place=None, state="rating")
    end = walk.look()
    assert isinstance(end, EndPage)
    assert end.kind == "full"
    assert walk.send({"page": "1-1"}).move is None


def test_one_answer_is_taken_the_moment_it_is_given() -> None:
    walk = walk_through(make_study({"a": SCALES["vas"]}), state="rating", page=2)
    message = {"page": "1-2", "name": "c1p1", "value": "71.25", "key": "k" * 32, "raw": 71.25, "width": 390}
    occasion, page, given = submit_answer(walk.turn(), message | {"seconds": 3.5, "changes": 2})
    assert (occasion, page, given.value, given.raw) == (1, 2, "71.2", 71.25)
    assert (given.seconds, given.changes, given.width, given.position) == (3.5, 2, 390, 1)
    assert given.item.startswith("item")
    assert given.system.startswith("system")


def test_an_answer_may_be_taken_back() -> None:
    walk = walk_through(make_study({"a": SCALES["text"]}), state="rating")
    assert submit_answer(walk.turn(), {"page": "1-1", "name": "c1p1", "value": " "})[2].value == ""


@pytest.mark.parametrize(
    "message",
    [
        {"page": "1-3", "name": "c1p1", "value": "1"},  # a page ahead
        {"page": "2-1", "name": "c1p1", "value": "1"},  # an occasion ahead
        {"page": "1-99", "name": "c1p1", "value": "1"},
        {"page": "1", "name": "c1p1", "value": "1"},
        {"page": "1-²", "name": "c1p1", "value": "1"},
        {"page": "1-1", "name": "c2p1", "value": "1"},
        {"page": "1-1", "name": "c1p2", "value": "1"},
        {"page": "1-1", "name": "c1p1-why", "value": "x"},
        {"name": "c1p1", "value": "1"},
        {},
    ],
)
def test_what_nobody_asked_is_refused(message: dict[str, Any]) -> None:
    walk = walk_through(make_study(), state="rating", page=2)
    with pytest.raises(NotAsked):
        submit_answer(walk.turn(), message)


@pytest.mark.parametrize("value", ["9", "x", "1; DROP TABLE answers", 1, None, ["1"]])
def test_what_is_no_answer_is_refused(value: Any) -> None:
    walk = walk_through(make_study(), state="rating", page=2)
    with pytest.raises(BadAnswer):
        submit_answer(walk.turn(), {"page": "1-1", "name": "c1p1", "value": value})


@pytest.mark.parametrize("odd", ["nan", "inf", -1, "", None, True, [1], {"a": 1}, 10**30, 10**400, "x" * 100])
def test_odd_measurements_are_dropped_and_the_answer_is_kept(odd: Any) -> None:
    walk = walk_through(make_study(), state="rating")
    names = ("seconds", "seconds_first", "changes", "raw", "width", "key")
    message = {"page": "1-1", "name": "c1p1", "value": "1", **dict.fromkeys(names, odd)}
    given = submit_answer(walk.turn(), message)[2]
    assert (given.value, given.seconds, given.changes, given.raw, given.width) == ("1", None, 0, None, None)
    assert given.key == "form-c1p1"


def test_best_and_worst_work_as_two_groups_of_buttons() -> None:
    walk = walk_through(make_study({"a": SCALES["best-worst"]}, DESIGNS["best-worst"]))
    page = rate(walk)
    half = walk.send({"page": page.id, "c1-best": "3", "c1": ""})
    assert isinstance(half.again, RatingPage)
    assert half.again.asked[0].parts == ("3", "")
    both = walk.send({"page": page.id, "c1-best": "2", "c1-worst": "2"})
    assert both.again is not None
    done = walk.send({"page": page.id, "c1-best": "3", "c1-worst": "1", "c1": "1,2"})
    assert done.answers[0].value == "3,1"
    assert (done.answers[0].system, done.answers[0].position) == ("", 0)


def test_ranks_work_as_lists_of_numbers() -> None:
    walk = walk_through(make_study({"a": SCALES["ranking"]}, DESIGNS["ranking"]))
    page = rate(walk)
    twice = walk.send({"page": page.id, "c1-1": "1", "c1-2": "1", "c1-3": "2"})
    assert isinstance(twice.again, RatingPage)
    assert twice.again.missing[0].problem == "please_rank"
    assert walk.send({"page": page.id, "c1-1": "2", "c1-2": "3", "c1-3": "1"}).answers[0].value == "2,3,1"


def test_reasons_are_kept_beside_their_answers_where_asked_for() -> None:
    walk = walk_through(make_study(collecting={"reasons": True}))
    page = rate(walk)
    outcome = walk.send(fill(page, {"c1p1-why": " It\x00 reads\r\nwell. "}))
    assert [(given.name, given.value) for given in outcome.answers][1] == ("c1p1-why", "It reads\nwell.")


def test_comments_are_kept_and_may_be_left_out() -> None:
    for text, events in (("Fine!", [{"text": "Fine!"}]), ("  ", [])):
        walk = walk_through(make_study(closing={"comments": "Anything?", "thanks": "Bye."}))
        page = walk.go_to(CommentsPage)
        walk.send({"page": page.id, "comments": text})
        assert walk.history.events("comments") == events
        end = walk.look()
        assert isinstance(end, EndPage)
        assert "Bye." in end.text
