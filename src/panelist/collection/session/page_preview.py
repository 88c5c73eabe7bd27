"""A preview of the rating pages: the real pages of a place, at which nothing is stored.

Where a preview is and what was answered travel in its address, packed and signed: so no table ever holds any
of it, none of it can be counted or exported, and any process can show the next page.
"""

import base64
import hashlib
import hmac
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import Page
from panelist.collection.session.history import Memory
from panelist.collection.session.turn import Turn, TurnOutcome
from panelist.collection.session.visit_flow import next_page, submit

LONGEST_ANSWER = 80  # characters that a preview keeps of a text; it travels in the address
LONGEST_PACKED, LONGEST_PLAIN = 16_000, 500_000
FAR_AHEAD = 1e9  # seconds: the days between two sittings are over in a preview
CODE = "PREVIEW"


@dataclass(frozen=True)
class Preview:
    """Where a preview is; it looks like a visit to the pages."""

    place: str
    state: str = "invited"
    occasion: int = 1
    page: int = 1
    code: str = ""
    reason: str = ""
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By ``occasion-page``, then by field."""
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    @property
    def outside_id(self) -> str | None:
        """There is no person."""
        return None

    def history(self) -> Memory:
        """Return the history of the preview, as the pages ask for it."""
        given = {}
        for name, fields in self.answers.items():
            occasion, _, page = name.partition("-")
            given[int(occasion), int(page)] = dict(fields)
        return Memory(given, list(self.events), {}, {self.occasion: 0.0})


def show_preview(booklet: Booklet, preview: Preview, now: float) -> Page:
    """Return the page that a preview shows now."""
    return next_page(Turn(booklet, preview, preview.history(), now=now + FAR_AHEAD))


def step_preview(
    booklet: Booklet, preview: Preview, form: Mapping[str, str], to: str, now: float
) -> tuple[Preview, Page | None]:
    """Return where a form leads, and the page to show again where something is missing."""
    turn = Turn(booklet, preview, preview.history(), form, now + FAR_AHEAD, draw=lambda: CODE)
    outcome = submit(turn, to if to in ("back", "pause") else "page")
    return _follow(preview, outcome), outcome.again


def _follow(preview: Preview, outcome: TurnOutcome) -> Preview:
    answers = {name: dict(fields) for name, fields in preview.answers.items()}
    if outcome.answers:
        page = answers.setdefault(f"{preview.occasion}-{preview.page}", {})
        page |= {answer.name: answer.value[:LONGEST_ANSWER] for answer in outcome.answers}
    events = (
        *preview.events,
        *((event.kind, event.detail) for event in outcome.events if _matters(event.kind)),
    )
    after = replace(preview, answers=answers, events=events)
    if (move := outcome.move) is not None:
        after = replace(
            after, state=move.state, occasion=move.occasion, page=move.page, reason=move.reason,
            code=move.code or after.code,
        )  # fmt: skip
    return after


def _matters(kind: str) -> bool:
    """Return whether the pages ask for events of this kind later."""
    return kind in ("check", "practice", "practice failed", "exclude")


def pack_preview(preview: Preview, key: bytes) -> str:
    """Return a preview as a part of an address that only this server can have made."""
    plain = json.dumps(asdict(preview), separators=(",", ":"))
    body = base64.urlsafe_b64encode(zlib.compress(plain.encode(), 9)).decode().rstrip("=")
    return f"{_sign(body, key)}{body}"


def unpack_preview(packed: str, key: bytes) -> Preview | None:
    """Return the preview in an address; None where it is not one of ours."""
    mark, body = packed[:32], packed[32:]
    if len(packed) > LONGEST_PACKED or not hmac.compare_digest(mark.encode(), _sign(body, key).encode()):
        return None
    packed_plain = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    fields = json.loads(zlib.decompressobj().decompress(packed_plain, LONGEST_PLAIN))
    return Preview(**fields | {"events": tuple((kind, detail) for kind, detail in fields["events"])})


def _sign(body: str, key: bytes) -> str:
    return hmac.new(key, b"preview" + body.encode("ascii", "replace"), hashlib.sha256).hexdigest()[:32]
