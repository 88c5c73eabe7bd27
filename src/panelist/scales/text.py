"""Free text: words of the rater's own."""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from panelist.numerics.arrays import Floats
from panelist.scales.answers import refuse
from panelist.scales.base import STEP, BadAnswer, HedsForm, Level, RatingScale, Value, judge, scale

_REMARKS = np.array(["Bad.", "Poor.", "So-so.", "Good.", "Great."])  # what simulated raters say, worst first


@scale("text")
class FreeText(RatingScale):
    """A box for words; nothing is computed from them."""

    title: ClassVar[str] = "Free text"
    answered: ClassVar[str] = "in"
    measurement: ClassVar[Level] = "text"
    widget: ClassVar[str] = "words"
    please: ClassVar[str] = "please_words"
    heds_form: ClassVar[HedsForm] = HedsForm(5, 5, "a text box")
    advice: ClassVar[str] = (
        "Where reasons, errors or ideas are wanted. It is reported as it was written; no model and no "
        "coefficient applies to it."
    )
    example: ClassVar[dict[str, Any]] = {"type": "text", "most": 500}

    type: Literal["text"] = "text"
    most: int = Field(default=1000, ge=1, le=20_000)
    """How many characters at most."""
    least: int = Field(default=1, ge=0)
    """How many characters at least; 0 lets raters leave the box empty."""

    @model_validator(mode="after")
    def _check(self) -> "FreeText":
        if self.least > self.most:
            raise ValueError(
                f"at least {self.least} and at most {self.most} characters contradict each other. Lower least"
            )
        return self

    def ask_again(self, text: str) -> tuple[str, tuple[object, ...]]:
        """Return whether words are missing, or how many characters there must be."""
        length = len(text.strip())
        if not length:
            return self.please, ()
        return ("please_longer", (self.least,)) if length < self.least else ("please_shorter", (self.most,))

    def allowed(self) -> str:
        """Return how long a text may be."""
        return f"a text of {self.least} to {self.most} characters without control characters"

    def size(self) -> str:
        """Return the word of HEDS for it: there are no values to count."""
        return "N/A"

    def values(self) -> str:
        """Return how long a text may be."""
        return f"free text of {self.least} to {self.most} characters"

    def describe(self) -> str:
        """Return how long a text may be."""
        return f"{self.title}: a text box for {self.least} to {self.most} characters."

    def parse(self, answer: str) -> str:
        """Return the text with plain line ends and no white space around it, or raise BadAnswer.

        Control characters and half characters, which files and databases cannot hold, are refused.
        """
        if not isinstance(answer, str):
            raise refuse(answer, self.allowed())
        text = answer.replace("\r\n", "\n").replace("\r", "\n").strip()
        if not self.least <= len(text) <= self.most:
            if not text:
                raise refuse(answer, self.allowed())
            raise BadAnswer(f"The answer must be {self.allowed()}. Got {len(text)} characters instead.")
        if any((char < " " and char not in "\n\t") or "\ud800" <= char <= "\udfff" for char in text):
            raise refuse(answer, self.allowed())
        return text

    def write(self, value: Value) -> str:
        """Return the text itself, or raise BadAnswer if a rater could not have written it."""
        return self.parse(value)  # type: ignore[arg-type]  # parse refuses numbers

    def simulate(self, latent: Floats, rng: np.random.Generator) -> NDArray[np.str_]:
        """Return a word of praise or blame for each latent judgement, as long as is allowed."""
        place = np.floor(judge(latent, rng) / STEP + len(_REMARKS) / 2)
        fitting = np.array([word.ljust(self.least, "!")[: self.most] for word in _REMARKS.tolist()])
        return fitting[np.clip(place, 0, len(_REMARKS) - 1).astype(np.int64)]
