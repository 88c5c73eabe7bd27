"""A sheet in short: what is answered from where, what a person should read, and what is open."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.reports.datasheet.files.sheet_view import say_counts, say_more
from panelist.reports.datasheet.fill.given import SOURCE
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer, say_missing


@dataclass(frozen=True, eq=False)
class SheetSummary(Result):
    """What ``panelist heds`` prints."""

    sheet: Sheet

    def title(self) -> str:
        """Return the heading."""
        return f"{self.sheet.title}: Human Evaluation Datasheet {self.sheet.version}"

    def parts(self) -> list[Part]:
        """Return the counts, the sources, the drafts, what is open, and the notes."""
        sheet = self.sheet
        parts: list[Part] = [Sentence(say_counts(sheet))]
        each = ((one, sheet.answer(one.number, name)) for one, name in sheet.places())
        sources = Counter(
            _name_source(answer) for one, answer in each if answer.source and not say_missing(one, answer)
        )
        if sources:
            listed = ", ".join(f"{n} from {name}" for name, n in sources.most_common())
            parts.append(Sentence(f"Answers: {listed}."))
        drafts = _merge((one.number, name, one.title) for one, name, _ in sheet.drafts())
        if drafts:
            parts.append(
                Table("Drafts, made from the study: please read", ("question", "criterion", "asks"), drafts)
            )
        blanks = _merge(
            (one.question.number, one.criterion, f"{one.question.title}{say_more(one.missing)}")
            for one in sheet.open()
        )
        if blanks:
            parts.append(Table("Open: only a person knows", ("question", "criterion", "asks"), blanks))
        return [*parts, *(Sentence(note) for note in sheet.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {"title": self.sheet.title, "version": self.sheet.version, "open": len(self.sheet.open())}


def summarise_sheet(sheet: Sheet) -> SheetSummary:
    """Return the sheet in short."""
    return SheetSummary(sheet)


def _name_source(answer: SheetAnswer) -> str:
    """Return in one word where an answer comes from."""
    if answer.source == SOURCE:
        return "people (heds:)"
    for name in ("ratings", "plan", "power"):
        if name in answer.source:
            return {"power": "the power analysis"}.get(name, f"the {name}")
    return "the study file"


def _merge(rows: Any) -> list[tuple[str, str, str]]:
    """Return rows with the criteria of one question on one line."""
    merged: dict[tuple[str, str], list[str]] = {}
    for number, criterion, title in rows:
        merged.setdefault((number, title), []).append(criterion)
    return [(number, ", ".join(filter(None, names)), title) for (number, title), names in merged.items()]
