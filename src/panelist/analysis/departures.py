"""Departures from the preregistration: what was declared, compared with what was done."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.analysis.cleaning.clean import ExclusionReport
from panelist.analysis.cleaning.counted_answers import number_answers
from panelist.analysis.cleaning.everything import Everything
from panelist.analysis.missing import Missing
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import PanelistError
from panelist.core.notes import has_note
from panelist.core.prose import count, listing
from panelist.study.differences import compare_declared
from panelist.study.preregistration import Registration, read_registrations
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import CriterionAnalysis
    from panelist.analysis.looks import StudyLook

TITLE = "Departures from the preregistration"
PROCEDURAL = ("declined", "screened out", "released")
"""Ends of a visit that release its place, as in every study of Panelist."""


@dataclass(frozen=True)
class Departure:
    """One thing that was not done as declared; ``amended`` says when and why, if that was declared."""

    what: str
    declared: str
    used: str
    amended: str = ""


@dataclass(frozen=True, kw_only=True)
class Departures(Result):
    """Every departure from the preregistration; none is an answer too."""

    time: str
    amendments: tuple[str, ...]
    """The times of the amendments, with their reasons."""
    rows: tuple[Departure, ...]

    def sentence(self) -> str:
        """Return the outcome in a sentence."""
        when = f"the preregistration of {self.time}"
        more = f" (amended {count(len(self.amendments), 'time')})" if self.amendments else ""
        if not self.rows:
            return f"There are no departures from {when}{more}."
        amended = sum(bool(row.amended) for row in self.rows)
        tail = f", {amended} of them declared in an amendment" if amended else ""
        verb = "is" if len(self.rows) == 1 else "are"
        return f"There {verb} {count(len(self.rows), 'departure')} from {when}{more}{tail}."

    def title(self) -> str:
        """Return the heading."""
        return TITLE

    def table(self) -> Table:
        """Return the departures as a table."""
        rows = [(row.what, row.declared or "–", row.used or "–", row.amended) for row in self.rows]
        return Table(TITLE, ("what", "declared", "done", "amended"), rows)

    def parts(self) -> list[Part]:
        """Return the sentence and the table."""
        return [Sentence(self.sentence()), *([self.table()] if self.rows else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the time, the amendments and each departure."""
        return asdict(self) | {"sentence": self.sentence()}


def find_departures(
    study: Study,
    everything: Everything,
    exclusions: ExclusionReport,
    criteria: Sequence["CriterionAnalysis"],
    look: "StudyLook | None" = None,
) -> Departures | Missing | None:
    """Return how an analysis departs from the preregistration beside its study; None where there is none."""
    if study.path is None:
        return None
    try:
        declared = read_registrations(study.folder)
    except PanelistError as error:
        return Missing(str(error).replace(f"{study.folder}/", ""))
    if not declared:
        return None
    first, later = declared[0], declared[1:]
    rows = [
        *_compare_files(first, later, study),
        *_compare_times(first, study, everything),
        *_compare_counts(first, later, exclusions),
        *_compare_data(study, everything, criteria),
        *_compare_exclusions(exclusions),
        *_compare_models(study, criteria),
        *_compare_look(study, look),
    ]
    amendments = tuple(f"{one.time}: {one.reason}" for one in later)
    return Departures(time=first.time, amendments=amendments, rows=tuple(rows))


def _compare_files(first: Registration, later: Sequence[Registration], study: Study) -> Iterator[Departure]:
    """Yield every key of the study file that is not as it was declared."""
    for one in compare_declared(first.decisions, study):
        amended = next((new for new in later if new.decisions.get(one.key, "") == one.second), None)
        yield Departure(one.key, one.first, one.second, _tell(amended))


def _compare_times(first: Registration, study: Study, everything: Everything) -> Iterator[Departure]:
    """Yield a departure where answers came before the declaration."""
    frame = everything.ratings.frame
    early = 0
    if "given" in frame:
        times = frame["given"].dropna().astype(str)
        before = times[(times != "") & (times.str.slice(0, 19) < first.time[:19])].index
        early = len(np.unique(number_answers(frame.loc[before], study)))
    early = early or first.answers_before
    if early:
        yield Departure("time of collecting", f"after {first.time}", f"{count(early, 'answer')} before it")


