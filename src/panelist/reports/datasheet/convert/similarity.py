"""How similar two experiments are, from their datasheets: by property, by group and overall.

QRA++ (Belz 2025, arXiv:2505.17043) judges the reproducibility of results by how similar the experiments are,
using the properties that a datasheet records. The groups are ours. What is ticked or counted is the same or
not. Texts that differ may still mean the same, which only a reader can tell, so the degree is a range: from
every such text meaning something else to every one meaning the same.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any

from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.prose import count, inflect, listing
from panelist.reports.datasheet.convert.diff import AnswerPair, pair_answers
from panelist.reports.datasheet.sheet import Sheet, SheetAnswer

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
NUMBERS = frozenset({"3.1.1", "3.2.1", "4.3.3"})
"""Questions that ask how many: outputs, raters, values of the scale."""
_NOTHING = re.compile(r"\s*(n\s*/?\s*a|not applicable|not stated|[-–—?]*)\s*\.?\s*", re.IGNORECASE)
_LEADING_NUMBER = re.compile(r"\s*(\d[\d,]*)")


@dataclass(frozen=True)
class GroupSimilarity:
    """The properties of one group: how many are the same, different, worded differently, or in one only."""

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
    """How similar two experiments are."""

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
        if self.first == self.second:
            return f"How similar the two experiments called {self.first} are"
        return f"How similar {self.first} and {self.second} are"

    def sentence(self) -> str:
        """Return the degree in words, and what to expect of the results."""
        all_ = self.overall
        known = all_.same + all_.different + all_.worded
        if not known:
            return "No property is stated in both datasheets, so their similarity is unknown."
        degree = _span(all_)
        stated = count(known, "property", "properties")
        same = f"{all_.same} {inflect(all_.same, 'is', 'are')} the same"
        text = f"Both datasheets state {stated}; {same}: similarity {degree}."
        if all_.worded:
            texts = count(all_.worded, "property is", "properties are")
            text += f" {texts} worded differently and may still mean the same."
        return f"{text} {self._expect()}"

    def _expect(self) -> str:
        low, high = self.overall.low, self.overall.high
        changed = [one.group for one in self.groups if one.different]
        named = f" ({listing(changed, 9)})" if changed else ""
        if low >= IDENTICAL:
            return "Expect results to differ only as they would between two samples of raters."
        if low >= CLOSE:
            return f"Expect close results; a difference beyond chance points to what was changed{named}."
        if high < APART:
            return (
                f"These are two different experiments{named}: different results do not contradict each other."
            )
        return f"Results may differ because of what was changed{named}."

    def parts(self) -> list[Part]:
        """Return the degree in words, the groups, and what differs."""
        header = ("properties", "same", "different", "worded differently", "in one only", "similarity")
        rows = [
            (one.group, one.same, one.different, one.worded, one.unknown, _span(one))
            for one in (*self.groups, self.overall)
        ]
        formats = {"properties": TEXT, "similarity": TEXT} | dict.fromkeys(header[1:5], decimals(0))
        note = (
            "Similarity: the share of properties stated in both that are the same, "
            "a range where wordings differ."
        )
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
    """Return how similar the experiments of two datasheets are."""
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
    """Return whether a property is the same, different, worded differently, or in one only."""
    stated = sum(map(_is_stated, (one.first, one.second)))
    if stated < 2:
        return "unknown" if stated else "neither"
    if one.same:
        return "same"
    if one.first.codes != one.second.codes:
        return "different"
    if one.question.number in NUMBERS:
        first, second = (_LEADING_NUMBER.match(answer.text) for answer in (one.first, one.second))
        if first and second and first[1] != second[1]:
            return "different"
    return "worded"


def _is_stated(answer: SheetAnswer) -> bool:
    """Return whether a property is stated; the forms want N/A where there is nothing to state."""
    return bool(answer.codes) or not _NOTHING.fullmatch(answer.text)


def _count(group: str, pairs: list[AnswerPair]) -> GroupSimilarity:
    found = [_judge(one) for one in pairs]
    return GroupSimilarity(group, *(found.count(state) for state in COUNTED))


def _span(one: GroupSimilarity) -> str:
    if isnan(one.low):
        return "unknown"
    return f"{one.low:.2f}" if one.low == one.high else f"{one.low:.2f} to {one.high:.2f}"
