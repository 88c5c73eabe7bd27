"""The ordinal and the interval analysis side by side, pair by pair, and where they disagree."""

from dataclasses import asdict, dataclass
from typing import Any

from panelist.analysis.compare import compare_systems
from panelist.analysis.sensitivity.conclusions import Disagreement, find_disagreements, set_beside
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadModel, PanelistError
from panelist.core.prose import count
from panelist.core.tables.ratings import Ratings
from panelist.models.results.fitted import MODEL_WORDS

MOST_PAIRS = 500


@dataclass(frozen=True)
class SideBySide(Result):
    """Two analyses of one criterion: the one that is reported, and the other kind."""

    criterion: str
    main: CriterionComparison
    other: CriterionComparison
    disagreements: tuple[Disagreement, ...]

    def sentences(self) -> list[str]:
        """Return whether the two agree, and a sentence for each pair where they do not."""
        n = len(self.main.pairs)
        names = f"the {MODEL_WORDS[self.main.model]} and the {MODEL_WORDS[self.other.model]}"
        if not self.disagreements:
            pairs = "the one pair" if n == 1 else f"all {n:,} pairs"
            return [f"On {self.criterion}, {names} agree about {pairs}."]
        k = len(self.disagreements)
        first = f"On {self.criterion}, {names} disagree about {k:,} of {count(n, 'pair')}."
        said = [
            one.sentence(f"The {MODEL_WORDS[self.main.model]} says", f"the {MODEL_WORDS[self.other.model]}")
            for one in self.disagreements
        ]
        return [first, *said]

    def title(self) -> str:
        """Return the heading."""
        return f"Ordinal and interval analysis of {self.criterion}"

    def table(self) -> Table:
        """Return one row per pair, both analyses in it."""
        kinds = [
            f"{one.model}: {'latent units' if one.units.startswith('latent') else 'points of the scale'}"
            for one in (self.main, self.other)
        ]
        return set_beside(
            f"Both analyses of {self.criterion}",
            (self.main.model, self.main),
            (self.other.model, self.other),
            "; ".join(kinds),
        )

    def parts(self) -> list[Part]:
        """Return the sentences and the table."""
        return [*(Sentence(text) for text in self.sentences()), self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return the other analysis, and the disagreements."""
        return {
            "main": self.main.model,
            "other": self.other.to_dict(),
            "disagreements": [asdict(one) for one in self.disagreements],
            "sentences": self.sentences(),
        }


def compare_kinds(ratings: Ratings, main: CriterionComparison, formula: str | None) -> SideBySide:
    """Return the other kind of analysis beside the one that was made: interval for ordinal, or the reverse.

    ``formula`` is the declared one. Where there is none, the interval analysis takes the formula of the
    ordinal one, whose finding names what that very model concludes (lead.py); an ordinal model beside an
    interval one takes the largest that the data support.
    """
    ordinal = main.link is not None
    categories = ratings.frame["rating"].nunique()
    if not ordinal and categories > 11:
        raise BadModel(
            f"The ratings have {categories:,} different values: they are analysed as an interval scale, and "
            "an ordinal model would need a threshold between any two of them."
        )
    if ordinal and len(main.pairs) > MOST_PAIRS:
        raise BadModel(
            f"With {len(main.pairs):,} pairs the interval analysis is left out: each of them would need its "
            "own reference distribution."
        )
    mixed = bool(main.fit.design.factors)
    model = ("lmm" if mixed else "lm") if ordinal else ("clmm" if mixed else "clm")
    options: dict[str, Any] = {
        "formula": formula or (main.formula if ordinal else None),
        "adjust": main.adjust,
        "confidence": main.confidence,
        "better": main.better,
    }
    try:
        other = compare_systems(ratings, model=model, **options)
    except PanelistError as error:
        raise BadModel(f"The {MODEL_WORDS[model]} could not be fitted beside it: {error}") from error
    return SideBySide(main.criterion, main, other.criteria[0], find_disagreements(main, other.criteria[0]))
