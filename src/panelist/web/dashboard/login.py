"""Logging in to the dashboard: one password, few guesses, and a signed cookie that no other site can use.

A session is known by a number drawn at the login: what a browser sent before means nothing, so that
nobody can be given a session that another person knows. It is signed, not stored: every process knows it.
That it was ended by logging out is stored.
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

from panelist.web.dashboard.passwords import PasswordHash, is_password

SESSION_SECONDS = 12 * 3600.0
FREE_GUESSES, FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS, FORGOTTEN_SECONDS = 5, 1.0, 60.0, 900.0
KNOWN_SECONDS = 365 * 86_400
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
    """A login that failed; ``wait`` says for how many seconds no further attempt is accepted."""

    wait: float = 0.0


class Guesses:
    """Wrong passwords by address: from the fifth on, the next is accepted after a wait that doubles.

    The wait is a minute at most, and the count is reset a quarter of an hour after the last one: people who
    know the password get in, others get sixty guesses an hour.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = 10_000) -> None:
        self._clock = clock
        self._most = most
        self._wrong: dict[str, tuple[int, float, float]] = {}
        """How many, when the last came, and until when none is accepted."""

    def wait(self, address: str) -> float:
        """Return the seconds until this address may guess again."""
        return max(0.0, self._wrong.get(address, (0, 0.0, 0.0))[2] - self._clock())

    def note_wrong(self, address: str) -> float:
        """Count a wrong password; return how long the address waits now."""
        now = self._clock()
        before, last, _ = self._wrong.pop(address, (0, now, 0.0))
        count = 1 if now - last > FORGOTTEN_SECONDS else before + 1
        over = count - FREE_GUESSES
        wait = min(FIRST_WAIT_SECONDS * 2.0 ** min(over, 30), LONGEST_WAIT_SECONDS) if over >= 0 else 0.0
        self._wrong[address] = (count, now, now + wait)
        if len(self._wrong) > self._most:
            del self._wrong[next(iter(self._wrong))]
        return wait

    def note_right(self, address: str) -> None:
        """Forget the wrong passwords of an address."""
        self._wrong.pop(address, None)


class Login:
    """The door of the dashboard: ``enter`` with the password, then ``find`` the session in each request."""

    def __init__(
        self,
        secret: str,
        password: PasswordHash,
        https: bool,
        clock: Callable[[], float] = time.time,
        prefix: str = "",
    ) -> None:
        # Bound to the password too: with a new one, older sessions are over.
        self._key = hmac.digest(secret.encode(), b"dashboard" + password.digest, "sha256")
        self._password = password
        self._https = https
        self._clock = clock
        self._guesses = Guesses()
        self._hashing = asyncio.Lock()
        name = "panelist-" + hashlib.sha256(secret.encode()).hexdigest()[:8]  # several studies on one host
        self._rooted = https and not prefix  # what the prefix __Host- requires
        self.cookie = f"__Host-{name}" if self._rooted else name
        self.known = f"{name}-known"

    async def enter(self, password: str, address: str, browser: str = "") -> Session | Refused:
        """Return a new session, or that the password was wrong, or that it was not checked yet.

        A ``browser`` that was logged in before is counted separately: guessing from the same network does
        not lock its researcher out.
        """
        guesser = browser or address
        if wait := self._guesses.wait(
            guesser
        ):  # before the queue: a client that must wait should keep nobody waiting
            return Refused(wait)
        async with self._hashing:  # one at a time: guessing should cost us little and others much
            if wait := self._guesses.wait(guesser):
                return Refused(wait)
            if not await asyncio.to_thread(is_password, password[:200], self._password):
                return Refused(self._guesses.note_wrong(guesser))
        self._guesses.note_right(guesser)
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

    def find_browser(self, request: Request) -> str:
        """Return the number of a browser that was logged in before; empty where there is none."""
        number, _, mark = request.cookies.get(self.known, "").partition(".")
        good = hmac.compare_digest(mark.encode(), self._sign("browser", number).encode())
        return number if good else ""

    def mark(self, session: Session) -> str:
        """Return what identifies a login after it has ended; no cookie can be made from it."""
        return self._sign("ended", session.id)[:32]

    def is_ours(self, session: Session, token: object) -> bool:
        """Return whether a form or a script of the session's own pages sent this."""
        return isinstance(token, str) and hmac.compare_digest(token.encode(), session.csrf.encode())

    def keep(self, response: Response, session: Session) -> None:
        """Put the session into the reply's cookie."""
        until = str(int(session.until))
        value = f"{session.id}.{until}.{self._sign('session', session.id, until)}"
        response.set_cookie(self.cookie, value, max_age=int(SESSION_SECONDS), **self._settings())  # type: ignore[arg-type]
        number = secrets.token_hex(8)
        known = f"{number}.{self._sign('browser', number)}"
        settings = self._settings() | {"path": "/dashboard/login"}
        response.set_cookie(self.known, known, max_age=KNOWN_SECONDS, **settings)  # type: ignore[arg-type]

    def forget(self, response: Response) -> None:
        """Delete the cookie."""
        response.delete_cookie(self.cookie, **self._settings())  # type: ignore[arg-type]

    def _settings(self) -> dict[str, object]:
        path = "/" if self._rooted else "/dashboard"
        return {"path": path, "secure": self._https, "httponly": True, "samesite": "strict"}

    def _make(self, session_id: str, until: int) -> Session:
        return Session(session_id, float(until), self._sign("csrf", session_id, str(until)))

    def _sign(self, *parts: str) -> str:
        return hmac.new(self._key, "\n".join(parts).encode(), hashlib.sha256).hexdigest()
