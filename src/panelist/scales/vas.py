"""Visual analogue scale (VAS): a line between two ends."""

from typing import Any, ClassVar, Literal

from pydantic import model_validator

from panelist.scales.base import scale
from panelist.scales.labels import Label, check_labels
from panelist.scales.line import LineScale


@scale("vas")
class Vas(LineScale):
    """A horizontal line without ticks or numbers, the low end left, with words or faces at its ends."""

    title: ClassVar[str] = "Visual analogue scale"
    advice: ClassVar[str] = (
        "Where small differences matter and raters would find points coarse. Belz & Kow's raters preferred "
        "it to worded points, and it was at least as good. Word the ends so strongly that hardly any output "
        "reaches them."
    )
    source: ClassVar[str] = (
        "Belz, A. & Kow, E. (2011). Discrete vs. continuous rating scales for language evaluation in NLP. "
        "<https://aclanthology.org/P11-2040>"
    )
    example: ClassVar[dict[str, Any]] = {
        "type": "vas",
        "low": "could not read worse",
        "high": "could not read better",
        "faces": True,
    }

    type: Literal["vas"] = "vas"
    low: Label | None = None
    """The words at the low end (0)."""
    high: Label | None = None
    """The words at the high end (100)."""
    faces: bool = False
    """Whether a frowning and a smiling face mark the ends, with the words or in their place."""

    @model_validator(mode="after")
    def _check(self) -> "Vas":
        if (self.low is None) != (self.high is None):
            given, missing = ("low", "high") if self.high is None else ("high", "low")
            raise ValueError(
                f"one end of the line has words and the other has none: give {missing} as well as {given}"
            )
        if self.low is None and not self.faces:
            raise ValueError("the ends of the line say nothing: give low and high, or faces: true")
        check_labels(self.ends)
        return self

    @property
    def ends(self) -> tuple[str, str]:
        """The words for the two ends, low first; those for the faces where there are no others."""
        return self.low or "frowning face", self.high or "smiling face"

    @property
    def words_at_ends(self) -> tuple[str, str] | None:
        """The words at the two ends, None where there are only faces."""
        return (self.low, self.high) if self.low and self.high else None

    @property
    def has_faces(self) -> bool:
        """Whether faces mark the ends."""
        return self.faces

    def values(self) -> str:
        """Return the range with its ends."""
        low, high = self.ends
        return f"0 ({low}) to 100 ({high}), one decimal"

    def describe(self) -> str:
        """Return what the line looks like and what is recorded."""
        marks = "words" if not self.faces else "faces" if self.low is None else "words and faces"
        return (
            f"{self.title}: a horizontal line without ticks, {marks} at its ends, {self.describe_pointer()}; "
            f"recorded as {self.values()}."
        )
