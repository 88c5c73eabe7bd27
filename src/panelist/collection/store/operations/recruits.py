"""Recruiting as it is stored: studies on a panel, their submissions, and the journal of what was paid.

A payment is written down before it is asked for. Its key says what is paid for which submission and is
unique; the process that works on it holds a claim. A claim that nobody renews for a while may be taken over:
what was asked for in the meantime is then found in the journal, or looked up at the panel, before it is
repeated.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlalchemy import bindparam, insert, select, update

from panelist.collection.store.database.engine import Connection, Statement
from panelist.collection.store.database.tables import campaigns, hook_events, payments, recruits
from panelist.collection.store.operations import places as people
from panelist.collection.store.operations.ops import Operation, Transaction, add_action
from panelist.collection.store.records import clean_text, write_json

LEASE_SECONDS = 120.0
INTENDED, CREATED, PAYING, PAID, REFUSED = "intended", "created", "paying", "paid", "refused"


@dataclass(frozen=True, slots=True)
class Campaign:
    """A study on a panel."""

    panel: str
    group: str
    outside_id: str
    status: str
    places: int
    reward: int
    """Pence or cents for one submission."""
    minutes: int
    key: str
    """Part of its internal name there, so that it can be found again after a lost answer."""
    created: float
    changed: float


@dataclass(frozen=True, slots=True)
class Recruit:
    """A submission as the panel last reported it."""

    submission: str
    campaign: str
    visit: int | None
    status: str
    code: str
    started: float | None
    bonus: int
    changed: float


@dataclass(frozen=True, slots=True)
class Payment:
    """A line of the journal."""

    key: str
    submission: str
    kind: str
    amount: int
    state: str
    batch: str
    claim: str
    claimed: float
    changed: float
    detail: Mapping[str, Any] = field(repr=False)


def write_key(kind: str, submission: str) -> str:
    """Return the key of a payment: the same for the same thing, whichever process pays it."""
    return f"{kind} {submission}"


def read_campaigns(db: Connection) -> list[Campaign]:
    """Return the studies on panels."""
    return [Campaign(*row) for row in db.rows(_CAMPAIGNS)]


def read_recruits(db: Connection) -> list[Recruit]:
    """Return all submissions, in the order in which they were first seen."""
    return [Recruit(*row) for row in db.rows(_RECRUITS)]


def read_payments(db: Connection) -> list[Payment]:
    """Return the journal."""
    return [Payment(*(*row[:9], json.loads(row[9]))) for row in db.rows(_PAYMENTS)]


def knows_hook(db: Connection, event: str) -> bool:
    """Return whether a message from the panel was handled before."""
    return db.row(_FIND_HOOK, {"event": clean_text(event)}) is not None


@dataclass(frozen=True, slots=True)
class SaveCampaign(Operation[Campaign]):
    """A study on a panel is made, or has changed."""

    campaign: Campaign
    who: str
    what: str = ""
    """What was done, for the record; empty where nothing was."""
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> Campaign:
        """Return it as it is stored."""
        people.lock_study(tx.db)
        one = self.campaign
        row = {name: getattr(one, name) for name in Campaign.__slots__ if name != "group"}
        row |= {"grp": one.group, "changed": self.time}
        if tx.db.run(_SAVE_CAMPAIGN, row) == 0:
            tx.db.run(_NEW_CAMPAIGN, row)
        if self.what:
            detail = {"status": one.status, "places": one.places, "reward": one.reward}
            add_action(tx.db, self, self.who, self.what, f"{one.panel} {one.outside_id}", "", detail)
        return one


@dataclass(frozen=True, slots=True)
class SaveRecruits(Operation[tuple[Recruit, ...]]):
    """What the panel says about its submissions."""

    recruits: tuple[Recruit, ...]
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> tuple[Recruit, ...]:
        """Return those that are new or have changed."""
        people.lock_study(tx.db)
        known = {one.submission: one for one in read_recruits(tx.db)}
        news = []
        for one in self.recruits:
            before = known.get(one.submission)
            if before is not None and _same(before, one):
                continue
            row = {name: getattr(one, name) for name in Recruit.__slots__} | {"changed": self.time}
            tx.db.run(_NEW_RECRUIT if before is None else _SAVE_RECRUIT, row)
            news.append(one)
        return tuple(news)


@dataclass(frozen=True, slots=True)
class ClaimPayments(Operation[tuple[Payment, ...]]):
    """A payment begins: amounts by submission. What is done, or claimed by others, is left out."""

    kind: str
    amounts: Mapping[str, int]
    claim: str
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> tuple[Payment, ...]:
        """Return the lines that are ours to pay now, in the state in which they are."""
        people.lock_study(tx.db)
        known = {payment.key: payment for payment in read_payments(tx.db)}
        for submission, amount in self.amounts.items():
            key = write_key(self.kind, submission)
            before = known.get(key)
            row: dict[str, Any] = {
                "key": key,
                "claim": self.claim,
                "claimed": self.time,
                "changed": self.time,
            }
            if before is None:
                row |= {"submission": submission, "kind": self.kind, "amount": amount, "state": INTENDED}
                tx.db.run(_NEW_PAYMENT, row | {"batch": "", "detail": "{}"})
            elif before.state not in (PAID, REFUSED) and _is_free(before, self.claim, self.time):
                # What no list was made for yet is computed again.
                row["amount"] = amount if before.state == INTENDED and not before.batch else before.amount
                tx.db.run(_CLAIM_PAYMENT, row)
        wanted = {write_key(self.kind, submission) for submission in self.amounts}
        ours = (one for one in read_payments(tx.db) if one.key in wanted and one.claim == self.claim)
        return tuple(one for one in ours if one.state not in (PAID, REFUSED))


@dataclass(frozen=True, slots=True)
class MarkPayments(Operation[tuple[str, ...]]):
    """Payments that we hold have moved on, all of them or none; with ``done``, the claim is released."""

    keys: tuple[str, ...]
    claim: str
    state: str
    batch: str = ""
    who: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    done: bool = False
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> tuple[str, ...]:
        """Return the keys; none where one of them is no longer ours, and then nothing is marked."""
        people.lock_study(tx.db)
        known = {one.key: one for one in read_payments(tx.db)}
        held = [known[key] for key in self.keys if key in known]
        if all(one.changed == self.time and one.state == self.state for one in held):
            return self.keys  # a retry: the acknowledgement was lost
        if len(held) < len(self.keys) or any(one.claim != self.claim for one in held):
            return ()
        for one in held:
            row: dict[str, Any] = {"key": one.key, "state": self.state, "batch": self.batch or one.batch}
            row |= {"claim": "" if self.done else self.claim, "claimed": self.time, "changed": self.time}
            tx.db.run(_MARK_PAYMENT, row | {"detail": write_json({**one.detail, **self.detail})})
        if self.state in (PAID, REFUSED) and self.who and held:
            detail = {"amounts": {one.submission: one.amount for one in held}, **self.detail}
            what = f"{held[0].kind} {'done' if self.state == PAID else 'refused'}"
            add_action(tx.db, self, self.who, what, f"{len(held)} submissions", "", detail)
        return self.keys


@dataclass(frozen=True, slots=True)
class NoteHook(Operation[None]):
    """A message from the panel was handled; it may come again."""

    event: str
    first: ClassVar[bool] = True

    def run(self, tx: Transaction) -> None:
        """Add its name."""
        people.lock_study(tx.db)
        if not knows_hook(tx.db, self.event):
            tx.db.run(_NEW_HOOK, {"event": clean_text(self.event), "time": self.time})


def _is_free(payment: Payment, claim: str, time: float) -> bool:
    return payment.claim in ("", claim) or time - payment.claimed > LEASE_SECONDS


def _same(one: Recruit, other: Recruit) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in Recruit.__slots__ if name != "changed")


def _values(table: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: bindparam(name, type_=table.c[name].type) for name in names}


_CAMPAIGN_COLUMNS = tuple(column.name for column in campaigns.c if column.name != "id")
_CAMPAIGNS = Statement(select(*(campaigns.c[name] for name in _CAMPAIGN_COLUMNS)).order_by(campaigns.c.id))
_NEW_CAMPAIGN = Statement(insert(campaigns).values(_values(campaigns, _CAMPAIGN_COLUMNS)).inline())
_SAVE_CAMPAIGN = Statement(
    update(campaigns)
    .where(campaigns.c.panel == bindparam("panel"), campaigns.c.grp == bindparam("grp"))
    .values(_values(campaigns, ("outside_id", "status", "places", "reward", "minutes", "key", "changed")))
)
_RECRUIT_COLUMNS = tuple(column.name for column in recruits.c if column.name != "id")
_RECRUITS = Statement(select(*(recruits.c[name] for name in _RECRUIT_COLUMNS)).order_by(recruits.c.id))
_NEW_RECRUIT = Statement(insert(recruits).values(_values(recruits, _RECRUIT_COLUMNS)).inline())
_SAVE_RECRUIT = Statement(
    update(recruits)
    .where(recruits.c.submission == bindparam("submission"))
    .values(_values(recruits, ("campaign", "visit", "status", "code", "started", "bonus", "changed")))
)
_PAYMENT_COLUMNS = tuple(column.name for column in payments.c if column.name != "id")
_PAYMENTS = Statement(select(*(payments.c[name] for name in _PAYMENT_COLUMNS)).order_by(payments.c.id))
_NEW_PAYMENT = Statement(insert(payments).values(_values(payments, _PAYMENT_COLUMNS)).inline())
_this_payment = payments.c.key == bindparam("key")
_CLAIM_PAYMENT = Statement(
    update(payments).where(_this_payment).values(_values(payments, ("amount", "claim", "claimed", "changed")))
)
_MARK_PAYMENT = Statement(
    update(payments)
    .where(_this_payment)
    .values(_values(payments, ("state", "batch", "claim", "claimed", "changed", "detail")))
)
_FIND_HOOK = Statement(select(hook_events.c.event).where(hook_events.c.event == bindparam("event")))
_NEW_HOOK = Statement(insert(hook_events).values(_values(hook_events, ("event", "time"))).inline())
