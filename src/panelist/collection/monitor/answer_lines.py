"""A rater's answers in words, for a person to look at: without naming the systems behind the texts."""

from collections.abc import Iterable
from dataclasses import dataclass

from panelist.collection.monitor.ledger import REASON
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.questions import name_output
from panelist.collection.store.records import StoredAnswer, find_latest


@dataclass(frozen=True)
class AnswerLine:
    """One answer as it is now, with what it was before."""

    occasion: int
    page: int
    item: str
    criterion: str
    kind: str
    """The name of a check, ``practice``, or empty for a trial."""
    words: str
    before: tuple[str, ...]
    seconds: float | None
    changes: int
    given: float
    late: bool


def tell_answers(answers: Iterable[StoredAnswer], booklet: Booklet, place: str | None) -> list[AnswerLine]:
    """Return the answers of a visit in the order of its pages; reasons follow their answers."""
    fields: dict[tuple[int, int, str], list[StoredAnswer]] = {}
    for answer in answers:
        fields.setdefault((answer.occasion, answer.page, answer.name), []).append(answer)
    lines = []
    for (occasion, page, name), found in sorted(fields.items()):
        latest = find_latest(found)[name]
        earlier = [one for one in found if one is not latest]
        lines.append(
            AnswerLine(
                occasion=occasion,
                page=page,
                item=latest.item,
                criterion=_name(latest, booklet, place),
                kind=latest.check or ("practice" if latest.phase == "practice" else ""),
                words=_tell(latest, booklet, place),
                before=tuple(_tell(one, booklet, place) for one in earlier),
                seconds=latest.seconds,
                changes=max(latest.changes, latest.revision),
                given=latest.given,
                late=latest.late,
            )
        )
    return lines


def _name(answer: StoredAnswer, booklet: Booklet, place: str | None) -> str:
    """Return the criterion, and the output that was rated where the page showed several."""
    known = answer.criterion in booklet.numbers
    heading = booklet.criterion(answer.criterion).heading if known else answer.criterion
    page = booklet.agenda.sitting(place, answer.occasion).page(answer.page)
    if answer.position and page is not None and len(page.outputs) > 1:
        heading = f"{heading}, {name_output(booklet.noun, answer.position, booklet.lettered)}"
    return f"{heading}, reason" if answer.name.endswith(REASON) else heading


def _tell(answer: StoredAnswer, booklet: Booklet, place: str | None) -> str:
    if not answer.value:
        return "taken back"
    if answer.name.endswith(REASON) or answer.criterion not in booklet.numbers:
        return answer.value
    page = booklet.agenda.sitting(place, answer.occasion).page(answer.page)
    compared = booklet.criterion(answer.criterion).scale.comparative
    question = booklet.question(answer.criterion, len(page.outputs) if compared and page else 1)
    return question.tell(answer.value)
