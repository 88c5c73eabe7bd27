"""What an analysis holds, part by part, in the order in which a reader wants it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from panelist.agreement.reliability import CriterionReliability
from panelist.analysis.clean import Exclusions
from panelist.analysis.comparison import CriterionComparison
from panelist.analysis.departures import TITLE as DEPARTURES
from panelist.analysis.departures import Departures
from panelist.analysis.describe import Description
from panelist.analysis.effects import Effects
from panelist.analysis.level_effects import LevelEffects
from panelist.analysis.missing import Missing
from panelist.analysis.model_checks import ModelChecks
from panelist.analysis.ranks import Better
from panelist.analysis.side_by_side import SideBySide
from panelist.analysis.with_without import WithWithout
from panelist.analysis.words import count, listing, tell_finding
from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.result import Pairs, Part, Result, Sentence
from panelist.core.review import say_simulated

if TYPE_CHECKING:
    from panelist.study.study import Study

PARTS = (
    ("description", "What was answered"),
    ("reliability", "Reliability"),
    ("comparison", "Systems compared"),
    ("effects", "Effect sizes"),
    ("without_exclusions", "Without exclusions"),
    ("kinds", "Ordinal and interval analysis"),
    ("raters", "Raters"),
    ("items", "Items"),
    ("checks", "Checks of the model"),
)
"""The parts of a criterion's analysis in their order, and what each is called."""


@dataclass(frozen=True, kw_only=True)
class Data:
    """What the analysis is of: counts, and the hashes by which to know it again."""

    source: str
    hash: str
    hash_of: str
    n_rows: int
    n_counted: int
    """Rows that are neither checks nor excluded."""
    n: int
    n_raters: int
    n_items: int
    systems: tuple[str, ...]
    criteria: tuple[str, ...]
    notes: tuple[str, ...] = ()
    noun: str = "answer"
    n_simulated: int = 0
    """How many of the rows that count are by simulated raters."""

    def simulated(self) -> str:
        """Return the words that must go with everything made from simulated ratings; else nothing."""
        return say_simulated(self.n_simulated, self.n_counted)

    def sentence(self) -> str:
        """Return the counts in words; a comparison counts once, however many outputs it showed."""
        counts = [count(self.n, self.noun)]
        counts += [count(n, noun) for n, noun in ((self.n_raters, "rater"), (self.n_items, "item")) if n]
        counts += [count(len(self.systems), "system")] if self.systems else []
        counts += [count(len(self.criteria), "criterion", "criteria")]
        return f"{listing(counts)}, from {self.source}."


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the analysis was made: all that, with the data, repeats it."""

    model: str = "auto"
    link: str = "probit"
    formula: str | None = None
    adjust: str = "tukey"
    across_criteria: str = "none"
    margin: float | None = None
    better: Better | None = None
    """None: as the study says of each criterion, else higher."""
    level: float = 0.95
    resamples: int = 1000
    seed: int = 0
    columns: Mapping[str, str | None] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    by: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CriterionAnalysis(Result):
    """Everything about one criterion; a part that could not be had is a Missing with the reason."""

    criterion: str
    comparative: bool
    description: Description | Missing
    reliability: CriterionReliability | Missing
    comparison: CriterionComparison | Missing
    effects: Effects | Missing
    without_exclusions: WithWithout | Missing
    kinds: SideBySide | Missing
    raters: LevelEffects | Missing
    items: LevelEffects | Missing
    checks: ModelChecks | Missing

    def sentence(self) -> str:
        """Return the finding to quote."""
        return tell_finding(self)

    def title(self) -> str:
        """Return the heading."""
        return self.criterion

    def parts(self) -> list[Part]:
        """Return every part in order, the reason where one is missing."""
        whole: list[Part] = [Sentence(self.sentence())]
        for name, words in PARTS:
            part: Result | Missing = getattr(self, name)
            whole += [Pairs([(words, part.reason)])] if isinstance(part, Missing) else part.parts()
        return whole

    def to_dict(self) -> dict[str, Any]:
        """Return the parts by name."""
        first = {"criterion": self.criterion, "comparative": self.comparative, "finding": self.sentence()}
        return first | {name: getattr(self, name).to_dict() for name, _ in PARTS}


@dataclass(frozen=True, kw_only=True, eq=False)
class Analysis(Result):
    """The analysis of a study or of a table of ratings: data, exclusions, and every criterion."""

    name: str
    data: Data
    settings: Settings
    exclusions: Exclusions
    criteria: tuple[CriterionAnalysis, ...]
    study: "Study | None" = field(default=None, repr=False)
    departures: Departures | Missing | None = None
    """From the preregistration; None where there is none."""

    def __getitem__(self, criterion: str) -> CriterionAnalysis:
        found = {one.criterion: one for one in self.criteria}
        if criterion not in found:
            raise UnknownName(f"No criterion is called {criterion!r}. {did_you_mean(criterion, found)}")
        return found[criterion]

    def sentences(self) -> list[str]:
        """Return the sentence to quote for each criterion."""
        return [one.sentence() for one in self.criteria]

    def title(self) -> str:
        """Return the heading."""
        return f"Analysis of {self.name}"

    def parts(self) -> list[Part]:
        """Return the findings, the data, the exclusions, and the parts of each criterion."""
        whole: list[Part] = [Sentence(text) for text in self.sentences()]
        whole.append(Sentence(self.data.sentence()))
        whole += self.exclusions.parts()
        if isinstance(self.departures, Missing):
            whole.append(Pairs([(DEPARTURES, self.departures.reason)]))
        elif self.departures is not None:
            whole += self.departures.parts()
        for one in self.criteria:
            whole += one.parts()[1:]
        return whole + ([Pairs([("note", note) for note in self.data.notes])] if self.data.notes else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis as names and values."""
        return {
            "name": self.name,
            "findings": self.sentences(),
            "data": asdict(self.data),
            "settings": asdict(self.settings),
            "study_hash": self.study.hash if self.study else None,
            "exclusions": self.exclusions.to_dict(),
            **({} if self.departures is None else {"departures": self.departures.to_dict()}),
            "criteria": [one.to_dict() for one in self.criteria],
        }
