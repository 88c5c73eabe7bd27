"""Numbered points with words at the ends (a Likert-type item)."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from panelist.scales.base import Option, scale
from panelist.scales.labels import ROOMS, Label, check_labels, find_room
from panelist.scales.points import PointScale


@scale("likert")
class Likert(PointScale):
    """Numbered points with words at both ends; if wanted, in the middle or at every point."""

    title: ClassVar[str] = "Numeric rating scale"
    advice: ClassVar[str] = (
        "Where words for every point would sound forced. The numbers look evenly spaced, but raters need not "
        "use them so: ratings are analysed as ordered, not as amounts."
    )
    source: ClassVar[str] = (
        "Likert, R. (1932). A technique for the measurement of attitudes. Archives of Psychology 140, 1–55. "
        "Strictly, a Likert scale is the sum of several such items."
    )
    example: ClassVar[dict[str, Any]] = {
        "type": "likert",
        "points": 7,
        "low": "not fluent at all",
        "high": "perfectly fluent",
    }

    type: Literal["likert"] = "likert"
    points: int = Field(default=5, ge=2, le=11)
    """How many points."""
    low: Label = "very poor"
    """The words at the lowest point."""
    high: Label = "very good"
    """The words at the highest point."""
    middle: Label | None = None
    """The words at the middle point, if it has any."""
    labels: tuple[Label, ...] | None = None
    """The words of all points, lowest first, in place of low, middle and high."""
    start: Literal[0, 1] = 1
    """The number of the lowest point."""

    @model_validator(mode="after")
    def _check(self) -> "Likert":
        if self.labels is not None:
            if len(self.labels) != self.points:
                raise ValueError(
                    f"there are {self.points} points, but {len(self.labels)} labels. "
                    f"Give {self.points} labels, or points: {len(self.labels)}"
                )
            extra = [name for name in ("low", "middle", "high") if name in self.model_fields_set]
            if extra:
                raise ValueError(f"labels names every point already: leave out {' and '.join(extra)}")
        elif self.middle is not None and self.points % 2 == 0:
            raise ValueError(
                f"{self.points} points have no middle one. Leave out middle, or give an odd number of points"
            )
        check_labels(tuple(label for label in self.labels_by_value() if label))
        return self

    @property
    def first_value(self) -> int:
        """The number of the lowest point."""
        return self.start

    def labels_by_value(self) -> tuple[str, ...]:
        """Return the words of each point, empty where it has only its number."""
        if self.labels is not None:
            return self.labels
        words = [""] * self.points
        words[self.points // 2] = self.middle or ""
        words[0], words[-1] = self.low, self.high
        return tuple(words)

    def options(self) -> tuple[Option, ...]:
        """Return the points, lowest first."""
        each = enumerate(self.labels_by_value(), start=self.start)
        return tuple(Option(str(value), label, value) for value, label in each)

    def find_row(self) -> int:
        """Return the width that the points need: numbers are in a row."""
        return find_room(self.labels_by_value(), ROOMS[1:])

    def describe(self) -> str:
        """Return the points and their values."""
        return f"{self.title} of {self.points} numbered points, recorded from worst to best: {self.values()}."
