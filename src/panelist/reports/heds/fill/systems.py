"""Section 2: the languages of inputs and outputs. What systems take in and do only a person knows."""

from panelist.reports.heds.fill.base import filler, tick
from panelist.reports.heds.fill.facts import Facts
from panelist.reports.heds.languages import find_language
from panelist.reports.heds.questions import find_question
from panelist.reports.heds.sheet import Answer, Place

OTHER = "Other (please describe)"
TRANSLATION = "machine translation"


@filler(
    q2_4="`text_language`, else `language`, where outputs have a context and nobody translates (a draft)",
    q2_5="`text_language`, else `language` (a draft where the file states neither)",
)
def tell_languages(facts: Facts) -> dict[Place, Answer]:
    """Return the language of the outputs, and as a draft that of the inputs where they are shown."""
    file = facts.study.file
    tag = file.text_language or file.language
    stated = bool(file.text_language) or "language" in file.model_fields_set
    source = "text_language" if file.text_language else "language"
    found = {("2.5", ""): _tick_language(tag, source, draft=not stated)}
    translated = TRANSLATION in str(file.heds.get("2.3", "")).casefold()
    if "context" in facts.study.outputs.frame and not translated:
        found["2.4", ""] = _tick_language(tag, f"{source}; the outputs file has a context", draft=True)
    return found


def _tick_language(tag: str, source: str, draft: bool) -> Answer:
    question = find_question("3.0", "2.5")
    number = find_language(tag)
    if number is not None:
        code = next(one.code for one in question.options if one.number == str(number))
        return tick(code, source=source, draft=draft)
    other = next(one.code for one in question.options if one.words == OTHER)
    return tick(other, text=tag, source=source, draft=draft)
