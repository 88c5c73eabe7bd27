"""Connections with deadlines: a client that opens one and sends no request does not keep others waiting.

A browser sends the head of a request at once, and what a page sends is small. So heads and bodies have a
limited number of seconds to arrive, and only a limited number may be incomplete: where there are more, the
oldest is closed, since an honest one is complete within moments. Replies may take as long as they need, since
the dashboard keeps listening; but clients must take what was sent, and may not send many requests without
waiting for replies.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS, BODY_SECONDS, UNREAD_SECONDS = 10.0, 20.0, 30.0
MOST_QUEUED = 8
"""Requests of one connection that wait for an earlier reply; browsers and proxies do not send any."""
MOST_HEADS, MOST_BODIES, MOST_CONNECTIONS = 1000, 256, 8000
HEAD_BYTES = 64 * 1024
HEAD, BODY = "head", "body"
_MOST = {HEAD: MOST_HEADS, BODY: MOST_BODIES}
_SECONDS = {HEAD: HEAD_SECONDS, BODY: BODY_SECONDS}
_REPLIES = {
    408: b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    431: b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    503: b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\ncontent-length: 0\r\n"
    b"connection: close\r\n\r\n",
}


@dataclass(eq=False)
class Lobby:
    """The connections of one server that have not sent all of a request, the oldest first."""

    waiting: dict[str, "OrderedDict[HttpConnection, None]"] = field(
        default_factory=lambda: {HEAD: OrderedDict(), BODY: OrderedDict()}
    )


_LOBBIES: "WeakKeyDictionary[Any, Lobby]" = WeakKeyDictionary()


class HttpConnection(HttpToolsProtocol):
    """One connection of uvicorn, with deadlines for what it has to send."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._lobby = _LOBBIES.setdefault(self.server_state, Lobby())
        self._phase = ""
        self._asked: object = None  # the request whose body is awaited
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head, unless there are too many already."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._end(503)
        else:
            self._wait_for(HEAD)

    def data_received(self, data: bytes) -> None:
        """Take the data, and check what is still to come."""
        if self._phase == HEAD:
            self._head_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            self._count_unread()
            return
        asked = self.cycle
        if asked is None or asked.response_complete:
            if self._phase == HEAD and self._head_bytes > HEAD_BYTES:
                self._end(431)
            else:
                self._wait_for(HEAD)
        else:
            self._wait_for(BODY if asked.more_body else "", asked)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_for("")
        self._stop_counting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Begin a request, unless too many are queued; uvicorn answers 400 to what its parser cannot take."""
        if len(self.pipeline) >= MOST_QUEUED:
            raise ValueError("too many requests at once on one connection")
        super().on_message_begin()

    def on_response_complete(self) -> None:
        """Continue; where this was the last reply, it must be taken in time."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._count_unread()

    def pause_writing(self) -> None:
        """Start the clock: the other side does not take what it is sent."""
        super().pause_writing()
        self._count_unread()

    def resume_writing(self) -> None:
        """Continue: it has taken most of it."""
        self._stop_counting()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close, and make sure that what was sent is taken."""
        super().timeout_keep_alive_handler()
        self._count_unread()

    def _count_unread(self) -> None:
        if self._unread is None and self.transport.get_write_buffer_size():
            self._unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def _stop_counting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait_for(self, phase: str, asked: object = None) -> None:
        if (phase, asked) == (self._phase, self._asked) and self._phase:
            return
        if self._phase:
            self._lobby.waiting[self._phase].pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._phase, self._asked, self._head_bytes = phase, asked, 0
        if phase:
            waiting = self._lobby.waiting[phase]
            waiting[self] = None
            self._timer = self.loop.call_later(_SECONDS[phase], self._give_up)
            if len(waiting) > _MOST[phase]:
                next(iter(waiting))._end(503)

    def _give_up(self) -> None:
        self._timer = None
        self._end(408)

    def _end(self, status: int) -> None:
        """Say why, where nothing was sent so far, and close."""
        asked = self.cycle
        if not self.transport.is_closing():
            if asked is None or asked.response_complete or not asked.response_started:
                self.transport.write(_REPLIES[status])
            self.transport.close()
            self._count_unread()
        self._wait_for("")
