"""Best-worst scaling: the best and the worst of the outputs shown."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import model_validator

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_places, refuse
from panelist.scales.base import ComparativeAnswer, ComparativeScale, HedsForm, Level, scale
from panelist.scales.labels import Label, check_labels, name_letter


@scale("best-worst")
class BestWorst(ComparativeScale):
    """Three or more outputs of an item side by side, of which a rater names the best and the worst."""

    title: ClassVar[str] = "Best-worst scaling"
    answered: ClassVar[str] = "by"
    measurement: ClassVar[Level] = "ordinal"
    widget: ClassVar[str] = "best_worst"
    script: ClassVar[str] = "best_worst"
    holds_outputs: ClassVar[bool] = True
    please: ClassVar[str] = "please_best_worst"
    told: ClassVar[Literal["best", "best-worst", "ranking"]] = "best-worst"
    heds_form: ClassVar[HedsForm] = HedsForm(1, 3)
    least_shown: ClassVar[int] = 3
    advice: ClassVar[str] = (
        "Where more systems are compared than pairs allow. Two clicks on four outputs settle five of the six "
        "pairs. What comes out is relative: systems are placed against each other, not against a standard."
    )
    source: ClassVar[str] = (
        "Kiritchenko, S. & Mohammad, S. (2017). Best-worst scaling more reliable than rating scales: a case "
        "study on sentiment intensity annotation. <https://aclanthology.org/P17-2074>"
    )
    example: ClassVar[dict[str, Any]] = {"type": "best-worst", "best": "Easiest", "worst": "Hardest"}

    type: Literal["best-worst"] = "best-worst"
    best: Label = "Best"
    """The word for the best."""
    worst: Label = "Worst"
    """The word for the worst."""

    @model_validator(mode="after")
    def _check(self) -> "BestWorst":
        check_labels((self.best, self.worst))
        return self

    def allowed(self, shown: int) -> str:
        """Return the form of an answer."""
        return (
            f"the place of the best and the place of the worst, two different numbers from 1 to {shown} with "
            "a comma between them, such as 2,1"
        )

    def size(self) -> str:
        """Return the number of answers, which depends on how many outputs are shown."""
        return "two choices, one for each output shown"

    def values(self) -> str:
        """Return what is recorded for each output."""
        return f"one output {self.best!r}, another {self.worst!r}, the others neither"

    def describe(self) -> str:
        """Return what raters choose."""
        return (
            f"{self.title}: outputs of one item side by side, of which raters choose one as {self.best!r} "
            f"and another as {self.worst!r}."
        )

    def read_form(self, form: Mapping[str, str], name: str, shown: int) -> str:
        """Return both places: without JavaScript they are two groups of buttons."""
        parts = [form.get(f"{name}-best", ""), form.get(f"{name}-worst", "")]
        return ",".join(parts) if any(parts) else form.get(name, "")

    def tell(self, answer: str, outputs: Sequence[str]) -> str:
        """Return the letters of the two outputs."""
        best, comma, worst = answer.partition(",")
        if not comma or "," in worst:
            return answer
        return f"{self.best}: {name_letter(best)}, {self.worst}: {name_letter(worst)}"

    def parse(self, answer: str, shown: int) -> ComparativeAnswer:
        """Return which were named best and worst, or raise BadAnswer."""
        self.check_shown(shown)
        places = read_places(answer, self.allowed(shown))
        if len(places) != 2 or places[0] == places[1] or not all(1 <= place <= shown for place in places):
            raise refuse(answer, self.allowed(shown))
        return _name(places[0] - 1, places[1] - 1, shown)

    def write(self, comparison: ComparativeAnswer) -> str:
        """Return the two places; raise BadAnswer if that could not be answered."""
        choices, shown = comparison.choices, len(comparison.choices)
        places = [choices.index(word) + 1 if word in choices else 0 for word in ("best", "worst")]
        text = ",".join(map(str, places))
        if self.parse(text, shown) != comparison:
            raise refuse(comparison, self.allowed(shown))
        return text

    def simulate(self, latent: Floats, rng: np.random.Generator) -> list[ComparativeAnswer]:
        """Return the outputs judged highest and lowest in each trial."""
        judged = self.judge_trials(latent, rng)
        n, shown = judged.shape
        best = judged.argmax(axis=1)
        judged[np.arange(n), best] = np.inf  # so that they differ even where all are equal
        codes = best * shown + judged.argmin(axis=1)
        outcomes = [_name(first, last, shown) for first in range(shown) for last in range(shown)]
        return [outcomes[code] for code in codes.tolist()]


def _name(best: int, worst: int, shown: int) -> ComparativeAnswer:
    words = {worst: "worst", best: "best"}
    return ComparativeAnswer(tuple(words.get(place, "") for place in range(shown)))
