"""What a shape is: a function from the columns of a sheet to the readings that they allow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from panelist.collection.imports.guessing.column_profiles import Column, list_columns
from panelist.collection.imports.guessing.column_roles import Roles, add_places, find_roles
from panelist.collection.imports.source_sheet import SourceSheet
from panelist.core.registry import Registry


@dataclass(frozen=True, eq=False)
class Case:
    """What a shape looks at: a sheet, its columns, and whether its rows were unfolded from lists."""

    sheet: SourceSheet
    columns: Sequence[Column]
    unfolded: bool = False
    lists: tuple[str, ...] = ()
    """The paths that were unfolded from lists, the outermost first."""

    def roles(self, *, several: bool = False, skip: Sequence[str] = ()) -> list[Roles]:
        """Return the roles of the columns that are not answers."""
        rest = [one for one in self.columns if one.name not in skip]
        found = find_roles(rest, several=several or self.unfolded, listed=self.unfolded)
        return [add_places(roles, self.lists) for roles in found]

    def answers(self, roles: Roles, skip: Sequence[str] = ()) -> list[Column]:
        """Return the columns that could be answers, those with roles left out."""
        return [
            one
            for one in self.columns
            if one.name not in roles.used and one.name not in skip and one.may_be_answers
        ]


@dataclass(frozen=True)
class Answers:
    """One reading of a sheet: where its answers are, and the roles that go with it."""

    roles: Roles
    criteria: list[dict[str, Any]] = field(default_factory=list)
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    label: str = ""
    """What distinguishes this reading from the others."""
    says: str = ""
    """Where the answers are, in words."""
    sure: bool = True
    raters: str = ""
    """Where the raters are, where no column has them: in words."""
    unknown: bool = False
    """Whether who rated what is not in the file: places in a list are not people."""
    rename: dict[str, dict[str, str]] = field(default_factory=dict)
    """Other names for codes in the file."""

    @property
    def names_systems(self) -> bool:
        """Whether the names of columns say the systems."""
        return any("of" in one or "{system}" in one["answer"] for one in self.criteria)


@dataclass(frozen=True)
class TableShape:
    """A shape: its rank (the first that fits is taken) and what recognises it."""

    rank: int
    recognise: Callable[[Case], list[Answers]]


def _number(words: str, first: int = 1) -> dict[str, int]:
    """Return the number of each word of a scale: places are separated by commas, other words by bars."""
    places = enumerate(words.split(", "), start=first)
    return {word: number for number, place in places for word in place.split("|")}


WORD_SCALES = (
    _number("no|n, yes|y", first=0),
    _number(
        "strongly disagree, disagree, neutral|neither|neither agree nor disagree|undecided, "
        "agree, strongly agree"
    ),
    _number("very poor, poor, fair|average|ok|okay|acceptable, good, very good"),
    _number("bad, poor, fair, good, excellent"),
    _number("very bad, bad, fair|neutral|average|ok|okay|neither good nor bad, good, very good"),
    _number("never, rarely, sometimes, often, always"),
)
"""Labels whose order everybody knows, so that they can be numbered; where several fit, the first."""
SHAPES = Registry[TableShape]("shape")


def shape(name: str, *, rank: int) -> Callable[[Callable[[Case], list[Answers]]], TableShape]:
    """Return the decorator that registers the function that recognises a shape."""

    def file(recognise: Callable[[Case], list[Answers]]) -> TableShape:
        return SHAPES.register(name)(TableShape(rank, recognise))

    return file


def make_case(sheet: SourceSheet, lists: Sequence[str] = ()) -> Case:
    """Return the case of a sheet, some of whose rows were unfolded from lists."""
    return Case(sheet, list_columns(sheet), bool(lists), tuple(lists))


def name_answer(column: Column) -> dict[str, Any]:
    """Return the entry of an answer's column: known labels count, and those that begin with a number.

    ``5 - excellent`` counts as 5, and so does ``strongly agree``.
    """
    import re

    entry: dict[str, Any] = {"answer": column.name}
    words = column.distinct
    if {word.casefold() for word in words} <= {"true", "false"}:
        entry["values"] = {word: "1" if word.casefold() == "true" else "0" for word in sorted(words)}
        return entry
    scale = next((one for one in WORD_SCALES if {word.casefold() for word in words} <= set(one)), None)
    if scale is not None and column.is_labels:
        ordered = sorted(words, key=lambda word: scale[word.casefold()])
        entry["values"] = {word: str(scale[word.casefold()]) for word in ordered}
        return entry
    led = [re.fullmatch(r"\(?(\d+)\)?\s*[-–—:.=)(]?\s*[^\d\s].*", word) for word in words]
    if column.is_labels and all(led):
        numbers = [found[1] for found in led if found]
        if len(set(numbers)) == len(numbers):
            entry["values"] = dict(sorted(zip(words, numbers, strict=True), key=lambda pair: int(pair[1])))
    return entry
