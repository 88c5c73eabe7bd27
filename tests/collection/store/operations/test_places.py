"""Places: who gets which, and what gives one back."""

import time
from pathlib import Path

import pytest

from panelist.collection.store.errors import NoPlace, NotOpen, NoVisit
from panelist.collection.store.operations.ops import Assign, MoveVisit, NewEvent, Reopen, SeeVisit
from panelist.collection.store.operations.saving import Move
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store, open_store
from panelist.design.make import plan_study
from tests.collection.store.studies import GROUPED, write_study


def end(store: Store, visit: Visit, state: str) -> Visit:
    return store.do(MoveVisit(visit.id, Move(state, 1, 1, reason="because"))).visit


def test_the_lowest_free_place_is_given(store: Store) -> None:
    assert [store.join().place for _ in range(3)] == ["r001", "r002", "r003"]


def test_a_full_plan_says_so(store: Store) -> None:
    for _ in range(6):
        store.join()
    with pytest.raises(NoPlace, match="All 6 places are held or filled"):
        store.join()


def test_the_same_person_comes_back_to_the_same_visit(store: Store) -> None:
    first = store.join(outside_id="PID 1", params={"SESSION": "s"})
    again = store.join(outside_id="PID 1", params={"SESSION": "other"})
    assert again == first
    assert store.find_outside("PID 1") == first
    assert first.params == {"SESSION": "s"}
    assert store.join(outside_id="PID 2").place == "r002"


@pytest.mark.parametrize("state", ["declined", "screened_out", "released", "excluded"])
def test_a_visit_that_ended_without_counting_frees_exactly_its_place(store: Store, state: str) -> None:
    visits = [store.join() for _ in range(4)]
    ended = {"released": store.release, "excluded": store.exclude}.get(state)
    gone = ended(visits[1].id, "because") if ended else end(store, visits[1], state)
    assert (gone.state, gone.valid, gone.left_at, gone.place) == (state, False, "consent", "r002")
    assert [store.join().place for _ in range(2)] == ["r002", "r005"]


def test_a_finished_visit_fills_its_place(store: Store) -> None:
    done = end(store, store.join(), "finished")
    assert (done.valid, done.over) == (True, True)
    assert store.join().place == "r002"
    overview = store.overview()
    assert (overview.filled, overview.held, overview.free) == (1, 1, 4)


def test_a_finished_visit_is_not_released_but_can_be_excluded(store: Store) -> None:
    done = end(store, store.join(), "finished")
    with pytest.raises(NoVisit, match="exclude"):
        store.release(done.id, "returned")
    gone = store.exclude(done.id, "answered at random", who="A. Researcher")
    assert (gone.state, gone.left_at, gone.reason) == ("excluded", "finished", "answered at random")
    assert store.join().place == "r001"
    (action,) = store.actions()
    assert (action.who, action.what, action.target, action.reason) == (
        "A. Researcher", "excluded", "r001", "answered at random",
    )  # fmt: skip


def test_releasing_twice_is_releasing_once(store: Store) -> None:
    visit = store.join()
    first = store.release(visit.id, "returned", who="A. Researcher")
    assert store.release(visit.id, "again", who="A. Researcher") == first
    assert len(store.actions()) == 1


def test_who_declines_leaves_nothing_behind(store: Store) -> None:
    visit = store.join(outside_id="PID 1", params={"PROLIFIC_PID": "PID 1"})
    store.do(MoveVisit(visit.id, Move("background", 1, 1), (NewEvent("opened", {"browser": "x"}),)))
    gone = end(store, visit, "declined")
    assert (gone.outside_id, gone.params, store.visit_events(visit.id)) == (None, {}, [])
    assert store.find_outside("PID 1") is None


def test_places_of_people_who_went_away_are_offered_again(store: Store) -> None:
    away, back, _invited = store.join(), store.join(), store.make_links(1)
    now = time.time()
    store.do(SeeVisit(back.id, time=now + 25 * 60))
    assert store.release_stale(now + 29 * 60) == ()
    (gone,) = store.release_stale(now + 31 * 60)
    assert (gone.id, gone.reason, gone.state) == (away.id, "timed out", "released")
    assert store.join().place == away.place


def test_who_timed_out_goes_on_while_the_place_is_free(store: Store) -> None:
    visit = store.join()
    store.do(MoveVisit(visit.id, Move("rating", 1, 3)))
    store.release_stale(time.time() + 1e6)
    back = store.do(Reopen(visit.id))
    assert (back.state, back.page, back.valid, back.ended) == ("rating", 3, True, None)
    assert store.join().place == "r002"


def test_who_timed_out_does_not_push_out_whoever_has_the_place_now(store: Store) -> None:
    visit = store.join()
    store.release_stale(time.time() + 1e6)
    assert store.join().place == visit.place
    assert store.do(Reopen(visit.id)).state == "released"


def test_links_are_made_for_each_free_place(store: Store) -> None:
    store.join()
    links = store.make_links(2, who="A. Researcher") + store.make_links()
    assert [db.place for db in links] == ["r002", "r003", "r004", "r005", "r006"]
    assert len({db.token for db in links}) == 5
    assert {db.state for db in links} == {"invited"}
    with pytest.raises(NoPlace, match="All 6 places"):
        store.make_links()


def test_more_links_than_places_are_refused_and_none_is_made(store: Store) -> None:
    with pytest.raises(NoPlace, match="Only 6 of the 6 places are free; 7 were asked for"):
        store.make_links(7)
    assert store.visits() == []


def test_a_token_has_128_bits_and_no_other_opens_a_visit(store: Store) -> None:
    visit = store.join()
    assert len(visit.token) * 5 >= 128
    assert store.find_visit(visit.token) == visit
    assert store.find_visit(visit.token[:-1]) is None
    assert store.find_visit("' OR '1'='1") is None


def test_nobody_comes_in_while_the_study_is_paused(store: Store) -> None:
    inside = store.join(outside_id="inside")
    store.set_state("paused", "A. Researcher", "a mistake in the instructions")
    with pytest.raises(NotOpen, match="paused"):
        store.join(outside_id="outside")
    assert store.join(outside_id="inside") == inside
    store.set_state("open", "A. Researcher")
    assert store.join(outside_id="outside").place == "r002"
    assert [action.what for action in store.actions()] == ["study open", "study paused"]


def test_groups_have_their_own_places(database_url: str, tmp_path: Path) -> None:
    study = write_study(tmp_path / "grouped", GROUPED)
    with open_store(database_url, study, plan_study(study)) as store:
        groups = store.places().groups
        native, learner = store.join("native"), store.join("learner")
        assert [groups[visit.place or ""] for visit in (native, learner)] == ["native", "learner"]
        waiting = store.join()  # the background questions will say
        assert waiting.place is None
        assigned = store.do(Assign(waiting.id, "native"))
        assert groups[assigned.place or ""] == assigned.group == "native"
        assert store.do(Assign(waiting.id, "learner")) == assigned
        with pytest.raises(NoPlace, match="All 2 places of group 'native'"):
            store.join("native")
        with pytest.raises(NoPlace, match="Did you mean 'learner'"):
            store.join("learners")
