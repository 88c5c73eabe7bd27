"""Taking a place by agreeing: one visit for a form however often it is sent, and no place twice."""

import secrets
from concurrent.futures import ThreadPoolExecutor

from panelist.collection.store.errors import NoPlace
from panelist.collection.store.operations.joining import PASSED_ON, Decline, TakePlace, has_place, is_held
from panelist.collection.store.operations.logouts import LOGGED_OUT, Logouts
from panelist.collection.store.operations.ops import AddAction, NewEvent, new_token
from panelist.collection.store.store import Store, open_store
from panelist.design.plan import Plan
from panelist.study.study import Study

AGREED = (NewEvent("consent", {"agreed": ["I agree."]}),)


def test_a_form_sent_many_times_takes_one_place_and_agrees_once(store: Store) -> None:
    token = new_token()
    with ThreadPoolExecutor(8) as threads:
        sent = [threads.submit(store.do, TakePlace(token=token, events=AGREED)) for _ in range(24)]
        assert {one.result().id for one in sent} == {1}
    assert [event.kind for event in store.visit_events(1)] == ["consent"]
    assert store.overview().free == 5


def test_no_place_is_given_twice_by_two_processes(
    store: Store, study: Study, plan: Plan, database_url: str
) -> None:
    def take(door: Store) -> str | None:
        try:
            return door.do(TakePlace(token=new_token(), outside_id=secrets.token_hex(8), events=AGREED)).place
        except NoPlace:
            return None

    with open_store(database_url, study, plan) as other, ThreadPoolExecutor(8) as threads:
        places = list(threads.map(take, [store, other] * 10))
    taken = [place for place in places if place is not None]
    assert sorted(taken) == [f"r00{n}" for n in range(1, 7)]
    assert not store.database.read(lambda db: has_place(db, store.places(), None))


def test_who_declines_leaves_a_count_and_no_place(store: Store) -> None:
    op = Decline(new_token(), "NOTHANKS")
    visits = [store.do(op), store.do(op)]
    assert visits[0].id == visits[1].id
    (visit,) = store.visits()
    assert (visit.state, visit.place, visit.outside_id, visit.code, visit.valid) == (
        "declined", None, None, "NOTHANKS", False,
    )  # fmt: skip
    assert store.overview().free == 6


def test_an_id_is_passed_on_from_a_visit_that_was_released_and_from_no_other(store: Store) -> None:
    first = store.do(TakePlace(token=new_token(), outside_id="1234"))
    same = store.do(TakePlace(token=new_token(), outside_id="1234", pass_on=True))
    assert same.id == first.id
    store.release(first.id, "somebody else had it", "Ada")
    second = store.do(TakePlace(token=new_token(), outside_id="1234", pass_on=True))
    assert second.id != first.id
    assert [visit.outside_id for visit in store.visits()] == [None, "1234"]
    assert PASSED_ON in [event.kind for event in store.visit_events(first.id)]
    assert store.database.read(lambda db: is_held(db, second.place))


def test_every_process_hears_of_a_login_that_was_ended(store: Store) -> None:
    one, other = Logouts(), Logouts()
    assert store.database.read(one.look) == frozenset()
    for n in range(3):
        store.do(AddAction("Ada", LOGGED_OUT, "", "", {"login": f"mark {n}"}))
        store.do(AddAction("Ada", "message"))
    assert store.database.read(one.look) == store.database.read(other.look) == {"mark 0", "mark 1", "mark 2"}
