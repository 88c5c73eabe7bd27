"""The dashboard over HTTP: what it shows, and what each action does and leaves on record."""

import csv
import io
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.error_messages import find_classes
from panelist.collection.store.store import Store
from panelist.core.errors import PanelistError, find_anchor
from tests.patience import PATIENCE
from tests.web.researchers import STUDY, Desk, enter, make_folder, number, read_text, walk
from tests.web.servers import Served, serve_in_thread
from tests.web.walking import Walker


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve_in_thread(make_folder(tmp_path / "study", STUDY), joins_a_minute=0) as running:
        yield running


@pytest.fixture
def desk(served: Served) -> Iterator[Desk]:
    with enter(served) as entered:
        yield entered


def test_nothing_is_shown_without_the_password(served: Served) -> None:
    with served.client() as client:
        for path in (
            "",
            "/raters",
            "/raters/1",
            "/log",
            "/download",
            "/results",
            "/end",
            "/preview",
            "/errors",
        ):
            reply = client.get(f"/dashboard{path}")
            assert (reply.status_code, reply.headers["location"]) == (303, "/dashboard/login")
        assert client.get("/dashboard/live").status_code == 401
        for path in ("/pause", "/end", "/places", "/download", "/raters/1/exclude", "/logout"):
            assert client.post(f"/dashboard{path}", data={"csrf": "x"}).status_code == 403
    assert served.store.state() == "open"


def test_an_error_leads_to_its_causes_and_cures(desk: Desk) -> None:
    told = desk.post("/places", 409, number="many").text
    assert 'Got &#39;many&#39;. <a href="/dashboard/errors#bad-action">Causes and cures</a>' in told
    page = desk.get("/errors")
    anchors = set(re.findall(r'<h2 id="([\w-]+)">', page))
    assert {find_anchor(type(name, (PanelistError,), {})) for name in find_classes()} <= anchors
    assert "The dashboard cannot do what was asked" in page
    assert "messages of" not in page
    assert "](" not in page


def test_an_empty_study_says_so_calmly(desk: Desk) -> None:
    words = read_text(desk.get())
    assert "Two generators" in words
    assert "Raters who finished 0 of 6" in words
    assert "Nobody has come yet" in words
    assert "Nobody has finished yet" in words
    assert f"{desk.served.url}/join" in words


def test_the_figures_are_those_of_the_store(desk: Desk) -> None:
    served = desk.served
    walk(served)
    walk(served, until="1-3")
    words = read_text(desk.get())
    assert "Collecting" in words
    assert "Raters who finished 1 of 6" in words
    answers = [a for a in served.store.answers_after() if a.phase == "trial"]
    assert f"Ratings {len(answers)} of {6 * 4 * 2}" in words
    assert "£12.60 promised" in words
    assert re.search(r"Finished 5 of 5 \d+:\d\d [\d,]+\.\d\d 1 of 1 Too fast to read: \d\.\d s a page", words)
    assert "Rating now 2 of 5" in words


def test_simulated_raters_are_said_to_be_simulated(desk: Desk) -> None:
    served = desk.served
    walk(served)
    assert "Simulated" not in read_text(desk.get())
    walk(served, "?simulated=yes")
    assert "Simulated ratings: 1 of 2 raters" in read_text(desk.get())
    served.store.set_state("closed", "me")
    assert "Simulated ratings: not data from people. 1 rater of those who came is simulated." in read_text(
        desk.get("/results")
    )


def test_systems_are_named_nowhere_while_collecting(desk: Desk) -> None:
    token = walk(desk.served)
    pages = [desk.get(), desk.get("/raters"), desk.get("/log")]
    pages.append(desk.get(f"/raters/{number(desk.served.store, token)}"))
    pages.append(desk.get("/results", status=403))
    for page in pages:
        assert "swift" not in page
        assert "heron" not in page
    assert "/dashboard/results" not in pages[0]


def test_the_page_of_a_rater_has_answers_times_and_events(desk: Desk) -> None:
    token = walk(desk.served)
    words = read_text(desk.get(f"/raters/{number(desk.served.store, token)}"))
    for item in ("i1", "i2", "i3", "i4", "instructed-1", "Fluency", "comments text: 7", "check"):
        assert item in words
    assert "Exclude" in words
    assert "Release the place" not in words  # it is finished
    assert desk.get("/raters/999", status=404)


