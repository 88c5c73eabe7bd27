"""Connections that send half a request: they are closed, and nobody else waits for them."""

import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from panelist.web import connections
from panelist.web.connections import BODY, HEAD
from tests.patience import PATIENCE
from tests.web.servers import Served, make_study, serve_in_thread

HALF_A_HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_A_BODY = b"POST /r/%b/page HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200000\r\n\r\npage=" % (
    b"A" * 26
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(make_study(tmp_path_factory.mktemp("slow") / "likert")) as running:
        yield running


def knock(served: Served, begin: bytes) -> socket.socket:
    parts = urlsplit(served.url)
    opened = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE)
    opened.sendall(begin)
    return opened


def listen(opened: socket.socket) -> bytes:
    """Return all that the server says until it closes."""
    said = b""
    while more := opened.recv(4096):
        said += more
    opened.close()
    return said


@pytest.mark.parametrize("begin", [b"", HALF_A_HEAD, HALF_A_BODY])
def test_half_a_request_is_waited_for_only_so_long(
    served: Served, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_SECONDS", {HEAD: 0.3, BODY: 0.3})
    assert listen(knock(served, begin)).startswith(b"HTTP/1.1 408 ")


def test_a_second_request_on_a_connection_has_a_deadline_as_well(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_SECONDS", {HEAD: 0.3, BODY: 0.3})
    opened = knock(served, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    first = opened.recv(4096)
    assert first.startswith(b"HTTP/1.1 200 ")
    opened.sendall(HALF_A_HEAD)
    assert b"HTTP/1.1 408 " in first + listen(opened)


@pytest.mark.parametrize("begin", [HALF_A_HEAD, HALF_A_BODY])
def test_of_too_many_half_requests_the_oldest_gives_way(
    served: Served, begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_MOST", {HEAD: 4, BODY: 4})
    opened = [knock(served, begin) for _ in range(6)]
    ended = [listen(one) for one in opened[:2]]
    assert all(said.startswith(b"HTTP/1.1 503 ") for said in ended)
    with served.client() as client:
        assert client.get("/health").status_code == 200, "a client that sends a whole request is answered"
    for one in opened[2:]:
        one.close()


def test_a_head_without_end_is_refused(served: Served) -> None:
    opened = knock(served, HALF_A_HEAD)
    opened.sendall(b"y" * (connections.HEAD_BYTES + 1))
    assert listen(opened).split(b" ")[1] in (b"431", b"400")


def test_a_connection_asks_only_so_often_without_waiting(served: Served) -> None:
    opened = knock(served, b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000)
    assert listen(opened).count(b"HTTP/1.1 200 ") <= connections.MOST_QUEUED + 1


def ask_without_end(opened: socket.socket) -> None:
    """Ask for more replies than fit on the way, and read none of them."""
    for _ in range(20_000):
        opened.sendall(b"GET /join HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(0.0005)


def test_who_does_not_take_the_replies_is_let_go(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_SECONDS", 0.3)
    parts = urlsplit(served.url)
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.settimeout(PATIENCE)
    opened.connect((parts.hostname or "", parts.port or 0))
    with pytest.raises(ConnectionError):
        ask_without_end(opened)
    opened.close()
    with served.client() as client:
        assert client.get("/health").status_code == 200
