"""Pairs: which of two outputs is better."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_text, read_whole, refuse
from panelist.scales.base import STEP, ComparativeAnswer, ComparativeScale, HedsForm, Level, Option, scale
from panelist.scales.labels import Label, differing

NEAR = STEP / 2  # simulated raters call a tie if the two judgements are nearer than this
FIRST, SECOND = ComparativeAnswer(("best", "worst")), ComparativeAnswer(("worst", "best"))
TIE = ComparativeAnswer(("", ""), "tie")
_OUTCOMES = {"1": FIRST, "2": SECOND, "tie": TIE}


@scale("pairs")
class Pairs(ComparativeScale):
    """Two outputs of an item side by side: which is better, or, if allowed, a tie."""

    title: ClassVar[str] = "Paired comparison"
    answered: ClassVar[str] = "by"
    measurement: ClassVar[Level] = "nominal"
    widget: ClassVar[str] = "pair"
    heds_form: ClassVar[HedsForm] = HedsForm(1, 3)
    most_shown: ClassVar[int | None] = 2
    advice: ClassVar[str] = (
        "Where differences are small and raters would differ in level: two texts side by side are judged "
        "more finely than one alone. Every pair of systems must be shown, so it is for few systems. Without "
        "ties raters must decide; with them, say what a tie means."
    )
    source: ClassVar[str] = (
        "Thurstone, L. L. (1927). A law of comparative judgment. Psychological Review 34(4), 273–286. "
        "<https://doi.org/10.1037/h0070288>"
    )
    example: ClassVar[dict[str, Any]] = {"type": "pairs", "ties": True, "tie_label": "Both about the same"}

    type: Literal["pairs"] = "pairs"
    ties: bool = False
    """Whether raters may say that neither is better."""
    tie_label: Label = "No difference"
    """The words for a tie."""
    labels: Annotated[tuple[Label, Label], differing] = ("A is better", "B is better")
    """The words for the first and for the second output."""

    def allowed(self, shown: int = 2) -> str:
        """Return the answers."""
        return "1 (the first), 2 (the second) or tie" if self.ties else "1 (the first) or 2 (the second)"

    def options(self, shown: int = 2) -> tuple[Option, ...]:
        """Return the first output, the tie if there is one, and the second."""
        first, second = (Option(str(place), label) for place, label in enumerate(self.labels, start=1))
        return (first, Option("tie", self.tie_label), second) if self.ties else (first, second)

    def size(self) -> str:
        """Return the number of answers."""
        return str(len(self.options()))

    def values(self) -> str:
        """Return the possible answers."""
        return "; ".join(option.label for option in self.options())  # a label may hold a comma

    def describe(self) -> str:
        """Return whether raters must decide."""
        ties = f"or say {self.tie_label!r}" if self.ties else "with no ties allowed"
        return (
            f"{self.title}: two outputs of one item side by side, of which raters choose the better, {ties}."
        )

    def parse(self, answer: str, shown: int = 2) -> ComparativeAnswer:
        """Return which is better, or raise BadAnswer; the other one counts as the worst."""
        self.check_shown(shown)
        text = read_text(answer, self.allowed())
        if text == "tie" and self.ties:
            return TIE
        place = read_whole(answer, self.allowed())
        if place not in (1, 2):
            raise refuse(answer, self.allowed())
        return _OUTCOMES[str(place)]

    def write(self, comparison: ComparativeAnswer) -> str:
        """Return 1, 2 or tie; raise BadAnswer if that could not be answered."""
        for text, outcome in _OUTCOMES.items():
            if outcome == comparison and (self.ties or outcome != TIE):
                return text
        raise refuse(comparison, self.allowed())

    def simulate(self, latent: Floats, rng: np.random.Generator) -> list[ComparativeAnswer]:
        """Return the one judged higher in each trial; a tie, if allowed, where they are nearer than NEAR."""
        judged = self.judge_trials(latent, rng)
        lead = judged[:, 0] - judged[:, 1]
        codes = np.where(lead > 0, 0, 1)
        if self.ties:
            codes[np.abs(lead) < NEAR] = 2
        outcomes = (FIRST, SECOND, TIE)
        return [outcomes[code] for code in codes.tolist()]
