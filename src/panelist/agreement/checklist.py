"""What a report on reliability should state (Amidei, Piwek & Willis 2019, section 3), filled from the data.

Of 135 papers they read, 24 reported agreement; of these, nine with a coefficient that does not suit the data,
and almost none with the number of items, whether raters worked independently, or how values are read.
https://aclanthology.org/W19-8642
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from panelist.core.display.formats import TEXT
from panelist.core.display.result import Part, Result, Table
from panelist.core.prose import listing

if TYPE_CHECKING:
    from panelist.agreement.reliability import CriterionReliability

UNDEFINED = "no coefficient is defined for these ratings"


@dataclass(frozen=True)
class Point:
    """One point of the checklist: its name, whether the data answer it, and the answer or what to add."""

    name: str
    stated: bool
    text: str


@dataclass(frozen=True)
class Checklist(Result):
    """The points for one criterion."""

    criterion: str
    points: tuple[Point, ...]

    @property
    def missing(self) -> tuple[Point, ...]:
        """The points that only the authors can answer."""
        return tuple(point for point in self.points if not point.stated)

    def title(self) -> str:
        """Return the heading."""
        return f"What to report on {self.criterion}"

    def parts(self) -> list[Part]:
        """Return the points as a table."""
        rows = [(point.name, "yes" if point.stated else "to add", point.text) for point in self.points]
        header = ("point", "known", "what")
        return [Table(f"Checklist for {self.criterion}", header, rows, {"what": TEXT})]

    def to_dict(self) -> dict[str, Any]:
        """Return the points."""
        return {"criterion": self.criterion, "points": [asdict(point) for point in self.points]}


def make_checklist(
    reliability: "CriterionReliability", independent: bool | None = None, level_given: bool | None = None
) -> Checklist:
    """Return the checklist for one criterion.

    ``independent`` says whether raters worked without seeing each other's ratings, and ``level_given``
    whether the level of measurement was stated; without them the data answer, as far as they can.
    """
    measured = [one for one in reliability.coefficients if one.estimate == one.estimate]
    unsuited = [one.name for one in measured if not one.suits]
    scales = sorted({reading.scale for one in measured for reading in one.readings()[:1]})
    kinds = {one.kind for one in measured}
    guessed = not level_given if level_given is not None else bool(reliability.measurement_reason)
    both = {"agreement", "correlation"} <= kinds or (
        reliability.measurement == "nominal" and "agreement" in kinds
    )
    points = [
        Point("coefficient", bool(measured), listing((one.name for one in measured), 6) or UNDEFINED),
        Point(
            "agreement and correlation",
            both,
            "both are reported" if both else "report an agreement and a correlation coefficient together",
        ),
        Point("suitable coefficient", not unsuited, _say_suited(unsuited, reliability.measurement)),
        Point("items", True, f"{reliability.n_items:,} outputs judged; the table says how many entered each"),
        Point("raters", True, f"{_say_raters(reliability)}, {_per_item(reliability)}"),
        _level_point(reliability, guessed),
        _independence_point(independent),
        Point(
            "interpretation",
            bool(scales),
            f"read by {', '.join(scales)}" if scales else "name the scale by which values are read",
        ),
        Point(
            "experiment",
            False,
            "say how the ratings were collected: instructions, recruiting, and who the raters are",
        ),
    ]
    return Checklist(reliability.criterion, tuple(points))


def _say_suited(unsuited: list[str], measurement: str) -> str:
    if not unsuited:
        return f"all coefficients suit {measurement} ratings"
    return f"leave out, or justify, what does not suit {measurement} ratings: {', '.join(unsuited)}"


def _say_raters(reliability: "CriterionReliability") -> str:
    return f"{reliability.n_raters:,} raters" if reliability.raters_known else "raters unknown"


def _per_item(reliability: "CriterionReliability") -> str:
    table = reliability.table
    if table is None or not reliability.n_items:
        return f"{reliability.n_ratings:,} ratings"
    counts = table.ratings_per_unit
    low, high = int(counts.min()), int(counts.max())
    each = f"{low}" if low == high else f"{low} to {high}"
    return f"{each} ratings per output"


def _level_point(reliability: "CriterionReliability", guessed: bool) -> Point:
    if guessed:
        text = (
            f"say whether ratings are {reliability.measurement}, as their values suggest "
            "(or give --measurement)"
        )
        return Point("level of measurement", False, text)
    return Point("level of measurement", True, reliability.measurement)


def _independence_point(independent: bool | None) -> Point:
    if independent is None:
        return Point("independence", False, "say whether raters worked independently of each other")
    text = "raters worked independently" if independent else "raters did not work independently"
    return Point("independence", True, text)
