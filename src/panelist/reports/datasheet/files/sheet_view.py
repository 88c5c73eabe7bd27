"""A sheet as people read it: sections, questions, answers in words. Markdown, HTML and LaTeX draw it."""

from dataclasses import dataclass

from panelist.reports.datasheet.heds_questions import list_sections
from panelist.reports.datasheet.sheet import Sheet, describe_answer, say_missing

CITATION = {
    "3.0": "Belz & Thomson (2025), HEDS 3.0, https://aclanthology.org/2025.gem-1.6",
    "2.x": "Shimorina & Belz (2022), The Human Evaluation Datasheet, https://aclanthology.org/2022.humeval-1.6",
}
LICENCE = "The labels of options are those of the datasheet (CC BY 4.0); the questions are reworded."


@dataclass(frozen=True)
class Row:
    """One question with its answer, a paragraph each; ``open`` says that it is open."""

    number: str
    title: str
    answer: tuple[str, ...]
    open: str
    draft: bool


@dataclass(frozen=True)
class SheetGroup:
    """Questions under one heading: a section, or a criterion in section 4."""

    section: str
    heading: str
    criterion: str
    rows: tuple[Row, ...]


def view_sheet(sheet: Sheet) -> list[SheetGroup]:
    """Return the sheet as groups, in the order of the form."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for question, criterion in sheet.places():
        answer = sheet.answer(question.number, criterion)
        row = Row(
            question.number,
            question.title,
            tuple(describe_answer(question, answer)),
            _say_open(say_missing(question, answer)),
            answer.draft,
        )
        groups.setdefault((question.section, criterion), []).append(row)
    titles = list_sections()
    made = []
    for (section, criterion), rows in groups.items():
        heading = f"{section} {titles[section]}" + (f": {criterion}" if criterion else "")
        made.append(SheetGroup(section, heading, criterion, tuple(rows)))
    return made


def say_more(missing: str) -> str:
    """Return what is missing where something is there already, in brackets."""
    return "" if missing in ("", "no answer", "no option") else f" [{missing}]"


def _say_open(missing: str) -> str:
    return f"Open{say_more(missing)}" if missing else ""


def count_answers(sheet: Sheet) -> tuple[int, int, int]:
    """Return how many questions are answered, how many of these are drafts, and how many are open."""
    n_open = len(sheet.open())
    return sum(1 for _ in sheet.places()) - n_open, len(sheet.drafts()), n_open


def say_counts(sheet: Sheet) -> str:
    """Return the counts in words."""
    answered, drafts, n_open = count_answers(sheet)
    drafted = f" ({drafts} of them drafts to read)" if drafts else ""
    return f"{answered} questions answered{drafted}, {n_open} open."
