"""What an analysis holds, part by part, in the order in which a reader needs it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.reliability import CriterionReliability
from panelist.analysis.checks.model_checks import ModelChecks
from panelist.analysis.cleaning.clean import ExclusionReport
from panelist.analysis.departures import TITLE as DEPARTURES
from panelist.analysis.departures import Departures
from panelist.analysis.describe import Description
from panelist.analysis.level_effects import LevelEffects
from panelist.analysis.missing import Missing
from panelist.analysis.output_examples import OutputExample
from panelist.analysis.output_form import OutputForm
from panelist.analysis.sensitivity.lacking import LackingOutputs
from panelist.analysis.sensitivity.side_by_side import SideBySide
from panelist.analysis.sensitivity.with_without import WithWithout
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.effects import Effect, Effects
from panelist.analysis.systems.margins import tell_equivalence
from panelist.core.display.formats import interval, number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, json_ready
from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.notes import has_note
from panelist.core.prose import count, inflect, listing
from panelist.core.tables.review import say_simulated
from panelist.models.inference.adjust import find_adjustment

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit
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
    """What the analysis is of: counts, and the hashes that identify it."""

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
    from_file: bool = False

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


@dataclass(frozen=True, kw_only=True, eq=False)
class CriterionAnalysis(Result):
    """Everything about one criterion; a part that could not be computed is a Missing with the reason."""

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
            whole += [NamedValues([(words, part.reason)])] if isinstance(part, Missing) else part.parts()
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
    spec: AnalysisSpec
    exclusions: ExclusionReport
    criteria: tuple[CriterionAnalysis, ...]
    study: "Study | None" = field(default=None, repr=False)
    departures: Departures | Missing | None = None
    """From the preregistration; None where there is none."""
    form: OutputForm | None = None
    """What the outputs look like; None where they are not known."""
    examples: tuple[OutputExample, ...] = ()
    """Outputs that the report shows; none where they are not known, or the study hides them."""
    lacking: LackingOutputs | None = None
    """Outputs that do not exist, and what depends on them; None where none is missing."""
    beside: Result | None = None
    """What judges' scores add to people's ratings; None where no judges table was given."""

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
        whole: list[Part] = [Sentence(self.lacking.opening())] if self.lacking else []
        whole += [Sentence(text) for text in self.sentences()]
        whole.append(Sentence(self.data.sentence()))
        whole += self.exclusions.parts()
        if isinstance(self.departures, Missing):
            whole.append(NamedValues([(DEPARTURES, self.departures.reason)]))
        elif self.departures is not None:
            whole += self.departures.parts()
        if self.lacking is not None:
            whole += self.lacking.parts()[1:]
        for one in self.criteria:
            whole += one.parts()[1:]
        whole += self.form.parts() if self.form is not None else []
        whole += self.beside.parts() if self.beside is not None else []
        return whole + (
            [NamedValues([("note", note) for note in self.data.notes])] if self.data.notes else []
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis as names and values."""
        return {
            "name": self.name,
            "findings": self.sentences(),
            "data": asdict(self.data),
            "settings": self.spec.to_dict(),
            "study_hash": self.study.hash if self.study else None,
            "exclusions": self.exclusions.to_dict(),
            **({} if self.departures is None else {"departures": self.departures.to_dict()}),
            **({} if self.lacking is None else {"lacking": self.lacking.to_dict()}),
            "criteria": [one.to_dict() for one in self.criteria],
            **({} if self.form is None else {"form": self.form.to_dict()}),
            **({"examples": [json_ready(one.to_dict()) for one in self.examples]} if self.examples else {}),
            **({} if self.beside is None else {"beside_judges": self.beside.to_dict()}),
        }


def tell_finding(one: "CriterionAnalysis") -> str:
    """Return the finding on one criterion in a sentence or two, or why there is none."""
    if isinstance(one.comparison, Missing):
        return f"No comparison of systems on {one.criterion}. {one.comparison.reason}"
    size = "" if isinstance(one.effects, Missing) else _tell_size(one.comparison, one.effects)
    said = [one.comparison.finding(size), one.comparison.why, one.comparison.look]
    said.append(tell_equivalence(one.comparison.equivalence, 1 - one.comparison.confidence))
    if (own := one.comparison.remedy) is not None and own.choice != "location":
        said.append(own.sentence())
    if has_note(one.comparison.notes, "lightened", "independent"):
        said.append("This may look surer than it is: see how it was modelled.")
    return " ".join(text for text in said if text)


def _tell_size(comparison: CriterionComparison, effects: Effects) -> str:
    """Return the largest difference shown, or how small one that was not shown must be."""
    alpha = 1 - comparison.confidence
    shown = [one for one in effects.pairs if one.p_adjusted < alpha and isfinite(one.points)]
    heading = f"{comparison.confidence * 100:g} % interval"
    if shown:
        most = max(shown, key=lambda one: abs(one.points))
        up = most.upward()
        size, low, high = up.points, up.points_low, up.points_high
        over = f"{up.a} over {up.b}" if comparison.better == "higher" else f"{up.b} below {up.a}"
        which = "The difference" if len(effects.pairs) == 1 else f"The largest difference, {over},"
        both = ", which includes 0: they differ in spread as well" if low <= 0 <= high else ""
        return f". {which} is {_points(size)} ({heading} {interval(low, high)}{both})"
    limited = [one for one in effects.pairs if not one.prior]  # how far the others are is the prior's
    known = [one for one in limited if isfinite(one.points_low) and isfinite(one.points_high)]
    if not known or len(known) > 10:
        return ""
    if unsettled := [one.upward() for one in known if one.points_low > 0 or one.points_high < 0]:
        return _tell_unsettled(comparison, sorted(unsettled, key=lambda one: -one.points))
    farthest = max(max(abs(one.points_low), abs(one.points_high)) for one in known)
    fit: Fit = comparison.fit
    if not fit.ordinal and farthest >= np.ptp(fit.design.y):  # no two ratings are that far apart
        return "; the ratings are too few to say how small a difference must be"
    if len(limited) < len(effects.pairs):
        names = [one.system for one in effects.systems if any(one.system in (p.a, p.b) for p in known)]
        return f"; if {listing(names, None)} differ, it is by less than {_points(farthest)} ({heading})"
    return f"; if there is a difference, it is below {_points(farthest)} ({heading})"


def _tell_unsettled(comparison: CriterionComparison, pairs: Sequence[Effect]) -> str:
    """Return the pairs, the higher first, whose intervals in points leave out 0 though p shows nothing."""
    named = [
        (f"{one.a} over {one.b}" if comparison.better == "higher" else f"{one.b} below {one.a}")
        + f" ({interval(one.points_low, one.points_high)})"
        for one in pairs
    ]
    stepwise = comparison.adjust != "none" and bool(find_adjustment(comparison.adjust).note)
    what = f"{'unadjusted ' * stepwise}{comparison.confidence * 100:g} % {inflect(len(named), 'interval')}"
    verb = inflect(len(named), "leaves", "leave")
    end = ", which the adjusted test does not bear out" if stepwise else ", though, so this is not settled"
    return f"; in points of the scale the {what} of {listing(named, 3)} {verb} out 0{end}"


def _points(size: float) -> str:
    text = number(size, 2)
    return f"{text} point{'' if text == '1.00' else 's'} of the scale"
