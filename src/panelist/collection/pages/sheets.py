"""Pages of the plan: texts and questions put together, without a word about where the texts come from."""

from collections.abc import Mapping

from panelist.collection.hits.keys import make_key
from panelist.collection.pages.agenda import PlanPage, Sitting
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import Asked, HitPage, Output, PracticePage, RatingPage
from panelist.collection.pages.questions import name_output
from panelist.collection.pages.safe_html import NOTHING
from panelist.formats.plain import trim_text

LONGEST_LINE = 90  # characters of a context that still reads as a heading
LONG_TEXT, LONG_LINES = 1200, 16  # characters or lines of outputs that fill a screen

Problem = tuple[str, tuple[object, ...]]
"""The key of a text that says what is missing, and what it counts."""


def page_name(occasion: int, order: int) -> str:
    """Return the id of a page of the plan."""
    return f"{occasion}-{order}"


def find_fields(booklet: Booklet, page: PlanPage) -> dict[str, tuple[str, int]]:
    """Return the fields of a page as shown: name → criterion and place (0: all outputs together)."""
    fields: dict[str, tuple[str, int]] = {}
    for place in range(1, len(page.outputs) + 1):
        for name in page.criteria:
            if not booklet.criterion(name).scale.comparative:
                fields[f"c{booklet.numbers[name]}p{place}"] = (name, place)
    for name in page.criteria:
        if booklet.criterion(name).scale.comparative:
            fields[f"c{booklet.numbers[name]}"] = (name, 0)
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
    comparative = all(place == 0 for _, place in fields.values())
    several = len(page.outputs) > 1
    practice = page.phase == "practice"
    among = sitting.practice if practice else sitting.counted
    context = trim_text(booklet.beside(page, "context"))
    plain = booklet.study.outputs.options.formats.context == "plain"
    is_line = plain and len(context) <= LONGEST_LINE and "\n" not in context
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
    return make(
        id=page_name(occasion, page.order),
        n=among.index(page) + 1 if practice else sitting.count_done(page),
        total=len(among),
        noun=booklet.noun,
        layout="one" if not several else "compare" if comparative else "several",
        line=context if is_line else "",
        context=booklet.show(context, "context", f"{name}-context") if context and not is_line else NOTHING,
        reference=booklet.show(reference, "reference", f"{name}-reference") if reference.strip() else NOTHING,
        outputs=make_outputs(booklet, page, name),
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
    return tuple(
        Output(
            html,
            name_output(booklet.noun, place, booklet.lettered) if several else "",
            place,
            bool(booklet.image(page, place)),
            '="media:' in html,
        )
        for place, html in enumerate(booklet.show_outputs(page, name), start=1)
    )


def _ask(
    booklet: Booklet,
    page: PlanPage,
    fields: Mapping[str, tuple[str, int]],
    answers: Mapping[str, str],
    problems: Mapping[str, Problem],
) -> tuple[Asked, ...]:
    """Return the questions of a page with what was answered."""
    shown = len(page.outputs)
    reasons = booklet.study.file.collecting.reasons
    asked = []
    for name, (criterion, place) in fields.items():
        problem, numbers = problems.get(name, ("", ()))
        asked.append(
            Asked(
                booklet.question(criterion, shown if place == 0 else 1),
                name,
                answers.get(name, ""),
                problem,
                numbers,
                name_output(booklet.noun, place, booklet.lettered) if place and shown > 1 else "",
                place,
                answers.get(f"{name}-why", "") if reasons else None,
            )
        )
    return tuple(asked)
