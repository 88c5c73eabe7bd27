"""The analysis that a study declares: the same exclusions, models and numbers as in its report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from panelist.analysis.analyse import MOST_RESAMPLED, compare_again, name_criteria, rows_of
from panelist.analysis.choices.choice_criteria import are_choices
from panelist.analysis.cleaning.attach_style import attach_style
from panelist.analysis.cleaning.clean import ExclusionReport, clean_ratings
from panelist.analysis.cleaning.everything import read_everything
from panelist.analysis.looks import find_look, look_at, mark_look
from panelist.analysis.sensitivity.lacking import examine_lacking
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.across import adjust_across
from panelist.analysis.systems.comparison import Comparison, CriterionComparison
from panelist.analysis.systems.ranks import Better
from panelist.core.display.result import Part, Result, Sentence
from panelist.core.errors import BadRatings, PanelistError, UnknownName, did_you_mean
from panelist.core.margin import Margin
from panelist.core.prose import listing
from panelist.core.tables.ratings import Ratings
from panelist.models.inference.adjust import find_adjustment
from panelist.models.prior_words import parse_prior
from panelist.study.reading.load import load_study
from panelist.study.study import Study

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned(Result):
    """The ratings of a study that count by its own rules, and the analysis that it declares."""

    study: Study = field(repr=False)
    ratings: Ratings = field(repr=False)
    spec: AnalysisSpec
    exclusions: ExclusionReport

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria, in the order of the study."""
        return name_criteria(self.ratings, self.study)

    @property
    def measurement(self) -> dict[str, str]:
        """The level of measurement of each criterion, where its scale has one."""
        here = set(self.ratings.criteria)
        levels = {
            one.name: str(one.scale.measurement) for one in self.study.criteria if not one.scale.comparative
        }
        return {name: level for name, level in levels.items() if level != "text" and name in here}

    @property
    def interval(self) -> str:
        """How intervals of coefficients are made: none for very many ratings."""
        counts = [len(rows_of(self.ratings, name)) for name in self.criteria]
        return "none" if max(counts, default=0) > MOST_RESAMPLED else "auto"

    def title(self) -> str:
        """Return the heading."""
        return f"As planned: {self.study.title}"

    def sentence(self) -> str:
        """Return what the study declares, in words."""
        one = self.spec
        where = self.study.path.name if self.study.path is not None else "the study"
        pairs = find_adjustment(one.adjust).label
        across = "" if one.across_criteria == "none" else f", {one.across_criteria} across criteria"
        margin = "" if one.margin is None else f", {one.claim or 'equivalence'} within {one.margin.words}"
        return (
            f"Answers from {self.ratings.source}, analysed as {where} declares: {self._say_model()}; "
            f"alpha {one.alpha:.3g}, pairs {pairs}{across}{margin}."
        )

    def _say_model(self) -> str:
        """Return the model in words: choices have their own model, and only ordinal models have a link."""
        if all(criterion.scale.comparative for criterion in self.study.criteria):
            style = self.spec.style
            return "the model that suits the choices" + (
                f", at equal {listing(style, None)}" if style else ""
            )
        formula = self.spec.formula or "the largest model that the design supports"
        model = "" if self.spec.model == "auto" else f"{self.spec.model}, "
        levels = {str(criterion.scale.measurement) for criterion in self.study.criteria}
        ordinal = levels & {"nominal", "ordinal"} and self.spec.model not in ("lmm", "lm")
        prior = parse_prior(self.spec.prior) if ordinal else None
        family = "" if self.spec.family == "cumulative" else f" of {self.spec.family} categories"
        return f"{model}{formula}{f', {self.spec.link} link{family}' if ordinal else ''}" + (
            f", {prior.phrase}" if prior else ""
        )

    def parts(self) -> list[Part]:
        """Return the declaration and what was excluded by which rule."""
        told = self.exclusions.parts()
        noteworthy = self.exclusions.n_excluded or any(rule.missing for rule in self.exclusions.rules)
        return [Sentence(self.sentence()), *(told if noteworthy else told[:1])]

    def to_dict(self) -> dict[str, Any]:
        """Return the study, the settings and the exclusions."""
        return {
            "study": self.study.title,
            "study_hash": self.study.hash,
            "source": self.ratings.source,
            "settings": self.spec.to_dict(),
            "exclusions": self.exclusions.to_dict(),
        }

    def choose(self, wanted: Sequence[str] | None) -> tuple[str, ...]:
        """Return the criteria asked for, all where none is named, or raise with those there are."""
        for name in wanted or ():
            if name not in self.criteria:
                raise UnknownName(f"No criterion is called {name!r}. {did_you_mean(name, self.criteria)}")
        return tuple(wanted) if wanted else self.criteria


