"""A submission on Prolific: one person's stay in a study there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

RESERVED, ACTIVE, AWAITING = "RESERVED", "ACTIVE", "AWAITING REVIEW"
APPROVED, PARTLY, REJECTED = "APPROVED", "PARTIALLY APPROVED", "REJECTED"
RETURNED, TIMED_OUT, SCREENED_OUT = "RETURNED", "TIMED-OUT", "SCREENED OUT"
GOING_ON = (RESERVED, ACTIVE)
OVER = (APPROVED, PARTLY, REJECTED, RETURNED, TIMED_OUT, SCREENED_OUT)
STATUSES = (RESERVED, ACTIVE, AWAITING, *OVER)


@dataclass(frozen=True, slots=True)
class Submission:
    """What Prolific says about a submission."""

    id: str
    person: str
    status: str
    code: str = ""
    started: float | None = None
    bonus: int = 0
    """Paid beyond the reward so far, in pence or cents."""


def read_submission(said: Mapping[str, Any]) -> Submission:
    """Return the submission in an answer of the API.

    >>> read_submission({"id": "s1", "participant_id": "p1", "status": "TIMED_OUT", "bonus_payments": [20]})
    Submission(id='s1', person='p1', status='TIMED-OUT', code='', started=None, bonus=20)
    """
    return Submission(
        id=str(said.get("id", "")),
        person=str(said.get("participant_id") or said.get("participant") or ""),
        status=read_status(said.get("status")),
        code=str(said.get("study_code") or said.get("entered_code") or ""),
        started=_read_time(said.get("started_at")),
        bonus=sum(_read_amount(one) for one in said.get("bonus_payments") or ()),
    )


def read_status(said: object) -> str:
    """Return a status as we write it, however it is spelt.

    >>> read_status("awaiting_review"), read_status("TIMED OUT")
    ('AWAITING REVIEW', 'TIMED-OUT')
    """
    words = str(said or "").upper().replace("_", " ").replace("-", " ").strip()
    return TIMED_OUT if words == "TIMED OUT" else words


def _read_amount(said: Any) -> int:
    amount = said.get("amount", 0) if isinstance(said, Mapping) else said
    try:
        return int(Decimal(str(amount)))
    except InvalidOperation:
        return 0


def _read_time(said: object) -> float | None:
    try:
        return datetime.fromisoformat(str(said)).timestamp() if said else None
    except ValueError:
        return None
