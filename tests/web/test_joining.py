"""The open link: opening it takes nothing, agreeing takes one place, and a browser continues where it was."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from panelist.collection.recruiting.badges import make_panel_key, sign_id
from panelist.collection.store.operations.places import TIMED_OUT
from panelist.collection.store.store import Store
from panelist.web.server import ServeOptions, prepare
from tests.collection.recruiting.people import write_paid
from tests.collection.store.studies import RATED, write_study
from tests.patience import PATIENCE
from tests.web.servers import Served, make_study, serve_in_thread
from tests.web.walking import Walker, agree, read_sheet

CROSS = [
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Referer": "https://evil.example/join"},
    {},
]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve_in_thread(make_study(tmp_path / "likert"), joins_a_minute=0) as running:
        yield running


def count(store: Store) -> int:
    return len(store.visits())


def test_enter_on_the_information_page_never_declines(served: Served) -> None:
    page = httpx.get(f"{served.url}/join", timeout=PATIENCE).text
    buttons = re.findall(r'<button[^>]* name="consent" value="(\w+)"', page)
    assert buttons == ["yes", "no", "yes"]  # a browser presses the first button of a form for Enter


def test_ninety_looks_at_the_open_link_take_no_place(served: Served) -> None:
    for n in range(90):
        reply = httpx.get(f"{served.url}/join?id=p{n}", timeout=PATIENCE)
        assert (reply.status_code, read_sheet(reply).page) == (200, "consent")
    assert served.store.visits() == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Purpose": "prefetch;prerender"},
        {"Purpose": "prefetch"},
        {"X-Moz": "prefetch"},
        {"X-Purpose": "preview"},
        {"User-Agent": "Slackbot-LinkExpanding 1.0"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    ],
)
def test_previews_and_pictures_of_other_sites_take_no_place(served: Served, headers: dict[str, str]) -> None:
    with served.client() as client:
        client.get("/join", headers=headers)
        client.head("/join", headers=headers)
    assert served.store.visits() == []


@pytest.mark.parametrize("headers", CROSS, ids=str)
def test_a_form_of_another_site_takes_no_place(served: Served, headers: dict[str, str]) -> None:
    """The attacker has a valid form of their own; the browser of the victim sends no cookie along."""
    form = read_sheet(httpx.get(f"{served.url}/join", timeout=PATIENCE)).fixed | {"consent": "yes"}
    reply = httpx.post(f"{served.url}/join", data=form, headers=headers, timeout=PATIENCE)
    assert reply.status_code == 403
    assert served.store.visits() == []


@pytest.mark.parametrize("field", ["", "A" * 26, "A" * 26 + "." + "0" * 32])
def test_a_form_without_our_field_takes_no_place(served: Served, field: str) -> None:
    with served.client() as client:
        form = read_sheet(client.get("/join")).fixed | {"consent": "yes", "place": field}
        headers = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate"}
        reply = client.post("/join", data=form, headers=headers)
    assert (reply.status_code, read_sheet(reply).page) == (403, "consent")
    assert served.store.visits() == []


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "URL"}, {"Origin": "null", "Referer": "URL/join"}],
)
def test_without_cookies_a_browser_that_names_our_page_comes_in(
    served: Served, headers: dict[str, str]
) -> None:
    form = read_sheet(httpx.get(f"{served.url}/join", timeout=PATIENCE)).fixed | {"consent": "yes"}
    ours = {name: value.replace("URL", served.url) for name, value in headers.items()}
    replies = [httpx.post(f"{served.url}/join", data=form, headers=ours, timeout=PATIENCE) for _ in range(3)]
    assert {reply.status_code for reply in replies} == {303}
    assert len({reply.headers["location"] for reply in replies}) == 1, "a form sent again is the same visit"
    assert count(served.store) == 1


def test_opening_the_link_again_goes_on_at_the_same_page(served: Served) -> None:
    with served.client() as client:
        walker = Walker(client, served.study).join()
        for _ in range(3):
            walker.step()
        page = walker.look().page
        for _ in range(9):
            reply = client.get("/join")
            assert (reply.status_code, reply.headers["location"]) == (303, walker.link)
        assert read_sheet(client.get(reply.headers["location"])).page == page
        walker.finish()
        assert client.get("/join").headers["location"] == walker.link
        assert agree(client, "?id=another", again=True).status_code == 303, "no id at first: the same person"
    assert count(served.store) == 1


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(served: Served) -> None:
    with served.client() as client:
        said = client.get("/join").headers["set-cookie"]
        assert "HttpOnly" in said
        assert "SameSite=lax" in said
        assert "Path=/;" in said
        name, _, value = said.partition(";")[0].partition("=")
        token = value.partition(".")[0]
        walker = Walker(client, served.study).join(again=True)
        assert walker.link == f"/r/{token}"
        client.cookies.clear()
        client.cookies.set(name, f"{token}.{'0' * 32}")  # a signature that is not ours
        assert client.get("/join").status_code == 200


def test_a_second_person_on_one_device_takes_no_second_place(served: Served) -> None:
    with served.client() as client:
        first = Walker(client, served.study).join("?PROLIFIC_PID=one")
        reply = agree(client, "?PROLIFIC_PID=two", again=True)
        assert reply.status_code == 409
        assert "You have begun already" in reply.text
        assert agree(client, "?PROLIFIC_PID=one", again=True).headers["location"] == first.link
    assert count(served.store) == 1


def test_people_follow_each_other_on_a_shared_device(tmp_path: Path) -> None:
    write_study(tmp_path / "lab", RATED.replace("collecting: {", "collecting: {shared_devices: true, "))
    with serve_in_thread(tmp_path / "lab") as served, served.client() as client:
        first = Walker(client, served.study).join()
        assert client.get("/join").headers["location"] == first.link, "the first has not finished"
        first.finish()
        second = Walker(client, served.study).join("?id=second", again=True)
        third = Walker(client, served.study).join("?id=third", again=True)
        assert len({first.link, second.link, third.link}) == 3
        assert client.get("/join?id=third").headers["location"] == third.link


def test_who_was_let_go_before_the_first_page_may_begin_again(served: Served) -> None:
    with served.client() as client:
        walker = Walker(client, served.study).join()
        (visit,) = served.store.visits()
        served.store.release(visit.id, "released by the researcher", "Ada")
        again = Walker(client, served.study).join(again=True)
        assert again.link != walker.link
        for _ in again.walk(until="1-2"):
            pass
        second = served.store.visits()[-1]
        served.store.release(second.id, "released by the researcher", "Ada")
        assert client.get("/join").headers["location"] == again.link, "some pages were rated"


def test_a_study_without_information_has_a_door_too(tmp_path: Path) -> None:
    write_study(tmp_path / "bare", RATED)
    with serve_in_thread(tmp_path / "bare") as served, served.client() as client:
        page = client.get("/join")
        assert (page.status_code, read_sheet(page).page) == (200, "consent")
        walker = Walker(client, served.study).join()
        assert served.store.visit_events(1) == [], "nobody agreed to anything"
        assert walker.finish().status == 200
        assert served.store.visits()[0].state == "finished"


def test_the_last_place_is_taken_once(served: Served) -> None:
    free = served.store.overview().free
    served.store.make_links(free - 1)
    with served.client() as one, served.client() as other:
        forms = [read_sheet(client.get("/join")) for client in (one, other)]
        replies = [
            client.post("/join", data={**sheet.fixed, "consent": "yes"})
            for client, sheet in zip((one, other), forms, strict=True)
        ]
        assert [reply.status_code for reply in replies] == [303, 409]
        assert "All places are taken" in replies[1].text
        assert one.get("/join").status_code == 303


def test_a_guessable_id_goes_on_only_where_it_began(served: Served) -> None:
    with served.client() as student, served.client() as stranger:
        walker = Walker(student, served.study).join("?survey_code=1234")
        assert student.get("/join?survey_code=1234").headers["location"] == walker.link
        reply = agree(stranger, "?survey_code=1234")
        assert (reply.status_code, "You have begun already" in reply.text) == (409, True)
        assert walker.link not in reply.text
        assert "set-cookie" not in reply.headers
        (visit,) = served.store.visits()
        served.store.release(visit.id, TIMED_OUT)
        assert agree(stranger, "?survey_code=1234").status_code == 409, "its person may still come back"
        back = read_sheet(student.get(walker.link))
        assert student.post(back.action, data=back.fixed).status_code == 303, "and goes on"
        served.store.release(visit.id, "somebody else had this code", "Ada")
        second = Walker(stranger, served.study).join("?survey_code=1234")
        assert second.link != walker.link
        assert [one.outside_id for one in served.store.visits()] == [None, "1234"]


def test_the_link_of_sona_needs_the_key_of_the_study(tmp_path: Path) -> None:
    write_paid(tmp_path / "study", "", "panel: prolific", "panel: sona")
    with serve_in_thread(tmp_path / "study") as served, served.client() as client:
        key = make_panel_key(served.store.study.secret, "sona")
        wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
        for query in ("?survey_code=1", "?survey_code=1&key=guess", "", f"?survey_code=1&key={wrong}"):
            assert agree(client, query).status_code == 404, query
        assert served.store.visits() == []
        assert agree(client, f"?survey_code=1&key={key}").status_code == 303
        (visit,) = served.store.visits()
        assert (visit.outside_id, dict(visit.params)) == ("1", {"survey_code": "1"}), "the key is not kept"
        assert agree(client, f"?survey_code=1&key={key}").status_code == 409, "another browser, the same code"


def test_a_class_comes_in_by_signed_links_alone(tmp_path: Path) -> None:
    write_paid(tmp_path / "study", "", "panel: prolific", "panel: class")
    with serve_in_thread(tmp_path / "study") as served, served.client() as client:
        mark = sign_id(served.store.study.secret, "student", "17")
        for query in (
            "?student=17",
            "",
            f"?student=18&sig={mark}",
            f"?id=17&sig={mark}",
            "?student=17&sig=é",
        ):
            assert agree(client, query).status_code == 404, query
        first = agree(client, f"?student=17&sig={mark}").headers["location"]
        client.cookies.clear()
        assert client.get(f"/join?student=17&sig={mark}").headers["location"] == first, "on another device"


@pytest.mark.parametrize(
    ("panel", "words"),
    [("prolific", "/join"), ("sona", "panelist recruit {} link --url"), ("class", "panelist links {} --ids")],
)
def test_the_server_names_no_link_by_which_nobody_comes_in(tmp_path: Path, panel: str, words: str) -> None:
    write_paid(tmp_path / "study", "", "panel: prolific", f"panel: {panel}")
    ready = prepare(ServeOptions(study=tmp_path / "study", port=0))
    ready.bound.close()
    (line,) = (one for one in ready.lines() if "for raters" in one)
    assert words.format(tmp_path / "study") in line
    assert ("/join" in line) == (panel == "prolific")


def test_a_returned_submission_comes_back_by_agreeing_and_not_by_looking(tmp_path: Path) -> None:
    write_paid(tmp_path / "study")
    with serve_in_thread(tmp_path / "study") as served, served.client() as client:
        first = Walker(client, served.study).join("?PROLIFIC_PID=p&SESSION_ID=a")
        (visit,) = served.store.visits()
        served.store.release(visit.id, "returned on Prolific")
        assert client.get("/join?PROLIFIC_PID=p&SESSION_ID=b").status_code == 200
        assert [one.state for one in served.store.visits()] == ["released"]
        other = agree(client, "?PROLIFIC_PID=q&SESSION_ID=c", again=True)  # another person on the same device
        assert next(one.state for one in served.store.visits()) == "released", other.status_code
        served.store.exclude(2, "the place is free again")
        again = Walker(client, served.study).join("?PROLIFIC_PID=p&SESSION_ID=b")
        assert again.link == first.link
        assert next(one.state for one in served.store.visits()) == "instructions"


@pytest.mark.parametrize("person", ["a\0b", "x" * 5000, "\ud83d", "é" * 600])
def test_odd_ids_are_known_again(postgres: str, tmp_path: Path, person: str) -> None:
    write_study(tmp_path / "study", RATED)
    query = f"?PROLIFIC_PID={quote(person, errors='surrogatepass')}"
    with serve_in_thread(tmp_path / "study", postgres) as served, served.client() as client:
        first = agree(client, query)
        assert first.status_code == 303
        assert agree(client, query).headers["location"] == first.headers["location"]


def test_opening_the_link_of_a_visit_that_timed_out_takes_no_place_but_its_button_does(
    served: Served,
) -> None:
    with served.client() as client, served.client() as scanner:
        walker = Walker(client, served.study).join()
        for _ in walker.walk(until="1-2"):
            pass
        (visit,) = served.store.visits()
        served.store.release(visit.id, TIMED_OUT)
        free = served.store.overview().free
        page = scanner.get(walker.link)
        assert (page.status_code, "Your place is still free" in page.text) == (200, True)
        assert served.store.visits()[0].state == "released", "a program may have opened it"
        assert served.store.overview().free == free
        assert client.get("/join").headers["location"] == walker.link
        sheet = read_sheet(client.get(walker.link))
        assert client.post(sheet.action, data=sheet.fixed).headers["location"] == walker.link
        back = served.store.visits()[0]
        assert (back.state, back.page) == (visit.state, visit.page)
        assert read_sheet(client.get(walker.link)).page == "1-2"


def test_who_was_away_hears_that_the_place_is_gone_or_the_study_paused(served: Served) -> None:
    with served.client() as client:
        walker = Walker(client, served.study).join()
        (visit,) = served.store.visits()
        served.store.release(visit.id, TIMED_OUT)
        served.store.set_state("paused", "Ada")
        assert "taking a break" in client.get(walker.link).text
        served.store.set_state("open", "Ada")
        served.store.make_links(served.store.overview().free)
        page = client.get(walker.link)
        assert ("has been given to someone else" in page.text, read_sheet(page).action) == (True, "")


def test_who_has_agreed_is_not_asked_again_where_there_is_nothing_to_read_in(tmp_path: Path) -> None:
    text = RATED + "information: {text: Read this., consent: [I am 18 or older.], contact: me@uni.edu}\n"
    write_study(tmp_path / "short", text)
    with serve_in_thread(tmp_path / "short") as served, served.client() as client:
        walker = Walker(client, served.study).join()
        assert walker.look().page == "1-1"
        assert [event.kind for event in served.store.visit_events(1)] == ["consent"]
        assert client.get("/join").headers["location"] == walker.link
        walker.finish()
        assert [visit.state for visit in served.store.visits()] == ["finished"]
