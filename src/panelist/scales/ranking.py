"""Ranking: the outputs shown, put in order."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from panelist.numerics.arrays import Floats
from panelist.scales.answers import read_places, refuse
from panelist.scales.base import ComparativeAnswer, ComparativeScale, HedsForm, Level, scale
from panelist.scales.labels import name_letter


@scale("ranking")
class Ranking(ComparativeScale):
    """All outputs shown get a rank, 1 the best, no two the same."""

    title: ClassVar[str] = "Ranking"
    answered: ClassVar[str] = "by"
    measurement: ClassVar[Level] = "ordinal"
    widget: ClassVar[str] = "rank"
    script: ClassVar[str] = "rank"
    holds_outputs: ClassVar[bool] = True
    please: ClassVar[str] = "please_rank"
    told: ClassVar[Literal["best", "best-worst", "ranking"]] = "ranking"
    heds_form: ClassVar[HedsForm] = HedsForm(5, 3, "outputs put in order, a rank for each")
    most_shown: ClassVar[int | None] = 10
    advice: ClassVar[str] = (
        "Where the whole order of three to five outputs is wanted and raters have the time. With more "
        "outputs the middle ranks are close to guesses, and best-worst scaling asks for less."
    )
    example: ClassVar[dict[str, Any]] = {"type": "ranking"}

    type: Literal["ranking"] = "ranking"

    def allowed(self, shown: int) -> str:
        """Return the form of an answer."""
        ranks = ",".join(map(str, range(1, shown + 1)))
        return (
            f"the ranks of the {shown} outputs in the order shown, each number from 1 (best) to {shown} "
            f"once, such as {ranks}"
        )

    def size(self) -> str:
        """Return the number of ranks, which depends on how many outputs are shown."""
        return "as many ranks as outputs shown"

    def values(self) -> str:
        """Return what is recorded for each output."""
        return "ranks from 1 (best) to the number of outputs shown (worst), without ties"

    def describe(self) -> str:
        """Return what raters do."""
        order = "put in order from best (1) to worst, without ties"
        return f"{self.title}: outputs of one item side by side, which raters {order}."

    def read_form(self, form: Mapping[str, str], name: str, shown: int) -> str:
        """Return all ranks: without JavaScript each output has a list."""
        parts = [form.get(f"{name}-{place}", "") for place in range(1, shown + 1)]
        return ",".join(parts) if any(parts) else form.get(name, "")

    def tell(self, answer: str, outputs: Sequence[str]) -> str:
        """Return the letter of each output with its rank."""
        ranks = enumerate(answer.split(","), start=1)
        return ", ".join(f"{name_letter(str(place))} {rank}" for place, rank in ranks)

    def parse(self, answer: str, shown: int) -> ComparativeAnswer:
        """Return the ranks, or raise BadAnswer."""
        self.check_shown(shown)
        ranks = read_places(answer, self.allowed(shown))
        if sorted(ranks) != list(range(1, shown + 1)):
            raise refuse(answer, self.allowed(shown))
        return ComparativeAnswer(tuple(map(str, ranks)))

    def write(self, comparison: ComparativeAnswer) -> str:
        """Return the ranks with commas; raise BadAnswer if that could not be answered."""
        shown = len(comparison.choices)
        text = ",".join(comparison.choices)
        if self.parse(text, shown) != comparison:
            raise refuse(comparison, self.allowed(shown))
        return text

    def simulate(self, latent: Floats, rng: np.random.Generator) -> list[ComparativeAnswer]:
        """Return the order of the judgements in each trial."""
        judged = self.judge_trials(latent, rng)
        ranks = (-judged).argsort(axis=1).argsort(axis=1)
        names = [str(rank) for rank in range(1, judged.shape[1] + 1)]
        return [ComparativeAnswer(tuple([names[rank] for rank in row])) for row in ranks.tolist()]
