"""Verbal descriptors (VDS): every point has its words."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from panelist.scales.base import Option, scale
from panelist.scales.labels import ROOMS, Label, find_room, labels_of
from panelist.scales.points import PointScale


def _want_words(points: Any) -> Any:
    if isinstance(points, int) and not isinstance(points, bool):
        raise ValueError(
            f"a verbal scale needs the words of its points: a list of {points} labels. "
            "Give the words, or use type: likert for numbered points"
        )
    return points


@scale("verbal")
class Verbal(PointScale):
    """A list of worded points, of which a rater chooses one.

    Values count from 1, the worst, to the number of points, the best, whichever of them is shown first; the
    numbers shown, if any are, are the values.
    """

    title: ClassVar[str] = "Verbal descriptor scale"
    advice: ClassVar[str] = (
        "Where the points can be put into words that all raters understand in the same way. Seven points, "
        "numbered, the best last, in a vertical list, are the VDS-7 of Belz & Kow. The values are ordered "
        "and no more: the step between two neighbours may be large or small."
    )
    source: ClassVar[str] = (
        "Belz, A. & Kow, E. (2011). Discrete vs. continuous rating scales for language evaluation in NLP. "
        "<https://aclanthology.org/P11-2040>. Svensson, E. (2000). Comparison of the quality of assessments "
        "using continuous and discrete ordinal rating scales. Biometrical Journal 42(4), 417–434."
    )
    example: ClassVar[dict[str, Any]] = {
        "type": "verbal",
        "points": ["Cannot be read", "Hard to read", "Readable with effort", "Reads well", "Reads perfectly"],
        "numbered": True,
    }

    type: Literal["verbal"] = "verbal"
    points: Annotated[tuple[Label, ...], *labels_of(2, 11), BeforeValidator(_want_words)]
    """The words of the points, in the order in which they are shown."""
    numbered: bool = False
    """Whether the value is shown before the words."""
    best: Literal["first", "last"] = "last"
    """Where the best point is in the list; it has the highest value either way."""
    layout: Literal["vertical", "horizontal"] = "vertical"
    """How the points are laid out where the screen is wide enough."""

    def labels_by_value(self) -> tuple[str, ...]:
        """Return the words from worst to best."""
        return self.points if self.best == "last" else self.points[::-1]

    def options(self) -> tuple[Option, ...]:
        """Return the points in the order in which they are written."""
        worst_first = [
            Option(str(value), label, value if self.numbered else None)
            for value, label in enumerate(self.labels_by_value(), start=1)
        ]
        return tuple(worst_first if self.best == "last" else worst_first[::-1])

    def find_row(self) -> int:
        """Return the width that the words need, where the study asks for a row."""
        return find_room(self.points, ROOMS[1:]) if self.layout == "horizontal" else 0

    def describe(self) -> str:
        """Return the points, their order and their values."""
        numbered = "numbered" if self.numbered else "not numbered"
        return (
            f"{self.title} of {len(self.points)} points, {numbered}, shown as a {self.layout} list with the "
            f"best {self.best} and recorded from worst to best: {self.values()}."
        )
