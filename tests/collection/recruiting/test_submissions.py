"""Following submissions: exactly the right place is freed, by looks and by messages, in whatever order."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from panelist.collection.recruiting.repository import RecruitingRepository
from panelist.collection.recruiting.webhooks import Forged, check_message, sign, take_message
from panelist.collection.store.operations.ops import MoveVisit, Reopen, SaveAnswers
from panelist.collection.store.operations.saving import Move
from panelist.collection.store.records import Visit
from tests.collection.recruiting.people import Office, open_office, write_paid
from tests.collection.store.studies import answer

SECRET = "hook-secret"


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with open_office(write_paid(tmp_path / "study")) as opened:
        opened.publish()
        yield opened


def come(office: Office, person: str) -> tuple[str, int]:
    submission = office.server.fake.take_place(office.campaign, person)
    return submission, office.seat(person, submission)


def get_visit(office: Office, number: int) -> Visit:
    visit = office.store.get_visit(number)
    assert visit is not None
    return visit


def finish(office: Office, number: int) -> None:
    office.store.do(MoveVisit(number, Move("finished", 1, 1)))


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT", "REJECTED"])
def test_who_leaves_frees_exactly_their_own_place(office: Office, status: str) -> None:
    people = [come(office, f"p{n}") for n in range(4)]
    gone, number = people[1]
    place = get_visit(office, number).place
    office.server.fake.give_back(gone, status)
    followed = office.recruiter.follow()
    assert [visit.id for visit in followed.freed] == [number]
    assert [get_visit(office, one).state for _, one in people] == [
        "consent",
        "released",
        "consent",
        "consent",
    ]
    late = office.store.do(SaveAnswers(number, 1, 1, (answer(),)))
    assert late.answers[0].late
    _, newcomer = come(office, "newcomer")
    assert get_visit(office, newcomer).place == place
    assert office.recruiter.follow().freed == ()


def test_a_finished_visit_is_freed_by_a_return_but_not_by_a_timeout(office: Office) -> None:
    returned, first = come(office, "a")
    timed_out, second = come(office, "b")
    finish(office, first)
    finish(office, second)
    office.server.fake.give_back(returned)
    office.server.fake.give_back(timed_out, "TIMED-OUT")
    assert [visit.id for visit in office.recruiter.follow().freed] == [first]
    assert get_visit(office, first).state == "excluded"
    assert get_visit(office, first).reason == "returned on Prolific"
    assert get_visit(office, second).state == "finished"
    looked = {one.submission: one.advice for one in office.recruiter.look().reviewed}
    assert looked[timed_out] == "look"


def test_the_newest_submission_of_a_person_counts(office: Office) -> None:
    first, number = come(office, "a")
    office.server.fake.give_back(first)
    fake = office.server.fake
    second = fake.take_place(office.campaign, "a")
    fake.submissions[second]["started_at"] = "2099-01-01T00:00:00+00:00"
    office.recruiter.follow()
    assert get_visit(office, number).state == "consent"


def test_somebody_who_returned_may_come_again_with_a_new_submission(office: Office) -> None:
    first, number = come(office, "a")
    office.server.fake.give_back(first)
    office.recruiter.follow()
    assert get_visit(office, number).state == "released"
    assert office.store.do(Reopen(number)).state == "released", "not by their old link"
    back = office.store.do(Reopen(number, {"SESSION_ID": "another"}))
    assert (back.state, back.params["SESSION_ID"]) == ("consent", "another")


def test_nobody_settles_with_the_submission_of_another(office: Office) -> None:
    submission = office.server.fake.take_place(office.campaign, "a")
    number = office.seat("b", submission)
    office.server.fake.give_back(submission)
    assert office.recruiter.follow().freed == ()
    assert get_visit(office, number).state == "consent"


def test_of_who_declined_nothing_is_kept(office: Office) -> None:
    submission, number = come(office, "a")
    office.recruiter.follow()
    office.store.do(MoveVisit(number, Move("declined", 1, 1)))
    office.server.fake.hand_in(submission, "whatever")
    office.recruiter.follow()
    (recruit,) = office.recruiter.repository.recruits()
    assert recruit.visit is None
    assert get_visit(office, number).outside_id is None


def test_looks_in_any_order_free_nobody_twice(office: Office) -> None:
    rng = random.Random(4)
    made = [come(office, f"p{n}") for n in range(4)]
    for _ in range(10):
        submission, _ = rng.choice(made)
        office.server.fake.give_back(submission, rng.choice(["RETURNED", "TIMED-OUT"]))
        office.again().follow()
    released = [event for _, number in made for event in office.store.visit_events(number)]
    assert len({event.visit for event in released}) == len(released)


def message(
    office: Office, submission: str, status: str, event: str = "e1", **more: str
) -> dict[str, object]:
    return {
        "event_type": "submission.status.change",
        "resource_id": submission,
        "status": status,
        "study_id": office.campaign,
        **more,
    }


def send(office: Office, said: object, event: str, api: bool = True) -> object:
    body = json.dumps(said).encode()
    stamp = str(int(time.time()))
    headers = {
        "x-prolific-request-signature": sign(SECRET, stamp, body),
        "x-prolific-request-timestamp": stamp,
        "x-event-id": event,
    }
    check_message(SECRET, headers, body, time.time())
    return take_message(RecruitingRepository(office.store), office.recruiter if api else None, headers, body)


def test_a_message_frees_the_place_once_however_often_it_comes(office: Office) -> None:
    submission, number = come(office, "a")
    office.server.fake.give_back(submission)
    assert send(office, message(office, submission, "RETURNED"), "e1") is not None
    assert get_visit(office, number).state == "released"
    asked = len(office.server.fake.asked)
    assert send(office, message(office, submission, "RETURNED"), "e1") is None
    assert len(office.server.fake.asked) == asked


def test_an_old_message_does_not_undo_what_prolific_says_now(office: Office) -> None:
    submission, number = come(office, "a")
    office.server.fake.hand_in(submission, "code")
    send(office, message(office, submission, "RETURNED"), "e-late")  # how it stood before, or a mistake
    assert get_visit(office, number).state == "consent"
    assert [one.status for one in office.recruiter.repository.recruits()] == ["AWAITING REVIEW"]


def test_without_a_token_messages_only_lead_forward(office: Office) -> None:
    submission, number = come(office, "a")
    send(office, message(office, submission, "RETURNED"), "e2", api=False)
    send(office, message(office, submission, "ACTIVE"), "e1", api=False)
    assert [one.status for one in office.recruiter.repository.recruits()] == ["RETURNED"]
    assert get_visit(office, number).state == "released"
    assert send(office, message(office, submission, "NONSENSE"), "e3", api=False) is None
    other = message(office, submission, "APPROVED") | {"study_id": "somebody else's"}
    assert send(office, other, "e4", api=False) is None


def test_a_message_that_failed_is_dealt_with_when_it_comes_again(office: Office) -> None:
    submission, number = come(office, "a")
    office.server.fake.give_back(submission)
    office.server.fake.faults = lambda method, path: "500 before"
    with pytest.raises(Exception, match="server error"):
        send(office, message(office, submission, "RETURNED"), "e1")
    office.server.fake.faults = lambda method, path: ""
    assert send(office, message(office, submission, "RETURNED"), "e1") is not None
    assert get_visit(office, number).state == "released"


def test_forged_old_and_senseless_messages_are_refused() -> None:
    body, now = b'{"a": 1}', 1_700_000_000.0
    good = {"x-prolific-request-timestamp": "1700000000"}
    good["x-prolific-request-signature"] = sign(SECRET, "1700000000", body)
    check_message(SECRET, good, body, now)
    for secret, headers, sent, when in (
        ("other", good, body, now),
        ("", good, body, now),
        (SECRET, good, b'{"a": 2}', now),
        (SECRET, {**good, "x-prolific-request-timestamp": "1700000001"}, body, now),
        (SECRET, good, body, now + 3600),
        (SECRET, good, body, now - 3600),
        (SECRET, {}, body, now),
        (SECRET, {**good, "x-prolific-request-signature": "ü"}, body, now),
    ):
        with pytest.raises(Forged):
            check_message(secret, headers, sent, when)
    nan = {"x-prolific-request-timestamp": "nan", "x-prolific-request-signature": sign(SECRET, "nan", body)}
    with pytest.raises(Forged):
        check_message(SECRET, nan, body, now)
