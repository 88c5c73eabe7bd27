"""What all judges are worth, at a glance and one by one, and how they differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import inf, isfinite
from typing import Any

from panelist.core.display.formats import decimals, interval, number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.core.prose import listing
from panelist.judges.guard import Guard
from panelist.judges.table import Samples, tabulate_samples
from panelist.judges.worth.judge_worth import JudgeWorth

IN_FULL = 3  # judges, each counted once per criterion, that are printed with all their tables


@dataclass(frozen=True)
class JudgeDifference:
    """The paired r of one judge less that of another, in the same resamples of items."""

    criterion: str
    a: str
    b: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Worth(Result):
    """What every judge is worth on every criterion."""

    source: str
    judges_source: str
    judges: tuple[JudgeWorth, ...]
    differences: tuple[JudgeDifference, ...] = ()
    guard: Guard = field(default_factory=Guard)
    samples: tuple[Samples, ...] = ()
    notes: tuple[str, ...] = field(default=())
    detailed: bool = False
    """Whether every judge is printed in full, however many there are."""

    def title(self) -> str:
        """Return the heading."""
        return "Judges beside people"

    def parts(self) -> list[Part]:
        """Return all judges at a glance, then each of them, and what concerns the whole.

        Where there are more than a reader follows, the overview stands for them.
        """
        parts: list[Part] = [self._overview()] if len(self.judges) > 1 else []
        if self.detailed or len(self.judges) <= IN_FULL:
            for one in self.judges:
                parts += [Sentence(""), *one.parts()] if parts else one.parts()
            if self.differences:
                parts.append(self._differences_table())
        else:
            parts.append(NamedValues(self._list_notes()))
        if self.guard.raters:
            parts += self.guard.parts()
        if self.samples:
            parts.append(tabulate_samples(self.samples))
        return parts + ([NamedValues([("note", note) for note in self.notes])] if self.notes else [])

    def __getitem__(self, judge: str) -> JudgeWorth:
        found = [one for one in self.judges if judge in (one.judge, f"{one.criterion}|{one.judge}")]
        if not found:
            raise KeyError(
                f"no judge {judge!r}; there are {listing({one.judge for one in self.judges}, None)}"
            )
        return found[0]

    def _list_notes(self) -> list[tuple[str, str]]:
        """Return how to see each judge in full, and each note once, with the judges that it is about."""
        rows = [("in full", "--details prints every judge in full, --criterion NAME takes one criterion")]
        about: dict[str, list[str]] = {}
        for one in self.judges:
            for note in dict.fromkeys(one.notes):
                about.setdefault(note, []).append(f"{one.judge} on {one.criterion}")
        for note, names in about.items():
            rows.append(("note", note if len(names) == len(self.judges) else f"{listing(names, 3)}: {note}"))
        return rows

    def _overview(self) -> Table:
        rows = [
            (
                one.criterion,
                one.judge,
                one.level("pair").pearson,
                interval(one.level("pair").low, one.level("pair").high),
                100 * one.level("pair").pearson ** 2,
                one.level("output").pearson,
                one.level("system").pearson,
                one.replaced.equivalent,
                _write_ends(one.replaced.low, one.replaced.high),
            )
            for one in self.judges
        ]
        head: tuple[str, ...] = ("criterion", "judge", "paired r", "interval", "saves at most, %")
        head += ("outputs r", "systems r")
        form = {name: decimals(2) for name in ("paired r", "outputs r", "systems r")}
        form["saves at most, %"] = decimals(1)
        if any(isfinite(one.replaced.low) for one in self.judges):
            head += ("raters' worth", "its interval")
            form["raters' worth"] = decimals(1)
        note = "Only the paired r says what a judge can save; r of systems has as many points as systems."
        shown = [row[: len(head)] for row in rows]
        return Table("All judges", head, shown, form, note=note, name="overview")

    def _differences_table(self) -> Table:
        rows = [
            (one.criterion, f"{one.a} − {one.b}", one.difference, interval(one.low, one.high))
            for one in self.differences
        ]
        head = ("criterion", "judges", "difference in paired r", "interval")
        return Table("Judges compared", head, rows, note="Over the same items.", name="differences")

    def to_dict(self) -> dict[str, Any]:
        """Return all judges by the names of the command's JSON."""
        return {
            "source": self.source,
            "judges_source": self.judges_source,
            "judges": [one.to_dict() for one in self.judges],
            "differences": [asdict(one) for one in self.differences],
            "guard": self.guard.to_dict(),
            "samples": [asdict(one) for one in self.samples],
            "notes": list(self.notes),
        }


def _write_ends(low: float, high: float) -> str:
    """Return an interval whose upper end may have no limit.

    >>> _write_ends(0.31, 12.0), _write_ends(0.2, inf), _write_ends(float("nan"), float("nan"))
    ('0.3 to 12.0', '0.2 or more', '–')
    """
    return f"{number(low, 1)} or more" if high == inf else interval(low, high, 1)
