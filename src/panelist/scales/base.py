"""What every scale can do: be described, parse an answer, write one, and simulate raters.

A scale is one file. It is a part of the study file (``type`` names it there) and the only place that knows
its values: the pages, the simulated raters, the analysis and the datasheet all ask it. A new scale is a new
file in this folder; docs/extending.md has an example.

Values. Whatever the order of display, a higher value is a better one (``binary``: 1 is better than 0).

Simulated raters. ``simulate`` takes latent judgements *without* the noise of the single rating and adds it,
one standard normal draw for each output judged: the residual of an ordinal probit model, and for comparisons
Thurstone's case V (1927, doi:10.1037/h0070288), so that one latent model fits all scales. 0 is the middle of
a scale; points are ``STEP`` apart, the mean distance of thresholds in Howcroft & Rieser (2021,
https://aclanthology.org/2021.emnlp-main.703); a line from 0 to 100 is as long as six points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict

from panelist.core.errors import PanelistError
from panelist.core.registry import Registry
from panelist.core.schema import StudyPart
from panelist.numerics.arrays import Floats

Level = Literal["nominal", "ordinal", "interval", "ratio", "text"]
Value = int | float | str

SCALES: Registry[type["Scale"]] = Registry("scale")
scale = SCALES.register

STEP = 0.62  # latent distance of neighbouring thresholds, in standard deviations of one rating
SPAN = 6 * STEP  # latent length of a line
MOST_ACROSS = 3  # answers about several outputs that fit side by side
FARTHEST = 1e6  # latent judgements beyond it are all the same: nothing overflows

MODEL_OF_LEVEL: dict[Level, str] = {"nominal": "clmm", "ordinal": "clmm", "interval": "lmm", "ratio": "lmm"}
"""The mixed model that suits ratings of a level; two categories are an ordinal scale of two points."""


class BadAnswer(PanelistError):
    """An answer that the scale does not have; the message says which it has."""


@dataclass(frozen=True)
class ComparativeAnswer:
    """What a rater said about the outputs shown side by side: one entry for each, in the order shown."""

    choices: tuple[str, ...]
    """``best``, ``worst`` or empty; for a ranking the ranks, 1 the best."""
    answer: str = ""
    """An answer that chooses no output: ``tie``, ``none`` or ``all``."""
    grade: int | None = None
    """By how many steps the first of two is better, negative where the second is; None without grades."""

    def find_grades(self) -> tuple[int | None, ...]:
        """Return the grade of each output: by how many steps it is better than the other, or worse (< 0)."""
        grade = self.grade
        return (None,) * len(self.choices) if grade is None else (grade, -grade)


@dataclass(frozen=True)
class Option:
    """One answer that a page offers."""

    value: str
    """The text that the form sends."""
    label: str
    """The words beside it; empty where a point has only its number."""
    number: int | None = None
    """The number shown with the words, if one is."""


class HedsForm(NamedTuple):
    """How the Human Evaluation Datasheet classifies a scale, by the numbers of its options."""

    presentation: Literal[1, 2, 3, 4, 5]
    """4.3.5: 1 multiple choice, 2 check-boxes, 3 slider, 4 no instrument, 5 other."""
    elicitation: Literal[2, 3, 5]
    """4.3.8: 2 direct quality estimation, 3 relative quality estimation, 5 qualitative feedback."""
    other: str = ""
    """The description that 4.3.5 asks for where it is ``other``."""


def _require_type(schema: dict[str, Any]) -> None:
    """Make editors require ``type``: Python code may leave it out, a study file may not."""
    schema["required"] = ["type", *schema.get("required", [])]


class Scale(StudyPart):
    """A way to answer the question of a criterion."""

    model_config = ConfigDict(json_schema_extra=_require_type)

    title: ClassVar[str]
    """Its name in a sentence, without an article."""
    answered: ClassVar[str] = "on a"
    """How it follows on "raters answered": ``on a``, ``by`` or ``in``."""
    measurement: ClassVar[Level]
    """Level of measurement: it determines the model and the coefficients."""
    widget: ClassVar[str]
    """The template that draws its controls: one of web/templates/rater/widgets, or that of ``markup``."""
    markup: ClassVar[str] = ""
    """The template of the scale's own widget: a Jinja macro ``controls(asked, forced)``, which finds the
    scale as ``asked.question.scale``."""
    script: ClassVar[str] = ""
    """The script of web/static that its controls need; empty where the browser's own controls are enough."""
    holds_outputs: ClassVar[bool] = False
    """Whether its controls are beside each output, so that the widget shows the outputs itself."""
    flat: ClassVar[bool] = False
    """Whether its controls always take little height."""
    please: ClassVar[str] = "please_choose"
    """The text (collection/pages/languages) that says what is missing where there is no answer."""
    comparative: ClassVar[bool] = False
    """Whether several outputs are shown side by side and compared."""
    heds_form: ClassVar[HedsForm]
    """The options of HEDS 4.3.5 and 4.3.8."""
    advice: ClassVar[str]
    """When to choose it, for the documentation."""
    source: ClassVar[str] = ""
    """Where it is described, for the documentation."""
    example: ClassVar[dict[str, Any]]
    """A small example as written in a study file, ``type`` included."""

    def describe(self) -> str:
        """Return the sentence for a datasheet and a methods section."""
        raise NotImplementedError

    def size(self) -> str:
        """Return the size of the instrument in words (HEDS 4.3.3): ``7``, ``continuous``, ``2``."""
        raise NotImplementedError

    def values(self) -> str:
        """Return the possible values in words, labels included (HEDS 4.3.4)."""
        raise NotImplementedError

    @property
    def scenery(self) -> tuple[str, ...]:
        """The texts of its own that it shows beside the outputs."""
        return ()

    def list_choices(self, shown: int) -> tuple[Option, ...]:
        """Return the answers that a page lists, one control each, in the order of display."""
        return ()

    def stands_across(self, shown: int) -> bool:
        """Return whether these are shown side by side."""
        return False

    def find_row(self) -> int:
        """Return the width in rem from which its points are in one row; 0 where they never are."""
        return 0

    def read_form(self, form: Mapping[str, str], name: str, shown: int) -> str:
        """Return the answer in the field ``name`` of a form, as it was sent; several controls become one."""
        return form.get(name, "")

    def ask_again(self, text: str) -> tuple[str, tuple[object, ...]]:
        """Return the text, by its key, that says what is wrong with an answer, and the numbers in it."""
        return self.please, ()

    def tell(self, answer: str, outputs: Sequence[str]) -> str:
        """Return an answer in the words that raters read; ``outputs`` are the names of what is shown."""
        raise NotImplementedError

    @property
    def lowest(self) -> float | None:
        """The lowest value that can be given, None where there is none."""
        return None

    @property
    def highest(self) -> float | None:
        """The highest value that can be given, None where there is none."""
        return None


