"""Questions about the instructions: two attempts, then the end with its code; devices; groups by answers."""

from pathlib import Path
from typing import Any

import pytest

from panelist.collection.pages.models import ComprehensionPage, EndPage, PracticePage, RatingPage
from panelist.collection.recruiting.badges import sign_id
from panelist.collection.robots.fleet import Fleet, find_groups, send_robots
from tests.collection.raters import Walk, make_study, render, walk_through
from tests.collection.recruiting.people import write_paid
from tests.web.servers import serve_in_thread
from tests.web.walking import Walker, agree

QUESTIONS = [
    {"question": "What is judged?", "options": ["the text", "the author"], "right": ["the text"]},
    {"question": "Which answers count?", "options": ["mine", "ours", "theirs"], "right": ["mine", "ours"]},
]
RIGHT, WRONG = {"q1": "the text", "q2": "ours"}, {"q1": "the author", "q2": "ours"}


def begin(**settings: Any) -> Walk:
    study = make_study(
        instructions="Judge **the text**.",
        comprehension={"questions": QUESTIONS, **settings},
        collecting={"outcomes": {"screened_out": {"code": "OUT"}}},
    )
    walk = walk_through(study)
    page = walk.go_to(ComprehensionPage)
    assert isinstance(page, ComprehensionPage)
    return walk


def answer(walk: Walk, form: dict[str, str]) -> None:
    walk.send({"page": walk.look().id, **form})


def test_who_understood_goes_on() -> None:
    walk = begin()
    answer(walk, RIGHT)
    assert isinstance(walk.look(), RatingPage)
    assert walk.events() == ["comprehension"]


def test_the_second_attempt_is_the_last_and_ends_with_the_code() -> None:
    walk = begin()
    answer(walk, WRONG)
    page = walk.look()
    assert isinstance(page, ComprehensionPage)
    assert page.left == 1
    assert "This is your last try." in render(page, walk.booklet)
    answer(walk, WRONG)
    end = walk.look()
    assert isinstance(end, EndPage)
    assert (end.kind, end.code) == ("screened_out", "OUT")
    assert "1 of 2 comprehension questions right, 2 needed, attempt 2" in walk.visit.reason


def test_who_understands_at_the_second_attempt_goes_on() -> None:
    walk = begin()
    answer(walk, WRONG)
    answer(walk, RIGHT)
    assert isinstance(walk.look(), RatingPage)


def test_the_same_form_sent_twice_is_one_attempt() -> None:
    walk = begin()
    form = {"page": walk.look().id, **WRONG}
    walk.send(form)
    walk.send(form)
    page = walk.look()
    assert isinstance(page, ComprehensionPage)
    assert page.left == 1


def test_what_is_missing_is_named_and_costs_no_attempt() -> None:
    walk = begin()
    outcome = walk.send({"page": walk.look().id, "q1": "the text", "q2": "nonsense"})
    assert isinstance(outcome.again, ComprehensionPage)
    assert outcome.again.missing == 1
    assert walk.booklet.words.say("missing", 1) in render(outcome.again, walk.booklet)
    assert walk.events() == []


def test_who_repeats_the_practice_is_not_asked_again() -> None:
    item = {"output": "Words.", "right": {"ease": ["3"]}}
    study = make_study(
        instructions="Judge it.",
        comprehension={"questions": QUESTIONS},
        practice={"items": [item], "pass_mark": 1, "attempts": 2},
    )
    walk = walk_through(study)
    walk.go_to(ComprehensionPage)
    answer(walk, RIGHT)
    walk.send({"page": walk.look().id, "c1p1": "1"})  # wrong
    for _ in range(3):  # feedback, once more, instructions
        walk.send({"page": walk.look().id})
    page = walk.look()
    assert isinstance(page, PracticePage)


def test_a_pass_mark_or_a_flag_lets_people_on() -> None:
    walk = begin(pass_mark=1)
    answer(walk, WRONG)
    assert isinstance(walk.look(), RatingPage)
    walk = begin(failed="flag", attempts=3)
    for left in (2, 1, 0):
        answer(walk, WRONG)
        page = walk.look()
        assert left == (page.left if isinstance(page, ComprehensionPage) else 0)
    assert isinstance(walk.look(), RatingPage)
    kind, detail = walk.history.happened[-1]
    assert (kind, detail["about"]) == ("flag", "comprehension")


def test_the_page_does_not_say_which_answers_are_right() -> None:
    walk = begin()
    first = render(walk.look(), walk.booklet)
    for word in ("right", "pass_mark", "checked"):
        assert word not in first.split("<main")[1]
    answer(walk, WRONG)
    assert "checked" not in render(walk.look(), walk.booklet)


PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148"


def test_who_comes_with_the_wrong_device_is_told_and_takes_no_place(tmp_path: Path) -> None:
    write_paid(tmp_path / "study", "collecting: {devices: [desktop, tablet]}\n")
    with serve_in_thread(tmp_path / "study") as served, served.client() as client:
        query = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1"}
        reply = client.get("/join", params=query, headers={"User-Agent": PHONE})
        assert reply.status_code == 409
        assert "computer, tablet" in reply.text
        code = served.app.state.site.shown_study.file.collecting.outcomes.incompatible.code
        assert f"https://app.prolific.com/submissions/complete?cc={code}" in reply.text
        assert served.store.visits() == []
        assert agree(client, "?PROLIFIC_PID=p1&SESSION_ID=s1").status_code == 303
        (link,) = served.store.make_links(1)
        reply = client.get(f"/r/{link.token}", headers={"User-Agent": PHONE})
        assert reply.status_code == 409
        visit = served.store.get_visit(link.id)
        assert visit is not None
        assert visit.state == "invited"


def test_who_finds_no_place_gets_the_code_for_that(tmp_path: Path) -> None:
    write_paid(tmp_path / "study")
    with serve_in_thread(tmp_path / "study") as served, served.client() as client:
        for n in range(4):
            Walker(client, served.study).join(f"?PROLIFIC_PID=p{n}")
        client.cookies.clear()
        reply = client.get("/join", params={"PROLIFIC_PID": "p9"})
        assert reply.status_code == 409
        assert served.app.state.site.shown_study.file.collecting.outcomes.full.code in reply.text


def test_the_parameter_of_the_panel_names_the_person(tmp_path: Path) -> None:
    write_paid(tmp_path / "study", "", "panel: prolific", "panel: class")
    with serve_in_thread(tmp_path / "study") as served, served.client() as client:
        mark = sign_id(served.store.study.secret, "student", "17")
        first = Walker(client, served.study).join(f"?student=17&id=other&sig={mark}").link
        client.cookies.clear()
        assert client.get(f"/join?student=17&sig={mark}").headers["location"] == first
        assert [visit.outside_id for visit in served.store.visits()] == ["17"]
        assert [dict(visit.params) for visit in served.store.visits()] == [{"student": "17", "id": "other"}]


def test_another_answer_makes_nobody_a_member_of_another_group(tmp_path: Path) -> None:
    more = (
        "background:\n  - {name: native, question: 'Native?', options: ['yes', 'no'], "
        "groups: {'yes': native, 'no': learner}}\n"
    )
    groups = "raters: {groups: [{name: native, raters: 1}, {name: learner, raters: 1}]}"
    write_paid(tmp_path / "study", more, "raters: {count: 4}", groups)
    with serve_in_thread(tmp_path / "study") as served, served.client() as client:

        def come(person: str) -> str:
            return Walker(client, served.study).join(f"?PROLIFIC_PID={person}").link

        def say(link: str, answer: str) -> int:
            return client.post(f"{link}/page", data={"page": "background", "b1": answer}).status_code

        assert say(come("first"), "yes") == 303
        second = come("second")
        assert say(second, "yes") == 409
        assert say(second, "no") == 409, "they said that they are native"
        visit = served.store.find_outside("first")
        assert visit is not None
        served.store.release(visit.id, "gone")
        assert say(second, "yes") == 303
        assert say(come("third"), "no") == 303


@pytest.mark.parametrize("careless", [0.0, 1.0])
def test_robots_understand_unless_they_are_careless_and_join_groups_by_their_answers(
    tmp_path: Path, careless: float
) -> None:
    more = (
        "comprehension: {questions: [{question: 'What is it?', options: [a, b, c, d, e, f], right: [c]}]}\n"
        "background:\n  - {name: native, question: 'Native?', options: ['yes', 'no'], "
        "groups: {'yes': native, 'no': learner}}\n"
    )
    groups = "raters: {groups: [{name: native, raters: 2}, {name: learner, raters: 2}]}"
    write_paid(tmp_path / "study", more, "raters: {count: 4}", groups)
    with serve_in_thread(tmp_path / "study") as served:
        wanted = find_groups(served.store.plan())
        record = send_robots(
            served.study, served.url + "/join", Fleet(raters=4, groups=wanted, careless=careless)
        )
        visits = served.store.visits()
        done = [visit for visit in visits if visit.state == "finished"]
        places = served.store.places()
        assert all(places.group(visit.place or "") == visit.group for visit in done)
        if careless:
            assert record.ends["screened_out"] > 0
        else:
            assert sorted(visit.group for visit in done) == ["learner", "learner", "native", "native"]
