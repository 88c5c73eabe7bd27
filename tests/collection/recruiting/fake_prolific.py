"""A fake of Prolific: a real HTTP server with its statuses, pages, errors and races, and faults on demand.

What it does follows docs.prolific.com and the clients that are in use. Each request can meet a fault: it is
refused for coming too fast, or fails, before or after the server acted; and the answer may be lost though
everything was done.
"""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "tok-3f1c9a77e2b84d6f"
PAGE_SIZE = 3
FAULTS = ("429", "500 before", "500 after", "lost before", "lost after")
OVER = ("APPROVED", "REJECTED", "RETURNED", "TIMED-OUT", "SCREENED OUT")


@dataclass
class Fake:
    """The state of the fake, and who was paid what."""

    token: str = TOKEN
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    paid: list[tuple[str, str, int]] = field(default_factory=list)
    """Every payment: the submission, what for, and how much. Nobody may be in here twice for the same."""
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    faults: Callable[[str, str], str] = lambda method, path: ""
    retry_after: str = "0"
    racing: set[str] = field(default_factory=set)
    """Submissions that are being handed in: approving them fails once."""
    slow_bonus: int = 0
    """After how many looks a bonus that was paid shows in its submission."""
    _hidden: dict[str, list[int]] = field(default_factory=dict)
    _count: int = 0

    def new_id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count:04}{hashlib.sha256(f'{prefix}{self._count}'.encode()).hexdigest()[:8]}"

    # What participants do

    def take_place(self, study: str, person: str) -> str:
        """Somebody takes a place; return the id of the submission."""
        found = self.studies[study]
        assert found["status"] == "ACTIVE", "only an active study is shown"
        taken = sum(
            one["status"] not in ("RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT")
            for one in self.submissions.values()
            if one["study_id"] == study
        )
        if taken >= found["total_available_places"]:
            return ""
        number = self.new_id("sub")
        self.submissions[number] = {
            "id": number,
            "study_id": study,
            "participant_id": person,
            "status": "ACTIVE",
            "study_code": "",
            "started_at": datetime.fromtimestamp(time.time(), UTC).isoformat(),
            "bonus_payments": [],
        }
        return number

    def hand_in(self, submission: str, code: str) -> str:
        """A participant hands in a completion code; return the status that follows."""
        one = self.submissions[submission]
        codes = {known["code"]: known for known in self.studies[one["study_id"]]["completion_codes"]}
        one["study_code"] = code
        one["status"] = "AWAITING REVIEW"
        for action in codes.get(code, {}).get("actions", ()):
            if action["action"] == "AUTOMATICALLY_APPROVE":
                self._approve(one)
            elif action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                one["status"] = "SCREENED OUT"
                self.paid.append((submission, "screen out", action["fixed_screen_out_reward"]))
        return str(one["status"])

    def give_back(self, submission: str, status: str = "RETURNED") -> None:
        self.submissions[submission]["status"] = status

    def sign(self, secret: str, body: bytes, when: float | None = None) -> dict[str, str]:
        """Return the headers of a message."""
        stamp = str(int(time.time() if when is None else when))
        digest = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
        return {
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
            "X-Prolific-Request-Timestamp": stamp,
        }

    # What researchers ask

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        parts = [part for part in path.split("/") if part]
        match method, parts:
            case "POST", ["studies"]:
                return self._create(body)
            case "GET", ["studies"]:
                return self._page(list(self.studies.values()), query)
            case "GET", ["submissions"]:
                mine = [one for one in self.submissions.values() if one["study_id"] == query.get("study")]
                return self._page([self._show(one) for one in mine], query)
            case "POST", ["submissions", "bonus-payments"]:
                return self._list_bonuses(body)
            case "POST", ["bulk-bonus-payments", batch, "pay"]:
                return self._pay(batch)
            case _, ["studies", study, *rest] if study in self.studies:
                return self._study(method, self.studies[study], rest, body)
            case _, ["submissions", submission, *rest] if submission in self.submissions:
                return self._submission(method, self.submissions[submission], rest, body)
        return 404, {"error": {"status": 404, "title": "Not found", "detail": "No such thing."}}

    def _create(self, body: Any) -> tuple[int, Any]:
        needed = ("name", "description", "external_study_url", "reward", "total_available_places")
        missing = [
            name for name in (*needed, "completion_codes", "estimated_completion_time") if name not in body
        ]
        if missing or not isinstance(body["reward"], int):
            return _bad(f"missing or wrong: {missing or 'reward'}")
        kinds = [code["code_type"] for code in body["completion_codes"]]
        if len(set(kinds)) < len(kinds):
            return _bad("each code type once")
        number = self.new_id("study")
        self.studies[number] = {**body, "id": number, "status": "UNPUBLISHED"}
        return 201, self.studies[number]

    def _page(self, rows: list[Any], query: dict[str, str]) -> tuple[int, Any]:
        page = int(query.get("page", "1"))
        start = (page - 1) * PAGE_SIZE
        if page > 1 and start >= len(rows):
            return 404, {"error": {"status": 404, "title": "Not found", "detail": "Invalid page."}}
        following = (
            f"https://elsewhere.example/steal?page={page + 1}" if start + PAGE_SIZE < len(rows) else None
        )
        return 200, {"results": rows[start : start + PAGE_SIZE], "_links": {"next": {"href": following}}}

    def _study(self, method: str, study: dict[str, Any], rest: list[str], body: Any) -> tuple[int, Any]:
        match method, rest:
            case "GET", []:
                return 200, study
            case "PATCH", []:
                if study["status"] != "UNPUBLISHED" and set(body) - {
                    "total_available_places",
                    "internal_name",
                }:
                    return _bad("a published study cannot be changed")
                if body.get("total_available_places", 10**9) < study["total_available_places"] and (
                    study["status"] != "UNPUBLISHED"
                ):
                    return _bad("places can only be increased")
                study.update(body)
                return 200, study
            case "POST", ["transition"]:
                return self._move(study, body.get("action"))
            case "POST", ["test-study"]:
                return 200, {
                    "study_id": self.new_id("test"),
                    "study_url": "https://app.prolific.com/studies/test",
                }
            case "POST", ["screen-out-submissions"]:
                return self._screen_out(study, body)
        return 404, {}

    def _move(self, study: dict[str, Any], action: str) -> tuple[int, Any]:
        allowed = {
            "PUBLISH": (("UNPUBLISHED",), "ACTIVE"),
            "PAUSE": (("ACTIVE",), "PAUSED"),
            "START": (("PAUSED",), "ACTIVE"),
            "STOP": (("ACTIVE", "PAUSED"), "COMPLETED"),
        }
        if action not in allowed or study["status"] not in allowed[action][0]:
            return _bad(f"cannot {action} a study that is {study['status']}")
        study["status"] = allowed[action][1]
        return 200, study

    def _submission(self, method: str, one: dict[str, Any], rest: list[str], body: Any) -> tuple[int, Any]:
        if method == "GET" and not rest:
            return 200, self._show(one)
        if method != "POST" or rest != ["transition"]:
            return 404, {}
        if one["status"] != "AWAITING REVIEW":
            return _bad(f"a submission that is {one['status']} cannot be moved")
        if one["id"] in self.racing:
            self.racing.discard(one["id"])
            return _bad("the participant is still submitting")
        if body.get("action") == "APPROVE":
            self._approve(one)
            return 200, self._show(one)
        if body.get("action") == "REJECT":
            if len(body.get("message", "")) < 100 or not body.get("rejection_category"):
                return _bad("a rejection needs a message of 100 characters and a category")
            one["status"] = "REJECTED"
            one["message"] = body["message"]
            return 200, self._show(one)
        return _bad("no such action")

    def _approve(self, one: dict[str, Any]) -> None:
        one["status"] = "APPROVED"
        self.paid.append((one["id"], "reward", self.studies[one["study_id"]]["reward"]))

    def _screen_out(self, study: dict[str, Any], body: Any) -> tuple[int, Any]:
        chosen = [self.submissions[number] for number in body["submission_ids"]]
        if any(one["status"] != "AWAITING REVIEW" for one in chosen):
            return _bad("only what awaits review can be screened out")
        for one in chosen:
            one["status"] = "SCREENED OUT"
            self.paid.append((one["id"], "screen out", round(float(body["bonus_per_submission"]) * 100)))
        return 200, {"message": "done"}

    def _list_bonuses(self, body: Any) -> tuple[int, Any]:
        lines = []
        for line in body["csv_bonuses"].splitlines():
            person, amount = line.split(",")
            mine = [
                one
                for one in self.submissions.values()
                if one["participant_id"] == person and one["study_id"] == body["study_id"]
            ]
            if not mine:
                return _bad(f"{person} took no part")
            lines.append((mine[-1]["id"], round(float(amount) * 100)))
        number = self.new_id("bulk")
        self.batches[number] = {"lines": lines, "paid": False}
        return 201, {"id": number, "study": body["study_id"], "amount": sum(amount for _, amount in lines)}

    def _pay(self, batch: str) -> tuple[int, Any]:
        if batch not in self.batches:
            return 404, {}
        if self.batches[batch]["paid"]:
            return _bad("these bonuses were paid already")
        self.batches[batch]["paid"] = True
        for submission, amount in self.batches[batch]["lines"]:
            self.paid.append((submission, "bonus", amount))
            self.submissions[submission]["bonus_payments"].append(amount)
            self._hidden[submission] = [self.slow_bonus]
        return 202, {"message": "queued"}

    def _show(self, one: dict[str, Any]) -> dict[str, Any]:
        hidden = self._hidden.get(one["id"])
        if hidden and hidden[0] > 0:
            hidden[0] -= 1
            return {**one, "bonus_payments": one["bonus_payments"][:-1]}
        return dict(one)


