"""Pages under a path of their host: https://lab.example.org/rating/join in place of https://…/join.

Inside, everything is at the root. This layer removes the prefix from what comes in, unless the proxy has done
so already, and adds it to every address that goes out: of redirects, of cookies, and in the tags of
pages, which are the only places where we write any. So no page needs to know where it is served.
"""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TAG = re.compile(rb'<[a-z][^<>]*="/[^<>]*>')
_NAMES = rb"(?:href|src|action|formaction|poster|data-(?:home|answer|live))"
_ATTRIBUTE = re.compile(rb"(\s" + _NAMES + rb'=")/(?!/)')
_ESCAPED = re.compile(rb"(\s" + _NAMES + rb'=\\")/(?!/)')  # HTML inside JSON, in the live dashboard
_COOKIE_PATH = re.compile(rb"(;\s*path=/)([^;]*)", re.IGNORECASE)


class PrefixMiddleware:
    """The layer around the application; ``prefix`` is such as ``/rating``."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self.prefix = prefix
        self._bytes = prefix.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        if path == self.prefix or path.startswith(f"{self.prefix}/"):
            raw = scope.get("raw_path") or path.encode()
            rest, raw_rest = path[len(self.prefix) :] or "/", raw[len(self._bytes) :] or b"/"
            scope = {**scope, "path": rest, "raw_path": raw_rest}
        await self.app(scope, receive, _Reply(self._bytes, send))


class _Reply:
    """Sends a reply on with the prefix in its addresses; a page is held back until it is complete."""

    def __init__(self, prefix: bytes, send: Send) -> None:
        self._prefix = prefix
        self._send = send
        self._kind = b""
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [self._mend(*pair) for pair in message.get("headers", [])]}
            self._kind = next((value for name, value in message["headers"] if name == b"content-type"), b"")
            if self._kind.startswith(b"text/html"):
                self._start = message
                return
        elif message["type"] == "http.response.body":
            if self._start is not None:
                await self._send_page(message)
                return
            if self._kind.startswith(b"text/event-stream"):
                body = _ESCAPED.sub(rb"\1" + self._prefix + b"/", message.get("body", b""))
                message = {**message, "body": body}
        await self._send(message)

    async def _send_page(self, message: Message) -> None:
        self._body += message.get("body", b"")
        if message.get("more_body", False):
            return
        put = rb"\1" + self._prefix + b"/"
        page = _TAG.sub(lambda tag: _ATTRIBUTE.sub(put, tag[0]), self._body)
        assert self._start is not None
        headers = [pair for pair in self._start["headers"] if pair[0] != b"content-length"]
        length = len(page)
        if not self._body:  # a reply to HEAD: its length is that of a page that is not here
            await self._send({**self._start, "headers": headers})
        else:
            await self._send(
                {**self._start, "headers": [*headers, (b"content-length", str(length).encode())]}
            )
        await self._send({**message, "body": page})

    def _mend(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        if name == b"location" and value.startswith(b"/") and not value.startswith(b"//"):
            return name, self._prefix + value
        if name == b"set-cookie":
            return name, _COOKIE_PATH.sub(self._mend_path, value)
        return name, value

    def _mend_path(self, found: re.Match[bytes]) -> bytes:
        rest = b"/" + found[2] if found[2] else b""
        return found[1][:-1] + self._prefix + rest
