"""What strangers may try at the door: guessed links, foreign sites, long bodies, odd paths, SQL."""

import re
import secrets
from base64 import b32encode
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlencode

import httpx
import pytest

from tests.patience import PATIENCE
from tests.web.servers import Served, make_study, serve_in_thread
from tests.web.walking import Walker, agree, read_sheet

SQL = [
    "'; DROP TABLE visits; --",
    "' OR '1'='1",
    '"); DELETE FROM answers; --',
    "%' UNION SELECT secret FROM studies --",
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(make_study(tmp_path_factory.mktemp("door") / "likert"), joins_a_minute=0) as running:
        yield running


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as opened:
        yield opened


@pytest.fixture
def walker(served: Served, client: httpx.Client) -> Iterator[Walker]:
    """Somebody at the first practice page; the place is free again afterwards."""
    walker = Walker(client, served.study).join()
    for _ in walker.walk(until="1-1"):
        pass
    yield walker
    visit = served.store.find_visit(walker.link.rpartition("/")[2])
    assert visit is not None
    if not visit.freed:
        served.store.exclude(visit.id, "the test is over")


def test_a_guessed_link_opens_nothing_and_says_nothing(served: Served, client: httpx.Client) -> None:
    guesses = {b32encode(secrets.token_bytes(16)).decode().rstrip("=") for _ in range(20)}
    replies = [client.get(f"/r/{guess}") for guess in guesses]
    assert {reply.status_code for reply in replies} == {404}
    assert len({reply.text for reply in replies}) == 1
    assert client.post(f"/r/{guesses.pop()}/page", data={"page": "consent"}).status_code == 404


@pytest.mark.parametrize(
    "token",
    [
        "A" * 25,
        "A" * 27,
        "a" * 26,
        "0" * 26,
        "A" * 25 + "é",
        "%00" + "A" * 25,
        "'" + "A" * 25,
        "%2e%2e",
        "A" * 5000,
    ],
)
def test_what_cannot_be_a_link_is_not_even_looked_up(
    served: Served, client: httpx.Client, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise AssertionError("looked up")

    for name in ("find_visit", "find_messaged"):
        monkeypatch.setattr(served.app.state.site.store, name, fail)
    assert client.get(f"/r/{token}").status_code == 404
    assert client.post(f"/r/{token}/page", data={"page": "consent"}).status_code == 404


def test_a_link_reaches_its_own_visit_only(served: Served, walker: Walker) -> None:
    with served.client() as other:
        second = Walker(other, served.study).join()
        mine = served.store.find_visit(walker.link.rpartition("/")[2])
        theirs = served.store.find_visit(second.link.rpartition("/")[2])
        assert mine is not None
        assert theirs is not None
        assert second.answer("1-1", "c1p1", "4", "key-0001").status_code == 409
        assert (
            walker.answer("1-1", "c1p1", "4", "key-0001", visit=theirs.id, token=theirs.token).status_code
            == 200
        )
        assert served.store.all_answers(theirs.id) == {}
        assert set(served.store.all_answers(mine.id)) == {(1, 1)}
        served.store.exclude(theirs.id, "the test is over")


@pytest.mark.parametrize("path", ["answer", "page", "back", "pause"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://[::1"},
        {"Origin": "about:blank"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
    ],
)
def test_a_post_from_another_site_is_refused(
    served: Served, walker: Walker, path: str, headers: dict[str, str]
) -> None:
    body = {"page": "1-1", "name": "c1p1", "value": "4", "key": "key-0001"}
    url = f"{walker.link}/{path}"
    if path == "answer":
        reply = walker.client.post(url, json=body, headers=headers)
    else:
        reply = walker.client.post(url, data=walker.fill(walker.look()), headers=headers)
    assert reply.status_code == 403
    visit = served.store.find_visit(walker.link.rpartition("/")[2])
    assert visit is not None
    assert served.store.all_answers(visit.id) == {}


def test_posts_of_our_own_pages_are_taken(served: Served, walker: Walker) -> None:
    """Forms of pages that send no referrer have the origin null."""
    form = walker.fill(walker.look())
    own = [
        {"Origin": served.url, "Sec-Fetch-Site": "same-origin"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "null"},
    ]
    for headers in own:
        assert walker.client.post(f"{walker.link}/page", data=form, headers=headers).status_code == 303


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "", "a b"]
)
def test_requests_for_another_host_are_refused(client: httpx.Client, host: str) -> None:
    reply = client.get("/join", headers={"Host": host})
    assert reply.status_code in (400, 421)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"])
def test_other_methods_are_refused(walker: Walker, method: str) -> None:
    assert walker.client.request(method, walker.link).status_code == 405


def test_get_changes_nothing_and_post_is_needed_where_something_is_sent(walker: Walker) -> None:
    for path in ("answer", "page", "back", "pause"):
        assert walker.client.get(f"{walker.link}/{path}").status_code in (404, 405)
    assert walker.client.post(walker.link).status_code == 405


@pytest.mark.parametrize(("path", "most"), [("answer", 64), ("page", 256), ("back", 256), ("pause", 256)])
def test_bodies_that_are_too_long_are_refused_whatever_they_say_of_themselves(
    served: Served, walker: Walker, path: str, most: int
) -> None:
    body = b"x" * (most * 1024 + 1)

    def pour() -> Iterator[bytes]:
        yield from (body[at : at + 8192] for at in range(0, len(body), 8192))

    url = f"{served.url}{walker.link}/{path}"
    assert httpx.post(url, content=body, timeout=PATIENCE).status_code == 413
    assert httpx.post(url, content=pour(), timeout=PATIENCE).status_code == 413  # in pieces, without a length
    assert httpx.post(url, content=body[:-1024], timeout=PATIENCE).status_code in (303, 400)


def test_thousands_of_fields_are_refused_quickly(walker: Walker) -> None:
    form = "&".join(f"f{n}=1" for n in range(20_000))
    reply = walker.client.post(f"{walker.link}/page", content=form)
    assert reply.status_code == 303
    assert walker.look().page == "1-1"


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/../../app.py", "/static/x/..%2f..%2fapp.py", "/static/x/%2e%2e/%2e%2e/app.py",
        "/static/../../../../../../etc/passwd", "/static/x/%2fetc%2fpasswd", "/static//etc/passwd",
        "/static/x/tokens.css%00.js", "/static/x/..\\app.py", "/static/", "/static/x/", "//etc/passwd",
    ],
)  # fmt: skip
def test_paths_that_climb_find_nothing(served: Served, path: str) -> None:
    status, text = ask_exactly(served, path)
    assert status == 404
    assert "root:" not in text
    assert "make_app" not in text


