"""A site as small as can be: one rater's pages over HTTP, with everything in memory and faults on demand."""

import json
import mimetypes
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from panelist.collection.session.visit_flow import submit_answer
from panelist.web.rendering import STATIC, Frame, render_page
from tests.collection.raters import Walk

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class SmallSite:
    """Serves a walk at ``url``. While ``fault`` is "busy" it answers 503, while it is "away" nothing."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.fault = ""
        self.answers: list[dict[str, Any]] = []
        self.forms: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.shown = time.monotonic()
        site = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                site.get(self)

            def do_POST(self) -> None:
                site.post(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/r/TOKEN"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def get(self, request: "_Handler") -> None:
        path = request.path.split("?")[0]
        if path.startswith("/static/"):
            file = STATIC / path.removeprefix("/static/")
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            request.reply(200, file.read_bytes(), kind)
            return
        with self.lock:
            page = self.walk.look()
            frame = Frame(self.walk.booklet.study.title, "/r/TOKEN", static="/static")
            self.shown = time.monotonic()
            request.reply(200, render_page(page, self.walk.booklet.words, frame).encode())

    def post(self, request: "_Handler") -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        if self.fault == "away":
            request.close_connection = True
            return
        if self.fault == "busy":
            request.reply(503, b"later")
            return
        with self.lock:
            self._take(request, body)

    def _take(self, request: "_Handler", body: bytes) -> None:
        if request.path.endswith("/answer"):
            message = json.loads(body)
            occasion, page, given = submit_answer(self.walk.turn(), message)
            self.answers.append(message)
            self.walk.history.given.setdefault((occasion, page), {})[given.name] = given.value
            request.reply(200, b'{"saved": true, "revision": 0}', "application/json")
            return
        form = dict(parse_qsl(body.decode(), keep_blank_values=True))
        self.forms.append(form)
        if request.path.endswith("/back"):
            outcome = self.walk.press_back(form)
        elif request.path.endswith("/pause"):
            outcome = self.walk.press_pause(form)
        else:
            outcome = self.walk.send(form, time.monotonic() - self.shown)
        if outcome.again is not None:
            frame = Frame(self.walk.booklet.study.title, "/r/TOKEN", static="/static")
            request.reply(422, render_page(outcome.again, self.walk.booklet.words, frame).encode())
        else:
            request.reply(303, b"", location="/r/TOKEN")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def reply(
        self, status: int, body: bytes, kind: str = "text/html; charset=utf-8", location: str = ""
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)
