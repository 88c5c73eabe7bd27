"""What scales of a few ordered points have in common: the base of verbal, likert and binary."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_whole, refuse, write_number
from panelist.scales.base import STEP, HedsForm, Level, RatingScale, Value, judge


class PointScale(RatingScale):
    """Ordered points, of which a rater chooses one; values are whole numbers without gaps, worst first."""

    measurement: ClassVar[Level] = "ordinal"
    widget: ClassVar[str] = "choice"
    heds_form: ClassVar[HedsForm] = HedsForm(1, 2)

    @property
    def first_value(self) -> int:
        """The value of the worst point."""
        return 1

    def labels_by_value(self) -> tuple[str, ...]:
        """Return the label of each point from worst to best, empty where it has none."""
        raise NotImplementedError

    @property
    def lowest(self) -> float:
        """The value of the worst point."""
        return float(self.first_value)

    @property
    def highest(self) -> float:
        """The value of the best point."""
        return float(self.first_value + len(self.labels_by_value()) - 1)

    def allowed(self) -> str:
        """Return the range of values."""
        return f"a whole number from {self.lowest:.0f} to {self.highest:.0f}"

    def size(self) -> str:
        """Return the number of points."""
        return str(len(self.labels_by_value()))

    def values(self) -> str:
        """Return each value with its label, worst first."""
        each = enumerate(self.labels_by_value(), start=self.first_value)
        return ", ".join(f"{value} ({label})" if label else str(value) for value, label in each)

    def parse(self, answer: str) -> int:
        """Return the value of a point, or raise BadAnswer."""
        value = read_whole(answer, self.allowed())
        if not self.lowest <= value <= self.highest:
            raise refuse(answer, self.allowed())
        return value

    def write(self, value: Value) -> str:
        """Return the value as text, or raise BadAnswer if there is no such point."""
        return str(self.parse(write_number(value, self.allowed())))

    def simulate(self, latent: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a point for each latent judgement: thresholds lie STEP apart, half of them below 0."""
        place = judge(latent, rng)
        place /= STEP
        place += len(self.labels_by_value()) / 2
        np.floor(place, out=place)
        np.clip(place, 0, len(self.labels_by_value()) - 1, out=place)
        place += self.first_value
        return place.astype(np.int64)
