"""Flags: what a person should look at. A flag alone never excludes anyone."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from panelist.collection.monitor.ledger import VisitTally
from panelist.collection.pages.reading_pace import Pace
from panelist.collection.store.records import Visit

LEAST_ANSWERS, SAME_SHARE = 10, 0.9
# A share of the usual time fits pages of any length; a rater who needs a third of it can hardly have read
# them.
FAST_SHARE, FAST_PAGES, FAST_RATERS = 1 / 3, 5, 5
QUIET_MINUTES = 10
LOW_AGREEMENT = 0.1


@dataclass(frozen=True)
class Flag:
    """One reason to look: its kind in a word, and what the tag says."""

    kind: str
    text: str


def find_flags(
    visit: Visit,
    tally: VisitTally,
    *,
    now: float,
    pace: Pace | None = None,
    usual_seconds: float | None = None,
    hourly: float | None = None,
    floor: Decimal | None = None,
    agrees: float | None = None,
    follows: str | None = None,
) -> tuple[Flag, ...]:
    """Return the flags of one rater.

    ``pace`` says how fast the rater went through the pages for their length; ``usual_seconds`` is the usual
    median time on a page; ``hourly`` and ``floor`` what was earned and the least that must be paid;
    ``agrees`` the correlation with the rest; ``follows`` a judge whose scores the answers follow.
    """
    found = [
        flag_checks(tally),
        flag_same(tally),
        flag_unread(pace) or flag_fast(tally, usual_seconds),
        flag_pay(hourly, floor),
        flag_quiet(visit, now),
        flag_agreement(agrees),
        Flag("judge", f"Follows {follows} beyond the other raters") if follows else None,
        Flag("practice", "Practice not passed") if tally.notes else None,
    ]
    return tuple(flag for flag in found if flag is not None)


def flag_checks(tally: VisitTally) -> Flag | None:
    """Return a flag for any failed check, even where the study allows some: a person may look."""
    failed = sum(not passed for passed in tally.checks.values())
    return Flag("checks", f"Checks missed: {failed} of {len(tally.checks)}") if failed else None


def flag_same(tally: VisitTally) -> Flag | None:
    """Return a flag for the same answer nearly always."""
    times, among = tally.same
    if among < LEAST_ANSWERS or times < SAME_SHARE * among:
        return None
    return Flag("same", f"Same answer {times} of {among}")


def flag_unread(pace: Pace | None) -> Flag | None:
    """Return a flag for pages done in less time than anybody needs to read them."""
    if pace is None or pace.ratio >= 1.0:
        return None
    return Flag("fast", f"Too fast to read: {pace.seconds:.1f} s a page of {pace.words} words")


def flag_fast(tally: VisitTally, usual: float | None) -> Flag | None:
    """Return a flag for pages done in less than a third of the usual time."""
    if usual is None or tally.page_seconds is None or len(tally.pages) < FAST_PAGES:
        return None
    if tally.page_seconds >= usual * FAST_SHARE:
        return None
    return Flag("fast", f"Too fast: {tally.page_seconds:.0f} s a page, usual {usual:.0f} s")


def flag_pay(hourly: float | None, floor: Decimal | None) -> Flag | None:
    """Return a flag for an hour paid below the floor."""
    low = hourly is not None and floor is not None and hourly < float(floor)
    return Flag("pay", "Pay under floor") if low else None


def flag_quiet(visit: Visit, now: float) -> Flag | None:
    """Return a flag for a rater who began and has not been seen for a while."""
    minutes = quiet_minutes(visit, now)
    return Flag("quiet", f"Quiet for {minutes} min") if minutes >= QUIET_MINUTES else None


def flag_agreement(agrees: float | None) -> Flag | None:
    """Return a flag for ratings that are unrelated to those of the others."""
    if agrees is None or agrees >= LOW_AGREEMENT:
        return None
    return Flag("agreement", f"Agrees little with the rest ({agrees:.2f})".replace("-", "−"))


def quiet_minutes(visit: Visit, now: float) -> int:
    """Return for how many minutes a running visit has been quiet; 0 where that is normal."""
    if visit.over or visit.seen is None or visit.state in ("invited", "waiting"):
        return 0
    return max(0, int((now - visit.seen) // 60))


def find_usual(tallies: Iterable[VisitTally]) -> float | None:
    """Return the usual median time on a page; None while too few have come far enough."""
    times = [
        tally.page_seconds
        for tally in tallies
        if tally.page_seconds is not None and len(tally.pages) >= FAST_PAGES
    ]
    return median(times) if len(times) >= FAST_RATERS else None
