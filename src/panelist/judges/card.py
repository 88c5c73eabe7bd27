"""A judge's card: who it is, when and by which prompt it was asked, and how often it gave no answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    settings: str = ""
    tuned: str = ""
    """On what its prompt was tuned."""
    orders: int = 1
    """In how many orders it saw a pair."""
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
            f"settings {self.settings}" if self.settings else "",
            f"its prompt tuned on {self.tuned}" if self.tuned else "",
            "both orders of a pair" if self.orders > 1 else "",
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
        rows = scores.frame[(scores.frame["judge"] == judge).to_numpy()]
        own = rows["score"]
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
                settings=about.get("settings", ""),
                tuned=about.get("tuned", ""),
                orders=2 if "first" in rows and {"a", "b"} <= set(rows["first"]) else 1,
                kin=kin.get(judge, ()),
            )
        )
    return tuple(made)


def tabulate_cards(cards: Sequence[JudgeCard]) -> Table:
    """Return the cards as one table; what no table of judges must state is a column where one does."""
    shown: dict[str, list[Any]] = {
        "judge": [one.judge for one in cards],
        "version": [one.model or UNKNOWN for one in cards],
        "date": [one.date or UNKNOWN for one in cards],
        "prompt": [one.prompt or UNKNOWN for one in cards],
        "settings": [one.settings or UNKNOWN for one in cards],
        "tuned on": [one.tuned or UNKNOWN for one in cards],
        "orders": [one.orders for one in cards],
        "samples": [one.samples for one in cards],
        "scores": [one.scores for one in cards],
        "unanswered, %": [100 * one.share for one in cards],
        "family": [
            f"{one.family or UNKNOWN}{f' (also {listing(one.kin)})' if one.kin else ''}" for one in cards
        ],
    }
    usual = {"settings": UNKNOWN, "tuned on": UNKNOWN, "orders": 1}
    head = tuple(name for name, cells in shown.items() if name not in usual or {*cells} != {usual[name]})
    form = dict.fromkeys((name for name in head if isinstance(shown[name][0], str)), TEXT)
    form["unanswered, %"] = decimals(1)
    rows = list(zip(*(shown[name] for name in head), strict=True))
    note = "A judge is a machine, not a rater. Prompt: the hash of what it was asked."
    return Table("The judges", head, rows, form, note=note, name="judges")