def read_planned(
    study: "Study | str | PathLike[str]",
    ratings: Any,
    *,
    columns: Mapping[str, str | None] | None = None,
    source: str | None = None,
    margin: Margin | float | str | None = None,
    better: Better | None = None,
    across_criteria: str | None = None,
) -> Planned:
    """Return the ratings of a study without what it excludes, and its analysis plan.

    ``margin``, ``better`` and ``across_criteria`` are those of ``analyse``, where the study does not state
    them.
    """
    known = load_study(study)  # type: ignore[arg-type]
    everything = read_everything(ratings, columns)
    if source is not None:
        everything = replace(everything, ratings=replace(everything.ratings, source=source))
    cleaned = clean_ratings(attach_style(everything, known), known)
    declared = AnalysisSpec.from_study(known)
    asked = declared.override(margin=margin, better=better, across_criteria=across_criteria)
    look = find_look(known, cleaned.exclusions.n_raters)
    spec = look_at(replace(asked, columns=dict(columns or {})), look)
    return Planned(study=known, ratings=cleaned.kept, spec=spec, exclusions=cleaned.exclusions)


def compare_planned(planned: Planned, criteria: Sequence[str] | None = None) -> Comparison:
    """Return the systems compared as the study declares; p-values allow for all its criteria, if it says so.

    A criterion that cannot be compared is named in the notes, and raises if no other is left.
    """
    wanted = planned.choose(criteria)
    done, failed = [], dict[str, PanelistError]()
    alone = planned.spec.across_criteria == "none"
    for name in wanted if alone else planned.criteria:
        try:
            done.append(mark_look(_compare(planned, name), planned.spec))
        except PanelistError as error:
            failed[name] = error
    missing = [failed[name] for name in wanted if name in failed]
    if len(missing) == len(wanted):
        raise missing[0]
    notes = [*planned.ratings.notes]
    notes += [f"Left out, because it cannot be compared: {name}. {error}" for name, error in failed.items()]
    done, said = adjust_across(done, planned.spec.across_criteria)
    shown = tuple(one for one in done if one.criterion in wanted)
    notes = [*_tell_lacking(planned, shown), *notes]
    return Comparison(source=planned.ratings.source, criteria=shown, notes=(*notes, *said))


def _compare(planned: Planned, name: str) -> Any:
    criterion = next((one for one in planned.study.criteria if one.name == name), None)
    rows = rows_of(planned.ratings, name)
    if rows.frame.empty:
        raise BadRatings(f"There are no answers on {name!r} in {rows.source}.")
    if not are_choices(rows.frame, criterion):
        rows.require("rating")
    return compare_again(rows, name, planned.study, planned.spec)


def _tell_lacking(planned: Planned, done: Sequence[CriterionComparison]) -> list[str]:
    """Return what the study lacks and what that does to the comparison; nothing where nothing is missing."""
    lacking = examine_lacking(
        planned.study,
        {one.criterion: rows_of(planned.ratings, one.criterion) for one in done},
        {one.criterion: one for one in done},
        lambda table, name: compare_again(table, name, planned.study, planned.spec),
    )
    return lacking.sentences() if lacking else []
