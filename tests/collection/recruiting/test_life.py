"""The whole life of a study on Prolific, by the command, with people who come to the real pages."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import call
from tests.collection.recruiting.fake_prolific import TOKEN, Fake, Server
from tests.collection.recruiting.people import URL, Participant, write_paid
from tests.web.servers import Served, serve_in_thread

RULES = """\
  screen_out: {reward: 0.50, places: 5}
  rejections:
    - {when: failed checks, more_than: 1}
comprehension:
  questions:
    - {question: "What do you judge?", options: [texts, people], right: [texts]}
"""


@dataclass
class Life:
    """Everything there is: the pages, the fake, the command."""

    served: Served
    fake: Fake
    folder: Path
    capsys: pytest.CaptureFixture[str]
    said: str = ""

    def recruit(self, *words: str, code: int = 0) -> str:
        outcome = call(self.capsys, "recruit", self.folder, *words)
        assert outcome.code == code, outcome
        self.said += outcome.out + outcome.err
        return outcome.out + outcome.err

    def status(self) -> dict[str, Any]:
        outcome = call(self.capsys, "recruit", self.folder, "status", "--json")
        assert outcome.code == 0, outcome.err
        self.said += outcome.out
        return dict(json.loads(outcome.out))

    def send(self, person: str, check: bool = True) -> Participant:
        (study,) = self.fake.studies
        submission = self.fake.take_place(study, person)
        return Participant(self.served.url, person, submission, study, check=check)

    def finish(self, person: str, check: bool = True) -> Participant:
        one = self.send(person, check)
        assert one.walk() == "Thank you. That was the last one."
        assert one.back == f"https://app.prolific.com/submissions/complete?cc={one.code}"
        self.fake.hand_in(one.submission, one.code)
        return one


@pytest.fixture
def life(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Life]:
    folder = tmp_path / "study"
    write_paid(folder, RULES)
    with Server() as server, serve_in_thread(folder) as served:
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PROLIFIC_URL", server.url)
        yield Life(served, server.fake, folder, capsys)


def places(life: Life) -> list[str]:
    return [visit.place or "" for visit in life.served.store.visits() if visit.state == "finished"]


def test_a_study_lives_from_its_draft_to_its_close(life: Life) -> None:
    fake = life.fake
    said = life.recruit("draft", "--url", URL)
    assert "4 places, 8 minutes, 1.68 GBP each, 12.60 an hour (12.60 promised)" in said
    (study,) = fake.studies.values()
    assert study["reward"] == 168
    assert study["external_study_url"].startswith(f"{URL}/join?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}")
    assert "test" in life.recruit("test")
    life.recruit("publish", code=1)  # nobody said yes
    assert study["status"] == "UNPUBLISHED"
    life.recruit("publish", "--yes")
    assert study["status"] == "ACTIVE"

    # Two finish, one returns half-way, one times out; the pages and the plan know which cells are lacking.
    first, second = life.finish("p1"), life.finish("p2")
    returner, sleeper = life.send("p3"), life.send("p4")
    returner.walk(pages=2)
    sleeper.walk(pages=1)
    fake.give_back(returner.submission)
    fake.give_back(sleeper.submission, "TIMED-OUT")
    state = life.status()
    assert (state["freed"], state["free"], state["finished"]) == (2, 2, 2)
    assert state["statuses"] == {"AWAITING REVIEW": 2, "RETURNED": 1, "TIMED-OUT": 1}

    # Who comes in their place gets exactly their cells, and one of them does not read.
    third, careless = life.finish("p5"), life.finish("p6", check=False)
    assert sorted(places(life)) == list(life.served.store.plan().raters)
    assert life.fake.take_place(study["id"], "p7") == ""

    state = life.status()
    advice = {one["submission"]: one["advice"] for one in state["submissions"]}
    assert advice[careless.submission] == "reject"
    assert advice[first.submission] == advice[second.submission] == advice[third.submission] == "approve"
    life.recruit("approve", "--yes")
    assert {one for one, _, _ in fake.paid} == {one.submission for one in (first, second, third)}
    assert "missed 2 of 2 checks" in life.recruit("reject", code=1)
    life.recruit("reject", "--yes")
    rejected = fake.submissions[careless.submission]
    assert rejected["status"] == "REJECTED"
    assert len(rejected["message"]) >= 100
    assert life.status()["free"] == 1

    # The place of the rejected opens, and Prolific lets one more in.
    assert life.finish("p8").submission
    life.recruit("close", code=2)  # somebody waits for review
    life.recruit("approve", "--yes")
    assert {amount for _, what, amount in fake.paid if what == "reward"} == {168}
    life.recruit("close")
    assert study["status"] == "COMPLETED"
    kinds = [action.what for action in life.served.store.actions()]
    for what in ("drafted", "tested", "published", "closed"):
        assert f"recruiting: {what}" in kinds
    assert kinds.count("approve done") == 4
    assert kinds.count("reject done") == 1


def test_those_who_took_long_get_a_bonus_once_and_the_token_is_nowhere(life: Life) -> None:
    fake = life.fake
    life.recruit("draft", "--url", URL)
    life.recruit("publish", "--yes")
    slow, fast = life.finish("slow"), life.finish("fast")
    with life.served.store.database.engine.begin() as connection:  # as if it had taken twenty minutes
        connection.exec_driver_sql("UPDATE visits SET opened = opened - 1200 WHERE outside_id = 'slow'")
        connection.exec_driver_sql(
            "UPDATE pages_done SET done = done - 600 WHERE page <= 2 AND visit = "
            "(SELECT id FROM visits WHERE outside_id = 'slow')"
        )
    life.recruit("approve", "--yes")
    state = life.status()
    assert set(state["bonuses"]) == {slow.submission}
    lacks = state["bonuses"][slow.submission]
    assert 250 <= lacks <= 255  # 20 minutes at 12.60 an hour less 1.68
    assert state["pay"]["lowest"] < 12.60
    assert state["pay"]["median"] > 12.60
    assert f"{lacks / 100:.2f} GBP" in life.recruit("bonus", "--dry-run")
    assert not [one for one in fake.paid if one[1] == "bonus"]
    life.recruit("bonus", "--yes")
    life.recruit("bonus", "--yes")
    assert [one for one in fake.paid if one[1] == "bonus"] == [(slow.submission, "bonus", lacks)]
    assert life.status()["bonuses"] == {}
    assert fast.submission not in {one for one, what, _ in fake.paid if what == "bonus"}

    assert TOKEN not in life.said
    for path in life.folder.rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path


def test_screened_out_by_the_comprehension_check_is_paid_by_its_code(life: Life) -> None:
    life.recruit("draft", "--url", URL)
    life.recruit("publish", "--yes")
    one = life.send("p1")
    (question,) = life.served.study.file.comprehension.questions  # type: ignore[union-attr]
    assert question.right == ("texts",)
    assert one.walk_wrongly("people") == "Thank you for your time"
    assert life.fake.hand_in(one.submission, one.code) == "SCREENED OUT"
    assert life.fake.paid == [(one.submission, "screen out", 50)]
    assert life.status()["free"] == 4


def test_the_same_person_comes_back_to_the_same_page(life: Life) -> None:
    life.recruit("draft", "--url", URL)
    life.recruit("publish", "--yes")
    one = life.send("p1")
    one.walk(pages=2)
    (before,) = life.served.store.visits()
    again = Participant(life.served.url, "p1", one.submission, one.study)
    again.walk(pages=0)
    (after,) = life.served.store.visits()
    assert (after.id, after.page, after.place) == (before.id, before.page, before.place)
    assert after.params["SESSION_ID"] == one.submission


def test_more_places_and_pausing(life: Life) -> None:
    life.recruit("draft", "2", "--url", URL)
    life.recruit("publish", "--yes")
    (study,) = life.fake.studies.values()
    life.recruit("pause")
    assert study["status"] == "PAUSED"
    life.recruit("resume")
    assert study["status"] == "ACTIVE"
    assert "3 raters in all" in life.recruit("places", "3")
    assert study["total_available_places"] == 3
    assert "only grow" in life.recruit("places", "2", code=2)
    assert "panelist plan STUDY --raters 9" in life.recruit("places", "9", code=2)
    assert study["total_available_places"] == 3
    assert "already" in life.recruit("publish", "--yes", code=2)
    assert "already" in life.recruit("draft", "--url", URL, code=2)
