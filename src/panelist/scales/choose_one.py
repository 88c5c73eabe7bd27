"""Choose one: the best of the outputs shown."""

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import model_validator

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_text, read_whole, refuse
from panelist.scales.base import STEP, ComparativeAnswer, ComparativeScale, HedsForm, Level, Option, scale
from panelist.scales.labels import Label, check_labels

EXTREME = 2 * STEP  # simulated raters say "none" if all outputs are this far below the middle, "all" if above


@scale("choose-one")
class ChooseOne(ComparativeScale):
    """Several outputs of an item side by side, of which a rater chooses the best; if offered, none or all."""

    title: ClassVar[str] = "Choice of one"
    answered: ClassVar[str] = "by"
    measurement: ClassVar[Level] = "nominal"
    widget: ClassVar[str] = "choice"
    heds_form: ClassVar[HedsForm] = HedsForm(1, 3)
    advice: ClassVar[str] = (
        "Where the one thing to know is which system is preferred. It is quick, but says nothing about the "
        "order of the others. Offer `none` where all outputs may be unusable, and `all` where they may all "
        "be fine."
    )
    example: ClassVar[dict[str, Any]] = {"type": "choose-one", "none": True, "none_label": "None of these"}

    type: Literal["choose-one"] = "choose-one"
    none: bool = False
    """Whether raters may say that none of the outputs will do."""
    all: bool = False
    """Whether raters may say that all of them will do equally."""
    none_label: Label = "None of them"
    """The words for none."""
    all_label: Label = "All of them"
    """The words for all."""

    @model_validator(mode="after")
    def _check(self) -> "ChooseOne":
        check_labels((self.none_label, self.all_label))
        return self

    def _extras(self) -> dict[str, str]:
        offered = {"none": (self.none, self.none_label), "all": (self.all, self.all_label)}
        return {answer: label for answer, (offer, label) in offered.items() if offer}

    def allowed(self, shown: int) -> str:
        """Return the places of the outputs, and none or all if offered."""
        return " or ".join([f"the place of an output from 1 to {shown}", *self._extras()])

    def options(self, shown: int) -> tuple[Option, ...]:
        """Return the places of the outputs, then none and all if offered."""
        places = tuple(Option(str(place), "", place) for place in range(1, shown + 1))
        return (*places, *(Option(answer, label) for answer, label in self._extras().items()))

    def size(self) -> str:
        """Return the number of answers, which depends on how many outputs are shown."""
        extras = len(self._extras())
        return "one for each output shown" + (f", and {extras} more" if extras else "")

    def values(self) -> str:
        """Return the possible answers."""
        return ", ".join(["the output chosen", *self._extras().values()])

    def describe(self) -> str:
        """Return what raters choose from."""
        extras = "".join(f" or {label!r}" for label in self._extras().values())
        return f"{self.title}: outputs of one item side by side, of which raters choose the best{extras}."

    def parse(self, answer: str, shown: int) -> ComparativeAnswer:
        """Return which output was chosen, or raise BadAnswer."""
        self.check_shown(shown)
        text = read_text(answer, self.allowed(shown))
        if text in self._extras():
            return ComparativeAnswer(("",) * shown, text)
        place = read_whole(answer, self.allowed(shown))
        if not 1 <= place <= shown:
            raise refuse(answer, self.allowed(shown))
        return _choose(place - 1, shown)

    def write(self, comparison: ComparativeAnswer) -> str:
        """Return the place chosen, or none or all; raise BadAnswer if that could not be answered."""
        shown = len(comparison.choices)
        chosen = comparison.choices.index("best") + 1 if "best" in comparison.choices else 0
        text = comparison.answer or str(chosen)
        if self.parse(text, shown) != comparison:
            raise refuse(comparison, self.allowed(shown))
        return text

    def simulate(self, latent: Floats, rng: np.random.Generator) -> list[ComparativeAnswer]:
        """Return the output judged highest in each trial; none or all where offered and judged so."""
        judged = self.judge_trials(latent, rng)
        shown = judged.shape[1]
        outcomes = [_choose(place, shown) for place in range(shown)]
        outcomes += [ComparativeAnswer(("",) * shown, "none"), ComparativeAnswer(("",) * shown, "all")]
        codes = judged.argmax(axis=1)
        if self.none:
            codes[(judged < -EXTREME).all(axis=1)] = shown
        if self.all:
            codes[(judged > EXTREME).all(axis=1)] = shown + 1
        return [outcomes[code] for code in codes.tolist()]


def _choose(place: int, shown: int) -> ComparativeAnswer:
    return ComparativeAnswer(tuple("best" if other == place else "" for other in range(shown)))
