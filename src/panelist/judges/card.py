"""A judge's card: who it is, when and by which prompt it was asked, and how often it gave no answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Table
from panelist.core.prose import count, listing
from panelist.judges.families import find_kin
from panelist.judges.table import JudgeScores

UNKNOWN = "not stated"


@dataclass(frozen=True)
class JudgeCard:
    """What a report says about a judge; a text is empty where the judges table does not state it."""

    judge: str
    model: str
    date: str
    prompt: str
    samples: int
    scores: int
    no_answers: int
    family: str = ""
    kin: tuple[str, ...] = ()
    """Systems of its own family."""

    @property
    def share(self) -> float:
        """The share of outputs, or pairs, without an answer."""
        return self.no_answers / self.scores if self.scores else 0.0

    def phrase(self) -> str:
        """Return the judge with what is known about it, for a sentence."""
        known = [
            self.model if self.model != self.judge else "",
            self.date,
            f"prompt {self.prompt}" if self.prompt else "",
            f"{self.samples} samples of an output" if self.samples > 1 else "",
            f"of the same family as {listing(self.kin)}" if self.kin else "",
            f"no answer for {100 * self.share:.1f} % of {count(self.scores, 'score')}",
        ]
        return f"{self.judge} ({'; '.join(text for text in known if text)})"


def make_cards(scores: JudgeScores, families: Mapping[str, str] | None = None) -> tuple[JudgeCard, ...]:
    """Return the card of each judge of a table; ``families`` are those of the systems."""
    kin = find_kin(scores, families)
    most = {one.judge: one.most for one in scores.samples}
    made = []
    for judge in scores.judges:
        own = scores.frame.loc[scores.frame["judge"] == judge, "score"]
        about = scores.about.get(judge, {})
        made.append(
            JudgeCard(
                judge=judge,
                model=about.get("model", ""),
                date=about.get("date", ""),
                prompt=about.get("instrument", ""),
                samples=most.get(judge, 1),
                scores=len(own),
                no_answers=int(own.isna().sum()),
                family=about.get("family", ""),
                kin=kin.get(judge, ()),
            )
        )
    return tuple(made)


def tabulate_cards(cards: Sequence[JudgeCard]) -> Table:
    """Return the cards as one table."""
    rows = [
        (
            one.judge,
            one.model or UNKNOWN,
            one.date or UNKNOWN,
            one.prompt or UNKNOWN,
            one.samples,
            one.scores,
            100 * one.share,
            f"{one.family or UNKNOWN}{f' (also {listing(one.kin)})' if one.kin else ''}",
        )
        for one in cards
    ]
    head = ("judge", "version", "date", "prompt", "samples", "scores", "no answer, %", "family")
    form = dict.fromkeys((*head[:4], "family"), TEXT) | {"no answer, %": decimals(1)}
    note = "A judge is a machine, not a rater. Prompt: the hash of what it was asked."
    return Table("The judges", head, rows, form, note=note, name="judges")
