"""The same comparison with and without the exclusions: do they change any conclusion?"""

from dataclasses import asdict, dataclass
from typing import Any

from panelist.analysis.sensitivity.conclusions import Disagreement, find_disagreements, set_beside
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.prose import count


@dataclass(frozen=True)
class WithWithout(Result):
    """One criterion compared on the ratings that count (``kept``) and on all of them (``everything``)."""

    criterion: str
    kept: CriterionComparison
    everything: CriterionComparison
    disagreements: tuple[Disagreement, ...]

    def sentence(self) -> str:
        """Return whether the exclusions change a conclusion."""
        if not self.disagreements:
            return f"On {self.criterion}, no conclusion depends on the exclusions."
        said = " ".join(
            one.sentence("without the excluded ratings", "with them") for one in self.disagreements
        )
        pairs = count(len(self.disagreements), "pair")
        return f"On {self.criterion}, the exclusions change the conclusion about {pairs}: {said}"

    def title(self) -> str:
        """Return the heading."""
        return f"{self.criterion} with and without exclusions"

    def table(self) -> Table:
        """Return one row per pair: the difference on the ratings that count, and on all."""
        return set_beside(
            self.title(),
            ("that count", self.kept),
            ("all ratings", self.everything),
            f"{self.kept.n:,} ratings that count, {self.everything.n:,} in all",
        )

    def parts(self) -> list[Part]:
        """Return the sentence and the table."""
        return [Sentence(self.sentence()), self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison on all ratings, and what differs."""
        return {
            "everything": self.everything.to_dict(),
            "disagreements": [asdict(one) for one in self.disagreements],
            "sentence": self.sentence(),
        }


def set_side_by_side(kept: CriterionComparison, everything: CriterionComparison) -> WithWithout:
    """Return both comparisons and the pairs on which they disagree."""
    return WithWithout(kept.criterion, kept, everything, find_disagreements(kept, everything))
