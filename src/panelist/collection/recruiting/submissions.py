"""Following the submissions of a panel: whose place is free again, and whose is not.

A returned, timed-out or rejected submission releases exactly the place of its visit; what still comes from
that person is kept as late. The newest submission of a person counts, so that messages may come late, twice
and in any order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from panelist.collection.recruiting.prolific import submission as prolific
from panelist.collection.recruiting.prolific.submission import Submission
from panelist.collection.recruiting.repository import RecruitingRepository
from panelist.collection.store.errors import NoVisit
from panelist.collection.store.operations.ops import EndVisit
from panelist.collection.store.operations.places import RETURNED_REASON, TIMED_OUT_REASON
from panelist.collection.store.operations.recruits import Recruit, SaveRecruits
from panelist.collection.store.records import Visit

SESSION = "SESSION_ID"
REJECTED_REASON, SCREENED_OUT_REASON = "rejected on Prolific", "screened out on Prolific"
FREEING = {
    prolific.RETURNED: RETURNED_REASON,
    prolific.TIMED_OUT: TIMED_OUT_REASON,
    prolific.REJECTED: REJECTED_REASON,
    prolific.SCREENED_OUT: SCREENED_OUT_REASON,
}
WITHDRAWN = (prolific.RETURNED, prolific.REJECTED)
"""After these even a finished visit does not count. Timing out after the last page is not among them."""


@dataclass(frozen=True)
class Followed:
    """What a look at the panel brought."""

    submissions: tuple[Submission, ...]
    changed: int
    """Submissions that are new, or have changed since the last look."""
    freed: tuple[Visit, ...]
    """Visits whose place is free again."""

    @property
    def statuses(self) -> Counter[str]:
        """How many submissions have each status."""
        return Counter(one.status for one in self.submissions)


def follow(repository: RecruitingRepository, campaign: str, submissions: Sequence[Submission]) -> Followed:
    """Record what the panel says about these submissions, and release the places that are to be released."""
    known = {one.submission: one for one in repository.recruits()}
    owners = find_owners(submissions, repository.visits(), known)
    rows = tuple(_make_row(one, campaign, owners[one.id]) for one in submissions)
    changed = repository.do(SaveRecruits(rows)) if rows else ()
    told = {one.submission: one for one in (*known.values(), *rows)}
    freed = []
    for visit in {visit.id: visit for visit in owners.values() if visit is not None}.values():
        newest = find_newest(visit, told.values())
        if newest is not None and (gone := free_place(repository, visit, newest.status)) is not None:
            freed.append(gone)
    return Followed(tuple(submissions), len(changed), tuple(freed))


def find_owners(
    submissions: Iterable[Submission], visits: Iterable[Visit], known: Mapping[str, Recruit]
) -> dict[str, Visit | None]:
    """Return the visit of each submission: the one that came with it, else that of the same person.

    Nothing is kept about people who declined, so no submission leads to them.
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
            came = None  # a person came with another person's submission
        owners[one.id] = found or came or by_person.get(one.person)
    return owners


def find_newest(visit: Visit, recruits: Iterable[Recruit]) -> Recruit | None:
    """Return the submission that counts for a visit: the one begun last."""
    mine = [one for one in recruits if one.visit == visit.id]
    return max(mine, key=lambda one: (one.started or 0.0, one.submission), default=None)


def free_place(repository: RecruitingRepository, visit: Visit, status: str) -> Visit | None:
    """Return the visit after its place was freed; None where its submission frees nothing, or it was free."""
    reason = FREEING.get(status)
    if reason is None or visit.freed:
        return None
    if visit.state == "finished":
        return repository.do(EndVisit(visit.id, "excluded", reason)) if status in WITHDRAWN else None
    try:
        return repository.do(EndVisit(visit.id, "released", reason))
    except NoVisit:  # finished a moment ago: the next look decides
        return None


def rank_status(status: str) -> int:
    """Return how far a submission has come: a message alone never moves it back."""
    ranks: Mapping[str, int] = {prolific.RESERVED: 0, prolific.ACTIVE: 1, prolific.AWAITING: 2}
    return ranks.get(status, 3)


def _make_row(one: Submission, campaign: str, visit: Visit | None) -> Recruit:
    number = visit.id if visit is not None else None
    return Recruit(one.id, campaign, number, one.status, one.code, one.started, one.bonus, 0.0)