def ask_exactly(served: Served, path: str) -> tuple[int, str]:
    """Return status and body for a path that no client tidies up on the way."""
    connection = HTTPConnection(served.url.removeprefix("http://"), timeout=PATIENCE)
    try:
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("text", SQL)
def test_sql_in_every_field_is_only_text(served: Served, client: httpx.Client, text: str) -> None:
    before = len(served.store.visits())
    query = urlencode({"PROLIFIC_PID": text, text: text, "STUDY_ID": text})
    walker = Walker(client, served.study).join(f"?{query}")
    assert client.get("/join", params={"group": text}).status_code == 404
    assert client.get(f"/r/{text}").status_code == 404
    visit = served.store.find_visit(walker.link.rpartition("/")[2])
    assert visit is not None
    assert visit.outside_id == text
    assert visit.params[text] == text
    assert walker.send({"page": text}).status_code == 303
    background = walker.fill(walker.look())
    said = {name: text for name in background if name != "page"}
    assert walker.send(background | said).status_code in (303, 422)
    for _ in walker.walk(until="1-1"):
        pass
    whole = {"page": "1-1", "name": "c1p1", "value": "4", "key": "key-0001"}
    for name in whole:
        assert client.post(f"{walker.link}/answer", json=whole | {name: text}).status_code == 422
    form = walker.fill(walker.look())
    for name in form:
        assert walker.send(form | {name: text}).status_code in (303, 422)
    assert len(served.store.visits()) == before + 1
    assert served.store.state() == "open"
    served.store.exclude(visit.id, "the test is over")


