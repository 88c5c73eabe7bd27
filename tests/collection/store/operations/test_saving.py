"""Answers: one row each however often they are sent, a new row for each change."""

from typing import Any

import pytest

from panelist.collection.store.database.engine import Connection, Statement
from panelist.collection.store.errors import NoVisit, TooManyChanges
from panelist.collection.store.operations.ops import MoveVisit, NewEvent, SaveAnswers
from panelist.collection.store.operations.saving import MOST_REVISIONS, Answer, Move, PageDone
from panelist.collection.store.records import Saved, Visit
from panelist.collection.store.store import Store
from tests.collection.store.studies import answer


def save(
    store: Store,
    visit: Visit,
    *answers: Answer,
    page: int = 1,
    done: PageDone | None = None,
    move: Move | None = None,
) -> Saved:
    return store.do(SaveAnswers(visit.id, 1, page, answers, done, move))


def count(store: Store) -> int:
    return len(store.snapshot().answers)


def test_an_answer_is_there_with_everything_that_was_measured(store: Store) -> None:
    visit = store.join()
    saved = save(store, visit, answer("4"))
    (found,) = store.visit_answers(visit.id, 1, 1).values()
    assert (found.value, found.criterion, found.item, found.system) == ("4", "fluency", "i1", "a")
    assert (found.seconds, found.revision, found.late, found.given > 0) == (1.5, 0, False, True)
    assert [(one.name, one.revision, one.again) for one in saved.answers] == [("c1p1", 0, False)]


def test_the_same_key_twice_is_one_row_and_the_same_acknowledgement(store: Store) -> None:
    visit = store.join()
    first, second = save(store, visit, answer("4")), save(store, visit, answer("4"))
    assert count(store) == 1
    assert [(one.name, one.revision) for one in first.answers] == [
        (one.name, one.revision) for one in second.answers
    ]
    assert second.answers[0].again


def test_the_same_key_twice_in_one_message_is_one_row(store: Store) -> None:
    visit = store.join()
    saved = save(store, visit, answer("4"), answer("4"))
    assert count(store) == 1
    assert [one.again for one in saved.answers] == [False, True]


def test_another_value_is_a_new_revision_and_the_old_one_stays(store: Store) -> None:
    visit = store.join()
    save(store, visit, answer("4", "k1"))
    saved = save(store, visit, answer("2", "k2"))
    assert saved.answers[0].revision == 1
    assert store.visit_answers(visit.id, 1, 1)["c1p1"].value == "2"
    assert store.snapshot().answers["value"].tolist() == ["4", "2"]


def test_a_late_retry_of_the_first_answer_does_not_undo_the_second(store: Store) -> None:
    visit = store.join()
    save(store, visit, answer("4", "k1"))
    save(store, visit, answer("2", "k2"))
    saved = save(store, visit, answer("4", "k1"))
    assert (saved.answers[0].revision, saved.answers[0].again) == (0, True)
    assert store.visit_answers(visit.id, 1, 1)["c1p1"].value == "2"


def test_two_tabs_that_say_the_same_make_one_row(store: Store) -> None:
    visit = store.join()
    save(store, visit, answer("4", "tab-1"))
    saved = save(store, visit, answer("4", "tab-2"))
    assert (saved.answers[0].revision, saved.answers[0].again) == (0, True)
    assert count(store) == 1


def test_a_key_that_comes_with_another_value_loses_nothing(store: Store) -> None:
    visit = store.join()  # a form without script, sent, gone back to, changed and sent again
    save(store, visit, answer("4", "form"))
    save(store, visit, answer("5", "form"))
    again = save(store, visit, answer("5", "form"))
    assert again.answers[0].again
    assert store.snapshot().answers["value"].tolist() == ["4", "5"]
    assert store.visit_answers(visit.id, 1, 1)["c1p1"].value == "5"


def test_one_key_on_two_fields_and_pages_loses_nothing(store: Store) -> None:
    visit = store.join()
    save(store, visit, answer("4", "k"), answer("words", "k", "c2p1", "remarks"))
    save(store, visit, answer("3", "k"), page=2)
    assert count(store) == 3


def test_changing_there_and_back_is_three_rows(store: Store) -> None:
    visit = store.join()
    for key, value in (("k1", "4"), ("k2", "2"), ("k3", "4")):
        save(store, visit, answer(value, key))
    assert store.visit_answers(visit.id, 1, 1)["c1p1"].revision == 2


