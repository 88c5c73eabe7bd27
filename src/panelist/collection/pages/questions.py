"""Criteria laid out as questions: which words, which answers, by which digits."""

from string import ascii_uppercase

from panelist.collection.pages.models import Choice, PageQuestion
from panelist.collection.pages.safe_html import NOTHING, render_markdown
from panelist.scales.base import Option
from panelist.study.sections.criteria import Criterion


def make_question(criterion: Criterion, shown: int, noun: str) -> PageQuestion:
    """Return the question of a criterion about ``shown`` outputs; ``noun`` is what they are called."""
    scale = criterion.scale
    outputs = tuple(name_output(noun, place, scale.comparative) for place in range(1, shown + 1))
    return PageQuestion(
        scale=scale,
        heading=criterion.heading,
        ask=criterion.question,
        definition=render_markdown(criterion.definition) if criterion.definition else NOTHING,
        choices=_make_choices(scale.list_choices(shown), outputs if scale.comparative else ()),
        across=scale.stands_across(shown),
        row=scale.find_row(),
        outputs=outputs,
    )


def name_output(noun: str, place: int, comparative: bool) -> str:
    """Return what a page calls one of several outputs: a letter where they are compared, else a number."""
    return f"{noun} {ascii_uppercase[place - 1] if comparative and place <= 26 else place}"


def _make_choices(options: tuple[Option, ...], outputs: tuple[str, ...]) -> tuple[Choice, ...]:
    """Return the choices, each with a digit: the number that it shows, else its place in the list.

    An option without words that stands for one of the ``outputs`` gets the name of that output.
    """
    shown = [
        Option(option.value, outputs[option.number - 1])
        if outputs and option.number is not None and not option.label
        else option
        for option in options
    ]
    numbered = all(option.number is not None for option in shown)
    choices = []
    for place, option in enumerate(shown, start=1):
        number = option.number if numbered and option.number is not None else place
        text = "" if option.number is None else str(option.number)
        choices.append(Choice(option.value, option.label, text, str(number) if number <= 9 else ""))
    return tuple(choices)
