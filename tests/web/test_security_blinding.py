"""What raters must not learn, and what must not run: names of systems, expected answers, scripts in texts."""

import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import httpx
import pytest

from panelist.study.reading.load import load_study
from panelist.web.rater.images import find_image
from tests.patience import PATIENCE
from tests.web.servers import Served, serve_in_thread
from tests.web.walking import Walker, find_code, read_sheet

SYSTEMS = ("Zorblax-7", "Quuxinator", "human-writers")
SCRIPT = "<script>alert(document.domain)</script>"
HANDLER = '"><img src=x onerror=alert(1)>'
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
STUDY = f"""\
title: 'Texts {SCRIPT}'
criteria:
  - name: readability-criterion
    label: Reading {SCRIPT}
    question: 'How well does it read? {HANDLER}'
    definition: 'It reads **well**. {SCRIPT} [here](javascript:alert(1))'
    scale: {{type: likert, points: 5}}
  - name: truth-criterion
    question: Is it true?
    scale: {{type: binary}}
design: {{type: pages, ratings_per_output: 2}}
raters: {{count: 4}}
information:
  headline: '{SCRIPT}'
  text: 'Read. {SCRIPT}'
  facts: [{{label: 'A {SCRIPT}', text: 'B {SCRIPT}'}}]
  consent: ['Yes {SCRIPT}']
background:
  - {{name: town-question, question: 'Where? {SCRIPT}', type: text}}
instructions: 'Do it. {SCRIPT}'
checks:
  items:
    - kind: instructed
      text: Please choose 4 and rank them as they stand.
      answers: {{readability-criterion: "4"}}
    - {{kind: repeat, count: 1, distance: 1}}
    - {{kind: degraded, count: 1}}
  then: flag
closing: {{comments: 'Anything? {SCRIPT}', thanks: 'Thanks {SCRIPT}'}}
collecting:
  reasons: true
  outcomes:
    finished: {{redirect: 'https://panel.example.org/done?cc={{code}}&who={{id}}'}}
    declined: {{code: NOTHANKS, redirect: 'https://panel.example.org/no?cc={{code}}'}}
"""


