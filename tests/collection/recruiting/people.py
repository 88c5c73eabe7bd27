"""A study that recruits on the fake Prolific, and people who come from it."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from panelist.collection.recruiting.prolific.client import HttpClient
from panelist.collection.recruiting.prolific.endpoints import Api
from panelist.collection.recruiting.recruiter import Recruiter
from panelist.collection.recruiting.repository import RecruitingRepository
from panelist.collection.robots.page_reader import read_sheet
from panelist.collection.store.store import Store, open_store
from panelist.design.make import plan_study
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.collection.recruiting.fake_prolific import TOKEN, Server
from tests.collection.store.studies import write_study
from tests.patience import PATIENCE

URL = "https://rate.example.org"
PAID = """\
title: A paid study
description: Short texts are judged.
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
design: {type: latin-square}
raters: {count: 4}
information: {text: Read on., consent: [I agree.]}
instructions: Read each text.
checks:
  items:
    - {kind: instructed, text: Choose 2, answers: {fluency: "2"}}
    - {kind: instructed, text: Choose 3, answers: {fluency: "3"}}
  allowed: 2
pay: {currency: GBP, living_wage: 12.60, minutes_per_trial: 1, minutes_before: 2, fee_percent: 33.3}
recruiting:
  panel: prolific
"""


def write_paid(folder: Path, more: str = "", old: str = "", new: str = "") -> Study:
    """Return the study, with more lines under recruiting, and words replaced."""
    text = PAID + more
    assert old in text
    return write_study(folder, text.replace(old, new) if old else text)


@dataclass
class Office:
    """A researcher with a study, its store and the fake Prolific."""

    study: Study
    store: Store
    server: Server
    recruiter: Recruiter

    @property
    def campaign(self) -> str:
        return self.recruiter.find_campaign().outside_id

    def publish(self) -> str:
        """Draft and publish; return the id of the study on Prolific."""
        self.recruiter.draft(URL)
        self.recruiter.publish()
        return self.campaign

    def seat(self, person: str, submission: str) -> int:
        """Let somebody come to the pages; return the number of the visit."""
        params = {"PROLIFIC_PID": person, "STUDY_ID": self.campaign, "SESSION_ID": submission}
        return self.store.join(outside_id=person, params=params).id

    def again(self) -> Recruiter:
        """Return the recruiter in another process: only the database is the same."""
        return make_recruiter(self.study, self.store, self.server.url)


def make_recruiter(study: Study, store: Store, url: str) -> Recruiter:
    """Return a recruiter who never waits."""
    client = HttpClient(TOKEN, url, sleep=lambda _: None)
    return Recruiter(
        study, RecruitingRepository(store), Api(client), "Ada", store.study.secret, "", lambda _: None
    )


@contextmanager
def open_office(study: Study, database: str | Path | None = None) -> Iterator[Office]:
    """Open the office of a study."""
    with Server() as server, open_store(database, study, plan_study(study)) as store:
        recruiter = make_recruiter(study, store, server.url)
        yield Office(study, store, server, recruiter)


def reload(folder: Path) -> Study:
    return load_study(folder)


@dataclass
class Participant:
    """Somebody from Prolific in front of the real pages."""

    url: str
    person: str
    submission: str
    study: str
    seconds: float = 60.0
    check: bool = True
    """Whether the checks are answered as asked."""
    understands: str = "texts"
    """The answer to questions about the instructions."""
    page: str = ""
    code: str = ""

    def walk_wrongly(self, answer: str) -> str:
        """Go through the pages with this answer to the questions about the instructions."""
        self.understands = answer
        return self.walk()

    def walk(self, pages: int = 1000, choose: str = "4") -> str:
        """Go through the pages, so many of the plan at most; return the heading of the last page seen."""
        with httpx.Client(base_url=self.url, timeout=PATIENCE) as client:
            query = {"PROLIFIC_PID": self.person, "STUDY_ID": self.study, "SESSION_ID": self.submission}
            reply = client.get("/join", params=query)
            rated = 0
            while True:
                if reply.status_code == 303:
                    reply = client.get(reply.headers["location"])
                self.page = reply.text
                sheet = read_sheet(reply.text)
                self.code = sheet.code
                if not sheet.action or (sheet.names and rated >= pages):
                    return sheet.heading
                form = dict(sheet.hidden) | sheet.boxes
                form |= {name: self.understands for name in sheet.choices if name.startswith("q")}
                for name in sheet.names:
                    asked = re.search(r"Choose(\d)", "".join(sheet.texts))
                    form[name] = asked[1] if asked and self.check else choose
                    form[f"key-{name}"] = os.urandom(8).hex()
                rated += bool(sheet.names)
                form["seconds"] = str(self.seconds)
                button = sheet.primary
                if button is not None and button.name:
                    form[button.name] = button.value
                reply = client.post(sheet.action, data=form)

    @property
    def back(self) -> str:
        """The address that the last page leads back to."""
        found = re.search(r'id="go" href="([^"]+)"', self.page)
        return found[1] if found else ""