def _bad(detail: str) -> tuple[int, Any]:
    return 400, {"error": {"status": 400, "title": "Bad request", "detail": detail}}


class Server:
    """The fake at ``url``; use it in a with statement."""

    def __init__(self, fake: Fake | None = None) -> None:
        self.fake = fake or Fake()
        self.lock = threading.Lock()
        serving = self

        class Handler(_Handler):
            server_of = serving

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/api/v1"
        self._thread = threading.Thread(target=lambda: self.http.serve_forever(0.02), daemon=True)

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self._thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # head and body in one packet
    disable_nagle_algorithm = True
    server_of: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._do("GET")

    def do_POST(self) -> None:
        self._do("POST")

    def do_PATCH(self) -> None:
        self._do("PATCH")

    def _do(self, method: str) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw) if raw else None
        parts = urlsplit(self.path)
        path = parts.path.removeprefix("/api/v1")
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        fake = self.server_of.fake
        with self.server_of.lock:
            fault = fake.faults(method, path)
            if self.headers.get("Authorization") != f"Token {fake.token}":
                self._reply(
                    401, {"error": {"status": 401, "detail": f"bad {self.headers.get('Authorization')}"}}
                )
                return
            if fault == "429":
                self._reply(429, {"error": {"detail": "slow down"}}, {"Retry-After": fake.retry_after})
                return
            if fault == "500 before":
                self._reply(500, {})
                return
            if fault == "lost before":
                self._hang_up()
                return
            fake.asked.append((method, path, body))
            status, said = fake.answer(method, path, query, body)
            if fault == "500 after":
                self._reply(500, {})
            elif fault == "lost after":
                self._hang_up()
            else:
                self._reply(status, said)

    def _hang_up(self) -> None:
        self.close_connection = True

    def _reply(self, status: int, said: Any, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(said).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