class RatingScale(Scale):
    """A scale that gives one output one value."""

    slack: ClassVar[float] = 0.0
    """How far from the value that an instruction asks for an answer may lie and still follow it."""

    def allowed(self) -> str:
        """Return what an answer must be, as the end of a sentence."""
        raise NotImplementedError

    def options(self) -> tuple[Option, ...]:
        """Return the answers to choose from, in the order of display; none where there is nothing to list."""
        return ()

    def list_choices(self, shown: int) -> tuple[Option, ...]:
        """Return all options."""
        return self.options()

    def tell(self, answer: str, outputs: Sequence[str]) -> str:
        """Return the number and the label of the option, or else the value; other texts stay as they are."""
        try:
            value = self.write(self.recognise(answer))
        except BadAnswer:
            return answer
        found = next((option for option in self.list_choices(1) if option.value == value), None)
        if found is None:
            return value
        return found.label if found.number is None else f"{found.number} {found.label}".strip()

    def parse(self, answer: str) -> Value:
        """Return the value of a form's text, or raise BadAnswer saying what is allowed."""
        raise NotImplementedError

    def write(self, value: Value) -> str:
        """Return the text that ``parse`` turns into this value, or raise BadAnswer."""
        raise NotImplementedError

    def recognise(self, words: str) -> Value:
        """Return the value of a label, or else of a form's text: people who write a study file use either."""
        wanted = str(words).strip().casefold()
        for option in self.options():
            if option.label and option.label.casefold() == wanted:
                return self.parse(option.value)
        return self.parse(words)

    def simulate(self, latent: Floats, rng: np.random.Generator) -> NDArray[np.generic]:
        """Return a value for each latent judgement (0 the middle of the scale), noise added."""
        raise NotImplementedError


