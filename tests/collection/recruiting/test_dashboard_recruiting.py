"""Recruiting on the dashboard: actions by buttons, messages from Prolific, and pages for everybody."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

from panelist.collection.recruiting.webhooks import sign
from tests.collection.browsers import use_browser
from tests.collection.recruiting.fake_prolific import TOKEN, Fake, Server
from tests.collection.recruiting.people import Participant, write_paid
from tests.patience import PATIENCE
from tests.web.researchers import Desk, enter, read_text
from tests.web.servers import PASSWORD, Served, serve_in_thread

URL = "https://rate.example.org"
SECRET = "hook-secret"
RULES = "  rejections:\n    - {when: failed checks, more_than: 1}\n"


@dataclass
class Place:
    """A served study, the fake, and a researcher who is logged in."""

    served: Served
    fake: Fake
    desk: Desk
    folder: Path
    url: str

    def finish(self, person: str, check: bool = True) -> str:
        (study,) = self.fake.studies
        one = Participant(self.url, person, self.fake.take_place(study, person), study, check=check)
        one.walk()
        self.fake.hand_in(one.submission, one.code)
        return one.submission

    def press(self, deed: str, *names: str) -> None:
        """Confirm a deed about exactly these, as the page that asked had them."""
        self.desk.post(f"/recruiting/{deed}", chosen=",".join(names))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    folder = tmp_path / "study"
    write_paid(folder, RULES)
    monkeypatch.setenv("PROLIFIC_WEBHOOK_SECRET", SECRET)
    with Server() as server:
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PROLIFIC_URL", server.url)
        with serve_in_thread(folder) as served, enter(served) as desk:
            site = served.app.state.site
            site.config = replace(site.config, url=URL)  # as behind a proxy; cookies still go by http here
            yield Place(served, server.fake, desk, folder, served.url)


def test_the_whole_life_goes_by_buttons_and_is_on_record(place: Place) -> None:
    desk, fake = place.desk, place.fake
    assert "Make the draft" in desk.get("/recruiting")
    assert "12.60 an hour" in read_text(desk.get("/recruiting"))
    for deed in ("draft", "test", "publish"):
        assert "Cancel" in desk.get(f"/recruiting/{deed}")
        desk.post(f"/recruiting/{deed}")
    (study,) = fake.studies.values()
    assert study["status"] == "ACTIVE"
    assert study["external_study_url"].startswith(URL)
    good, bad = place.finish("p1"), place.finish("p2", check=False)
    page = desk.get("/recruiting")
    assert "Approve 1" in page
    assert "Reject 1" in page
    asked = desk.get("/recruiting/reject")
    assert "missed 2 of 2 checks" in read_text(asked)
    assert f'name="chosen" value="{bad}"' in asked
    later = place.finish("p3")
    place.press("approve", good)
    assert fake.submissions[later]["status"] == "AWAITING REVIEW", "it was not on the page that asked"
    place.press("reject", bad)
    place.press("approve", later)
    reply = desk.post("/recruiting/approve", 409, chosen=bad)
    assert "do not allow" in read_text(reply.text)
    assert {one: fake.submissions[one]["status"] for one in (good, bad)} == {
        good: "APPROVED",
        bad: "REJECTED",
    }
    assert len(fake.paid) == 2
    desk.post("/recruiting/pause")
    desk.post("/recruiting/resume")
    reply = desk.post("/recruiting/places", 409, number="99")
    assert "panelist plan STUDY --raters" in read_text(reply.text)
    desk.post("/recruiting/places", 409, number="x")
    desk.post("/recruiting/bonus", 409)
    desk.post("/recruiting/close")
    assert study["status"] == "COMPLETED"
    done = [(one.who, one.what) for one in place.served.store.actions()]
    for what in ("drafted", "tested", "published", "paused", "resumed", "closed"):
        assert ("Ada", f"recruiting: {what}") in done
    assert ("Ada", "approve done") in done
    assert ("Ada", "reject done") in done
    assert desk.get("/recruiting/nonsense", 404)


def test_the_token_is_on_no_page_and_a_refused_one_is_a_sentence(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [place.desk.get(path) for path in ("/recruiting", "/recruiting/draft", "/log", "")]
    place.desk.post("/recruiting/draft")
    pages += [place.desk.get(path) for path in ("/recruiting", "/recruiting/approve", "/log", "")]
    assert not [page for page in pages if TOKEN in page or SECRET in page]
    monkeypatch.setenv("PROLIFIC_TOKEN", "tok-wrong")
    page = place.desk.get("/recruiting")
    assert "Prolific refuses the token" in page
    assert "tok-wrong" not in page
    monkeypatch.delenv("PROLIFIC_TOKEN")
    assert "There is no token" in place.desk.get("/recruiting")
    for path in place.folder.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()


def test_nobody_else_presses_a_button(place: Place) -> None:
    with place.served.client() as stranger:
        assert stranger.get("/dashboard/recruiting").headers["location"] == "/dashboard/login"
        assert stranger.post("/dashboard/recruiting/draft").status_code == 403
    assert place.desk.client.post("/dashboard/recruiting/draft").status_code == 403
    assert place.fake.studies == {}


def test_a_signed_message_frees_a_place_and_a_forged_one_does_nothing(place: Place) -> None:
    place.desk.post("/recruiting/draft")
    place.desk.post("/recruiting/publish")
    (study,) = place.fake.studies
    one = Participant(place.url, "p1", place.fake.take_place(study, "p1"), study)
    one.walk(pages=1)
    place.fake.give_back(one.submission)
    said = {"event_type": "submission.status.change", "resource_id": one.submission, "status": "RETURNED"}
    body = json.dumps(said).encode()
    stamp = str(int(time.time()))
    headers = {"X-Prolific-Request-Timestamp": stamp, "X-Event-Id": "e1"}
    with place.served.client() as prolific:
        forged = {**headers, "X-Prolific-Request-Signature": sign("another", stamp, body)}
        assert prolific.post("/hooks/prolific", content=body, headers=forged).status_code == 401
        assert prolific.post("/hooks/prolific", content=body).status_code == 401
        assert [visit.state for visit in place.served.store.visits()] == ["rating"]
        signed = {**headers, "X-Prolific-Request-Signature": sign(SECRET, stamp, body)}
        for _ in range(2):
            reply = prolific.post("/hooks/prolific", content=body, headers=signed)
            assert (reply.status_code, reply.json()) == (200, {"taken": True})
        place.fake.faults = lambda method, path: "500 before"
        later = {**signed, "X-Event-Id": "e2"}
        place.fake.faults = lambda method, path: "429"
        place.fake.retry_after = "9999"
        assert prolific.post("/hooks/prolific", content=body, headers=later).status_code == 503
    assert [visit.state for visit in place.served.store.visits()] == ["released"]


def test_the_server_looks_at_prolific_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "study"
    write_paid(folder)
    monkeypatch.setattr("panelist.web.dashboard.recruiting_routes.POLL_SECONDS", 0.05)
    with Server() as server:
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PROLIFIC_URL", server.url)
        with serve_in_thread(folder) as served, enter(served) as desk:
            site = served.app.state.site
            site.config = replace(site.config, url=URL)
            desk.post("/recruiting/draft")
            desk.post("/recruiting/publish")
            (study,) = server.fake.studies
            one = Participant(served.url, "p1", server.fake.take_place(study, "p1"), study)
            one.walk(pages=1)
            server.fake.give_back(one.submission)
            until = time.monotonic() + PATIENCE
            while served.store.visits()[0].state != "released" and time.monotonic() < until:
                time.sleep(0.05)
            assert served.store.visits()[0].reason == "returned on Prolific"


def test_the_dashboard_reckons_with_what_the_panel_really_pays(place: Place) -> None:
    place.desk.post("/recruiting/draft")
    (study,) = place.fake.studies.values()
    study["reward"] = 200
    place.desk.post("/recruiting/publish")
    place.finish("p1")
    with place.served.store.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE visits SET opened = opened - 720")
    place.desk.get("/recruiting")  # looks at Prolific
    place.served.app.state.board._looked = -10.0  # the dashboard counts at most twice a second
    found = re.search(r"Lowest pay £([0-9.,]+) an hour", read_text(place.desk.get()))
    assert found
    assert 9.5 < float(found[1].replace(",", "")) < 10.01  # 2.00 for 12 minutes and a little


def test_a_study_without_recruiting_has_no_such_page(tmp_path: Path) -> None:
    write_paid(tmp_path / "study", "", "recruiting:\n  panel: prolific\n", "")
    with serve_in_thread(tmp_path / "study") as served, enter(served) as desk:
        assert desk.get("/recruiting", 404)
        assert "/dashboard/recruiting" not in desk.get()


def test_another_panel_shows_its_link_and_codes(tmp_path: Path) -> None:
    write_paid(tmp_path / "study", "", "panel: prolific", "panel: connect")
    with serve_in_thread(tmp_path / "study") as served, enter(served) as desk:
        page = read_text(desk.get("/recruiting"))
        assert f"{served.url}/join" in page
        assert "participantId" in page


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_the_pages_are_accessible_and_fit_a_phone(place: Place) -> None:
    place.desk.post("/recruiting/draft")
    place.desk.post("/recruiting/publish")
    place.finish("p1")
    place.finish("p2", check=False)
    problems = []
    with use_browser() as browser:
        for scheme, width in (("light", 1280), ("dark", 390)):
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(f"{place.url}/dashboard/login")
            page.fill("[name=password]", PASSWORD)
            page.click("button.primary")
            for path in ("/recruiting", "/recruiting/reject", "/recruiting/places"):
                page.goto(f"{place.url}/dashboard{path}")
                found = Axe().run(page).response["violations"]
                problems += [f"{scheme} {width} {path}: {one['id']} {one['nodes'][0]}" for one in found]
                wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
                problems += [f"{scheme} {width} {path}: too wide"] if wide else []
            context.close()
    assert problems == []
