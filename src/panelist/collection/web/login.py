"""Logging in to the dashboard: one password, few guesses, and a signed cookie that no other site can use.

A session is known by a number drawn at the login: what a browser brought along before means nothing, so that
nobody can be given a session that somebody else knows. It is signed, not stored: every process knows it.
"""

import asyncio
import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from panelist.collection.web.passwords import PasswordHash, is_password

SESSION_SECONDS = 12 * 3600.0
FREE_GUESSES, FIRST_LOCK_SECONDS, LONGEST_LOCK_SECONDS = 5, 30.0, 3600.0
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"


@dataclass(frozen=True)
class Session:
    """Somebody who is logged in."""

    id: str
    until: float
    csrf: str = field(repr=False)
    """What every form of the dashboard must send back."""


@dataclass(frozen=True)
class Refused:
    """A login that failed; ``wait`` says how many seconds no further one is looked at."""

    wait: float = 0.0


class Guesses:
    """Wrong passwords by address: after five, each further one locks the address for twice as long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = 10_000) -> None:
        self._clock = clock
        self._most = most
        self._wrong: dict[str, tuple[int, float]] = {}

    def wait(self, address: str) -> float:
        """Return the seconds until this address may guess again."""
        return max(0.0, self._wrong.get(address, (0, 0.0))[1] - self._clock())

    def note_wrong(self, address: str) -> float:
        """Count a wrong password; return how long the address is locked now."""
        count = self._wrong.pop(address, (0, 0.0))[0] + 1
        over = count - FREE_GUESSES
        lock = min(FIRST_LOCK_SECONDS * 2.0 ** min(over, 30), LONGEST_LOCK_SECONDS) if over >= 0 else 0.0
        self._wrong[address] = (count, self._clock() + lock)
        if len(self._wrong) > self._most:
            del self._wrong[next(iter(self._wrong))]
        return lock

    def note_right(self, address: str) -> None:
        """Forget the wrong passwords of an address."""
        self._wrong.pop(address, None)


class Login:
    """The door of the dashboard: ``enter`` with the password, then ``find`` the session in each request."""

    def __init__(
        self, secret: str, password: PasswordHash, https: bool, clock: Callable[[], float] = time.time
    ) -> None:
        # Bound to the password too: with a new one, older sessions are over.
        self._key = hmac.digest(secret.encode(), b"dashboard" + password.digest, "sha256")
        self._password = password
        self._https = https
        self._clock = clock
        self._guesses = Guesses()
        self._hashing = asyncio.Lock()
        name = "panelist-" + hashlib.sha256(secret.encode()).hexdigest()[:8]  # several studies on one host
        self.cookie = f"__Host-{name}" if https else name

    async def enter(self, password: str, address: str) -> Session | Refused:
        """Return a new session, or that the password was wrong, or that it was not looked at yet."""
        async with self._hashing:  # one at a time: guessing shall cost us little and others much
            if wait := self._guesses.wait(address):
                return Refused(wait)
            if not await asyncio.to_thread(is_password, password[:200], self._password):
                return Refused(self._guesses.note_wrong(address))
        self._guesses.note_right(address)
        return self._make(secrets.token_hex(16), math.floor(self._clock() + SESSION_SECONDS))

    def find(self, request: Request) -> Session | None:
        """Return the session of a request, if it has one that we made and that is not over."""
        parts = request.cookies.get(self.cookie, "").split(".")
        if len(parts) != 3 or not parts[1].isdecimal() or len(parts[1]) > 12:
            return None
        session_id, until, mark = parts
        if not hmac.compare_digest(mark.encode(), self._sign("session", session_id, until).encode()):
            return None
        return self._make(session_id, int(until)) if int(until) > self._clock() else None

    def is_ours(self, session: Session, token: object) -> bool:
        """Return whether a form or a script of the session's own pages sent this."""
        return isinstance(token, str) and hmac.compare_digest(token.encode(), session.csrf.encode())

    def keep(self, response: Response, session: Session) -> None:
        """Put the session into the reply's cookie."""
        until = str(int(session.until))
        value = f"{session.id}.{until}.{self._sign('session', session.id, until)}"
        response.set_cookie(self.cookie, value, max_age=int(SESSION_SECONDS), **self._settings())  # type: ignore[arg-type]

    def forget(self, response: Response) -> None:
        """Take the cookie away."""
        response.delete_cookie(self.cookie, **self._settings())  # type: ignore[arg-type]

    def _settings(self) -> dict[str, object]:
        path = "/" if self._https else "/dashboard"  # the prefix __Host- demands the root
        return {"path": path, "secure": self._https, "httponly": True, "samesite": "strict"}

    def _make(self, session_id: str, until: int) -> Session:
        return Session(session_id, float(until), self._sign("csrf", session_id, str(until)))

    def _sign(self, *parts: str) -> str:
        return hmac.new(self._key, "\n".join(parts).encode(), hashlib.sha256).hexdigest()
