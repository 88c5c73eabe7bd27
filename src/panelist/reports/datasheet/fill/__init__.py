"""From what is known to a sheet: one file per section, and what a person wrote takes precedence."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from panelist.core.tables.review import say_simulated
from panelist.design.plan import Plan
from panelist.reports.datasheet.convert.versions import DESCRIPTION, convert_sheet
from panelist.reports.datasheet.fill import criteria, people, procedure, sample, systems
from panelist.reports.datasheet.fill.facts import FILLERS, SOURCES, SheetFacts, gather_facts
from panelist.reports.datasheet.fill.given import read_given
from panelist.reports.datasheet.heds_questions import NEWEST, Version, find_question
from panelist.reports.datasheet.sheet import Place, Sheet, SheetAnswer
from panelist.study.study import Study

__all__ = ["FILLERS", "SOURCES", "SheetFacts", "fill_sheet", "gather_facts"]
SECTIONS = (systems, sample, people, procedure, criteria)
READABLE = {ord("&"): "and", ord("<"): "(", ord(">"): ")", ord("|"): "/"}
RECRUITMENT = "3.2.3"
CONTROLLED = {"2", "4", "6"}  # of 3.3.7


def fill_sheet(
    study: Study,
    plan: Plan | None = None,
    ratings: Any = None,
    version: Version = NEWEST,
    *,
    power: Path | None = None,
    collected: bool = False,
    resamples: int = 1000,
) -> Sheet:
    """Return the datasheet of a study, as far as study, plan and ratings have the answers."""
    facts = gather_facts(study, plan, ratings, power=power, collected=collected, resamples=resamples)
    answers: dict[Place, SheetAnswer] = {}
    for fill in FILLERS:
        answers |= fill(facts)
    answers |= _follow(given := read_given(study)) | given
    kept = None if facts.cleaned is None else facts.cleaned.kept
    mark = "" if kept is None else say_simulated(kept.n_simulated, len(kept))
    if mark:  # in the file of the form as well, which has no separate place for it
        said = answers.get((RECRUITMENT, ""), SheetAnswer())
        answers[RECRUITMENT, ""] = replace(said, text=f"{mark}. {said.text}".strip())
    description = answers.pop((DESCRIPTION, ""), None)  # only 2.x asks it
    renamed = rename_criteria([one.name for one in study.criteria])
    answers = {(number, renamed.get(name, "")): one for (number, name), one in answers.items()}
    names = tuple(renamed.values())
    told = tuple(
        f"4: the form garbles & < >, so {old!r} is called {new!r}."
        for old, new in renamed.items()
        if old != new
    )
    told = (*([f"{mark}."] if mark else []), *told)
    sheet = Sheet(NEWEST, names, answers, study.title, notes=told, simulated=mark)
    if version == NEWEST:
        return sheet
    made = convert_sheet(sheet, version)
    notes = (*told, *(str(one) for one in made.lost))
    older = dict(made.sheet.answers)
    if description is not None:
        older[DESCRIPTION, ""] = description
    return Sheet(version, names, older, study.title, notes=notes, simulated=mark)


def rename_criteria(names: list[str]) -> dict[str, str]:
    """Return for each criterion a name that the form can read: it reads names as HTML.

    >>> rename_criteria(["fluency", "form & content", "form and content"])
    {'fluency': 'fluency', 'form & content': 'form and content (2)', 'form and content': 'form and content'}
    """
    made: dict[str, str] = {}
    for name in names:
        plain = new = name.translate(READABLE)
        n = 1
        while new != name and new in {*names, *made.values()}:
            n += 1
            new = f"{plain} ({n})"
        made[name] = new
    return made


def _follow(given: dict[Place, SheetAnswer]) -> dict[Place, SheetAnswer]:
    """Return what follows from a person's answers by the rules of the form."""
    found = {}
    if CONTROLLED & set(given.get(("3.3.7", ""), SheetAnswer()).codes):
        found["3.3.8", ""] = SheetAnswer((), "N/A", "3.3.7: conditions are controlled")
    if "7" in given.get(("3.3.3.1", ""), SheetAnswer()).codes:
        found["3.3.3.2", ""] = SheetAnswer((), "N/A", "3.3.3.1: no quality assurance")
    return found


def describe_sources() -> list[tuple[str, str, str]]:
    """Return number, question and source of every question that can be filled."""
    rows = []
    for number in SOURCES:
        question = find_question("2.x" if number == DESCRIPTION else NEWEST, number)
        rows.append((number, question.title, SOURCES[number]))
    return sorted(rows, key=lambda row: [int(part) for part in row[0].split(".")])
