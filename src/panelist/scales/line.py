"""What scales on a line have in common, a place from 0 to 100: the base of vas and graphic."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_decimal, refuse, write_number
from panelist.scales.base import SPAN, BadAnswer, HedsForm, Level, Option, RatingScale, Value, judge


class LineScale(RatingScale):
    """A line without ticks on which a rater marks a place, from 0, low, to 100, high; one decimal."""

    measurement: ClassVar[Level] = "interval"
    widget: ClassVar[str] = "line"
    script: ClassVar[str] = "line"
    flat: ClassVar[bool] = True
    please: ClassVar[str] = "please_line"
    slack: ClassVar[float] = 10.0  # points of 100: nobody hits a place on a line exactly
    heds_form: ClassVar[HedsForm] = HedsForm(3, 2)

    pointer: Literal["absent", "middle"] = "absent"
    """Where the pointer is at first: nowhere until the first click, which suggests no answer, or in the
    middle as in Belz & Kow (2011). A line that nobody touched is not an answer either way."""

    @property
    def lowest(self) -> float:
        """The low end."""
        return 0.0

    @property
    def highest(self) -> float:
        """The high end."""
        return 100.0

    @property
    def along(self) -> tuple[str, ...]:
        """The words along the line, from the low end to the high one."""
        return ()

    @property
    def words_at_ends(self) -> tuple[str, str] | None:
        """The words at the low and the high end, None where there are only faces."""
        return None

    @property
    def has_faces(self) -> bool:
        """Whether faces mark the ends."""
        return False

    def list_choices(self, shown: int) -> tuple[Option, ...]:
        """Return nothing: a line is not a list, even where it has words along it."""
        return ()

    def tell(self, answer: str, outputs: Sequence[str]) -> str:
        """Return the place as a whole number."""
        try:
            return f"{float(self.write(self.recognise(answer))):.0f}"
        except BadAnswer:
            return answer

    def allowed(self) -> str:
        """Return the range of places."""
        return "a place on the line, a number from 0 to 100"

    def size(self) -> str:
        """Return the word of HEDS for it."""
        return "continuous"

    def parse(self, answer: str) -> float:
        """Return the place with one decimal, or raise BadAnswer; an untouched line sends nothing."""
        place = read_decimal(answer, self.allowed())
        if place > 100:
            raise refuse(answer, self.allowed())
        return round(place, 1)

    def write(self, value: Value) -> str:
        """Return the place as text, or raise BadAnswer if it is not on the line."""
        return write_number(self.parse(write_number(value, self.allowed())), self.allowed())

    def simulate(self, latent: Floats, rng: np.random.Generator) -> Floats:
        """Return a place for each latent judgement: 50 + 100 / SPAN for each unit, not beyond the ends."""
        place = judge(latent, rng)
        place *= 100 / SPAN
        place += 50
        np.clip(place, 0, 100, out=place)
        return np.round(place, 1, out=place)

    def describe_pointer(self) -> str:
        """Return what a rater sees before the first click, as the end of a sentence."""
        at_first = "absent until the first click" if self.pointer == "absent" else "at first in the middle"
        return f"the pointer {at_first}"