def test_a_study_is_paused_and_goes_on(desk: Desk) -> None:
    desk.post("/pause")
    assert desk.served.store.state() == "paused"
    assert desk.last_action()[:2] == ("Ada", "study paused")
    assert "Paused" in read_text(desk.get())
    with desk.served.client() as client:
        assert client.get("/join").status_code == 409
    desk.post("/resume")
    assert desk.served.store.state() == "open"
    assert desk.last_action()[:2] == ("Ada", "study open")


def test_an_exclusion_needs_a_reason_frees_the_place_and_can_be_taken_back(desk: Desk) -> None:
    store = desk.served.store
    token = walk(desk.served)
    path = f"/raters/{number(store, token)}"
    assert "required" in desk.get(f"{path}/exclude")
    reply = desk.post(f"{path}/exclude", 409, words="   ")
    assert "needs a reason" in reply.text
    before = store.answers_after()
    reply = desk.post(f"{path}/exclude", words="answers within a second")
    assert "excluded" in read_text(desk.client.get(reply.headers["location"]).text)
    visit = store.find_visit(token)
    assert visit is not None
    assert (visit.state, visit.reason) == ("excluded", "answers within a second")
    assert desk.last_action() == ("Ada", "excluded", visit.place, "answers within a second")
    assert "Raters who finished 0 of 6" in read_text(desk.get())
    desk.post(f"{path}/readmit", words="it was my mistake")
    visit = store.find_visit(token)
    assert visit is not None
    assert (visit.state, visit.valid) == ("finished", True)
    assert desk.last_action() == ("Ada", "readmitted", visit.place, "it was my mistake")
    assert "Raters who finished 1 of 6" in read_text(desk.get())
    assert store.answers_after() == before  # nothing there changes an answer


def test_an_exclusion_stays_where_somebody_else_has_the_place(desk: Desk) -> None:
    store = desk.served.store
    first = walk(desk.served)
    path = f"/raters/{number(store, first)}"
    desk.post(f"{path}/exclude", words="a reason")
    second = walk(desk.served, until="1-2")
    one, other = store.find_visit(first), store.find_visit(second)
    assert one is not None
    assert other is not None
    assert one.place == other.place
    reply = desk.post(f"{path}/readmit", 409)
    assert "Another rater has place" in read_text(reply.text)
    assert store.find_visit(first) == one
    assert "place refilled" in read_text(desk.get())


def test_a_place_is_released_once_somebody_said_so(desk: Desk) -> None:
    store = desk.served.store
    token = walk(desk.served, until="1-3")
    path = f"/raters/{number(store, token)}"
    assert "cannot be undone" in desk.get(f"{path}/release")
    desk.post(f"{path}/release", words="returned the task")
    visit = store.find_visit(token)
    assert visit is not None
    assert (visit.state, visit.reason) == ("released", "returned the task")
    assert desk.last_action() == ("Ada", "released", visit.place, "returned the task")


def test_a_message_is_an_event_of_the_visit(desk: Desk) -> None:
    store = desk.served.store
    token = walk(desk.served, until="1-3")
    visit = number(store, token)
    assert "no message yet" in desk.post(f"/raters/{visit}/message", 409, words=" ").text
    desk.post(f"/raters/{visit}/message", words="Are you still there?")
    event = store.visit_events(visit)[-1]
    assert (event.kind, event.detail) == ("message", {"text": "Are you still there?"})
    assert desk.last_action()[:2] == ("Ada", "message")
    done = walk(desk.served)
    assert "is over" in desk.post(f"/raters/{number(store, done)}/message", 409, words="Hello").text


def test_more_places_open_and_nobody_moves(desk: Desk) -> None:
    store = desk.served.store
    before = store.plan()
    token = walk(desk.served, until="1-3")
    for wrong in ("", "0", "-3", "abc", "1e3", "99999", "٣"):
        desk.post("/places", 409, number=wrong)
    assert store.plan().hash == before.hash
    desk.post("/places", number="4")
    assert "Raters who finished 0 of 10" in read_text(desk.get())
    time.sleep(1.1)  # another process notices a new plan within a second
    after = store.plan()
    assert len(after.raters) == len(before.raters) + 4
    assert after.table.iloc[: len(before.table)].astype(str).equals(before.table.astype(str))
    assert desk.last_action()[:3] == ("Ada", "changed the plan", "plan")
    with desk.served.client() as client:
        assert client.get(f"/r/{token}").status_code == 200


