"""Messages from Prolific: signed, not too old, and handled once.

Signature: base64 of HMAC-SHA256 over timestamp and body with the secret that Prolific gave
(https://docs.prolific.com/api-reference/hooks). A message says that something changed, not what the state is
now: messages come twice and out of order. So the submission is read again from the API; without a token, the
message itself is believed as long as it does not lead back.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from panelist.collection.recruiting.errors import NotThere
from panelist.collection.recruiting.prolific.submission import STATUSES, Submission, read_status
from panelist.collection.recruiting.recruiter import Recruiter
from panelist.collection.recruiting.repository import RecruitingRepository
from panelist.collection.recruiting.submissions import Followed, follow, rank_status
from panelist.collection.store.operations.recruits import NoteHook, knows_hook, read_campaigns
from panelist.core.errors import PanelistError

SECRET_VARIABLE = "PROLIFIC_WEBHOOK_SECRET"
SIGNATURE, TIMESTAMP, EVENT = ("x-prolific-request-signature", "x-prolific-request-timestamp", "x-event-id")
OLDEST_SECONDS = 300.0
LONGEST_EVENT = 200
STATUS_CHANGED = "submission.status.change"


class Forged(PanelistError):
    """A message that is not from Prolific, or too old to trust."""


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a message.

    >>> sign("secret", "1700000000", b"{}")
    'RM6OD3UEVWrrFT2bdZ2X/EyvymK1UHHNZgnc1eHXdHk='
    """
    return base64.b64encode(
        hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    ).decode()


def check_message(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> None:
    """Raise Forged unless a message carries the right signature and is not old."""
    given, timestamp = headers.get(SIGNATURE, ""), headers.get(TIMESTAMP, "")
    if not secret:
        raise Forged("This server has no secret to check messages by.")
    if not hmac.compare_digest(sign(secret, timestamp, body).encode(), given.encode()):
        raise Forged("The signature is wrong.")
    try:
        sent = float(timestamp)
    except ValueError:
        raise Forged("The timestamp is not a number.") from None
    sent = sent / 1000 if sent > 1e11 else sent  # some send milliseconds
    if not abs(now - sent) <= OLDEST_SECONDS:
        raise Forged("The message is too old.")


def take_message(
    repository: RecruitingRepository, recruiter: Recruiter | None, headers: Mapping[str, str], body: bytes
) -> Followed | None:
    """Deal with a message whose signature was checked; return the result; None where there is none."""
    event = headers.get(EVENT, "")[:LONGEST_EVENT] or hashlib.sha256(body).hexdigest()
    if repository.read(lambda db: knows_hook(db, event)):
        return None
    said = _read_body(body)
    name = str(said.get("event_type") or said.get("event") or STATUS_CHANGED)
    submission = str(said.get("resource_id") or said.get("submission_id") or said.get("id") or "")
    followed = None
    if name == STATUS_CHANGED and submission:
        followed = _follow(repository, recruiter, submission, said)
    repository.do(NoteHook(event))  # last: what failed is dealt with when it comes again
    return followed


def _follow(
    repository: RecruitingRepository, recruiter: Recruiter | None, submission: str, said: Mapping[str, Any]
) -> Followed | None:
    if recruiter is not None:
        try:
            return recruiter.follow_one(submission)
        except NotThere:
            return None  # of another study
    campaigns = repository.read(read_campaigns)
    study = str(said.get("study_id") or (campaigns[0].outside_id if len(campaigns) == 1 else ""))
    status = read_status(said.get("status"))
    if study not in {one.outside_id for one in campaigns} or status not in STATUSES:
        return None
    known = next((one for one in repository.recruits() if one.submission == submission), None)
    if known is not None and rank_status(known.status) >= rank_status(status):
        return None
    person = str(said.get("participant_id") or "")
    code, started, bonus = (known.code, known.started, known.bonus) if known else ("", None, 0)
    return follow(repository, study, [Submission(submission, person, status, code, started, bonus)])


def _read_body(body: bytes) -> Mapping[str, Any]:
    try:
        said = json.loads(body)
    except ValueError:
        raise Forged("The message is not JSON.") from None
    if not isinstance(said, dict):
        raise Forged("The message is not an object.")
    inner = said.get("data")
    return {**said, **inner} if isinstance(inner, dict) else said
