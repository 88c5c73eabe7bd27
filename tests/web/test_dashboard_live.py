"""What the dashboard sends while it is open: changes as they happen, to many browsers at little cost."""

import json
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from panelist.collection.monitor.ledger import Ledger
from panelist.collection.monitor.overview import make_overview
from panelist.collection.monitor.plan_facts import count_plan
from panelist.collection.pages.agenda import Agenda
from panelist.collection.store.database import statements as sql
from panelist.collection.store.operations import ops
from panelist.collection.store.operations import places as people
from panelist.collection.store.operations.saving import Answer
from panelist.collection.store.store import Store, open_store
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.web.dashboard import live
from panelist.web.dashboard.live import LiveView, write_message
from tests.collection.store.studies import write_study
from tests.patience import PATIENCE
from tests.web.researchers import STUDY, enter, make_folder
from tests.web.servers import PASSWORD, Served, serve_command, serve_in_thread
from tests.web.walking import Walker


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve_in_thread(make_folder(tmp_path / "study", STUDY), joins_a_minute=0) as running:
        yield running


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the board goes on by 0.05 s whenever it is looked at; these are its times of messages."""
    clock, sent = count(0.0, 0.05), list[float]()

    def write(view: LiveView) -> str:
        sent.append(next(clock))
        return write_message(view)

    monkeypatch.setattr(live, "monotonic", lambda: next(clock))
    monkeypatch.setattr(live, "write_message", write)
    monkeypatch.setattr(live, "ENDING_SECONDS", 0.01)
    return sent


def read_events(reply: httpx.Response) -> Iterator[Any]:
    """Return the events of a stream."""
    for line in reply.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_an_answer_is_told_to_everybody_who_watches(served: Served, ticks: list[float]) -> None:
    with served.client() as client:
        walker = Walker(client, served.study).join()
        for _ in walker.walk("1-2"):
            pass
        with enter(served) as desk, desk.client.stream("GET", "/dashboard/live") as reply:
            assert reply.headers["content-type"].startswith("text/event-stream")
            events = read_events(reply)
            before = next(events)
            assert set(before["parts"]) >= {
                "state",
                "figures",
                "places",
                "pay",
                "agreement",
                "raters",
                "next",
            }
            assert "2 <small>of 48</small>" in before["parts"]["figures"]
            assert walker.answer("1-2", "c1p1", "4", "key-of-this-answer").json()["saved"]
            after = next(events)
    assert after["version"] != before["version"]
    assert "3 <small>of 48</small>" in after["parts"]["figures"]
    assert ticks[1] - ticks[0] > 1.99  # never more often than every two seconds


def test_nothing_but_a_sign_of_life_is_sent_while_nothing_happens(served: Served, ticks: list[float]) -> None:
    with enter(served) as desk, desk.client.stream("GET", "/dashboard/live") as reply:
        lines = (line for line in reply.iter_lines() if line)
        assert next(lines).startswith("retry: ")
        assert next(lines) == "event: board"
        assert next(lines).startswith("data: ")
        assert next(lines) == ": still here"
    assert len(ticks) == 1


def test_who_watches_does_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "study", STUDY)
    with serve_command(folder, PANELIST_PASSWORD=PASSWORD) as running:
        with httpx.Client(base_url=running.url, timeout=PATIENCE) as client:
            assert client.post("/dashboard/login", data={"password": PASSWORD}).status_code == 303
            with client.stream("GET", "/dashboard/live") as reply:
                events = read_events(reply)
                next(events)
                running.process.send_signal(signal.SIGTERM)
                assert list(events) == []  # it ends as it should, not in the middle
        assert running.process.wait(PATIENCE) == 0


def test_many_who_watch_cost_one_look_at_a_time(served: Served) -> None:
    looks, seconds = 0, 0.0
    with enter(served) as desk:
        desk.get()
        board = served.app.state.board
        look = board.ledger.look

        def counted() -> None:
            nonlocal looks
            looks += 1
            look()

        board.ledger.look = counted
        cookies = dict(desk.client.cookies)
        with httpx.Client(base_url=served.url, cookies=cookies, timeout=PATIENCE) as client:
            began = time.monotonic()
            streams = [client.stream("GET", "/dashboard/live") for _ in range(12)]
            replies = [stream.__enter__() for stream in streams]
            for reply in replies:
                assert next(read_events(reply))["state"] == "open"
            time.sleep(2.5)
            seconds = time.monotonic() - began
            for stream in streams:
                stream.__exit__(None, None, None)
    assert 1 <= looks <= 2 + seconds / live.LOOK_SECONDS


def test_a_study_that_ends_is_told(served: Served) -> None:
    with enter(served) as desk, desk.client.stream("GET", "/dashboard/live") as reply:
        events = read_events(reply)
        assert next(events)["state"] == "open"
        served.store.set_state("closed", "me")
        assert next(events)["state"] == "closed"


BIG = """\
title: A big study
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
design: {type: latin-square}
raters: {count: 1000}
pay: {living_wage: 12.6, minutes_per_trial: 0.5}
"""


def fill(store: Store, plan: Plan) -> None:
    """Let everybody finish: straight into the tables, as page by page would take longer than the test."""
    visits = store.make_links()
    agenda = Agenda(plan)
    answers, pages_done = [], []
    for n, visit in enumerate(visits):
        pages = agenda.sitting(visit.place, 1).pages
        for page in pages:
            at: dict[str, Any] = {"visit": visit.id, "occasion": 1, "page": page.order}
            moment = 1e9 + 100 * n + 10 * page.order
            (item, system), value = page.outputs[0], str(1 + (n + page.order) % 5)
            row = at | {"name": "c1p1", "criterion": "fluency", "item": item, "system": system}
            row |= {"position": 1, "phase": "trial", "check_name": "", "value": value, "revision": 0}
            row |= {"key": "key", "given": moment, "changes": 0, "late": False}
            answers.append(row | dict.fromkeys(("seconds_first", "seconds", "raw", "width")))
            pages_done.append(at | {"shown": None, "done": moment, "seconds": 10.0 + n % 7, "facts": ""})
    link = store.database.connect()
    link.begin()
    for visit in visits:
        people.save_visit(link, replace(visit, state="finished", opened=1e9, ended=2e9))
    link.run_many(sql.NEW_ANSWER, answers)
    link.run_many(sql.PAGE_DONE, pages_done)
    link.commit()
    link.close()


def test_a_thousand_visits_of_fifty_answers_are_counted_as_they_come(tmp_path: Path) -> None:
    study = write_study(tmp_path / "big", BIG, n_items=50, systems="abcd")
    plan = plan_study(study)
    with open_store(None, study, plan) as store:
        fill(store, plan)
        ledger, facts = Ledger(store), count_plan(plan, study)
        ledger.look()
        rater = store.visits()[7]
        store.do(ops.SaveAnswers(rater.id, 1, 1, (Answer("c1p1", "fluency", "i1", "5", "new", "a"),)))
        ledger.look()
        overview = make_overview(ledger, study, facts, time.time())
    assert (overview.finished, overview.ratings) == (1000, 50_000)
