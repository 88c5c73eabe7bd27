"""Sheets for the tests, made by us: complete ones of both versions, and any that hypothesis thinks of."""

from pathlib import Path

from hypothesis import strategies as st

from panelist.reports.datasheet.heds_questions import VERSIONS, SheetQuestion, Version, list_questions
from panelist.reports.datasheet.sheet import Place, Sheet, SheetAnswer

SHARED = Path(__file__).resolve().parents[4] / "shared" / "heds"
CARDS = ("card-2.x-reprohum-d2t.json", "sample_datacard_heds2web.json", "sample_datacard_heds3.json")
SAMPLES = CARDS[1:]
CRITERIA = ("fluency", "adequacy")

TEXTS = {
    "3.1.1": "40",
    "3.2.1": "24",
    "3.2.3": "An online panel; 12.60 GBP an hour.",
    "3.3.3.2": "Two pages say which answer to give.",
    "3.3.8": "Everybody uses a browser of their own.",
    "4.3.3": "5",
    "4.3.4": "1, 2, 3, 4, 5",
    "4.3.6": "N/A",
    "4.3.11.1": "Krippendorff's alpha",
    "4.3.11.2": "0.61",
    "4.3.12.1": "IntraAA not assessed",
    "4.3.12.2": "IntraAA not assessed",
}
CODES_3 = {
    "1.1.1": "1",
    "2.4": "42",
    "2.5": "42",
    "3.2.2.3": "2",
    "3.2.2.4": "2",
    "3.3.3.1": "2",
    "3.3.7": "1",
}
CODES_3 |= {"4.2.2": "1", "4.3.8": "2", "5.2": "1", "5.3": "1"}
CODES_2 = {**CODES_3, "2.4": "41", "2.5": "41", "4.3.11.1": "1", "4.3.12.1": "2"}


def make_full(version: Version = "3.0", **changed: SheetAnswer) -> Sheet:
    """Return a sheet with an answer to every question; ``q4_3_3=Answer(…)`` changes one for all criteria."""
    codes = CODES_3 if version == "3.0" else CODES_2
    answers: dict[Place, SheetAnswer] = {}
    for question in list_questions(version):
        for slot in CRITERIA if question.per_criterion else ("",):
            name = f"q{question.number.replace('.', '_')}"
            given = changed.get(name, _answer(question, codes))
            answers[question.number, slot] = given
    return Sheet(version, CRITERIA, answers, "full")


def _answer(question: SheetQuestion, codes: dict[str, str]) -> SheetAnswer:
    if not question.is_choice:
        return SheetAnswer(text=TEXTS.get(question.now, f"about {question.now}"))
    code = codes.get(question.now, "1")
    text = TEXTS.get(question.now, "https://example.org/x") if question.by_code[code].needs_text else ""
    return SheetAnswer((code,), text)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)


@st.composite
def any_sheet(draw: st.DrawFn, version: Version | None = None) -> Sheet:
    """Return any sheet that a person could have made in the form."""
    chosen = version if version is not None else draw(st.sampled_from(VERSIONS))
    names = st.text(st.characters(codec="utf-8", exclude_characters="|&<>"), min_size=1, max_size=8)
    criteria = tuple(draw(st.lists(names, max_size=2, unique=True)))
    answers: dict[Place, SheetAnswer] = {}
    for question in list_questions(chosen):
        for slot in criteria if question.per_criterion else ("",):
            if draw(st.booleans()):
                answers[question.number, slot] = draw(any_answer(question))
    return Sheet(chosen, criteria, {place: one for place, one in answers.items() if one != SheetAnswer()})


@st.composite
def any_answer(draw: st.DrawFn, question: SheetQuestion) -> SheetAnswer:
    """Return any answer: of a choice some options, with an explanation where one asks for it."""
    if not question.is_choice:
        return SheetAnswer(text=draw(WORDS))
    if question.kind == "one":
        codes = {draw(st.sampled_from([one.code for one in question.options]))}
    else:
        codes = set(draw(st.lists(st.sampled_from([one.code for one in question.options]), max_size=3)))
    ticked = tuple(one.code for one in question.options if one.code in codes)
    needs = any(question.by_code[code].needs_text for code in ticked)
    return SheetAnswer(ticked, draw(WORDS.filter(str.strip)) if needs else "")
