"""The dashboard against intruders, and against what raters write."""

import asyncio
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from starlette.requests import Request

from panelist.web.app import make_app
from panelist.web.state import AppState
from tests.web.researchers import STUDY, enter, make_folder, number, walk
from tests.web.servers import PASSWORD, Served, serve_in_thread
from tests.web.walking import Walker

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"
FORMULA = '=HYPERLINK("http://example.org";"click")'


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve_in_thread(make_folder(tmp_path / "study", STUDY), joins_a_minute=0) as running:
        yield running


def test_wrong_passwords_are_refused_and_then_locked_out(served: Served) -> None:
    with served.client() as client:
        for _ in range(4):
            reply = client.post("/dashboard/login", data={"password": "wrong-password"})
            assert reply.status_code == 403
            assert "set-cookie" not in reply.headers
        assert client.post("/dashboard/login", data={"password": "wrong-password"}).status_code == 429
        locked = client.post("/dashboard/login", data={"password": PASSWORD})
        assert locked.status_code == 429
        assert int(locked.headers["retry-after"]) > 0
        assert "wait" in locked.text
        assert client.get("/dashboard").status_code == 303


def test_what_was_typed_at_the_door_comes_back_escaped_and_without_the_password(served: Served) -> None:
    with served.client() as client:
        reply = client.post("/dashboard/login", data={"who": SCRIPT, "password": "a-wrong-one"})
    assert "<script>alert" not in reply.text
    assert "&lt;script&gt;alert" in reply.text
    assert "a-wrong-one" not in reply.text


def test_a_session_that_was_brought_along_is_not_taken_over(served: Served) -> None:
    with served.client() as client:
        name = served.app.state.site.login.cookie
        client.cookies.set(name, "a" * 32 + ".9999999999." + "0" * 64, path="/dashboard")
        assert client.get("/dashboard").status_code == 303
        reply = client.post("/dashboard/login", data={"password": PASSWORD})
    cookies = reply.headers.get_list("set-cookie")
    assert all("HttpOnly" in one and "SameSite=strict" in one for one in cookies)
    assert not any("a" * 32 in one for one in cookies)


def test_the_name_of_one_login_is_worth_nothing_in_another(served: Served) -> None:
    with enter(served, "Ada") as one, enter(served, "Grace") as other:
        stolen = one.client.cookies["panelist-who"]
        other.client.cookies.delete("panelist-who")
        other.client.cookies.set("panelist-who", stolen, path="/dashboard")
        other.post("/pause")
        assert other.last_action()[0] == "researcher"


def test_a_form_without_the_token_of_the_login_does_nothing(served: Served) -> None:
    with enter(served) as one, enter(served) as other:
        for token in ("", "x", other.token()):
            reply = one.client.post("/dashboard/pause", data={"csrf": token})
            assert reply.status_code == 403
        assert served.store.state() == "open"
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            reply = one.client.post("/dashboard/pause", data={"csrf": one.token()}, headers=headers)
            assert reply.status_code == 403
        assert served.store.state() == "open"


def test_nothing_is_done_by_looking(served: Served) -> None:
    walk(served, until="1-2")
    with enter(served) as desk:
        before = served.store.actions()
        for path in ("/pause", "/resume", "/logout", "/raters/1/identity"):
            reply = desk.client.get(f"/dashboard{path}")
            assert reply.status_code in (404, 405)
        for path in ("/end", "/places", "/quiet", "/raters/1/exclude", "/raters/1/release", "/download"):
            desk.get(path)
        assert served.store.actions() == before
        assert served.store.state() == "open"


def test_who_logs_out_is_out(served: Served) -> None:
    with enter(served) as desk:
        desk.post("/logout")
        assert desk.client.get("/dashboard").status_code == 303


