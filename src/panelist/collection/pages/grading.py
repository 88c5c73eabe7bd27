"""Grading, on the server only: practice answers against those that pass, checks against what they ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panelist.collection.pages.agenda import PlanPage, Sitting
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import AnswerMark, Choice
from panelist.collection.pages.questions import name_output
from panelist.collection.pages.sheets import AskedField, find_fields
from panelist.scales.base import BadAnswer, ComparativeScale, RatingScale, Scale
from panelist.study.sections.briefing import PracticeItem
from panelist.study.sections.checks import DegradedCheck, InstructedCheck, RepeatCheck


@dataclass(frozen=True)
class PracticeResult:
    """How a practice page was answered."""

    right: bool | None
    """None where nothing is marked."""
    direction: str
    """``same``, ``higher``, ``lower`` or ``other``; ``ours`` where nothing is marked."""
    marks: tuple[AnswerMark, ...]


def grade_practice(booklet: Booklet, page: PlanPage, answers: Mapping[str, str]) -> PracticeResult:
    """Return which answers of a practice page pass, with what to tell the rater."""
    item = booklet.practice_item(page)
    assert isinstance(item, PracticeItem), "practice pages show practice items"
    marks, directions = [], []
    for name, field in find_fields(booklet, page).items():
        criterion, place, turn = field
        wanted = item.right.get(criterion)
        if wanted is None:
            continue
        parts = booklet.count_parts(page)
        if len(parts) > 1 or sum(parts) > 1:  # one answer for each output, and for each turn of it
            among = [max(count, 1) for count in parts] if place else [min(parts)]
            at = sum(among[: max(place, 1) - 1]) + max(turn, 1) - 1
            wanted = wanted[at : at + 1] if place or turn else wanted
        marks.append(_mark(booklet, page, field, answers.get(name, ""), wanted))
        directions.append(
            _direct(booklet.criterion(criterion).scale, answers.get(name, ""), wanted, len(page.outputs))
        )
    if not marks:
        return PracticeResult(None, "ours", ())
    wrong = {direction for direction in directions if direction != "same"}
    return PracticeResult(
        not wrong, wrong.pop() if len(wrong) == 1 else "other" if wrong else "same", tuple(marks)
    )


def grade_checks(
    booklet: Booklet, sitting: Sitting, page: PlanPage, answers: Mapping[int, Mapping[str, str]]
) -> dict[str, bool]:
    """Return which of the checks that are due after a page were passed; those that cannot be graded are
    left out. ``answers`` has the answers by the number of the page."""
    graded: dict[str, bool] = {}
    for name in page.due:
        check, own = booklet.checks.get(name), sitting.check(name)
        first = sitting.page(sitting.originals.get(name, 0))
        passed: bool | None = None
        if isinstance(check, InstructedCheck):
            passed = _follow(booklet, own, check, answers.get(own.order, {}))
        elif first is not None and isinstance(check, RepeatCheck | DegradedCheck):
            pairs = _pair_up(booklet, first, answers.get(first.order, {}), own, answers.get(own.order, {}))
            if isinstance(check, RepeatCheck):
                passed = _agree(pairs, check.tolerance)
            else:
                passed = _notice(booklet, own, pairs, check.margin)
        if passed is not None:
            graded[name] = passed
    return graded


@dataclass(frozen=True)
class _Twice:
    """Two answers to the same question about the same output: the first and the one on the check's page."""

    scale: Scale
    first: float | str
    second: float | str
    output: tuple[str, str]


def _follow(booklet: Booklet, page: PlanPage, check: InstructedCheck, answers: Mapping[str, str]) -> bool:
    """Return whether a rater did what the text asked for."""
    for name, (criterion, *_) in find_fields(booklet, page).items():
        wanted = check.answers.get(criterion)
        if wanted is not None:
            scale = booklet.criterion(criterion).scale
            if _direct(scale, answers.get(name, ""), (wanted,), len(page.outputs)) != "same":
                return False
    return True


def _pair_up(
    booklet: Booklet, first: PlanPage, before: Mapping[str, str], own: PlanPage, after: Mapping[str, str]
) -> list[_Twice]:
    """Return both answers for each output and question that has two; outputs may have changed places."""
    old, new = (
        _values_by_output(booklet, page, own.criteria, given)
        for page, given in ((first, before), (own, after))
    )
    return [
        _Twice(booklet.criterion(criterion).scale, old[criterion, output, turn], said, output)
        for (criterion, output, turn), said in new.items()
        if (criterion, output, turn) in old
    ]


