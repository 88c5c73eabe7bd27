"""Prolific without sending anything: every request is shown, and answered as if everything went well."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from panelist.collection.recruiting.prolific.client import API, HIDDEN
from panelist.collection.recruiting.prolific.submission import APPROVED, AWAITING, REJECTED, SCREENED_OUT
from panelist.collection.store.operations.recruits import Campaign, Recruit
from panelist.collection.store.records import Visit

STUDY, BATCH = "STUDY_ID", "BONUS_ID"
STATES = {"PUBLISH": "ACTIVE", "PAUSE": "PAUSED", "START": "ACTIVE", "STOP": "AWAITING REVIEW"}


class DryRunClient:
    """Shows requests and answers them from what the database knows."""

    dry = True

    def __init__(
        self,
        show: Callable[[str], None],
        campaigns: Iterable[Campaign] = (),
        recruits: Iterable[Recruit] = (),
        visits: Iterable[Visit] = (),
        url: str = API,
    ) -> None:
        self._show = show
        self._url = url
        people = {visit.id: visit.outside_id or "" for visit in visits}
        self._studies: dict[str, dict[str, Any]] = {
            one.outside_id: {
                "id": one.outside_id,
                "status": one.status,
                "reward": one.reward,
                "estimated_completion_time": one.minutes,
                "total_available_places": one.places,
            }
            for one in campaigns
        }
        self._submissions = {
            one.submission: {
                "id": one.submission,
                "participant_id": people.get(one.visit or 0, ""),
                "status": one.status,
                "study_code": one.code,
                "bonus_payments": [one.bonus] if one.bonus else [],
            }
            for one in recruits
        }

    def send(self, method: str, path: str, body: Any = None, *, again: bool = True) -> Any:
        """Show a request, and return what Prolific would answer."""
        lines = [f"{method} {self._url}{path}", f"Authorization: Token {HIDDEN}"]
        if body is not None:
            lines.append(json.dumps(body, indent=2, ensure_ascii=False))
        self._show("\n".join(lines) + "\n")
        return self._answer(method, path.partition("?")[0], body or {})

    def _answer(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        if found := re.fullmatch(r"/submissions/([^/]+)/(transition/)?", path):
            known = self._submissions.setdefault(found[1], {"id": found[1], "status": AWAITING})
            if found[2]:
                known["status"] = {"APPROVE": APPROVED, "REJECT": REJECTED}.get(body["action"], AWAITING)
            return known
        if path == "/submissions/bonus-payments/":
            return {"id": BATCH}
        if path == "/submissions/":
            return {"results": list(self._submissions.values()), "_links": {"next": {"href": None}}}
        if path == "/studies/" and method == "POST":
            self._studies[STUDY] = {"id": STUDY, "status": "UNPUBLISHED", **body}
            return self._studies[STUDY]
        if path == "/studies/":
            return {"results": list(self._studies.values()), "_links": {"next": {"href": None}}}
        return self._answer_study(path, body)

    def _answer_study(self, path: str, body: Mapping[str, Any]) -> Any:
        found = re.fullmatch(r"/studies/([^/]+)/([a-z-]*)/?", path)
        if found is None:
            return {}
        study = self._studies.setdefault(found[1], {"id": found[1], "status": "UNPUBLISHED"})
        if found[2] == "transition":
            study["status"] = STATES.get(body["action"], study["status"])
        elif found[2] == "screen-out-submissions":
            for one in body["submission_ids"]:
                self._submissions[one]["status"] = SCREENED_OUT
        elif not found[2]:
            study.update(body)
        return study
