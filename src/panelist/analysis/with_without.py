"""The same comparison with and without the exclusions: does anything hang on them?"""

from dataclasses import asdict, dataclass
from typing import Any

from panelist.analysis.beside import set_beside
from panelist.analysis.comparison import CriterionComparison
from panelist.analysis.conclusions import Disagreement, find_disagreements
from panelist.core.result import Part, Result, Sentence, Table


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
            return f"On {self.criterion}, no conclusion hangs on the exclusions."
        changed = [one.sentence("without the excluded ratings it", "with them") for one in self.disagreements]
        said = " ".join(text.replace("it says ", "", 1) for text in changed)
        pairs = f"{len(self.disagreements):,} pair{'s' * (len(self.disagreements) > 1)}"
        return f"On {self.criterion}, the exclusions change what is concluded of {pairs}: {said}"

    def title(self) -> str:
        """Return the heading."""
        return f"{self.criterion} with and without exclusions"

    def table(self) -> Table:
        """Return a row a pair: the difference on the ratings that count, and on all."""
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
