"""The study: everything a person decides, in one frozen object."""

from typing import Literal

from pydantic import Field, model_validator

from panelist.core.schema import Name, StudyPart, Text
from panelist.study.preregistration import Topic
from panelist.study.sections.analysis_plan import AnalysisPlan
from panelist.study.sections.briefing import Breaks, Closing, Example, Information, Practice, SoundCheck
from panelist.study.sections.checks import Checks
from panelist.study.sections.collecting import Collecting
from panelist.study.sections.criteria import Criterion
from panelist.study.sections.design_choice import DesignChoice
from panelist.study.sections.hit import Hit, take_from_hit
from panelist.study.sections.outputs_file import OutputsFile
from panelist.study.sections.pay import Pay
from panelist.study.sections.people import Question, Raters
from panelist.study.sections.recruiting import Comprehension, Recruiting
from panelist.study.sections.repeating import Repeat
from panelist.study.sections.sampling import SampleOrAll


class System(StudyPart):
    """A system whose outputs are judged."""

    name: Name
    human: bool = False
    """Whether people wrote these outputs."""
    description: str = ""
    family: str = ""
    """The family of models it belongs to: a judge of the same family is flagged."""


class StudyFile(StudyPart):
    """A study as it is written in study.yaml."""

    panelist: Literal[1] = 1
    """The version of this format."""
    title: Text
    description: str = ""
    language: str = "en"
    """The language of the pages, such as ``en``, ``de`` or ``ar``."""
    text_language: str = ""
    """The language of the outputs, where it is another."""
    outputs: OutputsFile = OutputsFile()
    """The file of outputs, beside the study file: columns item, system, output; or file and formats."""
    noun: str = "text"
    """What raters call an output: text, forecast, summary."""
    systems: tuple[System, ...] = ()
    """The systems, in the order in which tables show them; by default as in the outputs file."""
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    sample: SampleOrAll = None
    """Which items people rate, where a judge scores all; by default, or with ``all``, every item."""
    design: DesignChoice = DesignChoice()
    raters: Raters = Raters()
    information: Information = Information()
    background: tuple[Question, ...] = ()
    instructions: str = ""
    """What raters shall do (Markdown)."""
    examples: tuple[Example, ...] = ()
    sound_check: SoundCheck | None = None
    """A word to listen to and type, before the instructions."""
    comprehension: Comprehension | None = None
    """Questions about the instructions, asked after them."""
    practice: Practice | None = None
    checks: Checks | None = None
    breaks: Breaks | None = None
    closing: Closing = Closing()
    pay: Pay | None = None
    collecting: Collecting = Collecting()
    recruiting: Recruiting | None = None
    """The panel that raters come from; by default links are handed out by you."""
    analysis: AnalysisPlan = AnalysisPlan()
    heds: dict[str, str | bool | tuple[str, ...] | dict[str, str | tuple[str, ...]]] = Field(
        default_factory=dict
    )
    """Answers for the datasheet that nothing else can know, by question number: ``"5.1": Approved by …``."""
    preregistration: dict[Topic, Text] = Field(default_factory=dict)
    """Answers for the preregistration that nothing else can know: ``stopping_rule: …``."""
    repeat: Repeat | None = None
    """In a repeat of another study: which, why anything differs, and how far it has come."""
    hit: Hit | None = None
    """An old HIT of Mechanical Turk to be run again; its form takes the place of criteria and outputs."""

    _take_from_hit = model_validator(mode="before")(take_from_hit)
