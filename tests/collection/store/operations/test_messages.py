"""Messages to a rater: each goes to one page, however often and from wherever pages are made."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from panelist.collection.store.errors import NoVisit
from panelist.collection.store.operations import ops
from panelist.collection.store.operations.messages import SendMessage, ShowMessages
from panelist.collection.store.store import Store, open_store
from panelist.study.study import Study


def waits(store: Store, token: str) -> bool:
    visit, waiting = store.find_messaged(token)
    assert visit == store.find_visit(token)
    return waiting


def test_a_message_waits_until_it_is_shown_and_then_no_more(store: Store) -> None:
    visit, other = store.join(), store.join()
    store.do(ops.AddEvent(visit.id, "break"))
    assert not waits(store, visit.token)
    store.do(SendMessage(visit.id, "Ada", "one"))
    store.do(SendMessage(visit.id, "Ada", "two"))
    assert (waits(store, visit.token), waits(store, other.token)) == (True, False)
    assert store.do(ShowMessages(other.id)) == ()
    assert store.do(ShowMessages(visit.id)) == ("one", "two")
    store.do(ops.AddEvent(visit.id, "break"))
    assert not waits(store, visit.token)
    assert store.do(ShowMessages(visit.id)) == ()
    store.do(SendMessage(visit.id, "Ada", "three"))
    assert waits(store, visit.token)
    assert store.do(ShowMessages(visit.id)) == ("three",)
    shown = [event for event in store.visit_events(visit.id) if event.kind == "message shown"]
    assert [len(event.detail["messages"]) for event in shown] == [2, 1]
    assert "message shown" not in {event.kind for event in store.visit_events(other.id)}


def test_showing_is_repeated_where_its_acknowledgement_was_lost(store: Store) -> None:
    visit = store.join()
    store.do(SendMessage(visit.id, "Ada", "one"))
    op = ShowMessages(visit.id)
    assert store.do(op) == ("one",)
    store.do(SendMessage(visit.id, "Ada", "two"))
    assert store.do(op) == ("one",)
    assert waits(store, visit.token)
    assert store.do(ShowMessages(visit.id)) == ("two",)


def test_two_processes_never_show_the_same_message(store: Store, database_url: str, study: Study) -> None:
    visit = store.join()
    with open_store(database_url, study) as second, ThreadPoolExecutor(8) as pool:
        for number in range(20):
            store.do(SendMessage(visit.id, "Ada", str(number)))
            shown = pool.map(lambda one: one.do(ShowMessages(visit.id)), (store, second) * 4)
            assert [text for texts in shown for text in texts] == [str(number)]


def test_nobody_writes_to_who_is_gone_and_a_link_that_leads_nowhere_has_no_messages(store: Store) -> None:
    visit = store.join()
    store.release(visit.id, "gone")
    with pytest.raises(NoVisit, match="is over"):
        store.do(SendMessage(visit.id, "Ada", "Hello"))
    assert store.find_messaged("A" * 26) == (None, False)
