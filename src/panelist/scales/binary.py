"""Yes or no: one of two labels."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from panelist.scales.base import Level, Option, scale
from panelist.scales.labels import LONGEST_ACROSS, Label, differing
from panelist.scales.points import PointScale


@scale("binary")
class Binary(PointScale):
    """Two answers, recorded as 1 and 0."""

    title: ClassVar[str] = "Binary choice"
    answered: ClassVar[str] = "by a"
    measurement: ClassVar[Level] = "nominal"
    advice: ClassVar[str] = (
        "Where a quality is there or is not: plausible or not, correct or not. It is quick and easily "
        "explained, but says least about each output, so it needs more ratings."
    )
    example: ClassVar[dict[str, Any]] = {"type": "binary", "labels": ["Plausible", "Not plausible"]}

    type: Literal["binary"] = "binary"
    labels: Annotated[tuple[Label, Label], differing] = ("Yes", "No")
    """The two answers, in the order in which they are shown."""
    one: Label | None = None
    """The answer that is recorded as 1, the better one; without it, the first. The other is 0."""

    @model_validator(mode="after")
    def _check(self) -> "Binary":
        if self.one is not None and self.one not in self.labels:
            known = " or ".join(repr(label) for label in self.labels)
            raise ValueError(f"one must be one of the labels, {known}. Got {self.one!r} instead")
        return self

    @property
    def first_value(self) -> int:
        """The value of the worse answer."""
        return 0

    def labels_by_value(self) -> tuple[str, ...]:
        """Return the answer recorded as 0 and the one recorded as 1."""
        first, second = self.labels
        return (first, second) if self.one == second else (second, first)

    def options(self) -> tuple[Option, ...]:
        """Return the two answers in the order of display."""
        return tuple(Option(str(self.labels_by_value().index(label)), label) for label in self.labels)

    def stands_across(self, shown: int) -> bool:
        """Return whether both labels are short."""
        return all(len(label) <= LONGEST_ACROSS for label in self.labels)

    def allowed(self) -> str:
        """Return the two values."""
        zero, one = self.labels_by_value()
        return f"1 ({one}) or 0 ({zero})"

    def describe(self) -> str:
        """Return the two answers and their values."""
        zero, one = self.labels_by_value()
        return f"{self.title} between {one!r}, recorded as 1, and {zero!r}, recorded as 0."
