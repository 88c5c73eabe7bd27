"""Groups of raters side by side: native against non-native speakers, experts against a crowd."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from panelist.agreement.measure import measure_agreement
from panelist.agreement.reliability import CoefficientEstimate, Reliability
from panelist.core.display.formats import interval, number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import read_ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups(Result):
    """The reliability within each group of raters; ``reliabilities`` go with ``groups``."""

    groups: tuple[str, ...]
    reliabilities: tuple[Reliability, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, group: str) -> Reliability:
        return dict(zip(self.groups, self.reliabilities, strict=True))[group]

    def title(self) -> str:
        """Return the heading."""
        return "Reliability within groups of raters"

    def parts(self) -> list[Part]:
        """Return a table for each criterion, a column for each group, and the notes."""
        whole: list[Part] = [
            self._table(criterion) for criterion in _each_once(one.criterion for one in self._all())
        ]
        said = "Intervals that overlap do not show that groups are equal, nor the others that they differ."
        notes = [NamedValues([("note", note) for note in self.notes])] if self.notes else []
        return [*whole, Sentence(said), *notes]

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis of each group."""
        pairs = zip(self.groups, self.reliabilities, strict=True)
        return {"groups": [{"group": name} | one.to_dict() for name, one in pairs], "notes": list(self.notes)}

    def _all(self) -> list[Any]:
        return [criterion for one in self.reliabilities for criterion in one.criteria]

    def _table(self, criterion: str) -> Table:
        found = []
        for one in self.reliabilities:
            mine = next((each for each in one.criteria if each.criterion == criterion), None)
            found.append({each.name: each for each in mine.coefficients} if mine else {})
        names = _each_once(name for group in found for name in group)
        sizes = [
            next((f"{c.n_raters} raters" for c in one.criteria if c.criterion == criterion), "none")
            for one in self.reliabilities
        ]
        header = ("coefficient", *(f"{name} ({size})" for name, size in zip(self.groups, sizes, strict=True)))
        rows = [(name, *(_cell(group.get(name)) for group in found)) for name in names]
        return Table(f"Groups on {criterion}", header, rows)


def compare_groups(ratings: Any, **options: Any) -> Groups:
    """Return the reliability within each group of raters, by the column ``group``.

    ``options`` are those of measure_agreement. A group with a single rater has no agreement, and is left out
    with a note; so are rows without a group.
    """
    table = read_ratings(ratings)
    table.require("group", "rater")
    frame = table.frame.dropna(subset=["group"])
    sizes = frame.groupby("group", observed=True)["rater"].nunique()
    notes = []
    gone = len(table.frame) - len(frame)
    if gone:
        notes.append(f"{gone} of {len(table.frame)} rows belong to no group")
    alone = [str(name) for name in sizes.index[sizes < 2]]
    if alone:
        notes.append(f"a single rater, so left out: {', '.join(alone)}")
    several = tuple(str(name) for name in sizes.index[sizes >= 2])
    if len(several) < 2:
        raise BadRatings(
            f"Groups are compared where two of them have two raters or more; here {_say(several)}. "
            "The column 'group' says which group a rater belongs to."
        )
    found = tuple(measure_agreement(table.where(group=name), **options) for name in several)
    return Groups(groups=several, reliabilities=found, notes=tuple(notes))


def _cell(one: CoefficientEstimate | None) -> str:
    if one is None:
        return ""
    ends = interval(one.low, one.high)
    return f"{number(one.estimate, 2)} ({ends})" if ends != "–" else number(one.estimate, 2)


def _each_once(names: Any) -> list[str]:
    return list(dict.fromkeys(names))


def _say(names: tuple[str, ...]) -> str:
    return f"only {names[0]!r} has" if names else "none has"


@dataclass(frozen=True, eq=False)
class PerCriterion(Result):
    """A heading and a result for each criterion."""

    heading: str
    criteria: Sequence[Result]

    def title(self) -> str:
        """Return the heading."""
        return self.heading

    def parts(self) -> list[Part]:
        """Return the parts of every criterion in turn."""
        return [part for one in self.criteria for part in one.parts()]

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionary of every criterion."""
        return {"criteria": [one.to_dict() for one in self.criteria]}
