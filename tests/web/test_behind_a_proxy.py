"""Behind a proxy: under a path, with an extra slash, and with the address that the proxy reports."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from panelist.collection.addresses import check_url
from panelist.collection.robots.fleet import Fleet, send_robots
from tests.patience import PATIENCE
from tests.web.servers import PASSWORD, Served, make_study, serve_command, serve_in_thread
from tests.web.walking import Walker, read_sheet

ADDRESS = re.compile(r'\s(?:href|src|action|formaction|data-home|data-answer|data-live)="(/[^"]*)"')


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = make_study(tmp_path_factory.mktemp("prefix") / "likert")
    url = check_url("http://rate.example.org/lab/rating/")
    with serve_in_thread(folder, url=url, joins_a_minute=0) as running:
        yield running


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as opened:
        yield opened


def test_every_address_of_a_rater_is_under_the_prefix(served: Served, client: httpx.Client) -> None:
    page = client.get("/lab/rating/join?id=somebody")
    assert "path=/lab/rating" in page.headers["set-cookie"].casefold()
    walker = Walker(client, served.study)
    sheet = read_sheet(page)
    reply = client.post(sheet.action, data={**sheet.fixed, "consent": "yes"})
    walker.link = reply.headers["location"]
    assert walker.link.startswith("/lab/rating/r/")
    walker.finish()
    found = {address for sheet in walker.seen for address in ADDRESS.findall(sheet.html)}
    assert found
    assert all(address.startswith("/lab/rating/") and "/lab/rating/lab" not in address for address in found)
    for address in found:
        if "/static/" in address:
            assert client.get(address).status_code == 200
    assert client.get("/lab/rating/join").headers["location"] == walker.link, "the cookie came back"
    (visit,) = served.store.visits()
    assert visit.state == "finished"


def test_every_address_of_the_dashboard_is_under_the_prefix(served: Served, client: httpx.Client) -> None:
    home = "/lab/rating/dashboard"
    assert client.get(home).headers["location"] == f"{home}/login"
    reply = client.post(f"{home}/login", data={"password": PASSWORD})
    assert reply.headers["location"] == home
    assert all("path=/lab/rating/dashboard" in one.casefold() for one in reply.headers.get_list("set-cookie"))
    for path in ("", "/raters", "/log", "/download", "/end", "/places", "/preview", "/release", "/errors"):
        page = client.get(f"{home}{path}")
        assert page.status_code == 200, path
        found = ADDRESS.findall(page.text)
        assert found
        assert all(one.startswith("/lab/rating/") for one in found), path
    with client.stream("GET", f"{home}/live") as live:
        text = ""
        for piece in live.iter_text():
            text += piece
            if "event: board" in text and text.endswith("\n\n"):
                break
    assert 'href=\\"/lab/rating/dashboard' in text
    assert 'href=\\"/dashboard' not in text


@pytest.mark.parametrize("path", ["/lab/rating", "/lab/rating/"])
def test_the_first_page_leads_to_the_dashboard_with_a_slash_and_without(
    client: httpx.Client, path: str
) -> None:
    assert 'href="/lab/rating/dashboard"' in client.get(path).text


def test_a_proxy_may_take_the_prefix_off(served: Served, client: httpx.Client) -> None:
    page = client.get("/join")
    assert page.status_code == 200
    assert read_sheet(page).action == "/lab/rating/join"
    assert client.get("/health").status_code == client.get("/lab/rating/health").status_code == 200
    assert client.get("/lab/ratingjoin").status_code == 404


def test_head_and_static_files_keep_their_length(served: Served, client: httpx.Client) -> None:
    assert client.head("/lab/rating/join").status_code in (200, 405)
    for address in ADDRESS.findall(client.get("/join").text):
        if address.endswith(".css"):
            reply = client.get(address)
            assert int(reply.headers["content-length"]) == len(reply.content)


@pytest.mark.parametrize("path", ["/join/", "/dashboard/", "/dashboard/raters/", "/health/"])
def test_a_slash_too_many_keeps_host_and_scheme(served: Served, client: httpx.Client, path: str) -> None:
    reply = client.get(f"/lab/rating{path}?id=one&x=2", headers={"X-Forwarded-Proto": "https"})
    assert reply.headers["location"] == f"/lab/rating{path.rstrip('/')}?id=one&x=2"


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\evil.example/", "/%2f%2fevil.example/", "/%5cevil.example/"]
)
def test_a_slash_too_many_leads_to_no_other_host(client: httpx.Client, path: str) -> None:
    reply = client.get(
        f"http://127.0.0.1{path}".replace("http://127.0.0.1", str(client.base_url).rstrip("/"))
    )
    assert "location" not in reply.headers


def test_robots_find_the_pages_under_a_path(served: Served) -> None:
    record = send_robots(served.study, f"{served.url}/lab/rating", Fleet(raters=1))
    assert record.ends == {"finished": 1}


def test_only_a_proxy_that_is_named_is_believed_about_the_sender(tmp_path: Path) -> None:
    """The peer is always 127.0.0.1 here, which is believed with --url and not without."""
    folder = make_study(tmp_path / "study")

    def join(url: str, address: str) -> int:
        with httpx.Client(base_url=url, headers={"X-Forwarded-For": address}, timeout=PATIENCE) as client:
            sheet = read_sheet(client.get("/join"))
            return client.post("/join", data={**sheet.fixed, "consent": "yes"}).status_code

    with serve_command(folder, "--join-limit", "1") as command:
        assert [join(command.url, f"192.0.2.{n}") for n in range(5)] == [303] * 4 + [429]
        assert command.process.stderr is not None
        assert "A proxy at 127.0.0.1 reports who sends" in command.process.stderr.readline()
    with serve_command(folder, "--join-limit", "1", "--trusted-proxy", "127.0.0.0/8") as command:
        assert [join(command.url, f"192.0.2.{n}") for n in range(3)] == [303] * 3
