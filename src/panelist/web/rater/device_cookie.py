"""The cookie of a rater's browser: the key of one visit, signed, so that the open link continues that visit.

The key is drawn when the open link is shown, before there is a visit. One browser has one key, and a key
makes one visit: however often a form is sent, or in how many tabs, it takes one place.
"""

import hashlib
import hmac

from starlette.requests import Request
from starlette.responses import Response

from panelist.collection.store.operations.ops import new_token
from panelist.web.security import TOKEN

KEPT_SECONDS = 180 * 86_400


class DeviceCookie:
    """Reads and writes the cookie, and the field by which a form of ours is known."""

    def __init__(self, secret: str, https: bool, prefix: str = "") -> None:
        self._key = hmac.digest(secret.encode(), b"device", "sha256")
        self._https = https
        name = "panelist-visit-" + hashlib.sha256(secret.encode()).hexdigest()[:8]
        # The prefix __Host- demands the root of the host.
        self.name = f"__Host-{name}" if https and not prefix else name

    def read(self, request: Request) -> str:
        """Return the token in the cookie of a request; empty where there is none of ours."""
        return self._open("cookie", request.cookies.get(self.name, ""))

    def draw(self) -> str:
        """Return a token for a browser that has none."""
        return new_token()

    def keep(self, response: Response, token: str) -> None:
        """Put a token into the reply's cookie."""
        response.set_cookie(
            self.name,
            self._seal("cookie", token),
            max_age=KEPT_SECONDS,
            path="/",
            secure=self._https,
            httponly=True,
            samesite="lax",
        )

    def write_field(self, token: str) -> str:
        """Return what the form of a page sends back."""
        return self._seal("form", token)

    def read_field(self, text: str) -> str:
        """Return the token in the field of a form; empty where it is none of ours."""
        return self._open("form", text)

    def _seal(self, what: str, token: str) -> str:
        return f"{token}.{self._sign(what, token)}"

    def _open(self, what: str, text: str) -> str:
        token, _, mark = text.partition(".")
        good = hmac.compare_digest(mark.encode(), self._sign(what, token).encode())
        return token if good and TOKEN.fullmatch(token) is not None else ""

    def _sign(self, what: str, token: str) -> str:
        return hmac.new(self._key, f"{what} {token}".encode(), hashlib.sha256).hexdigest()[:32]