def _values_by_output(
    booklet: Booklet, page: PlanPage, criteria: Sequence[str], answers: Mapping[str, str]
) -> dict[tuple[str, tuple[str, str], int], float | str]:
    """Return what a page's answers say about each output (and turn): its value, its choice or its rank."""
    found: dict[tuple[str, tuple[str, str], int], float | str] = {}
    bad: set[str] = set()
    for name, (criterion, place, turn) in find_fields(booklet, page).items():
        if criterion not in criteria:
            continue
        scale, text = booklet.criterion(criterion).scale, answers.get(name, "")
        try:
            if isinstance(scale, ComparativeScale):
                said = scale.parse(text, len(page.outputs))
                if scale.graded:
                    for output, grade in zip(page.outputs, said.find_grades(), strict=True):
                        found[criterion, output, turn] = float(grade or 0)
                    continue
                choices = [said.answer] * len(page.outputs) if said.answer else list(said.choices)
                for output, choice in zip(page.outputs, choices, strict=True):
                    found[criterion, output, turn] = float(choice) if scale.told == "ranking" else choice
                continue
            assert isinstance(scale, RatingScale), "a scale rates or compares"
            if text and scale.measurement != "text":
                found[criterion, page.outputs[place - 1], turn] = scale.parse(text)
        except BadAnswer:
            bad.add(criterion)
    return {key: said for key, said in found.items() if key[0] not in bad}


def _agree(pairs: Sequence[_Twice], tolerance: float) -> bool | None:
    """Return whether all second answers are near the first; choices between names must be the same."""
    if not pairs:
        return None
    return all(
        abs(float(pair.first) - float(pair.second)) <= tolerance
        if pair.scale.measurement != "nominal"
        and not isinstance(pair.first, str)
        and not isinstance(pair.second, str)
        else pair.first == pair.second
        for pair in pairs
    )


def _notice(booklet: Booklet, page: PlanPage, pairs: Sequence[_Twice], margin: float) -> bool | None:
    """Return whether the degraded output was judged worse.

    Lower on average over the criteria by the margin; where outputs are compared, neither chosen nor first.
    """
    spoilt = page.outputs[booklet.spoilt_place(page)]
    about = [pair for pair in pairs if pair.output == spoilt]
    rated = [pair for pair in about if not pair.scale.comparative]
    if rated:
        lower = sum(float(pair.first) - float(pair.second) for pair in rated) / len(rated)
        return lower > 0 and lower >= margin
    scales = [(pair.scale, pair.second) for pair in about]
    chosen = any(isinstance(scale, ComparativeScale) and scale.is_first(said) for scale, said in scales)
    return not chosen if about else None


def _mark(
    booklet: Booklet, page: PlanPage, field: AskedField, given: str, wanted: Sequence[str]
) -> AnswerMark:
    criterion, place, turn = field
    scale = booklet.criterion(criterion).scale
    question = booklet.question(criterion, len(page.outputs) if place == 0 else 1)
    ours = tuple(question.tell(answer) for answer in wanted)
    rows: tuple[tuple[Choice, bool, bool], ...] = ()
    if question.choices and place <= 1 and len(page.outputs) == 1 and isinstance(scale, RatingScale):
        passing = {scale.write(scale.recognise(answer)) for answer in wanted}
        rows = tuple((choice, choice.value in passing, choice.value == given) for choice in question.choices)
    several = place and len(page.outputs) > 1
    label = name_output(booklet.noun, place, booklet.lettered) if several else ""
    if turn:
        label = booklet.words.say("turn_of", turn, name=label or booklet.noun)
    return AnswerMark(question, label, question.tell(given) if given else "", ours, rows)


def _direct(scale: Scale, given: str, wanted: Sequence[str], shown: int) -> str:
    """Return where an answer lies: ``same`` as one that passes, else ``higher``, ``lower`` or ``other``."""
    try:
        if isinstance(scale, ComparativeScale):
            said = scale.parse(given, shown)
            return "same" if any(scale.parse(answer, shown) == said for answer in wanted) else "other"
        assert isinstance(scale, RatingScale), "a scale rates or compares"
        value, passing = scale.parse(given), [scale.recognise(answer) for answer in wanted]
    except BadAnswer:
        return "other"
    if isinstance(value, str) or scale.measurement in ("nominal", "text"):
        return "same" if value in passing else "other"
    numbers = [float(one) for one in passing]
    if scale.slack and len(numbers) > 1:  # several places on a line are the ends of a range
        inside = min(numbers) <= value <= max(numbers)
    else:
        inside = any(abs(value - one) <= scale.slack for one in numbers)
    if inside:
        return "same"
    return "higher" if value > max(numbers) else "lower" if value < min(numbers) else "other"