def test_a_page_done_twice_keeps_its_first_time(store: Store) -> None:
    visit = store.join()
    save(store, visit, answer(), done=PageDone(10.0, 20.0))
    save(store, visit, answer(), done=PageDone(11.0, 99.0))
    assert store.snapshot().pages_done["seconds"].tolist() == [20.0]
    assert store.done_pages(visit.id) == {(1, 1)}
    assert store.occasion_times(visit.id, 1)[0] == 20.0
    assert store.occasion_times(visit.id, 2) == (0.0, None)


def test_a_move_goes_through_only_from_where_the_page_was(store: Store) -> None:
    visit = store.join()
    assert store.do(MoveVisit(visit.id, Move("rating", 1, 1))).moved
    first = save(store, visit, answer(), move=Move("rating", 1, 2, seen_at=("rating", 1, 1)))
    other_tab = save(store, visit, answer(), move=Move("rating", 1, 2, seen_at=("rating", 1, 1)))
    behind = save(store, visit, move=Move("rating", 1, 9, seen_at=("rating", 1, 1)))
    assert (first.moved, other_tab.moved, behind.moved) == (True, False, False)
    assert behind.visit.page == 2
    found = store.find_visit(visit.token)
    assert found is not None
    assert (found.state, found.page) == ("rating", 2)


def test_events_go_with_the_move_in_one_commit(store: Store) -> None:
    visit = store.join()
    store.do(MoveVisit(visit.id, Move("background", 1, 1), (NewEvent("consent", {"boxes": [True, "ja"]}),)))
    (event,) = store.visit_events(visit.id)
    assert (event.kind, event.detail) == ("consent", {"boxes": [True, "ja"]})


@pytest.mark.parametrize("state", ["released", "excluded"])
def test_an_answer_after_the_end_is_kept_and_marked_late(store: Store, state: str) -> None:
    visit = store.join()
    save(store, visit, answer("4", "k1"))
    end = store.release if state == "released" else store.exclude
    end(visit.id, "returned")
    saved = save(store, visit, answer("5", "k2"), page=2, move=Move("rating", 1, 3))
    assert "c1p1" in store.visit_answers(visit.id, 1, 2)
    assert (saved.answers[0].late, saved.moved, saved.visit.state) == (True, False, state)
    assert store.snapshot().answers["late"].tolist() == [False, True]


def test_a_change_after_the_end_is_kept_but_does_not_count(store: Store) -> None:
    visit = store.join()
    save(store, visit, answer("4", "k1"), move=Move("finished", 1, 1, code="DONE"))
    save(store, visit, answer("1", "k2"))
    assert store.visit_answers(visit.id, 1, 1)["c1p1"].value == "4"
    assert store.snapshot().answers["value"].tolist() == ["4", "1"]


@pytest.mark.parametrize(
    "text", ["a\x00b", "\ud800", "'); DROP TABLE answers; --", "≥ 😀 ‏עברית", "x" * 50_000]
)
def test_any_text_is_taken_as_text(store: Store, text: str) -> None:
    visit = store.join(outside_id=text[:200], params={"p": text})
    save(store, visit, answer(text, "k", "c2p1", "remarks"))
    stored = store.visit_answers(visit.id, 1, 1)["c2p1"].value
    assert stored == text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    again = save(store, visit, answer(text, "k", "c2p1", "remarks"))
    assert again.answers[0].again
    assert store.join(outside_id=text[:200]).id == visit.id


def test_answers_for_nobody_are_refused_with_a_sentence(store: Store) -> None:
    with pytest.raises(NoVisit, match="no visit 4711"):
        store.do(SaveAnswers(4711, 1, 1, (answer(),)))


def test_saving_reads_the_same_few_rows_however_often_an_answer_was_changed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = store.join()
    read, plain = [], Connection.rows

    def count_rows(db: Connection, statement: Statement, values: Any = None) -> list[Any]:
        rows = plain(db, statement, values)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(Connection, "rows", count_rows)
    for number in range(MOST_REVISIONS):
        save(store, visit, answer(value=str(number % 2), key=f"k-{number}"))
    assert max(read) <= 2
    monkeypatch.undo()
    with pytest.raises(TooManyChanges, match="changed 300 times"):
        save(store, visit, answer(value="7", key="one-more"))
    (again,) = save(store, visit, answer(value="1", key="k-299")).answers
    assert (again.again, again.revision) == (True, MOST_REVISIONS - 1)
