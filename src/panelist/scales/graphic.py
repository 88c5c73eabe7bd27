"""Graphic rating scale: a line with words along it."""

from typing import Annotated, Any, ClassVar, Literal

from panelist.scales.answers import write_number
from panelist.scales.base import Option, scale
from panelist.scales.labels import ShortLabel, find_room, labels_of
from panelist.scales.line import LineScale

LONGEST_END = 8  # letters of a word that can be centred under the end of a line


@scale("graphic")
class Graphic(LineScale):
    """A horizontal line with a few words along it; every place counts, including those between the words."""

    title: ClassVar[str] = "Graphic rating scale"
    advice: ClassVar[str] = (
        "Where raters should be free to place an output between two words: a hybrid of worded points and a "
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

    @property
    def along(self) -> tuple[str, ...]:
        """The words along the line."""
        return self.points

    @property
    def words_at_ends(self) -> tuple[str, str]:
        """The first and the last of them."""
        return self.points[0], self.points[-1]

    @property
    def depths(self) -> tuple[int, ...]:
        """How low the words are placed where they do not fit beside each other, the ends lowest."""
        n = len(self.points)
        if n % 2:
            return tuple(abs(place - n // 2) for place in range(n))
        # Of two in the middle the second is placed lower, clear of the first.
        left = (*range(n // 2, 1, -1), 0)
        return (*left, 1, *left[-2::-1])

    def find_row(self) -> int:
        """Return the width that the words need, if those at the ends are short."""
        ends = [len(word) for label in (self.points[0], self.points[-1]) for word in label.split()]
        return find_room(self.points) if max(ends) <= LONGEST_END else 0

    def options(self) -> tuple[Option, ...]:
        """Return the words with their places."""
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
