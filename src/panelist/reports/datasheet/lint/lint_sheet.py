"""Whether the answers of a sheet fit each other: one function per rule, each finding with its question."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.prose import count
from panelist.reports.datasheet.files.sheet_view import say_more
from panelist.reports.datasheet.sheet import Blank, Sheet

Rule = Callable[[Sheet], "Iterator[LintFinding]"]
RULES: dict[str, Rule] = {}


@dataclass(frozen=True)
class LintFinding:
    """Something that does not fit: the question, the criterion, and why."""

    rule: str
    number: str
    criterion: str
    text: str
    grave: bool = True
    """Whether the check fails by it; if not, it is advice."""

    def __str__(self) -> str:
        where = f" ({self.criterion})" if self.criterion else ""
        return f"{self.number}{where}: {self.text}"


@dataclass(frozen=True, eq=False)
class Lint(Result):
    """What a check of a sheet found: contradictions, advice, and what is open."""

    name: str
    version: str
    findings: tuple[LintFinding, ...]
    open: tuple[Blank, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no answer contradicts another."""
        return not any(one.grave for one in self.findings)

    def title(self) -> str:
        """Return the heading."""
        return f"{self.name}, HEDS {self.version}"

    def sentence(self) -> str:
        """Return the outcome in words."""
        grave = sum(one.grave for one in self.findings)
        said = "No answer contradicts another" if not grave else f"{count(grave, 'finding')}"
        return f"{said}; {count(len(self.open), 'question')} open."

    def parts(self) -> list[Part]:
        """Return the outcome, the findings, what is open, and the notes."""
        header = ("question", "criterion", "finding")
        parts: list[Part] = [Sentence(self.sentence())]
        for caption, grave in (("Findings", True), ("Advice", False)):
            rows = [(one.number, one.criterion, one.text) for one in self.findings if one.grave is grave]
            if rows:
                parts.append(Table(caption, header, rows))
        if self.open:
            rows = [
                (one.question.number, one.criterion, f"{one.question.title}{say_more(one.missing)}")
                for one in self.open
            ]
            parts.append(Table("Open", ("question", "criterion", "what it asks"), rows))
        return [*parts, *(Sentence(note) for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the findings and what is open."""
        return {
            "file": self.name,
            "version": self.version,
            "passed": self.passed,
            "findings": [asdict(one) for one in self.findings],
            "open": [
                {"number": one.question.number, "criterion": one.criterion, "missing": one.missing}
                for one in self.open
            ],
            "notes": list(self.notes),
        }


def rule(name: str) -> Callable[[Rule], Rule]:
    """Register a rule under its name."""

    def register(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return register


def lint_sheet(sheet: Sheet) -> Lint:
    """Return what does not fit in a sheet, rule by rule, sorted by question."""
    from panelist.reports.datasheet.lint import rules  # noqa: F401  (they register)

    found = [finding for check in RULES.values() for finding in check(sheet)]
    order = {place: rank for rank, place in enumerate((one.number, name) for one, name in sheet.places())}
    found.sort(key=lambda one: order.get((one.number, one.criterion), len(order)))
    return Lint(sheet.title, sheet.version, tuple(found), tuple(sheet.open()), sheet.notes)
