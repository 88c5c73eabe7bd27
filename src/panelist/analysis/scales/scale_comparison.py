"""What a comparison of two scales holds, and how it reads: a verdict, and one table per criterion."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from panelist.core.display.formats import MISSING, TEXT, Cell, ends, number, p_value
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table


@dataclass(frozen=True)
class ScaleMeasure:
    """One measure on one scale, with its interval; nan where there is none.

    ``p`` is given where it is a test. An F-ratio has a ``share`` of variance, ω², and the interval is that
    of it.
    """

    value: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    p: float = float("nan")
    share: float = float("nan")
    detail: str = ""

    def text(self, digits: int = 2) -> str:
        """Return value, detail and interval in words."""
        if not isfinite(self.value):
            return MISSING
        value = number(
            int(self.value) if self.value == int(self.value) and digits == 0 else self.value, digits
        )
        share = f", ω² {number(self.share, digits)}" if isfinite(self.share) else ""
        return f"{value}{self.detail}{share}{ends(self.low, self.high, digits)}"


@dataclass(frozen=True)
class Property:
    """One property of the two scales: readings ``a`` and ``b``, their ``difference``, or one for ``both``."""

    name: str
    measure: str
    a: ScaleMeasure = ScaleMeasure()
    b: ScaleMeasure = ScaleMeasure()
    difference: ScaleMeasure = ScaleMeasure()
    both: ScaleMeasure = ScaleMeasure()
    how: str = ""
    note: str = ""
    digits: int = 2


@dataclass(frozen=True, kw_only=True)
class ScalesOnCriterion(Result):
    """Two scales compared on one criterion, which may be called differently on each."""

    criterion: str
    labels: tuple[str, str]
    criteria: tuple[str, str]
    systems: tuple[str, ...]
    counts: tuple[dict[str, int], dict[str, int]]
    properties: tuple[Property, ...]
    verdict: tuple[str, ...]
    confidence: float
    notes: tuple[str, ...] = ()

    def __getitem__(self, measure: str) -> Property:
        found = {one.measure: one for one in self.properties}
        return found[measure]

    def title(self) -> str:
        """Return the heading."""
        return f"{self.labels[0]} and {self.labels[1]} on {self.criterion}"

    def parts(self) -> list[Part]:
        """Return the verdict, the table of properties, and the notes."""
        rows: list[tuple[Cell, ...]] = []
        for one in self.properties:
            if isfinite(one.both.value):
                rows.append((f"{one.name}: {one.measure}", one.both.text(one.digits), "", ""))
                continue
            sides = [side.text(one.digits) for side in (one.a, one.b, one.difference)]
            rows.append((f"{one.name}: {one.measure}", *sides))
        header = ("property", *self.labels, "difference")
        table = Table(
            f"Scales compared on {self.criterion}",
            header,
            rows,
            dict.fromkeys(header, TEXT),
            note=f"In brackets {self.confidence * 100:g} % intervals; for F-ratios of ω², the share of "
            "variance.",
        )
        missing = [(one.measure, one.note) for one in self.properties if one.note]
        notes = [*missing, *(("note", note) for note in self.notes)]
        said: list[Part] = [Sentence(sentence) for sentence in self.verdict]
        return [*said, table, *([NamedValues(notes)] if notes else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return every reading by name."""
        return {
            "criterion": self.criterion,
            "criteria": list(self.criteria),
            "scales": list(self.labels),
            "systems": list(self.systems),
            "counts": list(self.counts),
            "confidence": self.confidence,
            "properties": [asdict(one) for one in self.properties],
            "verdict": list(self.verdict),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, kw_only=True)
class ScaleComparison(Result):
    """Two scales compared on every criterion they share."""

    labels: tuple[str, str]
    criteria: tuple[ScalesOnCriterion, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, criterion: str) -> ScalesOnCriterion:
        found = {one.criterion: one for one in self.criteria}
        if criterion not in found:
            raise KeyError(f"no criterion {criterion!r}; there are {', '.join(found)}")
        return found[criterion]

    def title(self) -> str:
        """Return the heading."""
        return f"Two scales: {self.labels[0]} and {self.labels[1]}"

    def parts(self) -> list[Part]:
        """Return the parts of each criterion, then what concerns both files."""
        whole: list[Part] = [part for one in self.criteria for part in one.parts()]
        return whole + ([NamedValues([("note", note) for note in self.notes])] if self.notes else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the criteria with their readings and verdicts."""
        return {
            "scales": list(self.labels),
            "criteria": [one.to_dict() for one in self.criteria],
            "notes": list(self.notes),
        }


def say_p(p: float) -> str:
    """Return a p value in a sentence."""
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"
