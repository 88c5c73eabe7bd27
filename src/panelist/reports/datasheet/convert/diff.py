"""Two sheets side by side, question by question; sheets of different versions are compared as 3.0."""

from dataclasses import dataclass
from typing import Any

from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.prose import count
from panelist.reports.datasheet.convert.versions import Lost, convert_sheet
from panelist.reports.datasheet.heds_questions import NEWEST, SheetQuestion, Version
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer, describe_answer


@dataclass(frozen=True)
class SheetDifference:
    """One question that the two answer differently; a missing answer is empty."""

    number: str
    criterion: str
    title: str
    first: str
    second: str


@dataclass(frozen=True, eq=False)
class SheetDiff(Result):
    """What two sheets answer differently, and what could not be compared."""

    first: str
    second: str
    version: str
    n_same: int
    differences: tuple[SheetDifference, ...]
    notes: tuple[str, ...] = ()

    def title(self) -> str:
        """Return the heading."""
        return f"{self.first} and {self.second}, HEDS {self.version}"

    def parts(self) -> list[Part]:
        """Return the counts, the table of differences, and the notes."""
        n = len(self.differences)
        said = f"{count(n, 'answer differs', 'answers differ')}, {self.n_same} are the same."
        parts: list[Part] = [Sentence(said)]
        if self.differences:
            header = ("question", "criterion", "asks", self.first, self.second)
            if len(set(header)) < len(header):
                header = (*header[:3], f"{self.first} (1)", f"{self.second} (2)")
            rows = [
                (one.number, one.criterion, one.title, one.first or "(open)", one.second or "(open)")
                for one in self.differences
            ]
            parts.append(Table("Differences", header, rows))
        return [*parts, *(Sentence(note) for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the differences."""
        return {
            "first": self.first,
            "second": self.second,
            "version": self.version,
            "same": self.n_same,
            "differences": [vars(one) for one in self.differences],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class AnswerPair:
    """What two sheets answer to one question."""

    question: SheetQuestion
    criterion: str
    first: SheetAnswer
    second: SheetAnswer

    @property
    def same(self) -> bool:
        """Whether both say the same, white space aside."""
        a, b = self.first, self.second
        return a.codes == b.codes and a.text.split() == b.text.split()


def compare_sheets(first: Sheet, second: Sheet) -> SheetDiff:
    """Return what two sheets answer differently; criteria are paired by name, whatever their case."""
    pairs, version, notes = pair_answers(first, second)
    same = sum(one.same and not is_blank(one.first) for one in pairs)
    found = []
    for one in pairs:
        if not one.same:
            said = ("\n".join(describe_answer(one.question, answer)) for answer in (one.first, one.second))
            found.append(SheetDifference(one.question.number, one.criterion, one.question.title, *said))
    return SheetDiff(first.title, second.title, version, same, tuple(found), tuple(notes))


def is_blank(answer: SheetAnswer) -> bool:
    """Return whether nothing is answered."""
    return not (answer.codes or answer.text.strip())


def pair_answers(first: Sheet, second: Sheet) -> tuple[list[AnswerPair], Version, list[str]]:
    """Return the answers of two sheets question by question, the version they are compared in, and notes."""
    notes: list[str] = []
    sheets = []
    for sheet in (first, second):
        if first.version != second.version:
            made = convert_sheet(sheet, NEWEST)
            notes += [f"{sheet.title} as {NEWEST}: {lost}" for lost in _tell(made.lost)]
            sheet = made.sheet
        sheets.append(sheet)
    one, two = sheets
    names = _pair_criteria(one, two)
    notes += _say_alone(one, two, names)
    pairs = [
        AnswerPair(
            question,
            criterion,
            one.answer(question.number, criterion),
            two.answer(question.number, names.get(criterion, "")),
        )
        for question, criterion in one.places()
        if not criterion or criterion in names
    ]
    return pairs, one.version, notes


def _tell(lost: tuple[Lost, ...]) -> list[str]:
    return [str(one) for one in lost]


def _pair_criteria(one: Sheet, two: Sheet) -> dict[str, str]:
    theirs = {name.casefold(): name for name in two.criteria}
    return {name: theirs[name.casefold()] for name in one.criteria if name.casefold() in theirs}


def _say_alone(one: Sheet, two: Sheet, names: dict[str, str]) -> list[str]:
    notes = []
    for sheet, alone in (
        (one, [name for name in one.criteria if name not in names]),
        (two, [name for name in two.criteria if name not in names.values()]),
    ):
        if alone:
            notes.append(
                f"Only {sheet.title} has {', '.join(map(repr, alone))}; section 4 is not compared there."
            )
    return notes
