"""Flags: each at its line, and none where there is nothing to say."""

from dataclasses import replace
from decimal import Decimal

import pytest

from panelist.collection.monitor.flags import find_flags, find_usual, quiet_minutes
from panelist.collection.monitor.ledger import Folder, VisitTally, count_folder
from panelist.collection.monitor.real_pay import find_bonus, find_hourly, measure_time
from panelist.collection.pages.reading_pace import measure_pace
from panelist.collection.store.operations.places import new_visit
from panelist.collection.store.records import StoredEvent, Visit

NOW = 1_000_000.0
PAGES = frozenset((1, page) for page in range(1, 13))


def visit(seen: float = NOW) -> Visit:
    return replace(new_visit("T", "r001", "", "rating", NOW), opened=NOW, seen=seen)


def kinds(tally: VisitTally, seen: Visit | None = None, **more: object) -> list[str]:
    return [flag.kind for flag in find_flags(seen or visit(), tally, now=NOW, **more)]  # type: ignore[arg-type]


def test_who_does_as_others_do_has_no_flag() -> None:
    tally = VisitTally(PAGES, 12, 600.0, 20.0, {(1, "repeat-1"): True}, (6, 12))
    assert kinds(tally, usual_seconds=25.0, hourly=13.0, floor=Decimal("12.60"), agrees=0.4) == []


@pytest.mark.parametrize(
    ("about", "expected"), [("practice", ["practice"]), ("comprehension", ["practice"]), (None, [])]
)
def test_practice_is_flagged_by_what_an_event_is_about_whatever_its_words(
    about: str | None, expected: list[str]
) -> None:
    detail = {"reason": "no practice makes perfect"} | ({"about": about} if about else {})
    folder = Folder(visit(), events={1: StoredEvent(1, 1, NOW, "flag", detail)})
    assert kinds(count_folder(folder, frozenset())) == expected


def test_every_failed_check_is_flagged() -> None:
    tally = VisitTally(checks={(1, "a"): False, (1, "b"): True, (2, "a"): True})
    assert [flag.text for flag in find_flags(visit(), tally, now=NOW)] == ["Checks missed: 1 of 3"]
    assert kinds(VisitTally(checks={(1, "a"): True})) == []


def test_who_cannot_have_read_is_flagged_without_anybody_to_compare_with() -> None:
    hasty = measure_pace([(0.9, 62), (0.8, 60), (1.1, 70)])
    (flag,) = find_flags(visit(), VisitTally(), now=NOW, pace=hasty)
    assert (flag.kind, flag.text) == ("fast", "Too fast to read: 0.9 s a page of 62 words")
    assert kinds(VisitTally(), pace=measure_pace([(0.9, 62), (0.8, 60)])) == [], "two pages say little"
    quick = [(62 * 60 / 400, 62)] * 9  # 400 words a minute: few can, but some do
    assert kinds(VisitTally(), pace=measure_pace(quick)) == []
    assert kinds(VisitTally(), pace=measure_pace([(1.9, 1)] * 5)) == ["fast"]
    assert kinds(VisitTally(), pace=measure_pace([(2.1, 1)] * 5)) == []
    assert kinds(VisitTally(), pace=measure_pace([(1.0, 60)] * 4 + [(30.0, 60)] * 5)) == [], "most were read"


@pytest.mark.parametrize(("same", "flagged"), [((22, 24), True), ((21, 24), False), ((9, 9), False)])
def test_the_same_answer_nearly_always_is_flagged_once_there_are_enough(
    same: tuple[int, int], flagged: bool
) -> None:
    found = find_flags(visit(), VisitTally(same=same), now=NOW)
    assert [flag.text for flag in found] == ([f"Same answer {same[0]} of {same[1]}"] if flagged else [])


def test_a_third_of_the_usual_time_is_too_fast() -> None:
    assert kinds(VisitTally(PAGES, page_seconds=6.6), usual_seconds=20.0) == ["fast"]
    assert kinds(VisitTally(PAGES, page_seconds=6.7), usual_seconds=20.0) == []
    assert kinds(VisitTally(frozenset({(1, 1)}), page_seconds=1.0), usual_seconds=20.0) == []


def test_the_usual_time_needs_five_raters() -> None:
    tallies = [VisitTally(PAGES, page_seconds=float(seconds)) for seconds in (5, 10, 20, 30, 40)]
    assert find_usual(tallies) == 20
    assert find_usual(tallies[:4]) is None


def test_an_hour_below_the_floor_is_flagged() -> None:
    assert kinds(VisitTally(), hourly=12.59, floor=Decimal("12.60")) == ["pay"]
    assert kinds(VisitTally(), hourly=12.60, floor=Decimal("12.60")) == []
    assert kinds(VisitTally(), hourly=None, floor=Decimal("12.60")) == []


def test_who_has_not_been_seen_is_quiet_unless_there_is_nothing_to_do() -> None:
    away = visit(seen=NOW - 41 * 60 - 5)
    assert [flag.text for flag in find_flags(away, VisitTally(), now=NOW)] == ["Quiet for 41 min"]
    for state in ("waiting", "invited", "finished", "released"):
        assert quiet_minutes(replace(away, state=state), NOW) == 0


def test_ratings_that_go_against_the_rest_are_flagged_with_a_true_minus() -> None:
    (flag,) = find_flags(visit(), VisitTally(), now=NOW, agrees=-0.21)
    assert flag.text == "Agrees little with the rest (−0.21)"


def test_time_at_work_leaves_long_pauses_out() -> None:
    assert measure_time([100.0, 0.0, 1000.0, 5000.0, 5100.0]) == 1100.0
    assert measure_time([]) == 0.0


def test_a_bonus_brings_the_pay_of_the_time_taken_to_the_floor() -> None:
    paid, seconds, floor = Decimal("3.40"), 1200.0, Decimal("12.60")
    bonus = find_bonus(paid, seconds, floor)
    assert bonus == Decimal("0.80")
    hourly = find_hourly(paid + bonus, seconds)
    assert hourly == pytest.approx(12.60)
    assert find_bonus(Decimal("4.20"), seconds, floor) == 0


def test_who_follows_a_judge_is_flagged_and_told_which() -> None:
    (flag,) = find_flags(visit(), VisitTally(), now=NOW, follows="a model")
    assert (flag.kind, flag.text) == ("judge", "Follows a model beyond the other raters")
