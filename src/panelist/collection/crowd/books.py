"""The books of recruiting: what the database knows of panels, submissions and payments."""

from collections.abc import Callable
from decimal import Decimal
from types import TracebackType
from typing import TypeVar

from panelist.collection.store import statements as sql
from panelist.collection.store.engine import Link
from panelist.collection.store.ops import Desk, Operation
from panelist.collection.store.plans import PlanShelf
from panelist.collection.store.records import Visit, make_visit
from panelist.collection.store.recruits import (
    Campaign,
    Payment,
    Recruit,
    read_campaigns,
    read_payments,
    read_recruits,
)
from panelist.collection.store.store import Store

T = TypeVar("T")


class Books:
    """What is known, and the way to add to it."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __enter__(self) -> "Books":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Put them away; the store stays open."""

    def do(self, op: "Operation[T]") -> T:
        """Return what an operation returns, once it is on disk."""
        return self.store.do(op)

    def read(self, look: Callable[[Link], T]) -> T:
        """Return what ``look`` reads."""
        return self.store.database.read(look)

    def campaign(self, panel: str, group: str = "") -> Campaign | None:
        """Return the study on a panel, if there is one."""
        found = (one for one in self.read(read_campaigns) if (one.panel, one.group) == (panel, group))
        return next(found, None)

    def recruits(self) -> list[Recruit]:
        """Return all submissions."""
        return self.read(read_recruits)

    def payments(self) -> list[Payment]:
        """Return the journal of payments."""
        return self.read(read_payments)

    def visits(self) -> list[Visit]:
        """Return all visits."""
        return [make_visit(row) for row in self.read(lambda link: link.rows(sql.ALL_VISITS))]


def find_paid(books: Books) -> dict[int, Decimal]:
    """Return what each visit that came from a panel is paid there: the reward, and bonuses so far."""
    rewards = {one.outside_id: one.reward for one in books.read(read_campaigns) if one.outside_id}
    return {
        one.visit: Decimal(rewards[one.campaign] + one.bonus).scaleb(-2)
        for one in (books.recruits() if rewards else ())
        if one.visit is not None and one.campaign in rewards
    }


class DryBooks(Books):
    """Books in which everything is written with a pencil: at the end it is taken back."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._link = store.database.connect()
        self._link.begin()
        self._desk = Desk(self._link, PlanShelf())

    def do(self, op: "Operation[T]") -> T:
        """Return what an operation would return."""
        return op.run(self._desk)

    def read(self, look: Callable[[Link], T]) -> T:
        """Return what ``look`` reads, what was pencilled in included."""
        return look(self._link)

    def close(self) -> None:
        """Take everything back."""
        self._link.rollback()
        self._link.close()
