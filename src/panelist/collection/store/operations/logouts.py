"""Logins that were ended: they are on record among the actions, so that every process knows of them."""

import json
import threading

from sqlalchemy import bindparam, select

from panelist.collection.store.database.engine import Connection, Statement
from panelist.collection.store.database.tables import actions

LOGGED_OUT = "logged out"
LOOKED_BACK = 100  # PostgreSQL may commit a lower number a moment after a higher one
_LOGOUTS = Statement(
    select(actions.c.id, actions.c.detail)
    .where(actions.c.id > bindparam("after"), actions.c.what == bindparam("what"))
    .order_by(actions.c.id)
)


class Logouts:
    """The marks of logins that were ended, as of now; each is read once."""

    def __init__(self) -> None:
        self._marks: set[str] = set()
        self._last = 0
        self._lock = threading.Lock()

    def look(self, db: Connection) -> frozenset[str]:
        """Return the marks of all that were ended."""
        with self._lock:
            after = max(0, self._last - LOOKED_BACK)
            for number, detail in db.rows(_LOGOUTS, {"after": after, "what": LOGGED_OUT}):
                self._marks.add(str(json.loads(detail).get("login", "")))
                self._last = max(self._last, number)
            return frozenset(self._marks)