def _compare_counts(
    first: Registration, later: Sequence[Registration], exclusions: ExclusionReport
) -> Iterator[Departure]:
    """Yield raters and ratings where there are not as many as planned, exclusions not yet counted."""
    got = {"raters": exclusions.n_raters, "ratings": exclusions.n_trials}
    for name, planned in first.planned.items():
        if name in got and got[name] != planned:
            amended = next((new for new in later if new.planned.get(name) == got[name]), None)
            noun = f"{exclusions.noun}s" if name == "ratings" else name
            yield Departure(f"number of {noun}", f"{planned:,}", f"{got[name]:,}", _tell(amended))


def _compare_data(
    study: Study, everything: Everything, criteria: Sequence["CriterionAnalysis"]
) -> Iterator[Departure]:
    """Yield systems and criteria that are in the data alone, or in the study alone."""
    found = set(everything.ratings.systems)
    if found:
        for name in (name for name in study.systems if name not in found):
            yield Departure(f"system {name}", "judged", "has no ratings")
        for name in sorted(found - set(study.systems)):
            yield Departure(f"system {name}", "", "has ratings")
    planned = {one.name for one in study.criteria if one.scale.measurement != "text"}
    for one in criteria:
        if one.criterion not in {criterion.name for criterion in study.criteria}:
            yield Departure(f"criterion {one.criterion}", "", "analysed")
        elif one.criterion in planned and isinstance(one.comparison, Missing):
            yield Departure(f"criterion {one.criterion}", "systems compared", one.comparison.reason)


def _compare_exclusions(exclusions: ExclusionReport) -> Iterator[Departure]:
    """Yield rules that could not be applied, and ratings that were set aside by hand."""
    for rule in exclusions.rules:
        if rule.missing:
            yield Departure("exclusion", rule.text, f"could not be applied: {rule.missing}")
        elif rule.rule == "excluded" and rule.n_ratings and rule.reason.partition(":")[0] not in PROCEDURAL:
            said = f"{count(rule.n_ratings, exclusions.noun)} of {count(rule.n_raters, 'rater')} {rule.text}"
            yield Departure("exclusion", "", said)


def _compare_models(study: Study, criteria: Sequence["CriterionAnalysis"]) -> Iterator[Departure]:
    """Yield models that are not the declared ones; what ``auto`` and ``maximal`` chose was declared so."""
    plan = study.file.analysis
    for one in criteria:
        made = one.comparison
        if isinstance(made, Missing) or one.comparative:
            continue
        if plan.model not in ("auto", made.model):
            yield Departure(f"model of {one.criterion}", plan.model, made.model)
        if made.link and made.model.startswith("clm") and made.link != plan.link:
            yield Departure(f"link of {one.criterion}", plan.link, made.link)
        family = getattr(made.fit, "family", None)
        if family and family != plan.family:
            yield Departure(f"family of {one.criterion}", plan.family, family)
        if plan.formula == "maximal" and has_note(made.notes, "lightened"):
            yield Departure(f"formula of {one.criterion}", "the largest random part", made.formula)
        if plan.formula != "maximal" and _plain(plan.formula) != _plain(made.formula):
            yield Departure(f"formula of {one.criterion}", plan.formula, made.formula)


def _compare_look(study: Study, look: "StudyLook | None") -> Iterator[Departure]:
    """Yield a look at another number of raters than those that were declared."""
    if look is not None and not look.declared:
        planned = listing(study.file.analysis.looks, None)
        yield Departure("look", f"after {planned} raters", f"after {count(look.raters, 'rater')}")


def _plain(formula: str) -> str:
    return "".join(formula.split())


def _tell(amended: Registration | None) -> str:
    return f"{amended.time}: {amended.reason}" if amended else ""
