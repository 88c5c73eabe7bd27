"""What to do about each submission, by the study's own rules. A person decides."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from panelist.collection.monitor.ledger import Folder, VisitTally
from panelist.collection.monitor.real_pay import find_bonus
from panelist.collection.recruiting.outcomes import KINDS
from panelist.collection.recruiting.prolific import submission as prolific
from panelist.collection.recruiting.prolific.submission import Submission
from panelist.collection.recruiting.submissions import find_newest
from panelist.collection.store.operations.recruits import Recruit
from panelist.collection.store.records import Visit
from panelist.core.prose import count
from panelist.study.rules.recruiting import SHORTEST_MESSAGE
from panelist.study.sections.collecting import Outcomes
from panelist.study.sections.recruiting import Recruiting, Rejection
from panelist.study.sections.wages import find_wage
from panelist.study.study import Study

APPROVE, REJECT, SCREEN_OUT, LOOK, WAIT, NOTHING = "approve", "reject", "screen out", "look", "wait", ""
CATEGORIES = {"failed checks": "FAILED_CHECK", "too fast": "TOO_QUICKLY", "no data": "NO_DATA"}


@dataclass(frozen=True)
class Reviewed:
    """A submission, what its visit did, and what the rules say."""

    submission: str
    person: str
    status: str
    visit: Visit | None
    seconds: float
    advice: str
    """``approve``, ``reject``, ``screen out``, ``look`` (the rules do not say), ``wait``, or nothing."""
    why: str = ""
    category: str = ""
    message: str = ""
    bonus: int = 0
    """What is missing to the promised hourly rate, in pence or cents; 0 where nothing is."""


def review(
    study: Study,
    outcomes: Outcomes,
    submissions: Iterable[Submission],
    recruits: Iterable[Recruit],
    folders: Mapping[int, Folder],
    reward: int,
) -> list[Reviewed]:
    """Return what the rules say about each submission, in their order."""
    known = list(recruits)
    visits = {one.submission: one.visit for one in known}
    codes = {getattr(outcomes, kind).code: kind for kind in KINDS if getattr(outcomes, kind).code}
    reviewed = []
    for one in submissions:
        folder = folders.get(visits.get(one.id) or 0)
        visit, tally = (folder.visit, folder.tally) if folder else (None, VisitTally())
        advice, why = _advise(study, one, visit, tally, codes)
        category = message = ""
        ground = find_ground(study.file.recruiting, one, visit, tally)
        if ground is not None and advice in (APPROVE, LOOK, SCREEN_OUT) and one.status == prolific.AWAITING:
            advice, why = REJECT, _say_ground(ground, tally)
            category = ground.category or CATEGORIES[ground.when]
            message = ground.message or write_message(ground, tally)
        newest = find_newest(visit, known) if visit is not None else None
        lacks = 0
        if newest is not None and newest.submission == one.id:
            lacks = find_lack(study, one, visit, tally, reward)
        reviewed.append(
            Reviewed(
                one.id, one.person, one.status, visit, tally.seconds, advice, why, category, message, lacks
            )
        )
    return reviewed


def has_worked(visit: Visit | None) -> bool:
    """Return whether the rater did every page, whether or not the visit counts."""
    return visit is not None and (visit.state == "finished" or visit.left_at == "finished" or _is_sent(visit))


def _is_sent(visit: Visit) -> bool:
    # A rater who is excluded by a rule at the last page has a code, like everybody who finishes.
    return visit.state == "excluded" and bool(visit.code)


def find_lack(study: Study, one: Submission, visit: Visit | None, tally: VisitTally, reward: int) -> int:
    """Return what is missing to the promised hourly rate for the time it took, in pence or cents."""
    pay = study.file.pay
    if pay is None or one.status != prolific.APPROVED or not has_worked(visit) or tally.seconds <= 0:
        return 0
    paid = Decimal(reward + one.bonus).scaleb(-2)
    return int(find_bonus(paid, tally.seconds, find_wage(pay)) * 100)


def find_ground(
    recruiting: Recruiting | None, one: Submission, visit: Visit | None, tally: VisitTally
) -> Rejection | None:
    """Return the rule by which a submission may be rejected, if there is one."""
    for rule in recruiting.rejections if recruiting is not None else ():
        if _HOLDS[rule.when](rule, visit, tally):
            return rule
    return None


_HOLDS: dict[str, Callable[[Rejection, Visit | None, VisitTally], bool]] = {
    "failed checks": lambda rule, visit, tally: _count_failed(tally) > rule.more_than,
    "too fast": lambda rule, visit, tally: (
        tally.page_seconds is not None and has_worked(visit) and tally.page_seconds < rule.seconds_per_page
    ),
    "no data": lambda rule, visit, tally: visit is not None and not visit.freed and not tally.pages,
}


def write_message(rule: Rejection, tally: VisitTally) -> str:
    """Return what a person whose submission is rejected reads."""
    missed, asked = _count_failed(tally), len(tally.checks)
    said = {
        "failed checks": f"{missed} of the {asked} attention checks in this study were not answered as the "
        f"pages asked. Submissions with more than {rule.more_than} missed cannot be accepted.",
        "too fast": f"Half of the pages were answered within {tally.page_seconds or 0:.1f} seconds, which is "
        "too short to read the texts. Submissions made that fast cannot be accepted.",
        "no data": "The study was submitted, but no page of it was answered, so there is nothing "
        "that we could accept. If this is a mistake of ours, we are sorry.",
    }[rule.when]
    message = f"Thank you for your interest. {said} Please write to us if you think that this is wrong."
    assert len(message) >= SHORTEST_MESSAGE, "Prolific requires it"
    return message


def _count_failed(tally: VisitTally) -> int:
    return sum(not passed for passed in tally.checks.values())


def _say_ground(rule: Rejection, tally: VisitTally) -> str:
    return {
        "failed checks": f"missed {_count_failed(tally)} of {len(tally.checks)} checks",
        "too fast": f"median page {tally.page_seconds or 0:.1f} s, under {rule.seconds_per_page:g} s",
        "no data": "submitted without a page answered",
    }[rule.when]


def _advise(
    study: Study, one: Submission, visit: Visit | None, tally: VisitTally, codes: Mapping[str, str]
) -> tuple[str, str]:
    """Return what to do, leaving rejections aside, and why."""
    if one.status in prolific.GOING_ON:
        return (WAIT, "finished here, not submitted yet") if has_worked(visit) else (NOTHING, "")
    if one.status == prolific.TIMED_OUT and has_worked(visit):
        return LOOK, "finished here, timed out on Prolific: settle it there"
    if one.status != prolific.AWAITING:
        return NOTHING, ""
    if has_worked(visit):
        return APPROVE, "finished" if visit is not None and visit.valid else "finished; does not count"
    handed_in = codes.get(one.code, "")
    if visit is not None and visit.state == "screened_out":
        paid = study.file.recruiting is not None and study.file.recruiting.screen_out is not None
        return (SCREEN_OUT if paid else LOOK), visit.reason or "screened out"
    if visit is None:
        return LOOK, f"code for {handed_in.replace('_', ' ')}" if handed_in else (
            "nobody with that id came here"
        )
    return LOOK, f"stopped after {count(len(tally.pages), 'page')}"
