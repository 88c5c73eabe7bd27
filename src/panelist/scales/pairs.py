"""Pairs: which of two outputs is better, and on the scale ``preference`` by how much."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_text, read_whole, refuse
from panelist.scales.base import (
    MOST_ACROSS,
    STEP,
    ComparativeAnswer,
    ComparativeScale,
    HedsForm,
    Level,
    Option,
    scale,
)
from panelist.scales.labels import ROOMS, Label, check_labels, differing, find_room

NEAR = STEP / 2  # simulated raters call a tie if the two judgements are nearer than this
APART = 2 * STEP  # and go one grade up for each of these that lies between them
FIRST, SECOND = ComparativeAnswer(("best", "worst")), ComparativeAnswer(("worst", "best"))
TIE = ComparativeAnswer(("", ""), "tie")
_STRENGTHS = {  # from the slightest to the strongest
    1: ("is better",),
    2: ("is slightly better", "is much better"),
    3: ("is slightly better", "is better", "is much better"),
}


class PairScale(ComparativeScale):
    """What all scales for two outputs have in common: answers in a row, from one output to the other."""

    answered: ClassVar[str] = "by"
    widget: ClassVar[str] = "pair"
    heds_form: ClassVar[HedsForm] = HedsForm(1, 3)
    most_shown: ClassVar[int | None] = 2

    def list_answers(self) -> tuple[tuple[Option, ComparativeAnswer], ...]:
        """Return the answers, those for the first output first, each with what it says."""
        raise NotImplementedError

    def options(self, shown: int = 2) -> tuple[Option, ...]:
        """Return the answers for the first output, the tie if there is one, and those for the second."""
        return tuple(option for option, _ in self.list_answers())

    def size(self) -> str:
        """Return the number of answers."""
        return str(len(self.options()))

    def parse(self, answer: str, shown: int = 2) -> ComparativeAnswer:
        """Return which is better, or raise BadAnswer; the other one counts as the worst."""
        self.check_shown(shown)
        told = {option.value: said for option, said in self.list_answers()}
        text = read_text(answer, self.allowed(shown))
        if text not in told:
            text = str(read_whole(answer, self.allowed(shown)))  # 1.0 is what a spreadsheet makes of 1
        if text not in told:
            raise refuse(answer, self.allowed(shown))
        return told[text]

    def write(self, comparison: ComparativeAnswer) -> str:
        """Return the text of the answer that says this; raise BadAnswer if none does."""
        for option, said in self.list_answers():
            if said == comparison:
                return option.value
        raise refuse(comparison, self.allowed(2))

    def simulate(self, latent: Floats, rng: np.random.Generator) -> list[ComparativeAnswer]:
        """Return the one judged higher in each trial; a tie, if allowed, where they are nearer than NEAR."""
        judged = self.judge_trials(latent, rng)
        told = [said for _, said in self.list_answers()]
        half = len(told) // 2
        steps = cut_leads(len(told))[len(told) - 1 - half :]
        lead = judged[:, 0] - judged[:, 1]
        passed = np.searchsorted(steps, np.abs(lead), side="right")  # a lead of NEAR is no tie any more
        codes = np.where(lead > 0, half - passed, len(told) - 1 - half + passed)
        return [told[code] for code in codes.tolist()]


@scale("pairs")
class Pairs(PairScale):
    """Two outputs of an item side by side: which is better, or, if allowed, a tie."""

    title: ClassVar[str] = "Paired comparison"
    measurement: ClassVar[Level] = "nominal"
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

    def list_answers(self) -> tuple[tuple[Option, ComparativeAnswer], ...]:
        """Return the first output, the tie if there is one, and the second."""
        first, second = (Option(str(place), label) for place, label in enumerate(self.labels, start=1))
        tie = ((Option("tie", self.tie_label), TIE),) if self.ties else ()
        return (first, FIRST), *tie, (second, SECOND)

    def values(self) -> str:
        """Return the possible answers."""
        return "; ".join(option.label for option in self.options())  # a label may hold a comma

    def describe(self) -> str:
        """Return whether raters must decide."""
        ties = f"or say {self.tie_label!r}" if self.ties else "with no ties allowed"
        return (
            f"{self.title}: two outputs of one item side by side, of which raters choose the better, {ties}."
        )


@scale("preference")
class Preference(PairScale):
    """Two outputs of an item side by side: which is better and by how much, with words at every point.

    ``A2`` says that A, the first, is better by two steps; an odd number of points has a tie in the middle.
    """

    title: ClassVar[str] = "Graded paired comparison"
    measurement: ClassVar[Level] = "ordinal"
    graded: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "Where pairs are to be shown and most of them would be decided the same way: how much better tells "
        "apart what better alone cannot. Five points are usual, seven if raters have time, four or six if "
        "they must decide. Two and three points ask what `pairs` asks. The grade of each output is recorded: "
        "2 where it is two steps better than the other, -2 where it is two steps worse, 0 for a tie. In a "
        "study file an answer is `A2`, `A1`, `tie`, `B1` or `B2`."
    )
    source: ClassVar[str] = (
        "Agresti, A. (1992). Analysis of ordinal paired comparison data. Journal of the Royal Statistical "
        "Society C 41(2), 287–297."
    )
    example: ClassVar[dict[str, Any]] = {"type": "preference", "points": 5}

    type: Literal["preference"] = "preference"
    points: int = Field(default=5, ge=2, le=7)
    """How many answers there are, 2 to 7. An odd number has a tie in the middle; with an even number raters
    must decide."""
    labels: tuple[Label, ...] | None = None
    """The words of all points, from the first output much better to the second much better; without them,
    ``A is much better`` and so on, in English."""

    @model_validator(mode="after")
    def _check(self) -> "Preference":
        if self.labels is not None:
            if len(self.labels) != self.points:
                raise ValueError(
                    f"there are {self.points} points, but {len(self.labels)} labels. "
                    f"Give {self.points} labels, or points: {len(self.labels)}"
                )
            check_labels(self.labels)
        return self

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the points, those for the first output first."""
        if self.labels is not None:
            return self.labels
        strengths = _STRENGTHS[self.points // 2]
        tie = ("About the same",) * (self.points % 2)
        return (
            *(f"A {strength}" for strength in reversed(strengths)),
            *tie,
            *(f"B {strength}" for strength in strengths),
        )

    def list_answers(self) -> tuple[tuple[Option, ComparativeAnswer], ...]:
        """Return the points with their grades, from the first output much better to the second."""
        half = self.points // 2
        grades = [*range(half, 0, -1), *([0] * (self.points % 2)), *range(-1, -half - 1, -1)]
        return tuple(
            (Option(_name_grade(grade), label), _grade(grade))
            for grade, label in zip(grades, self.words, strict=True)
        )

    def allowed(self, shown: int = 2) -> str:
        """Return the answers."""
        *values, last = (option.value for option in self.options())
        return f"{', '.join(values)} or {last} (A is the first, B the second; the number is the step)"

    def find_row(self) -> int:
        """Return the width that the points need in one row; two or three are across as those of pairs are."""
        return find_room(self.words, ROOMS[1:]) if self.points > MOST_ACROSS else 0

    def values(self) -> str:
        """Return the grades with their words."""
        told = ((option.label, said.grade or 0) for option, said in self.list_answers())
        return "; ".join(f"{f'{grade:+d}' if grade else '0'} ({label})" for label, grade in told)

    def describe(self) -> str:
        """Return the points, and whether raters must decide."""
        much = "which is better" if self.points <= MOST_ACROSS else "which is better and by how much"
        tie = "" if self.points % 2 else ", with no ties allowed"
        return (
            f"{self.title}: two outputs of one item side by side, of which raters say {much}, on "
            f"{self.points} worded points{tie}, recorded as the grade of the first: {self.values()}."
        )


def cut_leads(points: int) -> Floats:
    """Return where leads of the first output turn into the next answer, lowest first.

    >>> cut_leads(5).tolist(), cut_leads(4).tolist()
    ([-1.55, -0.31, 0.31, 1.55], [-1.24, 0.0, 1.24])
    """
    half = points // 2
    steps = APART * np.arange(half) + (NEAR if points % 2 else 0.0)
    return np.concatenate([-steps[::-1], steps if points % 2 else steps[1:]]) + 0.0


def _grade(grade: int) -> ComparativeAnswer:
    """Return what a grade of the first output says."""
    which = TIE if grade == 0 else FIRST if grade > 0 else SECOND
    return ComparativeAnswer(which.choices, which.answer, grade)


def _name_grade(grade: int) -> str:
    """Return the text that a form sends for a grade of the first output."""
    return "tie" if grade == 0 else f"{'A' if grade > 0 else 'B'}{abs(grade)}"
