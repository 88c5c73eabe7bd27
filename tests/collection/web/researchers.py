"""A researcher without a browser: logs in, follows links, sends forms."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from tests.collection.web.servers import PASSWORD, Served


@dataclass
class Desk:
    """A researcher who is logged in."""

    client: httpx.Client
    served: Served

    def get(self, path: str = "", status: int = 200) -> str:
        """Return a page of the dashboard."""
        reply = self.client.get(f"/dashboard{path}")
        assert reply.status_code == status, (path, reply.status_code, reply.headers.get("location"))
        return reply.text

    def token(self) -> str:
        """Return what forms of this login must send."""
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.get())
        assert found
        return found[1]

    def post(self, path: str, status: int = 303, **form: str) -> httpx.Response:
        """Send a form of the dashboard."""
        reply = self.client.post(f"/dashboard{path}", data={"csrf": self.token(), **form})
        assert reply.status_code == status, (path, reply.status_code, reply.text[-2000:])
        return reply

    def last_action(self) -> tuple[str, str, str, str]:
        """Return who did what to whom and why, last."""
        action = self.served.store.actions(1)[0]
        return action.who, action.what, action.target, action.reason


@contextmanager
def enter(served: Served, who: str = "Ada") -> Iterator[Desk]:
    """Log in."""
    with served.client() as client:
        reply = client.post("/dashboard/login", data={"who": who, "password": PASSWORD})
        assert (reply.status_code, reply.headers["location"]) == (303, "/dashboard")
        yield Desk(client, served)


def read_text(page: str) -> str:
    """Return the words of a page, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
