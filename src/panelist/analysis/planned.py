"""What a study declares, done to its ratings: the same exclusions, models and numbers as in its report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from panelist.analysis.across import adjust_across, check_across
from panelist.analysis.analyse import (
    MOST_RESAMPLED,
    compare_as_planned,
    lighten,
    name_criteria,
    rows_of,
    settle,
)
from panelist.analysis.analysis_result import Settings
from panelist.analysis.choices import analyse_choices, are_choices
from panelist.analysis.clean import Exclusions, clean_ratings
from panelist.analysis.comparison import Comparison
from panelist.analysis.equivalence import check_margin
from panelist.analysis.everything import read_everything
from panelist.analysis.ranks import Better, check_better
from panelist.core.errors import BadRatings, PanelistError, UnknownName, did_you_mean
from panelist.core.ratings import Ratings
from panelist.core.result import Part, Result, Sentence
from panelist.models.inference.adjust import find_adjustment
from panelist.study.load import load_study
from panelist.study.study import Study

if TYPE_CHECKING:
    from os import PathLike


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned(Result):
    """The ratings of a study that count by its own rules, and how it declares that they are analysed."""

    study: Study = field(repr=False)
    ratings: Ratings = field(repr=False)
    settings: Settings
    exclusions: Exclusions

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria, in the order of the study."""
        return name_criteria(self.ratings, self.study)

    @property
    def measurement(self) -> dict[str, str]:
        """The level of measurement of each criterion, where its scale has one."""
        here = set(self.ratings.criteria)
        levels = {one.name: str(one.scale.level) for one in self.study.criteria if not one.scale.comparative}
        return {name: level for name, level in levels.items() if level != "text" and name in here}

    @property
    def interval(self) -> str:
        """How intervals of coefficients are made: none of very many ratings."""
        counts = [len(rows_of(self.ratings, name)) for name in self.criteria]
        return "none" if max(counts, default=0) > MOST_RESAMPLED else "auto"

    def title(self) -> str:
        """Return the heading."""
        return f"As planned: {self.study.title}"

    def sentence(self) -> str:
        """Return what the study declares, in words."""
        one = self.settings
        where = self.study.path.name if self.study.path is not None else "the study"
        pairs = find_adjustment(one.adjust).label
        across = "" if one.across_criteria == "none" else f", {one.across_criteria} across criteria"
        margin = "" if one.margin is None else f", equivalence within {one.margin:g} points"
        return (
            f"Answers from {self.ratings.source}, analysed as {where} declares: {self._say_model()}; "
            f"alpha {1 - one.level:.3g}, pairs {pairs}{across}{margin}."
        )

    def _say_model(self) -> str:
        """Return the model in words: choices have one of their own, and only ordinal ones a link."""
        if all(criterion.scale.comparative for criterion in self.study.criteria):
            return "the model that suits the choices"
        formula = self.settings.formula or "the largest model that the design can bear"
        model = "" if self.settings.model == "auto" else f"{self.settings.model}, "
        levels = {str(criterion.scale.level) for criterion in self.study.criteria}
        ordinal = levels & {"nominal", "ordinal"} and self.settings.model not in ("lmm", "lm")
        return f"{model}{formula}{f', {self.settings.link} link' if ordinal else ''}"

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
            "settings": asdict(self.settings),
            "exclusions": self.exclusions.to_dict(),
        }

    def choose(self, wanted: Sequence[str] | None) -> tuple[str, ...]:
        """Return the criteria asked for, all without any, or say which there are."""
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
    margin: float | None = None,
    better: Better | None = None,
    across_criteria: str | None = None,
) -> Planned:
    """Return the ratings of a study without what it excludes, and its analysis plan.

    ``margin``, ``better`` and ``across_criteria`` are those of ``analyse``, where the study is silent.
    """
    known = load_study(study)  # type: ignore[arg-type]
    everything = read_everything(ratings, columns)
    if source is not None:
        everything = replace(everything, ratings=replace(everything.ratings, source=source))
    cleaned = clean_ratings(everything, known)
    check_margin(margin)
    check_better(better or "higher")
    check_across(across_criteria or "none")
    declared = settle(known, 1000, 0)
    settings = replace(
        declared,
        margin=declared.margin if margin is None else margin,
        better=better,
        across_criteria=across_criteria or declared.across_criteria,
        columns=dict(columns or {}),
    )
    return Planned(study=known, ratings=cleaned.kept, settings=settings, exclusions=cleaned.exclusions)


def compare_planned(planned: Planned, criteria: Sequence[str] | None = None) -> Comparison:
    """Return the systems compared as the study declares; p-values allow for all its criteria, if it says so.

    A criterion that cannot be compared is named in the notes, and raises if no other is left.
    """
    wanted = planned.choose(criteria)
    done, failed = [], dict[str, PanelistError]()
    alone = planned.settings.across_criteria == "none"
    for name in wanted if alone else planned.criteria:
        try:
            done.append(_compare(planned, name))
        except PanelistError as error:
            failed[name] = error
    missing = [failed[name] for name in wanted if name in failed]
    if len(missing) == len(wanted):
        raise missing[0]
    notes = [*planned.ratings.notes]
    notes += [f"Left out, for it cannot be compared: {name}. {error}" for name, error in failed.items()]
    done, said = adjust_across(done, planned.settings.across_criteria)
    shown = tuple(one for one in done if one.criterion in wanted)
    return Comparison(source=planned.ratings.source, criteria=shown, notes=(*notes, *said))


def _compare(planned: Planned, name: str) -> Any:
    criterion = next((one for one in planned.study.criteria if one.name == name), None)
    rows = rows_of(planned.ratings, name)
    if rows.frame.empty:
        raise BadRatings(f"There are no answers on {name!r} in {rows.source}.")
    if are_choices(rows.frame, criterion):
        return analyse_choices(rows, name, planned.settings.adjust, planned.settings.level)
    rows.require("rating")
    settings, note = lighten(rows, planned.settings)
    return replace(compare_as_planned(rows, name, criterion, settings, note), criterion=name)
