"""How alike two experiments are, by their datasheets: property by property, by group and over all.

QRA++ (Belz 2025, arXiv:2505.17043) reads the reproducibility of results beside the similarity of the
experiments, by the properties that a datasheet records. The groups are ours. What is ticked or counted is the
same or not; texts that differ may still mean the same, which only a reader can say, so the degree is a span:
from all of them different to all of them the same.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any

from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.prose import count, listing
from panelist.reports.datasheet.convert.diff import AnswerPair, is_blank, pair_answers
from panelist.reports.datasheet.sheet import Sheet

GROUPS = {
    "systems": ("2.",),
    "items and outputs": ("3.1.1", "3.1.2"),
    "raters": ("3.2.1", "3.2.2", "3.2.5"),
    "recruiting and pay": ("3.2.3",),
    "instructions and training": ("3.2.4",),
    "procedure and pages": ("3.3.2", "3.3.3", "3.3.4.2", "3.3.5", "3.3.6", "3.3.7", "3.3.8"),
    "criterion": ("4.1", "4.2", "4.3.1", "4.3.2"),
    "scale and question": ("4.3.3", "4.3.4", "4.3.5", "4.3.6", "4.3.7", "4.3.8"),
    "analysis": ("4.3.9", "4.3.10"),
}
"""Properties of an experiment, by the numbers of their questions in HEDS 3.0."""
COUNTED = ("same", "different", "worded", "unknown")
IDENTICAL, CLOSE, APART = 0.999, 0.8, 0.5


@dataclass(frozen=True)
class GroupSimilarity:
    """The properties of one group: how many are the same, different, worded differently, or not known."""

    group: str
    same: int
    different: int
    worded: int
    unknown: int

    @property
    def low(self) -> float:
        """The share that is the same, if all texts that differ mean something else."""
        known = self.same + self.different + self.worded
        return self.same / known if known else nan

    @property
    def high(self) -> float:
        """The share that is the same, if all texts that differ mean the same."""
        known = self.same + self.different + self.worded
        return (self.same + self.worded) / known if known else nan


@dataclass(frozen=True, eq=False)
class Similarity(Result):
    """How alike two experiments are."""

    first: str
    second: str
    groups: tuple[GroupSimilarity, ...]
    differing: tuple[str, ...]
    """The questions that are answered differently, with their criterion."""
    notes: tuple[str, ...] = ()

    @property
    def overall(self) -> GroupSimilarity:
        """All properties together."""
        sums = (sum(getattr(one, name) for one in self.groups) for name in COUNTED)
        return GroupSimilarity("all", *sums)

    def title(self) -> str:
        """Return the heading."""
        return f"How alike {self.first} and {self.second} are"

    def sentence(self) -> str:
        """Return the degree in words, and what it lets one expect."""
        all_ = self.overall
        known = all_.same + all_.different + all_.worded
        if not known:
            return "The two datasheets share no answered property, so their similarity is not known."
        degree = _span(all_)
        stated = count(known, "property", "properties")
        text = f"{all_.same} of {stated} that both state are the same: degree {degree}."
        if all_.worded:
            texts = count(all_.worded, "text differs", "texts differ")
            text += f" {texts} in wording; read whether they mean the same."
        return f"{text} {self._expect()}"

    def _expect(self) -> str:
        low, high = self.overall.low, self.overall.high
        changed = [one.group for one in self.groups if one.different]
        named = f": {listing(changed, 9)}" if changed else ""
        if low >= IDENTICAL:
            return "Results should differ no more than those of two samples of raters."
        if low >= CLOSE:
            return f"Results should be close; a difference beyond chance points to what was changed{named}."
        if high < APART:
            return f"These are different experiments{named}; different results are no failure to reproduce."
        return f"Results may differ because of what was changed{named}."

    def parts(self) -> list[Part]:
        """Return the degree in words, the groups, and what differs."""
        header = ("properties", "same", "different", "worded differently", "not known", "degree")
        rows = [
            (one.group, one.same, one.different, one.worded, one.unknown, _span(one))
            for one in (*self.groups, self.overall)
        ]
        formats = {"properties": TEXT, "degree": TEXT} | dict.fromkeys(header[1:5], decimals(0))
        note = "Degree: the share of known properties that are the same; a span where wordings differ."
        parts: list[Part] = [Sentence(self.sentence()), Table("Similarity", header, rows, formats, note)]
        if self.differing:
            parts.append(Sentence(f"Answered differently: {listing(self.differing, 30)}."))
        return [*parts, *(Sentence(text) for text in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return the groups with their degrees."""
        groups = [asdict(one) | {"low": one.low, "high": one.high} for one in (*self.groups, self.overall)]
        return {
            "first": self.first,
            "second": self.second,
            "groups": groups,
            "differing": list(self.differing),
            "notes": list(self.notes),
        }


def measure_similarity(first: Sheet, second: Sheet) -> Similarity:
    """Return how alike the experiments of two datasheets are."""
    pairs, _, notes = pair_answers(first, second)
    groups = tuple(_count(name, list(_select(pairs, starts))) for name, starts in GROUPS.items())
    differing = (
        f"{one.question.number}{f' ({one.criterion})' if one.criterion else ''}"
        for starts in GROUPS.values()
        for one in _select(pairs, starts)
        if _judge(one) == "different"
    )
    return Similarity(first.title, second.title, groups, tuple(differing), tuple(notes))


def _select(pairs: list[AnswerPair], starts: tuple[str, ...]) -> Iterator[AnswerPair]:
    for one in pairs:
        number = one.question.number
        if any(number == start or number.startswith(start.rstrip(".") + ".") for start in starts):
            yield one


def _judge(one: AnswerPair) -> str:
    """Return whether a property is the same, different, worded differently, or not known."""
    if is_blank(one.first) or is_blank(one.second):
        return "unknown" if not (is_blank(one.first) and is_blank(one.second)) else "neither"
    if one.same:
        return "same"
    if one.first.codes != one.second.codes or one.question.kind == "whole":
        return "different"
    return "worded"


def _count(group: str, pairs: list[AnswerPair]) -> GroupSimilarity:
    found = [_judge(one) for one in pairs]
    return GroupSimilarity(group, *(found.count(state) for state in COUNTED))


def _span(one: GroupSimilarity) -> str:
    if isnan(one.low):
        return "not known"
    return f"{one.low:.2f}" if one.low == one.high else f"{one.low:.2f} to {one.high:.2f}"
