"""What a researcher can do while collecting goes on. Each is recorded with its time and who did it.

Nothing here can change an answer that was given.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from panelist.collection.ledger import Folder
from panelist.collection.plan_facts import PlanFacts
from panelist.collection.store import ops
from panelist.collection.store.messages import SendMessage
from panelist.collection.store.records import Visit
from panelist.collection.store.researcher_ops import Readmit
from panelist.collection.store.store import Store
from panelist.core.errors import PanelistError
from panelist.design.grow import grow_plan
from panelist.study.study import Study

MOST_NEW_PLACES = 10_000
LONGEST_REASON, LONGEST_MESSAGE = 1000, 2000
QUIET_REASON = "quiet; the researcher opened the place"


class BadAction(PanelistError):
    """An action that cannot be done so; the message says what to change."""


@dataclass(frozen=True)
class Researcher:
    """Who acts, and on what."""

    who: str
    store: Store
    study: Study

    def pause(self) -> str:
        """Pause collecting: nobody new comes in, and pages wait; return what to tell."""
        self.store.set_state("paused", self.who)
        return "Collecting is paused. Answers on pages that are open now are still kept."

    def resume(self) -> str:
        """Open the study again."""
        if self.store.state() == "closed":
            raise BadAction("Collecting has ended; it cannot be resumed from here.")
        self.store.set_state("open", self.who)
        return "Collecting goes on."

    def end(self, reason: str = "") -> str:
        """Close the study for good."""
        self.store.set_state("closed", self.who, reason)
        return "Collecting has ended."

    def open_places(self, more: int) -> str:
        """Add places to the plan; nobody who is in it moves."""
        if not 1 <= more <= MOST_NEW_PLACES:
            raise BadAction(f"Open at least 1 and at most {MOST_NEW_PLACES:,} more places. Got {more:,}.")
        plan = self.store.plan()
        before = len(plan.places)
        grown = grow_plan(plan, self.study, before + more)
        self.store.change_plan(grown, f"{len(grown.places) - before} more places", self.who)
        return f"{_count(len(grown.raters) - len(plan.raters), 'more place')} can be taken now."

    def exclude(self, visit: Visit, reason: str) -> str:
        """Let a visit not count, for a reason."""
        self.store.exclude(visit.id, require_reason(reason), self.who)
        return "The rater is excluded; the answers are kept, and the place is open again."

    def readmit(self, folder: Folder, facts: PlanFacts, reason: str = "") -> str:
        """Take an exclusion back."""
        place = facts.places.get(folder.visit.place or "")
        done = len(folder.tally.pages - place.practice) if place else 0
        finished = folder.visit.left_at == "finished" or (place is not None and done >= place.pages)
        self.store.do(Readmit(folder.visit.id, self.who, _clean(reason, LONGEST_REASON), finished))
        return "The exclusion is taken back; the rater counts again."

    def release(self, visit: Visit, reason: str) -> str:
        """Let a visit go: its place is offered again."""
        self.store.release(visit.id, _clean(reason, LONGEST_REASON) or "released by the researcher", self.who)
        return "The place is open again. What still comes from this rater is kept, and marked as late."

    def release_quiet(self, visits: Iterable[Visit]) -> str:
        """Let go every visit where nobody has been seen for a while."""
        gone = [self.store.release(visit.id, QUIET_REASON, self.who) for visit in visits if not visit.over]
        return f"{_count(len(gone), 'place')} opened again."

    def release_all(self, visits: Iterable[Visit]) -> str:
        """Let go of every one of these visits, each on record."""
        reason = "released with others by the researcher"
        gone = [self.store.release(visit.id, reason, self.who) for visit in visits if not visit.over]
        return f"{_count(len(gone), 'place')} released."

    def message(self, visit: Visit, text: str) -> str:
        """Write to a rater."""
        words = _clean(text, LONGEST_MESSAGE)
        if not words:
            raise BadAction("There is no message yet. Write a sentence or two.")
        self.store.do(SendMessage(visit.id, self.who, words))
        return "The next page that this rater opens shows the message."

    def note(self, what: str, target: str = "", **detail: object) -> None:
        """Record something that only looked: a download, a preview, an id."""
        self.store.do(ops.AddAction(self.who, what, target, "", detail))


def require_reason(reason: str) -> str:
    """Return the reason, or raise BadAction where there is none."""
    if not (words := _clean(reason, LONGEST_REASON)):
        raise BadAction("An exclusion needs a reason: it is kept with the data and reported. Write one.")
    return words


def _clean(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
