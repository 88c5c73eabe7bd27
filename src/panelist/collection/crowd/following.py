"""Following the submissions of a panel: whose place is free again, and whose is not.

A returned, timed-out or rejected submission frees exactly the place of its visit; what still comes from that
person is kept as late. The newest submission of a person counts, so that messages may come late, twice and
in any order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from panelist.collection.crowd.books import Books
from panelist.collection.crowd.prolific import submission as prolific
from panelist.collection.crowd.prolific.submission import Submission
from panelist.collection.store.errors import NoVisit
from panelist.collection.store.ops import EndVisit
from panelist.collection.store.people import RETURNED_REASON, TIMED_OUT_REASON
from panelist.collection.store.records import Visit
from panelist.collection.store.recruits import Recruit, SaveRecruits

SESSION = "SESSION_ID"
REJECTED_REASON, SCREENED_OUT_REASON = "rejected on Prolific", "screened out on Prolific"
FREEING = {
    prolific.RETURNED: RETURNED_REASON,
    prolific.TIMED_OUT: TIMED_OUT_REASON,
    prolific.REJECTED: REJECTED_REASON,
    prolific.SCREENED_OUT: SCREENED_OUT_REASON,
}
WITHDRAWN = (prolific.RETURNED, prolific.REJECTED)
"""After these even a finished visit does not count. Who timed out after the last page has done the work."""


@dataclass(frozen=True)
class Followed:
    """What a look at the panel brought."""

    submissions: tuple[Submission, ...]
    changed: int
    """Submissions that are new, or stand otherwise than at the last look."""
    freed: tuple[Visit, ...]
    """Visits whose place is free again."""

    @property
    def statuses(self) -> Counter[str]:
        """How many submissions stand so."""
        return Counter(one.status for one in self.submissions)


def follow(books: Books, campaign: str, submissions: Sequence[Submission]) -> Followed:
    """Write down what the panel says of these submissions, and free the places that are to be freed."""
    known = {one.submission: one for one in books.recruits()}
    owners = find_owners(submissions, books.visits(), known)
    rows = tuple(_make_row(one, campaign, owners[one.id]) for one in submissions)
    changed = books.do(SaveRecruits(rows)) if rows else ()
    told = {one.submission: one for one in (*known.values(), *rows)}
    freed = []
    for visit in {visit.id: visit for visit in owners.values() if visit is not None}.values():
        newest = find_newest(visit, told.values())
        if newest is not None and (gone := free_place(books, visit, newest.status)) is not None:
            freed.append(gone)
    return Followed(tuple(submissions), len(changed), tuple(freed))


def find_owners(
    submissions: Iterable[Submission], visits: Iterable[Visit], known: Mapping[str, Recruit]
) -> dict[str, Visit | None]:
    """Return the visit of each submission: the one that came with it, else that of the same person.

    Of those who declined nothing is kept, so that no submission leads to them.
    """
    kept = [visit for visit in visits if visit.state != "declined"]
    by_number = {visit.id: visit for visit in kept}
    by_session = {str(visit.params[SESSION]): visit for visit in kept if SESSION in visit.params}
    by_person = {visit.outside_id: visit for visit in kept if visit.outside_id}
    owners: dict[str, Visit | None] = {}
    for one in submissions:
        before = known.get(one.id)
        number = before.visit if before is not None else None
        found = by_number.get(number) if number is not None else None
        came = by_session.get(one.id)
        if came is not None and one.person and came.outside_id not in (None, one.person):
            came = None  # somebody came with the submission of another
        owners[one.id] = found or came or by_person.get(one.person)
    return owners


def find_newest(visit: Visit, recruits: Iterable[Recruit]) -> Recruit | None:
    """Return the submission that counts for a visit: the one begun last."""
    mine = [one for one in recruits if one.visit == visit.id]
    return max(mine, key=lambda one: (one.started or 0.0, one.submission), default=None)


def free_place(books: Books, visit: Visit, status: str) -> Visit | None:
    """Return the visit after its place was freed; None where its submission frees nothing, or it was free."""
    reason = FREEING.get(status)
    if reason is None or visit.freed:
        return None
    if visit.state == "finished":
        return books.do(EndVisit(visit.id, "excluded", reason)) if status in WITHDRAWN else None
    try:
        return books.do(EndVisit(visit.id, "released", reason))
    except NoVisit:  # finished a moment ago: the next look decides
        return None


def rank_status(status: str) -> int:
    """Return how far a submission has come: with only a message to go by, none goes back."""
    ranks: Mapping[str, int] = {prolific.RESERVED: 0, prolific.ACTIVE: 1, prolific.AWAITING: 2}
    return ranks.get(status, 3)


def _make_row(one: Submission, campaign: str, visit: Visit | None) -> Recruit:
    number = visit.id if visit is not None else None
    return Recruit(one.id, campaign, number, one.status, one.code, one.started, one.bonus, 0.0)
