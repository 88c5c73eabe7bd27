"""Graphic rating scale: a line with words along it."""

from typing import Annotated, Any, ClassVar, Literal

from panelist.scales.answers import write_number
from panelist.scales.base import Option, scale
from panelist.scales.labels import ShortLabel, labels_of
from panelist.scales.line import LineScale


@scale("graphic")
class Graphic(LineScale):
    """A horizontal line with a few words along it; every place counts, also between the words."""

    title: ClassVar[str] = "Graphic rating scale"
    advice: ClassVar[str] = (
        "Where raters shall be free to place an output between two words: the hybrid of worded points and a "
        "line. Use few and short words; five of two words each fit on a phone."
    )
    source: ClassVar[str] = (
        "Svensson, E. (2000). Comparison of the quality of assessments using continuous and discrete ordinal "
        "rating scales. Biometrical Journal 42(4), 417–434."
    )
    example: ClassVar[dict[str, Any]] = {
        "type": "graphic",
        "points": ["Very hard", "Hard", "So-so", "Easy", "Very easy"],
    }

    type: Literal["graphic"] = "graphic"
    points: Annotated[tuple[ShortLabel, ...], *labels_of(2, 7)]
    """The words along the line, worst first, at equal distances from one end to the other."""

    def options(self) -> tuple[Option, ...]:
        """Return the words with the places at which they stand."""
        last = len(self.points) - 1
        places = (round(100 * place / last, 1) for place in range(last + 1))
        return tuple(
            Option(write_number(at, self.allowed()), label)
            for at, label in zip(places, self.points, strict=True)
        )

    def values(self) -> str:
        """Return the range with the words at their places."""
        words = ", ".join(f"{option.label} at {option.value}" for option in self.options())
        return f"0 to 100, one decimal ({words})"

    def describe(self) -> str:
        """Return what the line looks like and what is recorded."""
        return (
            f"{self.title}: a horizontal line with {len(self.points)} descriptors along it, "
            f"{self.describe_pointer()}; recorded as {self.values()}."
        )
