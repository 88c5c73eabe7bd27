"""Criteria laid out as questions: which widget, which words, which answers, by which digits."""

from string import ascii_uppercase

from panelist.collection.markdown import NOTHING, render_markdown, render_text
from panelist.collection.pages import Choice, Question
from panelist.scales.base import BadAnswer, ComparativeScale, Option, RatingScale
from panelist.scales.best_worst import BestWorst
from panelist.scales.binary import Binary
from panelist.scales.graphic import Graphic
from panelist.scales.likert import Likert
from panelist.scales.line import LineScale
from panelist.scales.magnitude import Magnitude
from panelist.scales.text import FreeText
from panelist.scales.vas import Vas
from panelist.scales.verbal import Verbal
from panelist.study.criteria import Criterion

MOST_ACROSS = 3  # answers that fit side by side; phones fold them
LONGEST_ACROSS = 24  # characters
ROOMS = (20, 28, 36, 44, 52)  # rem that a row of points can ask for; rate.css has a rule for each
LEAST_STEP, A_LETTER, AROUND_STEP, MOST_LINES = 3.25, 0.48, 1.25, 3
LONGEST_END = 8  # letters of a word that may stand centred under the end of a line


def make_question(
    criterion: Criterion, shown: int, noun: str, face_words: tuple[str, str] = ("", "")
) -> Question:
    """Return the question of a criterion about so many outputs; ``noun`` is what they are called."""
    scale = criterion.scale
    layout: dict[str, object] = {}
    if isinstance(scale, ComparativeScale):
        options = scale.options(shown)
        layout["choices"] = _make_choices(tuple(_name_place(option, noun) for option in options))
        layout["across"] = len(options) <= MOST_ACROSS
    elif isinstance(scale, RatingScale) and not isinstance(scale, LineScale):
        options = scale.options()
        layout["choices"] = _make_choices(options)
        layout["across"] = _stand_across(scale)
        layout["row"] = (
            _find_row(tuple(option.label for option in options), ROOMS[1:]) if _may_be_row(scale) else 0
        )
    if isinstance(scale, LineScale):
        layout |= _lay_out_line(scale, face_words)
    if isinstance(scale, BestWorst):
        layout |= {"best": scale.best, "worst": scale.worst}
    if isinstance(scale, Magnitude) and scale.reference:
        modulus = "" if scale.modulus is None else f"{scale.modulus:g}"
        layout |= {"reference": render_text(scale.reference), "modulus": modulus}
    if isinstance(scale, FreeText):
        layout |= {"least": scale.least, "most": scale.most}
    return Question(
        widget=scale.widget,
        heading=criterion.heading,
        ask=criterion.question,
        definition=render_markdown(criterion.definition) if criterion.definition else NOTHING,
        shown=shown,
        **layout,  # type: ignore[arg-type]  # the names and types are those of Question
    )


def name_output(noun: str, place: int, comparative: bool) -> str:
    """Return what a page calls one of several outputs: a letter where they are compared, else a number."""
    return f"{noun} {ascii_uppercase[place - 1] if comparative and place <= 26 else place}"


def tell_answer(criterion: Criterion, answer: str, question: Question) -> str:
    """Return an answer in the words that raters read; the answer itself where there are none."""
    scale = criterion.scale
    if isinstance(scale, RatingScale):
        try:
            value = scale.write(scale.recognise(answer))
        except BadAnswer:
            return answer
        if question.widget == "line":
            return f"{float(value):.0f}"
        found = next((choice for choice in question.choices if choice.value == value), None)
        return f"{found.number} {found.label}".strip() if found else value
    parts = answer.split(",")
    if question.widget == "best_worst" and len(parts) == 2:
        return f"{question.best}: {_letter(parts[0])}, {question.worst}: {_letter(parts[1])}"
    if question.widget == "rank":
        return ", ".join(f"{_letter(str(place))} {rank}" for place, rank in enumerate(parts, start=1))
    return next((choice.label for choice in question.choices if choice.value == answer), answer)


def _letter(place: str) -> str:
    return ascii_uppercase[int(place) - 1] if place.isdigit() and 0 < int(place) <= 26 else place


def _name_place(option: Option, noun: str) -> Option:
    """Return the option under the name of its output, where it stands for one and has no words of its own."""
    if option.label or option.number is None:
        return option
    return Option(option.value, name_output(noun, option.number, True))


def _make_choices(options: tuple[Option, ...]) -> tuple[Choice, ...]:
    """Return the choices, each with a digit: the number that it shows, else its place in the list."""
    numbered = all(option.number is not None for option in options)
    choices = []
    for place, option in enumerate(options, start=1):
        number = option.number if numbered and option.number is not None else place
        shown = "" if option.number is None else str(option.number)
        choices.append(Choice(option.value, option.label, shown, str(number) if number <= 9 else ""))
    return tuple(choices)


def _stand_across(scale: RatingScale) -> bool:
    """Return whether two short answers stand side by side."""
    return isinstance(scale, Binary) and all(len(label) <= LONGEST_ACROSS for label in scale.labels)


def _may_be_row(scale: RatingScale) -> bool:
    """Return whether the points may stand in one row: numbers do, worded points where the study says so."""
    return isinstance(scale, Likert) or (isinstance(scale, Verbal) and scale.layout == "horizontal")


def _find_row(labels: tuple[str, ...], rooms: tuple[int, ...] = ROOMS) -> int:
    """Return the room in rem that the points want in one row, so that no word breaks; 0 for a list.

    Words may go on in a second or third line. What wants more room than a page has stays a list.
    """
    step = LEAST_STEP
    for label in labels:
        words = [len(word) for word in label.split()]
        wanted = max(max(words, default=0), sum(words) / MOST_LINES)
        step = max(step, AROUND_STEP + A_LETTER * wanted)
    room = len(labels) * step
    return next((one for one in rooms if room <= one), 0)


def _lay_out_line(scale: LineScale, face_words: tuple[str, str]) -> dict[str, object]:
    layout: dict[str, object] = {"middle": scale.pointer == "middle"}
    if isinstance(scale, Vas):
        low, high = (scale.low, scale.high) if scale.low and scale.high else face_words
        layout |= {"low": low, "high": high, "worded": bool(scale.low), "faces": scale.faces}
    if isinstance(scale, Graphic):
        layout |= {"points": scale.points, "low": scale.points[0], "high": scale.points[-1]}
        ends = [len(word) for label in (scale.points[0], scale.points[-1]) for word in label.split()]
        layout["row"] = _find_row(scale.points) if max(ends) <= LONGEST_END else 0
    return layout
