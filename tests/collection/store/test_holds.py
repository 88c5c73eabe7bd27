"""Places are held by a clock that cannot be set: jumps of the time of day release nobody."""

from panelist.collection.store.holds import GRACE_SECONDS, Holds

HOLD = 7200.0
NOON = 1_800_000_000.0


class Clock:
    """A clock that goes on only when told to."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def make_holds() -> tuple[Holds, Clock]:
    clock = Clock()
    return Holds(HOLD, clock), clock


def test_a_jump_of_the_time_of_day_releases_nobody() -> None:
    for jump in (3 * 86_400.0, 3 * 3600.0, -3 * 3600.0, -3 * 86_400.0):
        holds, clock = make_holds()
        seen = NOON
        assert holds.find_stale([(1, seen), (2, seen)], NOON) == ()
        for minute in range(1, 119):  # 2 is seen each minute, by the clock that was set; 1 only before
            clock.now += 60.0
            today = NOON + jump + 60.0 * minute
            assert holds.find_stale([(1, seen), (2, today)], today) == ()
        clock.now += 180.0
        assert holds.find_stale([(1, seen), (2, today)], today) == ((1, seen),), "the hold itself is kept"


def test_who_is_seen_again_is_held_from_then_on() -> None:
    holds, clock = make_holds()
    assert holds.find_stale([(1, NOON)], NOON) == ()
    clock.now += HOLD - 1
    assert holds.find_stale([(1, NOON + 5.0)], NOON + HOLD) == ()
    clock.now += HOLD - 1
    assert holds.find_stale([(1, NOON + 5.0)], NOON + 2 * HOLD) == ()
    clock.now += 2
    assert holds.find_stale([(1, NOON + 5.0)], NOON + 2 * HOLD) == ((1, NOON + 5.0),)


def test_after_a_restart_nobody_is_released_before_there_was_time_to_come_back() -> None:
    for away in (HOLD + 1.0, 30 * 86_400.0):  # the server was down, or the clock is wrong
        holds, clock = make_holds()
        assert holds.find_stale([(1, NOON)], NOON + away) == ()
        clock.now += GRACE_SECONDS - 1
        assert holds.find_stale([(1, NOON)], NOON + away) == ()
        clock.now += 2
        assert holds.find_stale([(1, NOON)], NOON + away) == ((1, NOON),)


def test_what_was_waited_before_a_restart_counts() -> None:
    holds, clock = make_holds()
    assert holds.find_stale([(1, NOON)], NOON + HOLD / 2) == ()
    clock.now += HOLD / 2 - 1
    assert holds.find_stale([(1, NOON)], NOON) == ()
    clock.now += 2
    assert holds.find_stale([(1, NOON)], NOON) == ((1, NOON),)


def test_a_hold_shorter_than_the_grace_is_kept_whole() -> None:
    clock = Clock()
    holds = Holds(60.0, clock)
    assert holds.find_stale([(1, NOON)], NOON + 1e6) == ()
    clock.now += 61
    assert holds.find_stale([(1, NOON)], NOON + 1e6) == ((1, NOON),)