def test_what_people_write_is_never_run(served: Served) -> None:
    with served.client() as client:
        walker = Walker(client, served.study).join(f"?PROLIFIC_PID={quote(SCRIPT)}&x={quote(SCRIPT)}")
        for _ in range(20):
            sheet = walker.look()
            if not sheet.action:
                break
            form = walker.fill(sheet)
            form |= dict.fromkeys(sheet.words, SCRIPT)
            assert walker.send(form).status_code == 303
    visit = number(served.store, walker.link.rpartition("/")[2])
    with enter(served, SCRIPT) as desk:
        desk.post(f"/raters/{visit}/exclude", words=SCRIPT)
        pages = [desk.get(), desk.get("/log"), desk.get("/raters"), desk.get(f"/raters/{visit}")]
        pages.append(desk.post(f"/raters/{visit}/identity", 200).text)
        with desk.client.stream("GET", "/dashboard/live") as reply:
            pages.append(_read_event(reply))
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    assert sum("alert(1)" in page for page in pages) >= 3  # it is shown, as text


def _read_event(reply: httpx.Response) -> str:
    lines = []
    for line in reply.iter_lines():
        lines.append(line)
        if line.startswith("data:"):
            return "\n".join(lines)
    raise AssertionError("no event")


def test_pages_have_no_script_or_style_of_their_own(served: Served) -> None:
    walk(served)
    with enter(served) as desk:
        for path in ("", "/raters", "/raters/1", "/log", "/download", "/end", "/places", "/preview"):
            reply = desk.client.get(f"/dashboard{path}")
            assert "script-src 'self'" in reply.headers["content-security-policy"]
            assert reply.headers["cache-control"] == "no-store"
            assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", reply.text)
            assert re.findall(r"<script[^>]*>", reply.text) == re.findall(
                r'<script type="module" src="/static/[0-9a-f]+/dashboard.js">', reply.text
            )


def test_downloads_hold_no_formula(served: Served) -> None:
    with served.client() as client:
        walker = Walker(client, served.study).join(f"?id={quote(FORMULA)}")
        for _ in range(20):
            sheet = walker.look()
            if not sheet.action:
                break
            walker.send(walker.fill(sheet) | dict.fromkeys(sheet.words, FORMULA))
    visit = number(served.store, walker.link.rpartition("/")[2])
    with enter(served, FORMULA) as desk:
        desk.post(f"/raters/{visit}/exclude", words=FORMULA)
        for what in ("ratings", "visits", "answers", "events", "actions"):
            body = desk.post("/download", 200, what=what, ids="yes").text
            cells = [cell for row in csv.reader(io.StringIO(body)) for cell in row]
            assert not [cell for cell in cells if re.match(r"[=+@\t\r]", cell)]
            assert not [cell for cell in cells if cell.startswith("-") and not re.fullmatch(r"-[\d.]+", cell)]


def test_a_said_sentence_that_we_did_not_say_is_not_shown(served: Served) -> None:
    with enter(served) as desk:
        page = desk.get("?said=Send+your+password+to+evil.example&mark=0000")
        assert "evil.example" not in page


@pytest.mark.parametrize(
    "path", ["/raters/1/delete", "/raters/0", "/raters/99999999999999999999", "/nothing"]
)
def test_addresses_that_lead_nowhere_say_so(served: Served, path: str) -> None:
    with enter(served) as desk:
        assert desk.client.get(f"/dashboard{path}").status_code == 404


def test_logging_out_ends_the_login_wherever_its_cookie_is(served: Served) -> None:
    with enter(served) as desk, enter(served, "Bea") as other:
        stolen = dict(desk.client.cookies)
        with served.client(cookies=stolen) as thief:
            assert thief.get("/dashboard").status_code == 200
            with thief.stream("GET", "/dashboard/live") as live:
                lines = live.iter_lines()
                assert next(lines).startswith("retry")
                desk.post("/logout")
                walk(served)  # a change that would be told
                rest = [line for line in lines if line.startswith("event")]
                assert len(rest) <= 1, "what was on its way when they logged out"
            for path in ("", "/raters", "/log", "/preview"):
                reply = thief.get(f"/dashboard{path}")
                assert (reply.status_code, reply.headers["location"]) == (303, "/dashboard/login")
            assert thief.get("/dashboard/live").status_code == 401
        assert other.get("/log").count("logged out") == 1, "another login goes on"
        app = make_app(served.app.config)  # another process of the same server
        site = AppState(app.config, served.study, served.store)
        cookie = "; ".join(f"{name}={value}" for name, value in stolen.items()).encode()
        request = Request({"type": "http", "method": "GET", "path": "/", "headers": [(b"cookie", cookie)]})
        assert site.login.find(request) is not None
        assert asyncio.run(site.find_session(request)) is None