def write_study(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "pictures").mkdir()
    (folder / "secret.txt").write_text("the map", encoding="utf-8")
    (folder.parent / "outside.png").write_bytes(PICTURE)
    rows = ["item,system,output,context,image"]
    for n in range(1, 5):
        for number, system in enumerate(SYSTEMS):
            path = folder / "pictures" / f"{system}-{n}.png"
            path.write_bytes(PICTURE)
            cells = [f"ITEM-XQ-{n}", system, f"Text {n}{number} {SCRIPT}", f"About {n} {HANDLER}"]
            cells.append(f"pictures/{path.name}")
            rows.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
    (folder / "outputs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(write_study(tmp_path_factory.mktemp("blind") / "study")) as running:
        yield running


class Recorder(httpx.Client):
    """A client that keeps everything it was sent, headers included."""

    heard: str = ""

    def send(self, *args: object, **settings: object) -> httpx.Response:
        reply = super().send(*args, **settings)  # type: ignore[arg-type]
        reply.read()
        text = reply.text if "image" not in reply.headers.get("content-type", "") else ""
        self.heard += f"{reply.url}\n{reply.status_code}\n{dict(reply.headers)}\n{text}\n"
        return reply


@pytest.fixture(scope="module")
def visit(served: Served) -> Iterator[tuple[Walker, Recorder]]:
    """A whole visit, with every script, style sheet and picture, and some mistakes on the way."""
    with Recorder(base_url=served.url, timeout=PATIENCE) as client:
        walker = Walker(client, served.study).join(f"?PROLIFIC_PID={SCRIPT}&more={HANDLER}")
        for sheet in walker.walk():
            if sheet.names:
                walker.send({"page": sheet.page} | {f"{name}-why": SCRIPT for name in sheet.names})
                walker.answer(sheet.page, sheet.names[0], "4", f"key-{sheet.page}")
            walker.send({"page": sheet.page, "b1": ""})
        for part in sorted(set(re.findall(r'(?:src|href)="(/[^"]+)"', client.heard))):
            client.get(part)
        yield walker, client


def test_nothing_that_a_rater_is_sent_says_what_is_compared(
    served: Served, visit: tuple[Walker, Recorder]
) -> None:
    heard = visit[1].heard.casefold()
    assert len(visit[0].seen) > 8
    plan = served.store.plan()
    secret = [
        *SYSTEMS,
        "ITEM-XQ",
        "instructed",
        "repeat-1",
        "degraded",
        "readability-criterion",
        "winner-criterion",
    ]
    secret += ["town-question", served.study.hash[:12], plan.hash[:12], served.store.study.salt]
    secret += [served.store.study.secret, "pictures/", str(plan.raters[0])]
    assert [word for word in secret if word.casefold() in heard] == []


def test_a_check_looks_like_any_other_page(served: Served, visit: tuple[Walker, Recorder]) -> None:
    token = visit[0].link.rpartition("/")[2]
    place = served.store.find_visit(token)
    assert place is not None
    table = served.store.plan().table
    mine = table[table["rater"] == place.place]
    hidden = set(mine.loc[mine["check"].str.startswith(("repeat", "degraded")), "order"])
    trials = set(mine.loc[mine["phase"] == "trial", "order"])
    shapes = {
        sheet.page: re.findall(r"<(/?\w+)((?:\s[\w-]+(?==))*)", re.sub(r'="[^"]*"', "=", sheet.html))
        for sheet in visit[0].seen
    }
    seen = [shapes[f"1-{order}"] for order in hidden]
    assert len(seen) == 2
    assert all(shape in [shapes[f"1-{order}"] for order in trials] for shape in seen)


def test_no_script_of_a_text_an_id_or_a_comment_comes_out_as_one(visit: tuple[Walker, Recorder]) -> None:
    heard = visit[1].heard
    assert escape(SCRIPT, quote=False) in heard
    pages = "".join(sheet.html for sheet in visit[0].seen)
    assert SCRIPT not in pages
    assert "onerror=alert" not in pages.replace("onerror=alert(1)&gt;", "")
    assert "javascript:" not in pages.replace("[here](javascript:alert(1))", "")
    assert not re.search(r"<script(?![^>]*\ssrc=\"/static/)", pages)


def test_the_redirect_is_the_studys_own_with_code_and_id_encoded(visit: tuple[Walker, Recorder]) -> None:
    last = visit[0].seen[-1]
    found = re.search(r'id="go" href="([^"]+)"', last.html)
    assert found
    code = find_code(last)
    wanted = f"https://panel.example.org/done?cc={code}&amp;who=%3Cscript%3Ealert%28document.domain%29%3C%2Fscript%3E"
    assert found[1] == wanted


def test_who_declines_gets_the_code_and_the_address_for_that(served: Served) -> None:
    with served.client() as client:
        sheet = read_sheet(client.get("/join?id=nobody"))
        left = client.post(sheet.action, data={**sheet.fixed, "consent": "no"}).headers["location"]
        last = read_sheet(client.get(left))
    assert find_code(last) == "NOTHANKS"
    assert 'href="https://panel.example.org/no?cc=NOTHANKS"' in last.html


def test_pictures_come_by_number_without_name_age_or_guessing(served: Served) -> None:
    with served.client() as client:
        walker = Walker(client, served.study).join("?id=looker")
        assert client.get(f"{walker.link}/image/1-1-1").status_code in (200, 404)
        while not (sheet := walker.look()).names:
            walker.send(walker.fill(sheet))
        while not (found := re.findall(r'src="([^"]+/image/[^"]+)"', (sheet := walker.look()).html)):
            walker.step()
        assert len(found) == len(SYSTEMS)
        reply = client.get(found[0])
        assert (reply.status_code, reply.headers["content-type"], reply.content) == (
            200,
            "image/png",
            PICTURE,
        )
        assert "sandbox" in reply.headers["content-security-policy"]
        for header in ("last-modified", "etag", "content-disposition"):
            assert header not in reply.headers
        occasion, order, _ = re.findall(r"\d+", found[0].rpartition("/")[2])
        for wrong in (f"{occasion}-{order}-9", f"{occasion}-{order}-0", f"{occasion}-9999-1", f"2-{order}-1"):
            assert client.get(f"{walker.link}/image/{wrong}").status_code == 404
        assert client.get(f"{walker.link}/image/..%2f..%2fsecret.txt").status_code == 404
        assert client.get(f"/r/{'A' * 26}/image/{occasion}-{order}-1").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "", "secret.txt", "../outside.png", "pictures/../../outside.png", "/etc/passwd", "link.png",
        "pictures", "pictures/none.png", "pictures\0.png", "https://evil.example/a.png", "study.yaml",
        "hidden.png/../secret.txt",
    ],
)  # fmt: skip
def test_only_pictures_inside_the_study_folder_are_sent(tmp_path: Path, name: str) -> None:
    folder = write_study(tmp_path / "study")
    (folder / "link.png").symlink_to(folder.parent / "outside.png")
    (folder / "pictures" / "a.svg").symlink_to(folder / "secret.txt")
    assert find_image(folder, f"pictures/{SYSTEMS[0]}-1.png") is not None
    assert find_image(folder, name) is None
    assert find_image(folder, "pictures/a.svg") is None


def test_the_study_of_these_tests_is_sound(served: Served) -> None:
    assert load_study(served.study.folder).hash == served.study.hash
