"""What a researcher can do while collecting continues. Each is recorded with its time and who did it.

Nothing here can change an answer that was given.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from panelist.collection.monitor.ledger import Folder
from panelist.collection.monitor.plan_facts import PlanFacts
from panelist.collection.store.operations import ops
from panelist.collection.store.operations.messages import SendMessage
from panelist.collection.store.operations.researcher_ops import Readmit
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store
from panelist.core.errors import PanelistError
from panelist.core.prose import count
from panelist.design.grow import grow_plan
from panelist.study.study import Study

MOST_NEW_PLACES = 10_000
LONGEST_REASON, LONGEST_MESSAGE = 1000, 2000
QUIET_REASON = "quiet; the researcher opened the place"


class BadAction(PanelistError):
    """An action that is not possible as given; the message says what to change."""


@dataclass(frozen=True)
class Researcher:
    """Who acts, and on what."""

    who: str
    store: Store
    study: Study

    def pause(self) -> str:
        """Pause collecting: nobody new can join, and pages wait; return what to show."""
        self.store.set_state("paused", self.who)
        return "Collecting is paused. Answers on pages that are open now are still kept."

    def resume(self) -> str:
        """Open the study again."""
        if self.store.state() == "closed":
            raise BadAction("Collecting has ended; it cannot be resumed from here.")
        self.store.set_state("open", self.who)
        return "Collecting continues."

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
        return f"{count(len(grown.raters) - len(plan.raters), 'more place')} can be taken now."

    def exclude(self, visit: Visit, reason: str) -> str:
        """Exclude a visit, for a reason."""
        self.store.exclude(visit.id, require_reason(reason), self.who)
        return "The rater is excluded; the answers are kept, and the place is open again."

    def readmit(self, folder: Folder, facts: PlanFacts, reason: str = "") -> str:
        """Undo an exclusion."""
        place = facts.places.get(folder.visit.place or "")
        done = len(folder.tally.pages - place.practice) if place else 0
        finished = folder.visit.left_at == "finished" or (place is not None and done >= place.pages)
        self.store.do(Readmit(folder.visit.id, self.who, _clean(reason, LONGEST_REASON), finished))
        return "The exclusion is undone; the rater counts again."

    def release(self, visit: Visit, reason: str) -> str:
        """Release a visit: its place is offered again."""
        self.store.release(visit.id, _clean(reason, LONGEST_REASON) or "released by the researcher", self.who)
        return "The place is open again. What still comes from this rater is kept, and marked as late."

    def release_quiet(self, visits: Iterable[Visit]) -> str:
        """Release every visit where nobody has been seen for a while."""
        gone = [self.store.release(visit.id, QUIET_REASON, self.who) for visit in visits if not visit.over]
        return f"{count(len(gone), 'place')} opened again."

    def release_all(self, visits: Iterable[Visit]) -> str:
        """Release all these visits, each on record."""
        reason = "released with others by the researcher"
        gone = [self.store.release(visit.id, reason, self.who) for visit in visits if not visit.over]
        return f"{count(len(gone), 'place')} released."

    def message(self, visit: Visit, text: str) -> str:
        """Write to a rater."""
        words = _clean(text, LONGEST_MESSAGE)
        if not words:
            raise BadAction("There is no message yet. Write a sentence or two.")
        self.store.do(SendMessage(visit.id, self.who, words))
        return "The next page that this rater opens shows the message."

    def note(self, what: str, target: str = "", **detail: object) -> None:
        """Record something that changed nothing: a download, a preview, an id shown."""
        self.store.do(ops.AddAction(self.who, what, target, "", detail))


def require_reason(reason: str) -> str:
    """Return the reason, or raise BadAction where there is none."""
    if not (words := _clean(reason, LONGEST_REASON)):
        raise BadAction("An exclusion needs a reason, which is kept with the data and reported. Write one.")
    return words


def _clean(text: str, most: int) -> str:
    return " ".join(text.split())[:most]
