"""What a repeat must know and an original's study file does not say: the questions to put to its authors."""

from collections.abc import Iterator
from dataclasses import dataclass

from panelist.study.model import StudyFile
from panelist.study.wages import find_wage


@dataclass(frozen=True)
class OpenQuestion:
    """A key of the study file that is blank, and the question to the authors."""

    key: str
    question: str


def list_open_questions(file: StudyFile) -> list[OpenQuestion]:
    """Return the questions that an original's study file leaves open, in the order of the file.

    A choice that has a default, such as the order of items, is open where the file does not make it.
    """
    return [
        OpenQuestion(key, question)
        for look in (_ask_about_criteria, _ask_about_raters, _ask_about_task, _ask_about_analysis)
        for key, question in look(file)
    ]


def _ask_about_criteria(file: StudyFile) -> Iterator[tuple[str, str]]:
    for one in file.criteria:
        key = f"criteria.{one.name}"
        if not one.definition:
            yield f"{key}.definition", f"Were raters given a definition of {one.name}? In which words?"
        if _lacks_labels(one.scale):
            yield f"{key}.scale", f"Which words stood at the points or ends of the scale for {one.name}?"


def _lacks_labels(scale: object) -> bool:
    """Return whether a scale shows words, and the file does not say which."""
    fields: set[str] = getattr(type(scale), "model_fields", {}).keys() & {"labels", "low", "high", "poles"}
    return bool(fields) and not fields & getattr(scale, "model_fields_set", set())


def _ask_about_raters(file: StudyFile) -> Iterator[tuple[str, str]]:
    raters, design = file.raters, file.design
    counted = raters.count or any(group.raters for group in raters.groups)
    if not counted:
        yield "raters.count", "How many raters were there in all, and how many outputs did each judge?"
    if design.ratings_per_output is None and design.type != "full":
        yield "design.ratings_per_output", "How many raters judged each output?"
    if not raters.description:
        yield "raters.description", "Who were the raters: languages, country, training, age?"
    if not raters.recruitment:
        yield "raters.recruitment", "How were raters found, and who was let in?"
    for name, words in (
        ("experts", "Were the raters experts?"),
        ("known_to_authors", "Did the authors know the raters?"),
        ("authors_among_them", "Were authors among the raters?"),
    ):
        if getattr(raters, name) is None:
            yield f"raters.{name}", words
    if raters.paid == "money" and (file.pay is None or not find_wage(file.pay)):
        yield "pay", "What were raters paid, and how long did a task take them?"
    elif file.pay is not None and file.pay.minutes_per_trial is None:
        yield "pay.minutes_per_trial", "How long did a page take?"


def _ask_about_task(file: StudyFile) -> Iterator[tuple[str, str]]:
    if not file.instructions:
        yield "instructions", "What did raters read before they began, word for word?"
    if not file.examples and file.practice is None:
        yield "practice", "Were there worked examples, practice items or training?"
    if file.checks is None:
        yield "checks", "Were there attention checks, and what became of raters who failed them?"
    for name, words in (
        ("order", "In which order did items come: the same for all, or drawn anew for each rater?"),
        ("criteria", "Were the criteria judged together, or one after the other?"),
    ):
        if name not in file.design.model_fields_set and (name != "criteria" or len(file.criteria) > 1):
            yield f"design.{name}", words
    if "positions" not in file.design.model_fields_set and file.design.type in (
        "pages",
        "pairs",
        "best-worst",
    ):
        yield "design.positions", "In which order did outputs stand on a page?"
    if "forced" not in file.collecting.model_fields_set:
        yield "collecting.forced", "Could raters leave a question unanswered?"
    if not file.information.ethics:
        yield "information.ethics", "Who approved the study, and what did raters consent to?"


def _ask_about_analysis(file: StudyFile) -> Iterator[tuple[str, str]]:
    analysis = file.analysis
    if not analysis.exclude.model_fields_set:
        yield "analysis.exclude", "Were raters or ratings left out, or collected again, and by which rule?"
    if not analysis.aggregation:
        yield "analysis.aggregation", "How did single ratings become the scores that were printed?"
    if not analysis.findings:
        yield "analysis.findings", "Which findings does the paper claim from these ratings?"
