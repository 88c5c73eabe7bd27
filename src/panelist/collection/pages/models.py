"""The pages that raters see, as data. They are blind: nothing in them says which item or system a text is of,
which page is a check, or which answer is expected.

Texts that may hold markup are ``Markup``, escaped or rendered once; all others are escaped by the templates.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from markupsafe import Markup

from panelist.collection.pages.safe_html import NOTHING
from panelist.collection.pages.turn_rows import TurnRow
from panelist.scales.base import Scale


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to choose from."""

    value: str
    label: str
    number: str = ""
    key: str = ""
    """The digit that chooses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """A criterion as raters read it: the same on every page."""

    scale: Scale
    heading: str
    ask: str
    definition: Markup = NOTHING
    choices: tuple[Choice, ...] = ()
    across: bool = False
    """Whether the choices stand side by side."""
    row: int = 0
    """The room in rem from which on the points of a scale stand in one row; 0 where they never do."""
    outputs: tuple[str, ...] = ()
    """What the outputs are called about which it is asked."""

    @property
    def widget(self) -> str:
        """The template that draws the answers."""
        return self.scale.widget

    def tell(self, answer: str) -> str:
        """Return an answer in the words that raters read; the answer itself where there are none."""
        return self.scale.tell(answer, self.outputs)

    @property
    def keys(self) -> str:
        """The first and last digit that answers, such as ``17``; nothing where none does."""
        digits = [choice.key for choice in self.choices if choice.key]
        return f"{min(digits)}{max(digits)}" if digits else ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on a page: its field, and what was answered so far."""

    question: PageQuestion
    name: str
    value: str = ""
    problem: str = ""
    """The text that says what is missing, by its key; empty where nothing is."""
    numbers: tuple[object, ...] = ()
    """What the text about the problem counts."""
    label: str = ""
    """The output that is meant, where a page shows several."""
    output: int = 0
    """Its place on the page, from 1; 0 where all are meant."""
    turn: int = 0
    """The turn of the dialogue that is meant, from 1; 0 where all are."""
    reason: str | None = None
    """What was written beside it, where the study asks for reasons."""

    @property
    def low(self) -> bool:
        """Whether the answers take little height: a row or a line, and no box for a reason."""
        question = self.question
        flat = bool(question.row) or question.across or question.scale.flat
        return flat and not question.scale.holds_outputs and self.reason is None

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers of an answer that has several: best and worst, or ranks."""
        return tuple(self.value.split(",")) if self.value else ()


@dataclass(frozen=True, slots=True)
class Output:
    """A text to judge."""

    text: Markup
    label: str = ""
    place: int = 1
    image: bool = False
    """Whether there is a picture, which the server gives under a name that says nothing."""
    blocks: bool = False
    """Whether the text consists of blocks, which cannot stand in a legend."""
    media: bool = False
    """Whether it is pictures, sound or film: such outputs have controls of their own."""

    @property
    def run(self) -> Markup:
        """The text in one run, for places where no paragraph may stand (a legend)."""
        return Markup(self.text.removeprefix("<p>").removesuffix("</p>").replace("</p><p>", "\n\n"))


@dataclass(frozen=True, kw_only=True)
class Page:
    """What all pages have."""

    template: ClassVar[str]
    id: str
    """What a form says about where it came from."""
    sheets: tuple[str, ...] = ()
    """The style sheets that its texts need, besides those of every page."""


@dataclass(frozen=True, kw_only=True)
class ConsentPage(Page):
    """Information and consent."""

    template = "consent"
    headline: str
    text: Markup = NOTHING
    facts: tuple[tuple[str, Markup], ...] = ()
    boxes: tuple[str, ...] = ()
    ticked: tuple[bool, ...] = ()
    ethics: str = ""
    contact: str = ""
    minutes: int | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class BackgroundQuestion:
    """A question about the rater."""

    name: str
    question: str
    type: str
    options: tuple[str, ...] = ()
    required: bool = True
    value: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class BackgroundPage(Page):
    """Questions about the rater."""

    template = "background"
    questions: tuple[BackgroundQuestion, ...]

    @property
    def missing(self) -> int:
        """How many answers are missing."""
        return sum(bool(question.problem) for question in self.questions)


@dataclass(frozen=True, kw_only=True)
class ComprehensionPage(Page):
    """Questions about the instructions."""

    template = "comprehension"
    questions: tuple[BackgroundQuestion, ...]
    instructions: Markup = NOTHING
    left: int = 0
    """How many attempts are left to who failed one; 0 at the first."""

    @property
    def missing(self) -> int:
        """How many answers are missing."""
        return sum(bool(question.problem) for question in self.questions)


@dataclass(frozen=True, kw_only=True)
class SoundPage(Page):
    """A word to listen to and type."""

    template = "sound"
    left: int = 0
    """How many attempts are left to who failed one; 0 at the first."""
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class InstructionsPage(Page):
    """What raters shall do, and what they judge."""

    template = "instructions"
    text: Markup = NOTHING
    questions: tuple[PageQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A text with its answers in words."""

    context: Markup
    outputs: tuple[Output, ...]
    answers: tuple[tuple[str, str], ...]
    why: Markup = NOTHING
    rows: tuple[TurnRow, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ExamplesPage(Page):
    """Worked examples."""

    template = "examples"
    examples: tuple[WorkedExample, ...]


@dataclass(frozen=True, kw_only=True)
class RatingPage(Page):
    """Texts and the questions about them."""

    template = "rate"
    n: int
    total: int
    noun: str
    layout: str
    """``one`` output, ``several`` judged each by itself, or ``compare``."""
    line: str = ""
    """A short context, shown as a line above the text."""
    context: Markup = NOTHING
    reference: Markup = NOTHING
    outputs: tuple[Output, ...] = ()
    rows: tuple[TurnRow, ...] = ()
    """The outputs turn by turn, where they are dialogues."""
    dialogue: bool = False
    """Whether outputs or their context are dialogues."""
    asked: tuple[Asked, ...] = ()
    practice: bool = False
    mixed: bool = False
    """Whether the study both compares outputs and rates each: its pages differ, and are counted as pages."""
    forced: bool = True
    back: bool = False
    seconds: float | None = None
    language: str = ""
    """The language of the texts, where it is named."""
    long: bool = False
    """Whether the texts fill more than a screen, so that question and context would scroll out of sight."""
    read: str = "free"
    played: str = "free"
    """What must have been read and played before a rater continues, as the study says."""
    ahead: str = ""
    """The addresses of the media of the next page, to be fetched while this one is answered."""

    @property
    def media(self) -> bool:
        """Whether an output is pictures, sound or film."""
        return any(output.media for output in self.outputs)

    @property
    def docked(self) -> bool:
        """Whether the answers stay at the foot of a large screen: where texts are long and answers low."""
        together = self.layout in ("one", "compare")
        last = [asked for asked in self.asked if not asked.turn]
        return self.long and together and 0 < len(last) <= 2 and all(asked.low for asked in last)

    @property
    def row(self) -> int:
        """The room that the widest row of points wants; 0 where the points of a question stand in a list."""
        rows = [asked.question.row for asked in self.asked if asked.question.widget == "choice"]
        return max(rows) if rows and all(rows) else 0

    @property
    def missing(self) -> tuple[Asked, ...]:
        """The questions that still need an answer."""
        return tuple(asked for asked in self.asked if asked.problem)

    @property
    def alone(self) -> PageQuestion | None:
        """The one question of the page, if there is only one."""
        questions = {id(asked.question): asked.question for asked in self.asked}
        return next(iter(questions.values())) if len(questions) == 1 else None

    @property
    def beside(self) -> bool:
        """Whether outputs that are rated each are compared as well, and so stand side by side."""
        return self.layout == "several" and any(not asked.output for asked in self.asked)

    @property
    def widgets(self) -> frozenset[str]:
        """The widgets on the page."""
        return frozenset(asked.question.widget for asked in self.asked)

    @property
    def scripts(self) -> list[str]:
        """The scripts that they need."""
        return sorted({asked.question.scale.script for asked in self.asked} - {""})

    @property
    def keys(self) -> str:
        """The first and last digit that answers a question here."""
        digits = "".join(asked.question.keys for asked in self.asked)
        return min(digits) + max(digits) if digits else ""

    @property
    def answered(self) -> int:
        """How many questions have an answer."""
        return sum(bool(asked.value) for asked in self.asked)


@dataclass(frozen=True, kw_only=True)
class PracticePage(RatingPage):
    """A rating page that does not count."""

    practice: bool = True


@dataclass(frozen=True, kw_only=True)
class HitPage(RatingPage):
    """An old HIT in a frame of its own; its form is the answer."""

    template = "hit"
    source: str
    """The address of the frame, under a name that says nothing."""


@dataclass(frozen=True, slots=True)
class AnswerMark:
    """How an answer in practice compares with the one expected."""

    question: PageQuestion
    label: str = ""
    given: str = ""
    """The answer in words."""
    ours: tuple[str, ...] = ()
    """The answers that pass, in words."""
    rows: tuple[tuple[Choice, bool, bool], ...] = ()
    """Each point of the scale: is it ours, is it the rater's?"""


@dataclass(frozen=True, kw_only=True)
class FeedbackPage(Page):
    """What we would have answered, and why."""

    template = "feedback"
    n: int
    total: int
    headline: str
    """The text by its key: ``feedback_same``, ``feedback_higher`` and so on."""
    noun: str
    context: Markup = NOTHING
    outputs: tuple[Output, ...] = ()
    rows: tuple[TurnRow, ...] = ()
    marks: tuple[AnswerMark, ...] = ()
    why: Markup = NOTHING
    language: str = ""


@dataclass(frozen=True, kw_only=True)
class BreakPage(Page):
    """A stop: a break, a pause, a word of warning, or another round of practice."""

    template = "break"
    kind: str
    """``break``, ``pause``, ``warning`` or ``again``."""
    n: int = 0
    total: int = 0
    text: Markup = NOTHING
    hold_minutes: int = 0


@dataclass(frozen=True, kw_only=True)
class CommentsPage(Page):
    """A box for comments."""

    template = "comments"
    question: str


@dataclass(frozen=True, kw_only=True)
class EndPage(Page):
    """The last page, or one to come back to."""

    template = "end"
    kind: str
    """``finished``, ``screened_out``, ``declined``, ``paused``, ``closed``, ``full``, ``incompatible``,
    ``released``, ``timed_out``, ``away``, ``waiting``, ``begun``, ``busy``, ``unknown``, ``trouble`` or
    ``home``."""
    text: Markup = NOTHING
    lines: tuple[str, ...] = ()
    """What else is true for this person, by the keys of the texts: why, what is saved, what is paid."""
    amount: str = ""
    """What is paid, where a line says so."""
    code: str = ""
    redirect: str = ""
    opens: float | None = field(default=None)
    """When the next occasion opens, in seconds since 1970."""
    open: bool = False
