"""One request to Prolific, and how it can fail: refused, rate-limited, lost.

Requests that can be repeated without harm are repeated with back-off. Others raise AnswerLost as soon as
it is not known whether they were done; the caller then looks first. The token is in the header of a request
and nowhere else: no message, log or record has it, and it is never sent to another host.
"""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from panelist.collection.recruiting.errors import (
    AnswerLost,
    BadRecruiting,
    NotThere,
    PanelRefused,
    TokenRefused,
)

API = "https://api.prolific.com/api/v1"
TOKEN_VARIABLE, URL_VARIABLE = "PROLIFIC_TOKEN", "PROLIFIC_URL"
HIDDEN = "…"
SECONDS = 30.0
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)
LONGEST_WAIT = 120.0
LONGEST_REASON = 400


class Client(Protocol):
    """A connection to Prolific."""

    dry: bool
    """Whether nothing is really sent."""

    def send(self, method: str, path: str, body: Any = None, *, again: bool = True) -> Any:
        """Return the JSON of the answer; ``again`` says that the request may be repeated."""


@dataclass
class HttpClient:
    """The connection over HTTP. It can be used from any thread, one request at a time."""

    token: str = field(repr=False)
    url: str = API
    waits: tuple[float, ...] = WAITS
    sleep: Callable[[float], None] = time.sleep
    dry: bool = False

    def __post_init__(self) -> None:
        self._client = httpx.Client(
            timeout=SECONDS,
            headers={"Authorization": f"Token {self.token}", "Accept": "application/json"},
            follow_redirects=False,  # the token goes to one host only
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def send(self, method: str, path: str, body: Any = None, *, again: bool = True) -> Any:
        """Return the JSON of the answer."""
        what = f"{method} {path}"
        for left in reversed(range(len(self.waits) + 1)):
            wait = self.waits[len(self.waits) - left] if left else 0.0
            try:
                answer = self._client.request(method, self.url + path, json=body)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                if not left:  # nothing was sent, so nothing was done
                    raise PanelRefused(f"Prolific cannot be reached ({self._clean(error)}).") from None
            except httpx.HTTPError as error:
                if not again or not left:
                    raise AnswerLost(f"Prolific did not answer {what} ({self._clean(error)}).") from None
            else:
                if answer.status_code == 429:
                    wait = max(wait, _read_wait(answer.headers.get("retry-after", "")))
                    if not left or wait > LONGEST_WAIT:
                        raise PanelRefused(
                            f"Prolific asks to wait {wait:.0f} seconds before {what}. Try again then."
                        )
                elif answer.status_code >= 500:
                    if not again or not left:
                        raise AnswerLost(f"Prolific had a server error at {what} ({answer.status_code}).")
                else:
                    return self._read(what, answer)
            self.sleep(wait * (0.75 + random.random() / 2))
        raise AssertionError("the last try returns or raises")

    def _read(self, what: str, answer: httpx.Response) -> Any:
        if answer.status_code in (401, 403):
            raise TokenRefused(
                f"Prolific refuses the token in {TOKEN_VARIABLE} ({answer.status_code}) at {what}. Make one "
                "under Settings, API tokens, in the workspace that owns the study, and set it again."
            )
        if answer.status_code == 404:
            raise NotThere(f"Prolific knows nothing under {what.partition(' ')[2]} (404).")
        if answer.status_code >= 300:
            raise PanelRefused(f"Prolific refuses {what} ({answer.status_code}): {self._find_reason(answer)}")
        if not answer.content.strip():
            return {}
        try:
            return answer.json()
        except ValueError:
            raise PanelRefused(f"Prolific's answer to {what} is not JSON. Is {self.url} its API?") from None

    def _find_reason(self, answer: httpx.Response) -> str:
        try:
            said = answer.json()
        except ValueError:
            return "no reason given."
        error = said.get("error", said) if isinstance(said, dict) else said
        detail = (error.get("detail") or error.get("title") or error) if isinstance(error, dict) else error
        return self._clean(detail) or "no reason given."

    def _clean(self, said: object) -> str:
        """Return text from outside on one line, without the token should it be in there."""
        words = " ".join(str(said).split()) or type(said).__name__
        return words.replace(self.token, HIDDEN)[:LONGEST_REASON]


def open_client(url: str | None = None, token: str | None = None) -> HttpClient:
    """Return the connection to Prolific with the environment's token; raise BadRecruiting without one."""
    given = (os.environ.get(TOKEN_VARIABLE, "") if token is None else token).strip()
    if not given:
        raise BadRecruiting(
            f"There is no token. Make one on Prolific under Settings, API tokens, and set {TOKEN_VARIABLE} "
            "to it; --dry-run shows every request without one."
        )
    if not given.isascii() or not given.isprintable() or " " in given:
        raise BadRecruiting(f"What is in {TOKEN_VARIABLE} is not a token: it has spaces or odd characters.")
    return HttpClient(given, find_url(url))


def find_url(url: str | None = None) -> str:
    """Return the address of the API: what is given, else that of the environment, else Prolific's own."""
    asked = (url or os.environ.get(URL_VARIABLE, "")).strip().rstrip("/") or API
    try:
        parts = urlsplit(asked)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    safe = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))
    if not host or not safe or parts.username is not None or parts.query or parts.fragment:
        raise BadRecruiting(
            f"{parts.scheme or '?'}://{host or '?'} is not an address to which the token may be sent. Give "
            f"an https address such as {API}; http only on this machine (127.0.0.1)."
        )
    return asked


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _read_wait(said: str) -> float:
    """Return the seconds that Retry-After asks for: a number, or a time of day."""
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except ValueError:
        return 0.0