class ComparativeScale(Scale):
    """A scale on which the outputs of one item are compared with each other."""

    comparative: ClassVar[bool] = True
    told: ClassVar[Literal["best", "best-worst", "ranking"]] = "best"
    """What an answer says: which output is the best, which the best and the worst, or the rank of each."""
    graded: ClassVar[bool] = False
    """Whether an answer also says by how much one of two is better."""
    least_shown: ClassVar[int] = 2
    most_shown: ClassVar[int | None] = None

    def allowed(self, shown: int) -> str:
        """Return what an answer about ``shown`` outputs must be, as the end of a sentence."""
        raise NotImplementedError

    def options(self, shown: int) -> tuple[Option, ...]:
        """Return the answers to choose from in the order of display; none where several are to be given."""
        return ()

    @property
    def pairwise(self) -> bool:
        """Whether it compares two outputs and never more."""
        return self.most_shown == 2

    def list_choices(self, shown: int) -> tuple[Option, ...]:
        """Return all options."""
        return self.options(shown)

    def stands_across(self, shown: int) -> bool:
        """Return whether there are few options: on phones they wrap."""
        return len(self.options(shown)) <= MOST_ACROSS

    def tell(self, answer: str, outputs: Sequence[str]) -> str:
        """Return the label of the option, or the name of the output for which it stands."""
        for option in self.options(len(outputs)):
            if option.value == answer:
                return option.label or (outputs[option.number - 1] if option.number else "")
        return answer

    def parse(self, answer: str, shown: int) -> ComparativeAnswer:
        """Return what a form's text says about the ``shown`` outputs, or raise BadAnswer."""
        raise NotImplementedError

    def write(self, comparison: ComparativeAnswer) -> str:
        """Return the text that ``parse`` turns into this comparison, or raise BadAnswer."""
        raise NotImplementedError

    def simulate(self, latent: Floats, rng: np.random.Generator) -> list[ComparativeAnswer]:
        """Return a comparison for each row of latent judgements (trials × outputs shown); adds the noise."""
        raise NotImplementedError

    def is_first(self, said: float | str) -> bool:
        """Return whether what an answer says about an output, a word, a rank or a grade, puts it first."""
        if self.graded:
            return isinstance(said, float) and said > 0
        return said in ("best", 1.0)

    def check_shown(self, shown: int) -> None:
        """Raise ValueError if the scale cannot compare ``shown`` outputs; such a study is refused."""
        most = self.most_shown
        if shown < self.least_shown or (most is not None and shown > most):
            limits = f"at least {self.least_shown}" + (f" and at most {most}" if most is not None else "")
            raise ValueError(f"{self.title} compares {limits} outputs. Got {shown} instead.")

    def judge_trials(self, latent: ArrayLike, rng: np.random.Generator) -> Floats:
        """Return noisy judgements, trials × outputs shown, after checking that they can be compared."""
        judged = judge(latent, rng)
        if judged.ndim != 2:
            raise ValueError(
                f"Comparisons need a table, trials × outputs shown. Got {judged.ndim} dimensions."
            )
        self.check_shown(judged.shape[1])
        return judged


def judge(latent: ArrayLike, rng: np.random.Generator) -> Floats:
    """Return the latent judgements with the noise of one rating each: standard normal, independent."""
    given = np.asarray(latent, dtype=np.float64)
    if not np.isfinite(given).all():
        raise ValueError("Latent judgements must be finite numbers; drop the trials that have none.")
    judged = rng.standard_normal(given.shape)
    judged += np.clip(given, -FARTHEST, FARTHEST)
    return judged
