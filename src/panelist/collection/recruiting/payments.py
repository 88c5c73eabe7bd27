"""Settling submissions: approve, reject, screen out, and bonuses. Nobody is ever paid twice.

Every payment is first written into the journal under the name of its submission. After a lost answer the
panel is asked for the current state before anything is repeated. A bonus goes by a list: it is made (which
pays nothing), its id is written down, and only a list that is written down is paid; so a list whose creation
was not acknowledged is never paid, and one that was acknowledged is paid under its own id only.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from panelist.collection.recruiting.errors import AnswerLost, BadRecruiting, PanelRefused, TokenRefused
from panelist.collection.recruiting.prolific import submission as prolific
from panelist.collection.recruiting.prolific.endpoints import Api
from panelist.collection.recruiting.repository import RecruitingRepository
from panelist.collection.store.operations.recruits import (
    CREATED,
    INTENDED,
    PAID,
    PAYING,
    REFUSED,
    ClaimPayments,
    MarkPayments,
    Payment,
)

WAITS = (0.0, 1.0, 2.0, 4.0, 8.0)
TAKEN_OVER = "Another process is paying these bonuses now; nothing was paid from here."
Json = dict[str, object]


@dataclass(frozen=True)
class PaymentResult:
    """What happened to submissions, by their ids."""

    done: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    """Not now: the participant is still submitting, or the panel does not answer. Ask again later."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """What the panel, or the state of the submission there, does not allow."""

    def __add__(self, other: "PaymentResult") -> "PaymentResult":
        return PaymentResult(
            self.done + other.done, self.later + other.later, {**self.refused, **other.refused}
        )


@dataclass(frozen=True)
class Payments:
    """Pays submissions and bonuses, each once, and records every step."""

    repository: RecruitingRepository
    api: Api
    who: str
    sleep: Callable[[float], None] = time.sleep

    def approve(self, submissions: Sequence[str], reward: int) -> PaymentResult:
        """Approve submissions, each of which is paid the reward."""
        return self._move("approve", dict.fromkeys(submissions, reward), {}, prolific.APPROVED)

    def reject(self, reasons: Mapping[str, tuple[str, str]]) -> PaymentResult:
        """Reject submissions, each for its category and with its message."""
        bodies: dict[str, Json] = {
            submission: {"action": "REJECT", "rejection_category": category, "message": message}
            for submission, (category, message) in reasons.items()
        }
        return self._move("reject", dict.fromkeys(reasons, 0), bodies, prolific.REJECTED)

    def _move(
        self, kind: str, amounts: Mapping[str, int], bodies: Mapping[str, Json], wanted: str
    ) -> PaymentResult:
        claim = secrets.token_hex(8)
        settled = PaymentResult()
        for submission, amount in amounts.items():
            ours = self.repository.do(ClaimPayments(kind, {submission: amount}, claim))
            if not ours:
                continue  # done before, or another process is doing it
            state, why = INTENDED, ""
            try:
                status, why = self._settle(submission, bodies.get(submission, {"action": "APPROVE"}), wanted)
                state = PAID if status == wanted else REFUSED if status in prolific.OVER else INTENDED
            finally:
                keys = (ours[0].key,)
                self.repository.do(MarkPayments(keys, claim, state, who=self.who, done=True))
            if state == PAID:
                settled += PaymentResult(done=(submission,))
            elif state == REFUSED:
                settled += PaymentResult(refused={submission: f"it is {status.lower()} on Prolific"})
            else:
                settled += (
                    PaymentResult(refused={submission: why}) if why else PaymentResult(later=(submission,))
                )
        return settled

    def _settle(self, submission: str, body: Json, wanted: str) -> tuple[str, str]:
        """Return the final status of a submission, and the reason why it could not be changed.

        Look first, ask, and look again.
        """
        status = why = ""
        for wait in WAITS:
            self.sleep(wait)
            status = self.api.get_submission(submission).status
            if status == wanted or status in prolific.OVER:
                return status, ""
            if status in prolific.GOING_ON:
                continue  # the participant is about to submit
            try:
                self.api.move_submission(submission, dict(body))
                return wanted, ""
            except AnswerLost:
                why = ""  # done or not: the next look shows
            except TokenRefused:
                raise
            except (
                PanelRefused
            ) as error:  # while the participant is submitting, the panel refuses for a moment
                why = str(error)
        return status, why

    def screen_out(self, study: str, submissions: Sequence[str], each: int) -> PaymentResult:
        """Screen submissions out, each with this pay."""
        claim = secrets.token_hex(8)
        ours = self.repository.do(ClaimPayments("screen out", dict.fromkeys(submissions, each), claim))
        left = {payment.submission: payment for payment in ours}
        settled = PaymentResult()
        try:
            for wait in WAITS:
                self.sleep(wait)
                looked = {one: self.api.get_submission(one).status for one in left}
                settled += self._close(
                    claim,
                    [left.pop(one) for one, status in looked.items() if status in prolific.OVER],
                    looked,
                )
                ready = [one for one, status in looked.items() if status == prolific.AWAITING]
                if not ready:
                    break
                try:
                    self.api.screen_out(study, ready, write_amount(each))
                except AnswerLost:
                    continue
                settled += self._close(claim, [left.pop(one) for one in ready], {})
        finally:
            if left:
                keys = tuple(payment.key for payment in left.values())
                self.repository.do(MarkPayments(keys, claim, INTENDED, done=True))
        return settled + PaymentResult(later=tuple(left))

    def _close(self, claim: str, payments: Sequence[Payment], looked: Mapping[str, str]) -> PaymentResult:
        """Mark what was screened out, and what ended differently."""
        settled = PaymentResult()
        for payment in payments:
            status = looked.get(payment.submission, prolific.SCREENED_OUT)
            good = status == prolific.SCREENED_OUT
            state = PAID if good else REFUSED
            self.repository.do(MarkPayments((payment.key,), claim, state, who=self.who, done=True))
            why = f"it is {status.lower()} on Prolific"
            settled += (
                PaymentResult(done=(payment.submission,))
                if good
                else PaymentResult(refused={payment.submission: why})
            )
        return settled

    def pay_bonuses(self, study: str, amounts: Mapping[str, int], people: Mapping[str, str]) -> PaymentResult:
        """Pay bonuses, in pence or cents by submission; ``people`` says whose submission it is."""
        claim = secrets.token_hex(8)
        begun = {
            one.submission: one.amount
            for one in self.repository.payments()
            if one.kind == "bonus" and one.batch and one.state not in (PAID, REFUSED)
        }
        held = self.repository.do(ClaimPayments("bonus", {**amounts, **begun}, claim))
        settled, left = PaymentResult(), {payment.key: payment for payment in held}
        try:
            for batch in dict.fromkeys(payment.batch for payment in held if payment.batch):
                mine = [payment for payment in held if payment.batch == batch]
                settled += self._pay_list(batch, mine, claim)
                for payment in mine:
                    left.pop(payment.key)
            new = list(left.values())
            if new:
                batch = self._make_list(study, new, people, claim)
                left.clear()  # from here on they are on the list
                settled += self._pay_list(batch, new, claim)
        finally:
            if left:
                keys = tuple(left)
                self.repository.do(MarkPayments(keys, claim, INTENDED, done=True))
        return settled

    def _make_list(
        self, study: str, payments: Sequence[Payment], people: Mapping[str, str], claim: str
    ) -> str:
        """Return the id of a new list of bonuses, once it is written down: only then may it be paid."""
        before = {one.submission: self.api.get_submission(one.submission).bonus for one in payments}
        lines = [(people[one.submission], write_amount(one.amount)) for one in payments]
        batch = ""
        for wait in WAITS:
            self.sleep(wait)
            try:
                batch = self.api.create_bonus(study, lines)
                break
            except AnswerLost:  # a list that nobody knows of is never paid
                continue
        if not batch:
            raise AnswerLost("Prolific does not answer; no bonus was paid. Try again later.")
        keys = tuple(one.key for one in payments)
        if not self.repository.do(MarkPayments(keys, claim, CREATED, batch, detail={"before": before})):
            raise BadRecruiting(TAKEN_OVER)
        return batch

    def _pay_list(self, batch: str, payments: Sequence[Payment], claim: str) -> PaymentResult:
        """Pay a list that is written down, unless its submissions show that it was paid."""
        keys = tuple(one.key for one in payments)
        asked_before = any(one.state == PAYING for one in payments)
        ids = tuple(one.submission for one in payments)
        refusal = ""
        for wait in WAITS:
            self.sleep(wait)
            if asked_before and self._is_paid(batch):
                return self._finish(keys, ids, claim, batch)
            if not asked_before and not self.repository.do(MarkPayments(keys, claim, PAYING)):
                raise BadRecruiting(TAKEN_OVER)
            try:
                self.api.pay_bonus(batch)
                return self._finish(keys, ids, claim, batch)
            except AnswerLost:
                asked_before = True
            except PanelRefused as error:
                refusal = str(error)
                if not asked_before:  # it refused the first request, so nothing was paid
                    self.repository.do(MarkPayments(keys, claim, CREATED, done=True))
                    return PaymentResult(refused=dict.fromkeys(ids, refusal))
        self.repository.do(MarkPayments(keys, claim, PAYING, done=True))
        return PaymentResult(later=ids) if not refusal else PaymentResult(refused=dict.fromkeys(ids, refusal))

    def _is_paid(self, batch: str) -> bool:
        """Return whether the submissions of a list show the payments of the list."""
        lines = [one for one in self.repository.payments() if one.batch == batch]
        return all(
            self.api.get_submission(one.submission).bonus
            >= int(dict(one.detail.get("before", {})).get(one.submission, 0)) + one.amount
            for one in lines
        )

    def _finish(self, keys: tuple[str, ...], ids: tuple[str, ...], claim: str, batch: str) -> PaymentResult:
        self.repository.do(MarkPayments(keys, claim, PAID, who=self.who, detail={"batch": batch}, done=True))
        return PaymentResult(done=ids)


def write_amount(pence: int) -> str:
    """Return an amount as Prolific reads it.

    >>> write_amount(5), write_amount(1250)
    ('0.05', '12.50')
    """
    return f"{pence // 100}.{pence % 100:02}"
