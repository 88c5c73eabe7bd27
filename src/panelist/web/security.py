"""What every request passes first, and what every reply carries.

No page of ours needs anything but itself: so the policy for browsers forbids everything else. The 128 random
bits of a rater's link are the key; a cookie only remembers it (device_cookie.py). Researchers log in
(login.py).
"""

import re
from collections.abc import Callable, Collection, Iterable
from time import monotonic
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ANSWER_BYTES, FORM_BYTES = 64 * 1024, 256 * 1024
POURED_BYTES = 4 * 1024 * 1024
TOKEN = re.compile(r"[A-Z2-7]{26}")
FRAMES = frozenset(("embed", "fencedframe", "frame", "iframe", "object"))
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::\d{1,5})?")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"x-robots-tag", b"noindex, nofollow"),
)
_OURS = frozenset(name for name, _ in HEADERS)
# One year; only sent where the site is reached over https anyway.
STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")


class TooLarge(Exception):
    """A body that is longer than allowed; ``most`` says how long that is."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} bytes")
        self.most = most


class SecurityMiddleware:
    """The outermost layer: refuses what no page of ours would send, and puts the headers on every reply."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = (), url: str = "") -> None:
        self.app = app
        self.hosts = frozenset(host.casefold() for host in hosts)
        self.public = urlsplit(url).netloc.casefold()  # a proxy may pass on another host name than this
        self.headers = (*HEADERS, STRICT_TRANSPORT) if url.startswith("https://") else HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.setdefault("headers", [])
                set_already = {name for name, _ in given if name in _OURS}
                given.extend(pair for pair in self.headers if pair[0] not in set_already)
            await send(message)

        refusal = self._refuse(scope, Headers(scope=scope))
        if refusal is not None:
            await pour_away(receive)
            await refusal(scope, receive, send_with_headers)
        elif scope["method"] == "POST":
            await self.app(scope, limit_body(receive, find_limit(scope["path"])), send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        path, method = scope["path"], scope["method"]
        host = headers.get("host", "")
        found = _HOST.fullmatch(host)
        if found is None or (self.hosts and found[1].casefold() not in self.hosts):
            return refuse(path, 421, "This server does not answer for that host name.")
        if method not in ("GET", "HEAD", "POST"):
            return refuse(
                path, 405, "Only GET, HEAD and POST are understood here.", {"Allow": "GET, HEAD, POST"}
            )
        # Frames are for old HITs only; nothing else may be loaded in them.
        if headers.get("sec-fetch-dest", "") in FRAMES and "/hit/" not in path:
            return refuse(path, 403, "This page is not shown inside another one.")
        if method != "POST":
            return None
        if not is_same_site(headers, (host.casefold(), self.public)):
            return refuse(path, 403, "This came from another site. Please use the page itself.")
        length = headers.get("content-length")
        if length is not None and (not length.isdecimal() or int(length) > find_limit(path)):
            return refuse(path, 413, say_too_large(find_limit(path)))
        return None


def is_same_site(headers: Headers, hosts: Collection[str]) -> bool:
    """Return whether a POST came from a page of ours, or from a program, as far as its headers say.

    Browsers say where a request came from in Sec-Fetch-Site, and in Origin. Our pages send no referrer, so
    their forms have the origin ``null``: that alone proves nothing and is left to the link, or the login.
    """
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or origin == "null" or _find_host(origin) in hosts


def is_ours(headers: Headers, hosts: Collection[str]) -> bool:
    """Return whether a browser says that a page of ours sent a request: silence is not enough.

    Browsers before 2023 have no Sec-Fetch-Site; they name the page in Origin or in Referer.
    """
    if (site := headers.get("sec-fetch-site")) is not None:
        return site == "same-origin"
    said = headers.get("origin")
    said = headers.get("referer") if said in (None, "null") else said
    return said is not None and _find_host(said) in hosts


def is_prefetch(request: Request) -> bool:
    """Return whether a browser or a program only prefetches: no person is there yet."""
    said = (request.headers.get(name, "") for name in ("sec-purpose", "purpose", "x-purpose", "x-moz"))
    return request.method == "HEAD" or any("pre" in one.casefold() for one in said)


def _find_host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.casefold() or "?"
    except ValueError:
        return "?"


def find_limit(path: str) -> int:
    """Return the most bytes that a body may have."""
    return ANSWER_BYTES if path.endswith("/answer") else FORM_BYTES


def limit_body(receive: Receive, most: int) -> Receive:
    """Return a receive function that raises TooLarge where a body is too long, whatever its header said."""
    seen = 0

    async def receive_some() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                if message.get("more_body", False):
                    await pour_away(receive)
                raise TooLarge(most)
        return message

    return receive_some


async def pour_away(receive: Receive) -> None:
    """Read a little more and discard it: a client that is still sending would not hear the refusal."""
    left, more = POURED_BYTES, True
    while more and left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
        more = bool(message.get("more_body", False))


def say_too_large(most: int) -> str:
    """Return the sentence for a body that is too long."""
    return f"That is too much at once: at most {most // 1024} kB."


def refuse(path: str, status: int, why: str, headers: dict[str, str] | None = None) -> Response:
    """Return a plain refusal: JSON where a program asked, else a line of text; then the connection ends."""
    more = {"Connection": "close", **(headers or {})}
    if path.endswith("/answer"):
        return JSONResponse({"saved": False, "problem": why}, status, more)
    return PlainTextResponse(why + "\n", status, more)


class Limiter:
    """A limit per minute for one address, with ``at_once`` minutes' worth at once; the rest must wait."""

    def __init__(
        self, a_minute: int, clock: Callable[[], float] = monotonic, most: int = 10_000, at_once: int = 1
    ) -> None:
        self.a_minute = a_minute
        self._full = float(a_minute * at_once)
        self._clock = clock
        self._most = most
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, address: str) -> float:
        """Return 0 and count this one, or return the seconds until the next may come."""
        if not self.a_minute:
            return 0.0
        now, rate = self._clock(), self.a_minute / 60
        left, at = self._left.pop(address, (self._full, now))
        left = min(self._full, left + (now - at) * rate)
        short = 1.0 - left
        self._left[address] = (left, now) if short > 0 else (left - 1.0, now)  # the newest is last
        if len(self._left) > self._most:
            del self._left[next(iter(self._left))]
        return max(0.0, short / rate)


def find_address(scope: Scope) -> str:
    """Return the address that a request came from; IPv6 addresses count by their network of 64 bits."""
    client = scope.get("client")
    address = client[0] if client else ""
    return ":".join(address.split(":")[:4]) if address.count(":") > 1 else address
