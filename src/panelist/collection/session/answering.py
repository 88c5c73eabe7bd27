"""Reading what a page sends: which field, which value, and what to say where it is not yet an answer."""

import re
from collections.abc import Mapping
from typing import Any

from panelist.collection.pages.agenda import PlanPage
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.sheets import Problem, find_fields
from panelist.collection.store.operations.saving import Answer
from panelist.core.errors import PanelistError
from panelist.scales.base import BadAnswer, ComparativeScale, RatingScale, Scale

LONGEST_REASON = 2000
_KEY = re.compile(r"[A-Za-z0-9_-]{6,64}")


class NotAsked(PanelistError):
    """An answer to something that the page of this rater does not ask."""


def read_value(scale: Scale, text: str, shown: int) -> str:
    """Return an answer in the one form in which it is stored, or raise BadAnswer."""
    if isinstance(scale, ComparativeScale):
        return scale.write(scale.parse(text, shown))
    assert isinstance(scale, RatingScale), "a scale rates or compares"
    return scale.write(scale.parse(text))


def collect_values(booklet: Booklet, page: PlanPage, form: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each field of a page's form, as it was sent."""
    return {
        name: booklet.criterion(criterion).scale.read_form(form, name, len(page.outputs))
        for name, (criterion, *_) in find_fields(booklet, page).items()
    }


def check_values(
    booklet: Booklet, page: PlanPage, values: Mapping[str, str], forced: bool
) -> tuple[dict[str, str], dict[str, Problem]]:
    """Return the answers in their stored form, and the problems with the others."""
    good: dict[str, str] = {}
    problems: dict[str, Problem] = {}
    for name, (criterion, *_) in find_fields(booklet, page).items():
        scale = booklet.criterion(criterion).scale
        text = values.get(name, "")
        try:
            good[name] = read_value(scale, text, len(page.outputs))
        except BadAnswer:
            if forced or text.strip(" ,"):
                problems[name] = scale.ask_again(text)
    return {name: value for name, value in good.items() if value}, problems


def make_answer(booklet: Booklet, page: PlanPage, name: str, value: str, about: Mapping[str, Any]) -> Answer:
    """Return an answer with all that is known about it; ``about`` is what the page measured."""
    criterion, place, _ = find_fields(booklet, page)[name.removesuffix("-why")]
    item, system = page.outputs[max(place, 1) - 1]
    key = about.get("key")
    return Answer(
        name=name,
        criterion=criterion,
        item=item,
        system=system if place else "",
        value=value,
        key=key if isinstance(key, str) and _KEY.fullmatch(key) else f"form-{name}",
        position=place,
        phase=page.phase,
        check=page.check,
        seconds_first=read_number(about.get("seconds_first"), 1e7),
        seconds=read_number(about.get("seconds"), 1e7),
        changes=int(read_number(about.get("changes"), 1e6) or 0),
        raw=read_number(about.get("raw"), 1e9),
        width=int(width) if (width := read_number(about.get("width"), 1e5)) is not None else None,
    )


def read_answer(booklet: Booklet, page: PlanPage, message: Mapping[str, Any]) -> Answer:
    """Return the one answer that a page sends the moment it is given, or raise NotAsked or BadAnswer.

    An empty value takes an answer back: the change is recorded like any other.
    """
    name = str(message.get("name", ""))
    field = find_fields(booklet, page).get(name.removesuffix("-why"))
    if field is None or (name.endswith("-why") and not booklet.study.file.collecting.reasons):
        raise NotAsked("This page does not ask that.")
    text = message.get("value")
    if not isinstance(text, str):
        raise BadAnswer("An answer is sent as text.")
    if name.endswith("-why"):
        value = clean_words(text, LONGEST_REASON)
    else:
        value = read_value(booklet.criterion(field[0]).scale, text, len(page.outputs)) if text.strip() else ""
    return make_answer(booklet, page, name, value, message)


def clean_words(text: str, most: int) -> str:
    """Return words that a rater wrote, cut to a length, without characters that files cannot hold."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = (char for char in plain if (char >= " " or char in "\n\t") and not "\ud800" <= char <= "\udfff")
    return "".join(kept).strip()[:most]


def read_number(value: Any, most: float) -> float | None:
    """Return a measurement from a page, which anybody may have written; None where it is invalid."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= most else None  # nan is in no range
