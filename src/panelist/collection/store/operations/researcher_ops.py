"""What a researcher does to a visit, besides ending it and writing to the rater: undoing an exclusion."""

from dataclasses import dataclass, replace
from typing import ClassVar

from panelist.collection.store.database import statements as sql
from panelist.collection.store.errors import NoPlace, NoVisit
from panelist.collection.store.operations import places as people
from panelist.collection.store.operations.ops import Operation, Transaction, add_action
from panelist.collection.store.records import Visit, clean_text, write_json


@dataclass(frozen=True, slots=True)
class Readmit(Operation[Visit]):
    """An exclusion is undone: the visit is what it was before, if nobody else has its place by now."""

    visit: int
    who: str
    reason: str = ""
    finished: bool = False
    """Whether every page was done: then it counts as finished again, else it continues where it was."""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> Visit:
        """Return the visit as it is now; what answers came meanwhile stay marked as late."""
        people.lock_study(tx.db)
        visit = people.load_visit(tx.db, self.visit)
        if visit.state != "excluded":
            if visit.seen == self.time:  # a retry: the acknowledgement was lost
                return visit
            raise NoVisit("This rater is not excluded, so there is nothing to undo.")
        if visit.place is not None and tx.db.row(sql.FIND_HOLDER, {"place": visit.place}) is not None:
            raise NoPlace(
                f"Another rater has place {visit.place} by now. Release or exclude that visit first, or "
                "leave this one excluded: its answers are kept either way."
            )
        state = "finished" if self.finished or not visit.left_at else visit.left_at
        ended = visit.ended if state == "finished" else None
        back = replace(visit, state=state, left_at="", reason="", valid=True, ended=ended, seen=self.time)
        people.save_visit(tx.db, back)
        row = {"visit": visit.id, "time": self.time, "kind": "readmitted"}
        tx.db.run(
            sql.NEW_EVENT, row | {"detail": write_json({"reason": self.reason}), "key": f"{self.key}-0"}
        )
        target = visit.place or f"visit {visit.id}"
        detail = {"visit": visit.id, "was": clean_text(visit.reason)}
        add_action(tx.db, self, self.who, "readmitted", target, self.reason, detail)
        return back