def test_quiet_places_are_opened_together(desk: Desk) -> None:
    store = desk.served.store
    tokens = [walk(desk.served, until="1-3") for _ in range(2)]
    busy = walk(desk.served, until="1-2")
    _make_quiet(store, tokens)
    words = read_text(desk.get())
    assert "Quiet for 20 min" in words
    assert "Open 2 quiet places" in words
    desk.get("/quiet")
    desk.post("/quiet")
    visits = [store.find_visit(token) for token in (*tokens, busy)]
    assert [visit.state for visit in visits if visit] == ["released", "released", "rating"]
    assert desk.last_action()[:2] == ("Ada", "released")


def test_places_are_released_together_after_asking(desk: Desk) -> None:
    store = desk.served.store
    (link,) = store.make_links(1)
    taken = [walk(desk.served, f"?id=idle-{n}", until="1-1") for n in range(3)]
    begun = walk(desk.served, until="1-3")
    page = desk.get("/release")
    ticked: list[str] = re.findall(r'name="(visit-\d+)" value="yes" checked', page)
    assert sorted(ticked) == sorted(f"visit-{number(store, token)}" for token in taken)
    assert f'name="visit-{link.id}" value="yes">' in page
    assert f'name="visit-{number(store, begun)}" value="yes">' in page
    assert [visit.state for visit in store.visits()].count("released") == 0, "looking releases nobody"
    assert desk.post("/release", 409, **{"visit-999": "yes"})
    reply = desk.post("/release", 303, **dict.fromkeys(ticked, "yes"))
    assert "3+places+released" in reply.headers["location"]
    states = {visit.id: visit.state for visit in store.visits()}
    assert [states[number(store, token)] for token in taken] == ["released"] * 3
    assert (states[link.id], states[number(store, begun)]) == ("invited", "rating")
    assert desk.last_action()[:2] == ("Ada", "released")
    desk.post("/release", 303, **{f"visit-{link.id}": "yes", f"visit-{number(store, begun)}": "yes"})
    assert "Nobody holds a place" in desk.get("/release")


def _make_quiet(store: Store, tokens: list[str]) -> None:
    from panelist.collection.store.operations.ops import SeeVisit

    for token in tokens:
        store.do(SeeVisit(number(store, token), time=time.time() - 20 * 60 - 5))


def test_ending_asks_once_more_and_then_shows_how_the_systems_compare(desk: Desk) -> None:
    for _ in range(2):
        walk(desk.served)
    assert desk.served.store.state() == "open"
    assert "cannot be undone" in desk.get("/end")
    assert desk.served.store.state() == "open"
    desk.post("/end")
    assert desk.served.store.state() == "closed"
    assert desk.last_action()[:2] == ("Ada", "study closed")
    words = read_text(desk.get("/results"))
    assert "swift 2.00" in words
    assert "heron 2.00" in words
    assert "See how the systems compare" in read_text(desk.get())
    assert "cannot be resumed" in desk.post("/resume", 409).text
    assert desk.served.store.state() == "closed"


def test_results_are_shown_before_the_end_only_where_the_study_file_says_so(tmp_path: Path) -> None:
    text = STUDY.replace("hold_minutes: 30", "hold_minutes: 30, results: shown")
    with serve_in_thread(make_folder(tmp_path / "shown", text), joins_a_minute=0) as served:
        walk(served)
        with enter(served) as desk:
            assert "swift 2.00" in read_text(desk.get("/results"))


