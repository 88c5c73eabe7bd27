"""Where checks come among the trials of a rater: spread evenly, slightly at random, and never first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PLAY = 0.8  # how far a check may move, as a share of the distance between two
FAR_ENOUGH = 5  # pages between an output and its degraded copy


@dataclass(frozen=True)
class PlannedCheck:
    """A check that every rater gets once."""

    name: str
    """``instructed-1``, ``repeat-1``, ``degraded-1``."""
    special: int = -1
    """The number of the page of an instructed check; -1 for a copy of a trial."""
    distance: int | None = None
    """For a repeat: how many pages must come between."""
    asks: Mapping[int, int] = field(default_factory=dict)
    """For an instructed check: its set of questions among trial pages that ask a set."""


@dataclass(frozen=True)
class PlacedCheck:
    """After which trial page a check comes (from 1), and of which trial page it is a copy, if of any."""

    after: int
    of: int | None


def spread_checks(
    checks: Sequence[PlannedCheck], n_trials: int, numbers: Sequence[Sequence[float]]
) -> list[PlacedCheck]:
    """Return the place of each check; ``numbers`` are three rows of uniform numbers, a number for each check.

    A repeat comes late enough to have its distance, where the list is long enough, else as far from its
    first showing as possible. A degraded copy comes before or after its original, with some pages between; on
    a page of several outputs the one in position 1 is the one to degrade.
    """
    n = len(checks)
    room = n_trials / (n + 1)
    slots = [
        min(n_trials, max(1, round(room * (slot + 1 + PLAY * (numbers[0][slot] - 0.5))))) for slot in range(n)
    ]
    waiting = sorted(range(n), key=lambda check: numbers[1][check])
    # A repeat that would come too early changes places with the first later check that is not a repeat.
    for slot, check in enumerate(waiting):
        distance = checks[check].distance
        if distance is not None and slots[slot] <= distance:
            later = [
                other
                for other in range(slot + 1, n)
                if checks[waiting[other]].distance is None and slots[other] > distance
            ]
            if later:
                waiting[slot], waiting[later[0]] = waiting[later[0]], check
    placed: dict[int, PlacedCheck] = {}
    taken: set[int] = set()
    for slot, check in enumerate(waiting):
        of = _choose_trial(checks[check], slots[slot], n_trials, taken, numbers[2][check])
        if of is not None:
            taken.add(of)
        placed[check] = PlacedCheck(slots[slot], of)
    return [placed[check] for check in range(n)]


def _choose_trial(
    check: PlannedCheck, after: int, n_trials: int, taken: set[int], number: float
) -> int | None:
    """Return the trial page that a check copies, None for an instructed one."""
    if check.special >= 0:
        return None
    if check.distance is not None:
        ways = range(1, max(1, after - check.distance) + 1)
    else:
        far = [
            trial for trial in range(1, n_trials + 1) if not -FAR_ENOUGH < after - trial + 0.5 < FAR_ENOUGH
        ]
        furthest = 1 if after > n_trials - after else n_trials
        return _pick([trial for trial in far if trial not in taken] or far or [furthest], number)
    return _pick([trial for trial in ways if trial not in taken] or list(ways), number)


def _pick(ways: Sequence[int], number: float) -> int:
    return ways[int(number * len(ways))]