def test_a_link_cannot_be_made_to_lead_elsewhere(served: Served, client: httpx.Client) -> None:
    evil = "https://evil.example"
    for name in ("redirect", "next", "url", "return_to", "goto", "PROLIFIC_PID"):
        reply = agree(client, "?" + urlencode({name: evil}))
        assert re.fullmatch(r"/r/[A-Z2-7]{26}", reply.headers["location"])
        visit = served.store.find_visit(reply.headers["location"].rpartition("/")[2])
        assert visit is not None
        served.store.exclude(visit.id, "the test is over")
    assert ask_exactly(served, "//evil.example/join")[0] == 404


def test_parameters_are_kept_only_so_many_and_so_long(served: Served, client: httpx.Client) -> None:
    many = {f"p{n}": "x" * 600 for n in range(50)} | {"n" * 100: "long name"}
    reply = agree(client, "?" + urlencode(many))
    visit = served.store.find_visit(reply.headers["location"].rpartition("/")[2])
    assert visit is not None
    assert len(visit.params) == 20
    assert {len(value) for value in visit.params.values()} == {500}
    served.store.exclude(visit.id, "the test is over")


def test_too_many_from_one_address_are_told_to_wait(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = make_study(tmp_path_factory.mktemp("many") / "likert")
    with serve_in_thread(folder, joins_a_minute=2) as served, served.client() as client:
        replies = [agree(client) for _ in range(10)]
        assert [reply.status_code for reply in replies] == [303] * 8 + [429] * 2
        assert 0 < int(replies[-1].headers["retry-after"]) <= 31
        assert "Many people are joining" in replies[-1].text
        assert len(served.store.visits()) == 8


def test_every_reply_carries_the_headers(served: Served, walker: Walker) -> None:
    client = walker.client
    replies = [
        client.get(walker.link),
        client.get("/join?id=one"),
        client.get("/health"),
        client.get("/nowhere"),
        client.get("/r/" + "A" * 26),
        client.post(f"{walker.link}/answer", content=b"{"),
        client.post(f"{walker.link}/page", content=b"x" * 300_000),
        client.put(walker.link),
        client.get("/join", headers={"Host": "evil.example"}),
    ]
    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["referrer-policy"] == (
            "same-origin" if reply.url.path == "/join" and reply.status_code == 200 else "no-referrer"
        )
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "server" not in reply.headers
        assert "set-cookie" not in reply.headers or reply.url.path == "/join"


def test_browsers_keep_static_files_and_the_first_page_is_light(served: Served, client: httpx.Client) -> None:
    walker = Walker(client, served.study).join()
    page = client.get(walker.link)
    parts = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert parts
    whole = len(page.content)
    for part in parts:
        reply = client.get(part)
        assert reply.status_code == 200
        assert "immutable" in reply.headers["cache-control"]
        older = client.get(re.sub(r"/static/[^/]+/", "/static/000000000000/", part))
        assert older.headers["cache-control"] == "no-cache"
        whole += len(reply.content)
    assert whole < 60_000
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page.text)
    visit = served.store.find_visit(walker.link.rpartition("/")[2])
    assert visit is not None
    served.store.exclude(visit.id, "the test is over")


def test_no_page_has_a_script_or_a_style_of_its_own(served: Served, client: httpx.Client) -> None:
    walker = Walker(client, served.study).join()
    walker.finish()
    assert len(walker.seen) > 15
    for sheet in walker.seen:
        assert not re.search(r"<script(?![^>]*\ssrc=)", sheet.html)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", sheet.html)
    assert read_sheet(client.get(walker.link)).status == 200
