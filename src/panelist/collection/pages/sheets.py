"""Pages of the plan: texts and questions put together, without a word about where the texts come from."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from markupsafe import Markup

from panelist.collection.hits.keys import make_key
from panelist.collection.pages.agenda import PlanPage, Sitting
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import Asked, HitPage, Output, PracticePage, RatingPage
from panelist.collection.pages.safe_html import NOTHING
from panelist.collection.pages.turn_rows import make_rows
from panelist.formats import Stimulus
from panelist.formats.plain import render_text, trim_text
from panelist.formats.sanitise import name_regions

LONGEST_LINE = 90  # characters of a context that still reads as a heading
LONG_TEXT, LONG_LINES = 1200, 16  # characters or lines of outputs that fill a screen

Problem = tuple[str, tuple[object, ...]]
"""The key of a text that says what is missing, and what it counts."""


def page_name(occasion: int, order: int) -> str:
    """Return the id of a page of the plan."""
    return f"{occasion}-{order}"


class AskedField(NamedTuple):
    """What a field asks: a criterion, about the output in a place (0: all together), of a turn (0: all)."""

    criterion: str
    place: int
    turn: int = 0


def find_fields(booklet: Booklet, page: PlanPage) -> dict[str, AskedField]:
    """Return the fields of a page as shown, by name: ``c1p2s3`` is criterion 1, output 2, turn 3."""
    fields: dict[str, AskedField] = {}
    parts = booklet.count_parts(page)
    for place, count in enumerate(parts, start=1):
        for turn in range(1, count + 1) if count else (0,):
            for name in page.criteria:
                if not booklet.criterion(name).scale.comparative:
                    field = f"c{booklet.numbers[name]}p{place}"
                    fields[f"{field}s{turn}" if turn else field] = AskedField(name, place, turn)
    shared = min(parts, default=0)  # a turn that one of the outputs does not have cannot be compared
    for turn in range(1, shared + 1) if shared else (0,):
        for name in page.criteria:
            if booklet.criterion(name).scale.comparative:
                field = f"c{booklet.numbers[name]}"
                fields[f"{field}s{turn}" if turn else field] = AskedField(name, 0, turn)
    return fields


def make_rating_page(
    booklet: Booklet,
    sitting: Sitting,
    occasion: int,
    page: PlanPage,
    answers: Mapping[str, str],
    problems: Mapping[str, Problem] | None = None,
) -> RatingPage:
    """Return a page of the plan with the answers so far; ``problems`` says which are missing."""
    collecting = booklet.study.file.collecting
    fields = find_fields(booklet, page)
    comparative = all(field.place == 0 for field in fields.values())
    several = len(page.outputs) > 1
    practice = page.phase == "practice"
    among = sitting.practice if practice else sitting.counted
    context = trim_text(booklet.beside(page, "context"))
    is_line = len(context) <= LONGEST_LINE and "\n" not in context and booklet.is_plain("context")
    name = page_name(occasion, page.order)
    reference = booklet.beside(page, "reference")
    if booklet.study.file.hit is not None:
        return HitPage(
            id=page_name(occasion, page.order),
            n=sitting.count_done(page),
            total=len(among),
            noun=booklet.noun,
            layout="one",
            asked=_ask(booklet, page, fields, answers, problems or {}),
            source=f"/hit/{make_key(booklet.study, page.outputs[0][0])}",
        )
    make = PracticePage if practice else RatingPage
    texts = booklet.texts(page)
    cells = booklet.cells(page)
    outputs = make_outputs(booklet, page, name)
    rows = make_rows(booklet, cells, f"{name}-")
    shown_context = NOTHING if is_line else show_beside(booklet, context, "context", f"{name}-context")
    shown_reference = show_beside(booklet, reference, "reference", f"{name}-reference")
    return make(
        id=page_name(occasion, page.order),
        n=among.index(page) + 1 if practice else sitting.count_done(page),
        total=len(among),
        noun=booklet.noun,
        layout="one" if not several else "compare" if comparative else "several",
        line=context if is_line else "",
        context=shown_context,
        reference=shown_reference,
        outputs=outputs,
        rows=rows,
        dialogue=bool(rows) or booklet.study.outputs.options.formats.context == "turns",
        sheets=find_sheets(booklet, shown_context, shown_reference, *(one.text for one in outputs)),
        asked=_ask(booklet, page, fields, answers, problems or {}),
        practice=practice,
        mixed=booklet.mixed,
        forced=collecting.forced,
        back=collecting.back and not practice and page is not among[0],
        seconds=None if practice else collecting.page_seconds,
        read=collecting.read,
        played=collecting.played,
        ahead=booklet.list_ahead(sitting.after(page.order), occasion),
        language=booklet.study.file.text_language,
        long=sum(map(len, texts)) > LONG_TEXT or sum(text.count("\n") + 1 for text in texts) > LONG_LINES,
    )


def make_outputs(booklet: Booklet, page: PlanPage, name: str) -> tuple[Output, ...]:
    """Return the texts of a page, named by letters where the study compares them and by numbers where not."""
    several = len(page.outputs) > 1
    outputs = []
    for place, cell in enumerate(booklet.cells(page), start=1):
        label = booklet.name_output(place) if several else ""
        if booklet.is_told(page) and booklet.study.outputs.media.kinds("output"):
            outputs.append(Output(render_text(cell.text), label, place))  # told in words, never played
            continue
        image = bool(booklet.image(page, place))
        outputs.append(make_output(booklet, cell, label, place, f"{name}-{place}", image))
    return _underline(booklet, outputs, booklet.texts(page)) if booklet.underlines else tuple(outputs)


def _underline(booklet: Booklet, outputs: list[Output], texts: tuple[str, ...]) -> tuple[Output, ...]:
    """Return two outputs with the words underlined in which they differ; others as they are."""
    if len(outputs) != 2 or not all(text.strip() for text in texts):
        return tuple(outputs)
    marked = booklet.mark((texts[0], texts[1]))
    return tuple(replace(output, text=html) for output, html in zip(outputs, marked, strict=True))


def make_output(
    booklet: Booklet, cell: Stimulus | str, label: str, place: int, where: str, image: bool = False
) -> Output:
    """Return a text to judge; the regions in it that scroll bear its name, if it has one."""
    text = cell if isinstance(cell, str) else cell.text
    if not text.strip() and not image:
        return Output(booklet.nothing, label, place)
    html = name_regions(booklet.show(cell, "output", where), label)
    return Output(html, label, place, image, not booklet.is_plain("output"), '="media:' in html)


def show_beside(booklet: Booklet, text: str, column: str, where: str) -> Markup:
    """Return what stands beside the outputs as HTML: their context or reference, or nothing."""
    shown = booklet.show(text, column, where) if text.strip() else NOTHING
    return name_regions(shown, booklet.words.say(column))


def find_sheets(booklet: Booklet, *texts: Markup) -> tuple[str, ...]:
    """Return the style sheets that texts need; that of formulas brings a font along."""
    if all(booklet.is_plain(column) for column in ("output", "context", "reference")):
        return ()
    marks = {"formulas": "<math", "media": '="media:', "turns": 'class="turns"'}
    return ("stimuli", *(name for name, mark in marks.items() if any(mark in text for text in texts)))


def _ask(
    booklet: Booklet,
    page: PlanPage,
    fields: Mapping[str, AskedField],
    answers: Mapping[str, str],
    problems: Mapping[str, Problem],
) -> tuple[Asked, ...]:
    """Return the questions of a page with what was answered."""
    shown = len(page.outputs)
    reasons = booklet.study.file.collecting.reasons
    asked = []
    for name, (criterion, place, turn) in fields.items():
        problem, numbers = problems.get(name, ("", ()))
        label = booklet.name_output(place) if place and shown > 1 else ""
        if turn:
            label = booklet.words.say("turn_of", turn, name=label or booklet.noun)
        asked.append(
            Asked(
                booklet.question(criterion, shown if place == 0 else 1),
                name,
                answers.get(name, ""),
                problem,
                numbers,
                label,
                place,
                turn,
                answers.get(f"{name}-why", "") if reasons else None,
            )
        )
    return tuple(asked)
