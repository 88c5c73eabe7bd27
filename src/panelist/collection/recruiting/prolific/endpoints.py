"""What can be asked of Prolific, by name. Facts and addresses: https://docs.prolific.com/api-reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from panelist.collection.recruiting.errors import NotThere, PanelRefused
from panelist.collection.recruiting.prolific.client import Client
from panelist.collection.recruiting.prolific.submission import Submission, read_submission

MOST_PAGES = 1000

Json = dict[str, Any]


@dataclass(frozen=True)
class Api:
    """Prolific, over a client."""

    client: Client

    def create_study(self, body: Json) -> Json:
        """Return the new draft. Do not repeat: look for it by its internal name."""
        return self._object(self.client.send("POST", "/studies/", body, again=False))

    def change_study(self, study: str, body: Json) -> Json:
        """Return the study after a change; repeating it changes nothing."""
        return self._object(self.client.send("PATCH", _study(study), body))

    def get_study(self, study: str) -> Json:
        """Return a study."""
        return self._object(self.client.send("GET", _study(study)))

    def find_study(self, mark: str) -> Json | None:
        """Return the study that has a mark in its internal name, if there is one."""
        for found in self._list("/studies/"):
            if mark in str(found.get("internal_name") or ""):
                return found
        return None

    def move_study(self, study: str, action: str) -> Json:
        """Publish, pause, restart or stop a study: PUBLISH, PAUSE, START, STOP."""
        sent = self.client.send("POST", f"{_study(study)}transition/", {"action": action}, again=False)
        return self._object(sent)

    def test_study(self, study: str) -> Json:
        """Return the copy of a study that only a test participant sees."""
        return self._object(self.client.send("POST", f"{_study(study)}test-study/", {}, again=False))

    def list_submissions(self, study: str) -> list[Submission]:
        """Return every submission of a study, each once."""
        found = [
            read_submission(one) for one in self._list("/submissions/", f"study={quote(study, safe='')}")
        ]
        return list({one.id: one for one in found}.values())

    def get_submission(self, submission: str) -> Submission:
        """Return one submission."""
        return read_submission(self._object(self.client.send("GET", _submission(submission))))

    def move_submission(self, submission: str, body: Json) -> Json:
        """Approve or reject: ``{"action": "APPROVE"}``. After a lost answer, look at the status."""
        path = f"{_submission(submission)}transition/"
        return self._object(self.client.send("POST", path, body, again=False))

    def screen_out(self, study: str, submissions: Sequence[str], each: str) -> Json:
        """Screen submissions out, with this pay each. After a lost answer, look at their status."""
        body = {"submission_ids": list(submissions), "bonus_per_submission": each, "increase_places": True}
        return self._object(
            self.client.send("POST", f"{_study(study)}screen-out-submissions/", body, again=False)
        )

    def create_bonus(self, study: str, lines: Sequence[tuple[str, str]]) -> str:
        """Return the id of a list of bonuses, person and amount; nothing is paid yet."""
        body = {"study_id": study, "csv_bonuses": "\n".join(f"{person},{amount}" for person, amount in lines)}
        made = self._object(self.client.send("POST", "/submissions/bonus-payments/", body, again=False))
        if not made.get("id"):
            raise PanelRefused("Prolific took the list of bonuses but gave it no id; nothing was paid.")
        return str(made["id"])

    def pay_bonus(self, batch: str) -> None:
        """Pay a list of bonuses. After a lost answer, look at what the submissions were paid."""
        self.client.send("POST", f"/bulk-bonus-payments/{quote(batch, safe='')}/pay/", {}, again=False)

    def _list(self, path: str, query: str = "") -> list[Json]:
        """Return the entries of all pages, counted here: addresses in answers never get the token."""
        found: list[Json] = []
        for page in range(1, MOST_PAGES + 1):
            asked = "&".join(part for part in (query, f"page={page}") if part)
            try:
                said = self._object(self.client.send("GET", f"{path}?{asked}"))
            except NotThere:
                if page == 1:
                    raise
                return found  # past the end
            found += [one for one in said.get("results") or () if isinstance(one, dict)]
            following = (said.get("_links") or {}).get("next")
            if not (following.get("href") if isinstance(following, dict) else following):
                return found
        return found

    def _object(self, said: Any) -> Json:
        if not isinstance(said, dict):
            raise PanelRefused("Prolific's answer was not understood.")
        return said


def _study(study: str) -> str:
    return f"/studies/{quote(study, safe='')}/"


def _submission(submission: str) -> str:
    return f"/submissions/{quote(submission, safe='')}/"
