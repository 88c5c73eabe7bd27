"""What is known when a datasheet is filled: the study, its plan, its ratings, and what follows from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from panelist.agreement.measure import measure_agreement
from panelist.agreement.reliability import CriterionReliability
from panelist.agreement.studies.stability import Stability, measure_stability
from panelist.analysis.analyse import MOST_RESAMPLED
from panelist.analysis.choices.choice_criteria import agree_on_choices, are_choices
from panelist.analysis.cleaning.clean import Cleaned, clean_ratings
from panelist.analysis.cleaning.everything import Everything, read_everything
from panelist.analysis.missing import Missing, attempt
from panelist.collection.study_files import StudyFiles
from panelist.design.plan import Plan
from panelist.reports.datasheet.sheet import Place, SheetAnswer
from panelist.scales.base import MODEL_OF_LEVEL
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study

Filler = Callable[["SheetFacts"], dict[Place, SheetAnswer]]
FILLERS: list[Filler] = []
SOURCES: dict[str, str] = {}
"""For each question that can be filled, where its answer comes from; docs/heds.md shows it."""


def filler(**sources: str) -> Callable[[Filler], Filler]:
    """Register a filler with the sources of its questions: ``q3_1_1="the plan"``."""
    SOURCES.update({name[1:].replace("_", "."): text for name, text in sources.items()})

    def register(function: Filler) -> Filler:
        FILLERS.append(function)
        return function

    return register


def tick(*codes: str, text: str = "", source: str, draft: bool = False) -> SheetAnswer:
    """Return ticked options."""
    return SheetAnswer(codes, text, source, draft)


def write(text: str, source: str, draft: bool = False) -> SheetAnswer:
    """Return a text."""
    return SheetAnswer((), text.strip(), source, draft)


def join(*texts: str) -> str:
    """Return sentences in a row, each with its full stop, the empty ones left out."""
    told = (text.strip() for text in texts)
    return " ".join(text if text.endswith((".", "!", "?", ":")) else f"{text}." for text in told if text)


@dataclass(frozen=True, eq=False)
class SheetFacts:
    """Study, plan and ratings, each None where there is none, and what is computed from them."""

    study: Study
    plan: Plan | None = None
    everything: Everything | None = None
    power: Mapping[str, Any] | None = None
    power_name: str = ""
    collected: bool = False
    """Whether the ratings are known to come from Panelist's own pages."""
    resamples: int = field(default=1000)

    @cached_property
    def cleaned(self) -> Cleaned | None:
        """The ratings that count, and the record of those that do not."""
        return None if self.everything is None else clean_ratings(self.everything, self.study)

    def find_reliability(self, criterion: Criterion) -> CriterionReliability | Missing:
        """Return agreement and correlation of the raters on a criterion, or why there is none."""
        if self.cleaned is None:
            return Missing("There are no ratings yet.")
        return attempt(lambda: self._measure(criterion))

    def _measure(self, criterion: Criterion) -> CriterionReliability | Missing:
        assert self.cleaned is not None
        kept = self.cleaned.kept
        rows = kept.only(criterion.name) if kept.criteria else kept
        if rows.frame.empty or criterion.scale.measurement == "text":
            return Missing("There are no ratings on this criterion.")
        how: dict[str, Any] = {
            "interval": "none" if len(rows) > MOST_RESAMPLED else "auto",
            "resamples": self.resamples,
            "confidence": 1 - self.study.file.analysis.alpha,
        }
        if are_choices(rows.frame, criterion):
            return agree_on_choices(rows, criterion.name, **how)
        return measure_agreement(rows, measurement=str(criterion.scale.measurement), **how).criteria[0]

    @cached_property
    def stability(self) -> dict[str, Stability]:
        """How well raters repeat themselves on a second occasion, by criterion; empty without one."""
        if self.cleaned is None or "occasion" not in self.cleaned.kept.frame:
            return {}
        if self.cleaned.kept.frame["occasion"].nunique() < 2 or "rating" not in self.cleaned.kept.frame:
            return {}
        kept = self.cleaned.kept
        found = attempt(lambda: measure_stability(kept, resamples=self.resamples))
        return {} if isinstance(found, Missing) else {one.criterion: one for one in found}

    @cached_property
    def n_shown(self) -> int:
        """How many outputs a page shows at most; 1 where that is not planned."""
        if self.plan is None:
            return 1
        trials = self.plan.table[self.plan.table["phase"] == "trial"]
        return int(trials["position"].max()) if len(trials) else 1

    def name_model(self, criterion: Criterion) -> str:
        """Return the model that the analysis plan gives a criterion, in its short name."""
        chosen = self.study.file.analysis.model
        return MODEL_OF_LEVEL[criterion.scale.measurement] if chosen == "auto" else chosen


def gather_facts(
    study: Study,
    plan: Plan | None = None,
    ratings: Any = None,
    *,
    power: Path | None = None,
    collected: bool = False,
    resamples: int = 1000,
) -> SheetFacts:
    """Return everything known; a power analysis is looked for in power.json beside the study."""
    everything = None if ratings is None else read_everything(ratings)
    files = StudyFiles(study, power_file=power)
    path = files.find_power_file()
    return SheetFacts(
        study, plan, everything, files.find_power(), path.name if path else "", collected, resamples
    )
