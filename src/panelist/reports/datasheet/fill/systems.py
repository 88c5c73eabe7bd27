"""Sections 1, 2 and 5: the experiment, the languages, who approved it. Only a person knows the rest."""

from panelist.core.prose import count, listing
from panelist.reports.datasheet.fill.facts import SheetFacts, filler, tick, write
from panelist.reports.datasheet.fill.given import read_given
from panelist.reports.datasheet.heds_questions import find_question
from panelist.reports.datasheet.languages import find_language
from panelist.reports.datasheet.sheet import BLANK, Place, SheetAnswer


@filler(q1_1_2="title, criteria, systems and items (a draft: the section of the paper is missing)")
def identify_experiment(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the title with criteria, systems and items."""
    study = facts.study
    criteria = listing([one.name for one in study.criteria], 8)
    systems = f"{count(len(study.systems), 'system')} ({listing(study.systems, 8)})"
    text = f"{study.title}: {criteria} of the outputs of {systems} for {count(len(study.items), 'item')}."
    return {("1.1.2", ""): write(text, "title, criteria and systems of the study", draft=True)}


OTHER = "Other (please describe)"
TRANSLATION = "15"  # the option of 2.3: machine translation


@filler(
    q2_4="`text_language`, else `language`, where outputs have a context and nothing is translated (a draft)",
    q2_5="`text_language`, else `language` (a draft where the file states neither)",
)
def tell_languages(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return the language of the outputs, and as a draft that of the inputs where they are shown."""
    file = facts.study.file
    tag = file.text_language or file.language
    stated = bool(file.text_language) or "language" in file.model_fields_set
    source = "text_language" if file.text_language else "language"
    found = {("2.5", ""): _tick_language(tag, source, draft=not stated)}
    translated = TRANSLATION in read_given(facts.study).get(("2.3", ""), BLANK).codes
    if "context" in facts.study.outputs.frame and not translated:
        found["2.4", ""] = _tick_language(tag, f"{source}; the outputs file has a context", draft=True)
    return found


def _tick_language(tag: str, source: str, draft: bool) -> SheetAnswer:
    question = find_question("3.0", "2.5")
    number = find_language(tag)
    if number is not None:
        code = next(one.code for one in question.options if one.number == str(number))
        return tick(code, source=source, draft=draft)
    other = next(one.code for one in question.options if one.words == OTHER)
    return tick(other, text=tag, source=source, draft=draft)


@filler(q5_1="`information.ethics`")
def tell_approval(facts: SheetFacts) -> dict[Place, SheetAnswer]:
    """Return who approved the study, where its information sheet says so."""
    ethics = facts.study.file.information.ethics
    return {("5.1", ""): write(ethics, "information.ethics")} if ethics.strip() else {}
