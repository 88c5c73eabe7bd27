"""What the database knows about panels, submissions and payments."""

from collections.abc import Callable
from decimal import Decimal
from types import TracebackType
from typing import TypeVar

from panelist.collection.store.database import statements as sql
from panelist.collection.store.database.engine import Connection
from panelist.collection.store.operations.ops import Operation, Transaction
from panelist.collection.store.operations.plans import PlanCache
from panelist.collection.store.operations.recruits import (
    Campaign,
    Payment,
    Recruit,
    read_campaigns,
    read_payments,
    read_recruits,
)
from panelist.collection.store.records import Visit, make_visit
from panelist.collection.store.store import Store

T = TypeVar("T")


class RecruitingRepository:
    """What is known, and the way to add to it."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __enter__(self) -> "RecruitingRepository":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release what this holds; the store stays open."""

    def do(self, op: "Operation[T]") -> T:
        """Return what an operation returns, once it is on disk."""
        return self.store.do(op)

    def read(self, look: Callable[[Connection], T]) -> T:
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
        return [make_visit(row) for row in self.read(lambda db: db.rows(sql.ALL_VISITS))]


def find_paid(repository: RecruitingRepository) -> dict[int, Decimal]:
    """Return what each visit that came from a panel is paid there: the reward, and bonuses so far."""
    rewards = {one.outside_id: one.reward for one in repository.read(read_campaigns) if one.outside_id}
    return {
        one.visit: Decimal(rewards[one.campaign] + one.bonus).scaleb(-2)
        for one in (repository.recruits() if rewards else ())
        if one.visit is not None and one.campaign in rewards
    }


class DryRunRepository(RecruitingRepository):
    """A repository in one transaction that is rolled back at the end."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._db = store.database.connect()
        self._db.begin()
        self._tx = Transaction(self._db, PlanCache())

    def do(self, op: "Operation[T]") -> T:
        """Return what an operation would return."""
        return op.run(self._tx)

    def read(self, look: Callable[[Connection], T]) -> T:
        """Return what ``look`` reads, including what would be written."""
        return look(self._db)

    def close(self) -> None:
        """Roll everything back."""
        self._db.rollback()
        self._db.close()
