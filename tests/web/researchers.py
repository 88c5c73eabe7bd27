"""A researcher without a browser: logs in, follows links, sends forms."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from panelist.collection.store.store import Store
from tests.collection.store.studies import write_study
from tests.web.servers import PASSWORD, Served
from tests.web.walking import Walker


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


STUDY = """\
title: Two generators
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
  - name: remarks
    question: What do you say?
    scale: {type: text}
design: {type: latin-square}
raters: {count: 6}
checks:
  items:
    - {kind: instructed, text: Choose 2 and write 7, answers: {fluency: "2", remarks: "7"}}
closing: {comments: Was anything unclear}
pay: {living_wage: 12.60, minutes_per_trial: 0.5}
collecting: {hold_minutes: 30}
"""


def make_folder(folder: Path, text: str) -> Path:
    """Return the folder of a study whose systems have names that can be told from other words."""
    write_study(folder, text)
    path = folder / "outputs.csv"
    rows = path.read_text(encoding="utf-8").replace(",a,", ",swift,").replace(",b,", ",heron,")
    path.write_text(rows, encoding="utf-8")
    return folder


def walk(served: Served, query: str = "", until: str = "") -> str:
    """Let somebody rate, to the end or to a page; return the token."""
    with served.client() as client:
        walker = Walker(client, served.study).join(query)
        for _ in walker.walk(until):
            pass
    return walker.link.rpartition("/")[2]


def number(store: Store, token: str) -> int:
    visit = store.find_visit(token)
    assert visit is not None
    return visit.id
