"""What a page noticed while it was read: which outputs were seen to their end, for how long, what was played.

It is a page's own account, which anybody may have written: it is read within limits and kept. Of each output:
``seen_end`` (its last line was on the screen for a second), ``in_view`` (seconds), and of sound and film
``played`` (the share that was played), ``plays`` and ``speed`` (the fastest); ``failed`` says that it does
not play.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from panelist.collection.pages.agenda import PlanPage
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.sheets import find_fields, page_name
from panelist.collection.session.answering import read_number

LONGEST = 20_000
LIMITS = {"in_view": 1e6, "played": 1.0, "plays": 1e4, "speed": 16.0}
"""What is measured of an output, and the most that it can be."""
FAILED = "does not play"
_FIELD = re.compile(r"media:(\d{1,3}-\d{1,6})-(\d{1,4})-\d{1,3}", re.ASCII)


def read_facts(form: Mapping[str, str], page: PlanPage, failed: frozenset[int]) -> str:
    """Return what a form says about the page as JSON, ready to be stored; empty where it says nothing."""
    text = form.get("facts", "")
    try:
        said = json.loads(text) if 0 < len(text) <= LONGEST else {}
    except (ValueError, RecursionError):
        said = {}
    said = said if isinstance(said, dict) else {}
    outputs: dict[str, dict[str, Any]] = {}
    told = said.get("outputs")
    for place in range(1, len(page.outputs) + 1):
        about = told.get(str(place)) if isinstance(told, dict) else None
        kept = _read_output(about if isinstance(about, dict) else {})
        if place in failed:
            kept["failed"] = True
        if kept:
            outputs[str(place)] = kept
    facts: dict[str, Any] = {"outputs": outputs} if outputs else {}
    if isinstance(said.get("folded"), bool):
        facts["folded"] = said["folded"]
    return json.dumps(facts, sort_keys=True, separators=(",", ":")) if facts else ""


def _read_output(said: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if isinstance(said.get("seen_end"), bool):
        kept["seen_end"] = said["seen_end"]
    for name, most in LIMITS.items():
        if (value := read_number(said.get(name), most)) is not None:
            kept[name] = int(value) if name == "plays" else round(value, 3)
    return kept


def find_failed(booklet: Booklet, page: PlanPage, occasion: int, form: Mapping[str, str]) -> frozenset[int]:
    """Return the outputs of a page of which a rater says that they do not play, by their places."""
    if not booklet.study.outputs.media.columns:
        return frozenset()
    ticked = (found for name in form if (found := _FIELD.fullmatch(name)))
    here = page_name(occasion, page.order)
    places = {int(found[2]) for found in ticked if found[1] == here}
    return frozenset(place for place in places if booklet.list_media(page, str(place)))


def list_unrated(booklet: Booklet, page: PlanPage, failed: frozenset[int]) -> frozenset[str]:
    """Return the fields that nobody can answer: those about outputs that do not play."""
    fields = find_fields(booklet, page).items()
    return frozenset(name for name, asked in fields if asked.place in failed or (failed and not asked.place))
