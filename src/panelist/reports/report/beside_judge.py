"""Beside a judge: what its scores add to people's ratings, in words that claim no more than was shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from panelist.analysis.cleaning.clean import clean_ratings
from panelist.analysis.cleaning.everything import read_everything
from panelist.analysis.systems.comparison import Comparison
from panelist.core.display.formats import number
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table
from panelist.core.errors import BadModel
from panelist.core.prose import count, listing
from panelist.judges.card import JudgeCard, make_cards, tabulate_cards
from panelist.judges.compare import compare_beside
from panelist.judges.correct.corrected import METHODS, CorrectedCriterion
from panelist.judges.correction import read_correction
from panelist.judges.families import say_kin
from panelist.judges.sample import find_sample
from panelist.judges.scale import Points, find_ends_of
from panelist.judges.worth.measure import measure_judges
from panelist.judges.worth.worth import Worth

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis

NO_RATER = "A judge is no rater: its scores count neither as ratings nor as rated items."


@dataclass(frozen=True, kw_only=True, eq=False)
class BesideJudge(Result):
    """A report's comparison corrected by judges, beside people alone, with the judges' cards."""

    source: str
    comparison: Comparison = field(repr=False)
    worth: Worth = field(repr=False)
    cards: tuple[JudgeCard, ...]

    @property
    def criteria(self) -> tuple[CorrectedCriterion, ...]:
        """The corrected comparisons, one for each criterion."""
        return tuple(one for one in self.comparison.criteria if isinstance(one, CorrectedCriterion))

    def title(self) -> str:
        """Return the heading."""
        return "Beside a judge"

    def method(self) -> str:
        """Return the sentence for the methods paragraph."""
        ways = "; ".join(dict.fromkeys(METHODS[one.method] for one in self.criteria))
        spread = listing(
            [f"{count(one.n_items, 'item')} of {one.n_judged:,} on {one.criterion}" for one in self.criteria],
            8,
        )
        return (
            f"Beside the raters, outputs were scored by {listing([one.phrase() for one in self.cards], 8)}; "
            f"people rated {spread}. The comparison was also made with these scores ({ways}), people alone "
            f"beside it. {NO_RATER}"
        )

    def sentences(self) -> list[str]:
        """Return what was found with the judges, what they are worth, and whom they favour."""
        said = [one.sentence() for one in self.criteria]
        for one in self.worth.judges:
            said.append(one.sentence())
            said += [
                f"On {one.criterion} {one.judge} favours {by.system} by {number(by.estimate, 2)} points "
                f"({number(by.ends[0], 2)} to {number(by.ends[1], 2)}) beyond what people say; the corrected "
                "estimates are free of it."
                for by in one.bias
                if one.kind == "scores" and by.shows(1 - one.confidence)
            ]
            said += [f"{say_kin(one.judge, one.kin)}."] if one.kin else []
        return [*said, NO_RATER]

    def parts(self) -> list[Part]:
        """Return the cards, the sentences, and for each criterion estimates and differences."""
        parts: list[Part] = [tabulate_cards(self.cards), *map(Sentence, self.sentences())]
        for one in self.criteria:
            parts += list_tables_of(one)
        said = dict.fromkeys(note for one in self.criteria for note in one.notes)
        return [*parts, *([NamedValues([("note", note) for note in said])] if said else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison, the worth and the cards."""
        return {
            "source": self.source,
            "judges": [{**asdict(one), "no_answer_share": one.share} for one in self.cards],
            "comparison": self.comparison.to_dict(),
            "worth": self.worth.to_dict(),
            "findings": self.sentences(),
        }


def list_tables_of(one: CorrectedCriterion) -> list[Table]:
    """Return the tables of a corrected criterion: the systems, and the pairs beside people alone."""
    tables = {part.name: part for part in one.parts() if isinstance(part, Table)}
    return [tables[name] for name in ("systems", "people") if name in tables]


def add_judges(
    analysis: Analysis,
    ratings: Any,
    judges: Sequence[Any],
    *,
    columns: Mapping[str, str | None] | None = None,
    drop: str | Iterable[str] = (),
    sample: Any = None,
    judge_scale: str = "auto",
    points: Points = None,
) -> Analysis:
    """Return the analysis with what judges add to it, from the ratings that it counted."""
    if analysis.spec.by is not None:
        raise BadModel("A report is made by strata or with a judge, not both: leave out --by or --judge.")
    kept = clean_ratings(read_everything(ratings, columns, drop=drop), analysis.study).kept
    if analysis.study is not None:  # what it says of the scales and of the items that people rated
        sample = find_sample(analysis.study) if sample is None else sample
        points = points or find_ends_of(analysis.study)
    correction = read_correction(kept, list(judges), (), sample, judge_scale, "auto", points)
    families = {} if analysis.study is None else analysis.study.families
    compared = compare_beside(kept, correction, analysis.spec)
    worth = measure_judges(
        kept,
        correction.scores,
        criteria=[one.criterion for one in compared.criteria] if kept.criteria else None,
        confidence=analysis.spec.confidence,
        judge_scale=judge_scale,
        points=points,
        families=families,
        combine=False,
    )
    beside = BesideJudge(
        source=correction.scores.source,
        comparison=compared,
        worth=worth,
        cards=make_cards(correction.scores, families),
    )
    return replace(analysis, beside=beside)
