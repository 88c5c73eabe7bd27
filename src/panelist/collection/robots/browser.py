"""One rater's connection to the server: HTTP/1.1 with nothing that a rater does not need.

A general client costs more than the server it is meant to load. This one keeps a connection open, sends one
request at a time, and does what browsers do when a kept connection turns out to be closed: it opens another.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from socket import create_connection
from time import monotonic, sleep
from typing import cast
from urllib.parse import urlsplit

from panelist.core.errors import PanelistError

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
LONGEST_HEAD = 65_536


class BadServer(PanelistError):
    """An address that robots may not, or cannot, visit."""


class ReplyLost(ConnectionError):
    """No reply came: the server is down, or went down before it had answered."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True)
class Address:
    """Where the pages are, and by which path one comes in."""

    host: str
    port: int
    path: str = "/join"
    query: str = ""

    @property
    def name(self) -> str:
        """The host as requests name it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(url: str) -> Address:
    """Return the address of a server on this machine; any other raises BadServer.

    >>> read_address("http://127.0.0.1:8000").path
    '/join'
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname or "", parts.port or 80
    except ValueError:
        host = ""
    if not host or parts.scheme != "http":
        raise BadServer(
            f"{url!r} is not the address of a server for robots. Give one that panelist serve prints, such "
            "as http://127.0.0.1:8000."
        )
    if not _is_loopback(host):
        raise BadServer(
            "Simulated raters only visit a server on this machine (127.0.0.1, ::1 or localhost), "
            f"not {host}: their answers must never mix with those of people."
        )
    path = parts.path.rstrip("/")
    entered = path.endswith("/join") or "/r/" in path  # else it is where the pages are
    return Address(host, port, path if entered else f"{path}/join", parts.query)


def find_server(address: Address, seconds: float = 5.0) -> None:
    """Return once a server accepts connections; raise BadServer if none does for so many seconds."""
    begun = monotonic()
    while True:
        try:
            create_connection((address.host, address.port), timeout=seconds).close()
        except OSError as error:
            if monotonic() - begun >= seconds:
                raise BadServer(
                    f"No server answers at http://{address.name} ({error.strerror or error}). Start one with "
                    "panelist serve STUDY, and give the address that it prints."
                ) from error
            sleep(0.25)
        else:
            return


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Browser:
    """A connection of one rater's own. ``send`` returns a reply or raises Lost."""

    def __init__(self, address: Address, timeout: float = 60.0, cookies: bool = False) -> None:
        self._address = address
        self._timeout = timeout
        self._cookies: dict[str, str] | None = {} if cookies else None
        self._host = f"Host: {address.name}\r\n"
        self._connection: _HttpProtocol | None = None

    async def send(self, method: str, path: str, body: bytes = b"", content: str = "") -> Reply:
        """Send one request and return what the server says to it."""
        head = f"{method} {path} HTTP/1.1\r\n{self._host}"
        if content:  # what is sent comes from a page, as browsers say
            head += f"Content-Type: {content}\r\nContent-Length: {len(body)}\r\n"
            head += "Sec-Fetch-Site: same-origin\r\n"
        if self._cookies:
            head += (
                "Cookie: " + "; ".join(f"{name}={value}" for name, value in self._cookies.items()) + "\r\n"
            )
        request = f"{head}\r\n".encode("latin-1") + body
        connection = self._connection
        if connection is not None and connection.open:
            try:
                return self._keep(await connection.ask(request, self._timeout))
            except ReplyLost:
                if connection.heard:  # it died in the middle of a reply: that is not an old connection
                    raise
        return self._keep(await (await self._connect()).ask(request, self._timeout))

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _connect(self) -> "_HttpProtocol":
        loop = asyncio.get_running_loop()
        try:
            connecting = loop.create_connection(_HttpProtocol, self._address.host, self._address.port)
            _, connection = await asyncio.wait_for(connecting, self._timeout)
        except (OSError, TimeoutError) as error:
            raise ReplyLost(f"There is no connection to {self._address.name}: {error}") from None
        self._connection = connection
        return connection

    def _keep(self, reply: Reply) -> Reply:
        if self._cookies is not None and (given := reply.headers.get("set-cookie")):
            name, _, value = given.partition(";")[0].partition("=")
            self._cookies[name.strip()] = value.strip()
        return reply


@dataclass(slots=True, eq=False)
class _HttpProtocol(asyncio.Protocol):
    """One connection: the bytes that came, and the task that waits for a reply."""

    open: bool = False
    heard: bool = False
    _transport: asyncio.Transport | None = None
    _came: bytearray = field(default_factory=bytearray)
    _waiting: "asyncio.Future[Reply] | None" = None
    _head: tuple[int, dict[str, str], int] | None = None
    """Status, headers and where the body begins, once they are there."""

    async def ask(self, request: bytes, timeout: float) -> Reply:
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Reply] = loop.create_future()
        self._waiting = waiting
        self.heard = False
        timer = loop.call_later(timeout, self._expire)
        self._transport.write(request)
        try:
            return await waiting
        finally:
            timer.cancel()

    def close(self) -> None:
        self.open = False
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # those of uvloop only look like one
        self.open = True

    def data_received(self, data: bytes) -> None:
        self.heard = True
        self._came += data
        if self._head is None:
            self._read_head()
        if self._head is not None:
            self._read_body(ended=False)

    def connection_lost(self, error: Exception | None) -> None:
        self.open = False
        if self._head is not None:
            self._read_body(ended=True)
        self._fail("the connection was closed")

    def _expire(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        self.heard = True  # a reply that is late must not be asked for again at once
        self._fail("no reply came in time")

    def _fail(self, why: str) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(ReplyLost(why))

    def _read_head(self) -> None:
        end = self._came.find(b"\r\n\r\n")
        if end < 0:
            if len(self._came) > LONGEST_HEAD:
                self._fail("the reply is not HTTP")
            return
        first, *lines = self._came[:end].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        self._head = (int(first.split(" ", 2)[1]), headers, end + 4)

    def _read_body(self, ended: bool) -> None:
        assert self._head is not None
        status, headers, start = self._head
        body: bytes | None
        if (length := headers.get("content-length")) is not None:
            stop = start + int(length)
            body = bytes(self._came[start:stop]) if len(self._came) >= stop else None
        elif headers.get("transfer-encoding", "").lower() == "chunked":
            body = _read_chunks(self._came, start)
        elif status in (204, 304):
            body = b""
        else:
            body = bytes(self._came[start:]) if ended else None
        if body is None:
            return
        self._came.clear()
        self._head = None
        if headers.get("connection", "").lower() == "close":
            self.close()
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(Reply(status, headers, body))


def _read_chunks(came: bytearray, start: int) -> bytes | None:
    """Return a body that came in pieces, None while the last is missing."""
    parts: list[bytes] = []
    while (end := came.find(b"\r\n", start)) >= 0:
        size = int(came[start:end].split(b";")[0], 16)
        start = end + 2
        if len(came) < start + size + 2:
            return None
        if size == 0:
            return b"".join(parts)
        parts.append(bytes(came[start : start + size]))
        start += size + 2
    return None
