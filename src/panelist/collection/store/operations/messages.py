"""Notes from a researcher to one rater: events of the visit, each shown once, on the next page."""

import json
from dataclasses import dataclass

from panelist.collection.store.database import statements as sql
from panelist.collection.store.errors import NoVisit
from panelist.collection.store.operations import places as people
from panelist.collection.store.operations.ops import Operation, Transaction, add_action
from panelist.collection.store.records import write_json


@dataclass(frozen=True, slots=True)
class SendMessage(Operation[None]):
    """A note to one rater, which the next page shows."""

    visit: int
    who: str
    text: str

    def run(self, tx: Transaction) -> None:
        """Add the event that the pages look for, and the record of who wrote it."""
        visit = people.load_visit(tx.db, self.visit)
        if visit.over:
            raise NoVisit("This visit is over: no page would show the message.")
        row = {"visit": visit.id, "time": self.time, "kind": sql.MESSAGE}
        tx.db.run(sql.NEW_EVENT, row | {"detail": write_json({"text": self.text}), "key": f"{self.key}-0"})
        target = visit.place or f"visit {visit.id}"
        add_action(tx.db, self, self.who, "message", target, "", {"visit": visit.id, "text": self.text})


@dataclass(frozen=True, slots=True)
class ShowMessages(Operation[tuple[str, ...]]):
    """The messages that a rater has not seen go onto a page, and are seen from now on."""

    visit: int

    def run(self, tx: Transaction) -> tuple[str, ...]:
        """Return the messages, oldest first: each to one page only, whichever process makes it."""
        people.load_visit(tx.db, self.visit)  # locked: of two simultaneous pages the second finds none
        key = f"{self.key}-0"
        texts: dict[int, str] = {}
        mine: list[int] | None = None
        shown: set[int] = set()
        for number, _, _, kind, detail, known in tx.db.rows(sql.VISIT_EVENTS, {"visit": self.visit}):
            if kind == sql.MESSAGE:
                texts[number] = json.loads(detail)["text"]
            elif kind == sql.MESSAGE_SHOWN:
                seen = json.loads(detail)["messages"]
                shown.update(seen)
                mine = seen if known == key else mine  # a retry: the acknowledgement was lost
        if mine is None:
            mine = [number for number in texts if number not in shown]
            if mine:
                row = {"visit": self.visit, "time": self.time, "kind": sql.MESSAGE_SHOWN, "key": key}
                tx.db.run(sql.NEW_EVENT, row | {"detail": write_json({"messages": mine})})
        return tuple(texts[number] for number in mine)
