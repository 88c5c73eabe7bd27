"""What follows from failed checks and failed practice, exactly as the study file says.

``flag`` leaves a note for a person. ``warn`` shows the rater a word of warning and goes on. ``screen out``
ends the visit at once, with the code for that. ``exclude`` lets the rater finish and be thanked like
everybody else; the visit then does not count, and its place is offered again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from panelist.study.briefing import Practice
from panelist.study.checks import Checks


@dataclass(frozen=True)
class Consequence:
    """What follows, and why: ``none``, ``flag``, ``warn``, ``screen out``, ``exclude`` or ``again``."""

    kind: str = "none"
    reason: str = ""


def judge_checks(checks: Checks | None, before: Mapping[str, bool], now: Mapping[str, bool]) -> Consequence:
    """Return what follows from the checks graded now; ``before`` has those graded earlier.

    Nothing follows from a check that was passed, nor while no more have failed than the study allows.
    """
    if checks is None or all(now.values()):
        return Consequence()
    results = {**before, **now}
    failed = sorted(name for name, passed in results.items() if not passed)
    if len(failed) <= checks.allowed:
        return Consequence()
    reason = f"failed {len(failed)} of {len(results)} checks ({', '.join(failed)}), {checks.allowed} allowed"
    return Consequence(checks.then, reason)


def judge_practice(practice: Practice, right: int, attempt: int) -> Consequence:
    """Return what follows from an attempt at the practice: ``again`` while there are attempts left."""
    if right >= practice.pass_mark:
        return Consequence()
    total = len(practice.items)
    reason = f"{right} of {total} practice items right, {practice.pass_mark} needed, attempt {attempt}"
    return Consequence("again" if attempt < practice.attempts else practice.failed, reason)