def test_a_preview_shows_the_pages_to_the_end_and_stores_nothing(desk: Desk) -> None:
    store = desk.served.store
    desk.get("/preview")
    assert desk.post("/preview", 404, place="r999")
    reply = desk.post("/preview", place="r003")
    assert desk.last_action()[:3] == ("Ada", "previewed", "r003")
    walker = Walker(desk.client, desk.served.study)
    walker.link = reply.headers["location"]
    for _ in range(30):
        sheet = walker.look()
        assert "Preview of place r003" in sheet.html
        assert "swift" not in sheet.html
        if not sheet.action:
            break
        if sheet.names:
            answered = desk.client.post(f"{walker.link}/answer", json={"value": "1"})
            assert answered.json()["saved"] is True
            missing = desk.client.post(f"{walker.link}/page", data={"page": sheet.page})
            assert missing.status_code == 422
        reply = walker.send(walker.fill(sheet))
        assert reply.status_code == 303
        walker.link = reply.headers["location"]
    assert "PREVIEW" in sheet.html
    assert store.visits() == []
    assert store.answers_after() == []
    assert "Raters who finished 0 of 6" in read_text(desk.get())


def test_a_preview_that_was_tampered_with_opens_nothing(desk: Desk) -> None:
    link = desk.post("/preview", place="r001").headers["location"]
    assert desk.client.get(link).status_code == 200
    for other in (
        link[:-2],
        link[:-1] + ("A" if link[-1] != "A" else "B"),
        "/dashboard/preview/é",
        link + "x",
    ):
        assert desk.client.get(other).status_code == 303
    with desk.served.client() as stranger:
        assert stranger.get(link).headers["location"] == "/dashboard/login"
        assert stranger.post(f"{link}/answer", json={}).status_code == 403


def test_downloads_are_tables_without_ids_unless_asked(desk: Desk) -> None:
    walk(desk.served, "?PROLIFIC_PID=5f2d8a-person")
    for what in ("ratings", "visits", "answers", "events", "actions"):
        reply = desk.post("/download", 200, what=what)
        assert reply.headers["content-type"] == "text/csv; charset=utf-8"
        assert "attachment" in reply.headers["content-disposition"]
        assert "5f2d8a-person" not in reply.text
        assert len(list(csv.DictReader(io.StringIO(reply.text)))) > 0
        assert desk.last_action()[:3] == ("Ada", "download", f"{what}.csv")
    with_ids = desk.post("/download", 200, what="ratings", ids="yes")
    assert "5f2d8a-person" in with_ids.text
    assert "with-ids" in with_ids.headers["content-disposition"]
    assert desk.served.store.actions(1)[0].detail == {"ids": True}
    desk.post("/download", 422, what="secrets")


def test_an_outside_id_is_shown_only_on_request_and_that_is_on_record(desk: Desk) -> None:
    token = walk(desk.served, "?PROLIFIC_PID=5f2d8a-person&source=panel")
    path = f"/raters/{number(desk.served.store, token)}"
    assert "5f2d8a-person" not in desk.get(path) + desk.get() + desk.get("/raters")
    assert "5f2d8a-person" in desk.post(f"{path}/identity", 200).text
    assert desk.last_action()[:2] == ("Ada", "looked up an id")


def test_the_log_has_every_action_with_who_did_it(desk: Desk) -> None:
    desk.post("/pause")
    desk.post("/resume")
    with enter(desk.served, "") as other:
        other.post("/pause")
    words = read_text(desk.get("/log"))
    assert (
        words.index("researcher study paused")
        < words.index("Ada study open")
        < words.index("Ada study paused")
    )


def test_flags_lead_to_those_who_have_them(desk: Desk) -> None:
    walk(desk.served)
    assert "Nobody has this flag" in desk.get("/raters?flag=quiet")
    assert "1 rater" in read_text(desk.get("/raters"))
    assert "1 rater" in read_text(desk.get("/raters?flag=nonsense"))


@pytest.mark.slow
def test_who_follows_a_judge_has_a_flag_and_stays_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    token = walk(desk.served)
    visit = number(desk.served.store, token)
    monkeypatch.setattr("panelist.web.dashboard.live.follow_so_far", lambda given, study: {visit: "a model"})
    for _ in range(int(10 * PATIENCE)):  # it is measured beside the requests
        page = desk.get("/raters?flag=judge")
        if "Follows a model" in page:
            break
        time.sleep(0.1)
    assert "Follows a model beyond the other raters" in read_text(page)
    assert "Raters who finished 1 of 6" in read_text(desk.get()), "a flag excludes nobody"
