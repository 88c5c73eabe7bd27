"""Magnitude estimation: a number of the rater's own, in proportion."""

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_decimal, refuse, write_number
from panelist.scales.base import SPAN, HedsForm, Level, RatingScale, Value, judge, scale

SMALLEST, LARGEST = 1e-6, 999_999_999.0
FIGURES = 3  # people answer in round numbers


@scale("magnitude")
class Magnitude(RatingScale):
    """Any positive number: twice as good is twice the number, if given relative to a reference."""

    title: ClassVar[str] = "Magnitude estimation"
    answered: ClassVar[str] = "by"
    measurement: ClassVar[Level] = "ratio"
    widget: ClassVar[str] = "number"
    please: ClassVar[str] = "please_number"
    heds_form: ClassVar[HedsForm] = HedsForm(5, 2, "a box for a number")
    advice: ClassVar[str] = (
        "Where outputs differ so much that a scale with ends would crowd them, and raters can be trained to "
        "think in proportions. Raters choose ranges of their own: analyse the logarithms, with an effect of "
        "the rater."
    )
    source: ClassVar[str] = (
        "Stevens, S. S. (1956). The direct estimation of sensory magnitudes: loudness. American Journal of "
        "Psychology 69(1), 1–25."
    )
    example: ClassVar[dict[str, Any]] = {
        "type": "magnitude",
        "reference": "It will rain in the morning and be dry later.",
        "modulus": 100,
    }

    type: Literal["magnitude"] = "magnitude"
    reference: str = ""
    """A text that all others are judged against; without it, raters use their own first number."""
    modulus: float | None = Field(default=None, gt=0, le=1_000_000)
    """The number given to the reference; without it, raters give it one of their own."""

    @model_validator(mode="after")
    def _check(self) -> "Magnitude":
        if self.modulus is not None and not self.reference:
            raise ValueError(
                f"modulus {self.modulus:g} is the number of a reference, and there is none. Give reference, "
                "or leave out modulus"
            )
        return self

    @property
    def scenery(self) -> tuple[str, ...]:
        """The reference text."""
        return (self.reference,) if self.reference else ()

    @property
    def lowest(self) -> float:
        """The lower bound, which is not itself a valid answer."""
        return 0.0

    def allowed(self) -> str:
        """Return which numbers are allowed."""
        return "a number above 0 and below 1000000000, written with a decimal point if it needs one"

    def size(self) -> str:
        """Return the word of HEDS for it."""
        return "continuous"

    def values(self) -> str:
        """Return the range, with the number of the reference."""
        fixed = f"; {self.modulus:g} is as good as the reference" if self.modulus is not None else ""
        return f"any number above 0{fixed}"

    def describe(self) -> str:
        """Return against what raters judge, and what is recorded."""
        against = "a reference text" if self.reference else "each rater's own first number"
        return f"{self.title}: a positive number in proportion to {against}; recorded as {self.values()}."

    def parse(self, answer: str) -> float:
        """Return the number to six decimals, or raise BadAnswer."""
        number = round(read_decimal(answer, self.allowed()), 6)
        if not SMALLEST <= number <= LARGEST:
            raise refuse(answer, self.allowed())
        return number

    def write(self, value: Value) -> str:
        """Return the number as text, or raise BadAnswer if it is not positive."""
        return write_number(self.parse(write_number(value, self.allowed())), self.allowed())

    def simulate(self, latent: Floats, rng: np.random.Generator) -> Floats:
        """Return a number for each latent judgement: log-normal, tenfold for each SPAN, in three figures."""
        power = judge(latent, rng)
        power /= SPAN
        power += np.log10(self.modulus if self.modulus is not None else 10.0)
        np.clip(power, np.log10(SMALLEST), np.log10(LARGEST), out=power)
        factor = 10.0 ** np.clip(FIGURES - 1 - np.floor(power), 0, 6)
        numbers: Floats = np.rint(10.0**power * factor) / factor
        return numbers
