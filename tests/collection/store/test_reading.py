"""Reading while collecting continues: one moment at a time, the plan in force, and what is refused."""

import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from panelist.collection.store.errors import BadStore, StoreUnavailable
from panelist.collection.store.operations.ops import SaveAnswers
from panelist.collection.store.operations.plans import find_moved
from panelist.collection.store.operations.saving import PageDone
from panelist.collection.store.store import Store, open_store
from panelist.design.grow import grow_plan
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.study.study import Study
from tests.collection.store.studies import RATED, answer, write_study


def test_a_snapshot_is_of_one_moment(store: Store) -> None:
    """Each page brings two answers and is done in the same commit: no snapshot may see a part of that."""
    visit = store.join()
    stop = threading.Event()

    def rate() -> None:
        page = 0
        while not stop.is_set():
            page += 1
            both = (answer("4", "a"), answer("x", "b", "c2p1", "remarks"))
            store.do(SaveAnswers(visit.id, 1, page, both, PageDone(1.0, 2.0)))

    thread = threading.Thread(target=rate)
    thread.start()
    try:
        sizes = []
        for _ in range(20):
            snapshot = store.snapshot()
            sizes.append(len(snapshot.pages_done))
            assert len(snapshot.answers) == 2 * len(snapshot.pages_done)
            overview = store.overview()
            assert overview.answers == 2 * overview.visits[0].pages
    finally:
        stop.set()
        thread.join()
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def test_the_overview_counts_places_states_and_time(store: Store) -> None:
    visits = [store.join() for _ in range(3)]
    store.exclude(visits[2].id, "because")
    store.do(SaveAnswers(visits[0].id, 1, 1, (answer(),), PageDone(1.0, 7.5)))
    overview = store.overview()
    assert (overview.places, overview.held, overview.filled, overview.free) == (6, 2, 0, 4)
    assert overview.states == {"consent": 2, "excluded": 1}
    assert [(one.pages, one.seconds) for one in overview.visits] == [(1, 7.5), (0, 0.0), (0, 0.0)]
    assert (overview.answers, overview.state) == (1, "open")


def test_answers_can_be_followed(store: Store) -> None:
    visit = store.join()
    store.do(SaveAnswers(visit.id, 1, 1, (answer("1", "a"),)))
    (first,) = store.answers_after()
    store.do(SaveAnswers(visit.id, 1, 1, (answer("2", "b"),)))
    assert [(one.value, one.revision) for one in store.answers_after(first.id)] == [("2", 1)]
    assert store.all_answers(visit.id)[1, 1]["c1p1"].value == "2"


def test_an_empty_store_reads_as_empty(store: Store) -> None:
    snapshot = store.snapshot()
    assert [len(getattr(snapshot, name)) for name in ("visits", "answers", "events", "actions")] == [0] * 4
    assert snapshot.answers["late"].dtype == bool
    assert snapshot.answers["seconds"].dtype == float


def test_the_plan_comes_back_as_it_went_in(store: Store, plan: Plan) -> None:
    assert store.plan().hash == plan.hash
    assert store.places().groups == dict.fromkeys(plan.raters, "")


def test_more_places_are_noticed_by_every_process(
    database_url: str, study: Study, store: Store, plan: Plan
) -> None:
    with open_store(database_url, study) as other:
        for _ in range(6):
            other.join()
        larger = grow_plan(plan, study, 8)
        assert store.change_plan(larger, "two more", who="A. Researcher") == 2
        assert store.change_plan(larger, "again") == 2
        assert other.join().place == "r007"
        assert other.plan().hash == larger.hash
        assert store.actions()[0].what == "changed the plan"


def test_a_new_plan_is_in_force_at_once_and_as_others_read_it(
    database_url: str, study: Study, store: Store, plan: Plan
) -> None:
    assert store.plan().hash == plan.hash
    number = store.change_plan(grow_plan(store.plan(), study, 8), "two more")
    own = store.version()  # nothing is read again for it
    with open_store(database_url, study) as other:
        read = other.version()
    assert own.number == read.number == number
    assert own.plan.table.equals(read.plan.table)
    assert own.plan.to_dict() == read.plan.to_dict()
    assert own.places == read.places


def test_a_plan_that_moves_people_is_refused(database_url: str, study: Study, store: Store) -> None:
    store.join()
    with pytest.raises(BadStore, match="have other pages"):
        store.change_plan(plan_study(study, seed=99), "another seed")
    with pytest.raises(BadStore, match="r005, r006"):
        open_store(database_url, study, plan_study(study, raters=4))


def test_before_anybody_came_another_plan_takes_its_place(
    database_url: str, study: Study, store: Store
) -> None:
    other = plan_study(study, seed=99)
    with open_store(database_url, study, other) as again:
        assert again.plan().hash == other.hash


def test_a_changed_study_file_is_on_record(database_url: str, store: Store, tmp_path: Path) -> None:
    changed = write_study(tmp_path / "changed", RATED.replace("How fluent is it?", "How fluent is the text?"))
    before = store.study
    with open_store(database_url, changed) as again:
        (action,) = again.actions()
        assert action.what == "study file changed"
        assert (action.detail["before"], action.detail["after"]) == (before.hash, changed.hash)
        question = "criteria.fluency.question: 'How fluent is it?' before, 'How fluent is the text?' now"
        assert action.detail["changed"] == [f"criteria: {question}"]
        first, second = again.study_versions()
        assert (first.hash, first.changed, second.hash) == (before.hash, (), changed.hash)
        assert second.changed == (f"criteria: {question}",)
        assert (again.study.salt, again.study.secret) == (before.salt, before.secret)


def test_a_salt_is_drawn_unless_it_is_given_at_the_beginning(
    study: Study, plan: Plan, tmp_path: Path
) -> None:
    with open_store(tmp_path / "given.db", study, plan, salt="0a") as store:
        assert store.study.salt == "0a"
    with open_store(tmp_path / "given.db", study, salt="0b") as again:
        assert again.study.salt == "0a"
    with open_store(tmp_path / "drawn.db", study, plan) as drawn:
        assert len(drawn.study.salt) == 32


def test_a_new_file_is_readable_by_its_owner_alone(study: Study, plan: Plan) -> None:
    with open_store(None, study, plan) as store:
        assert store.database.file == study.folder / "study.db"
        store.join()
        for path in study.folder.glob("study.db*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("mysql://user:secret@host/x", "not a database for a study"),
        ("sqlite://", "not a database for a study"),
        ("postgresql://user:secret@127.0.0.1:1/x?password=secret&sslpassword=secret", "cannot be reached"),
        ("nowhere/study.db", "there is no folder nowhere"),
    ],
)
def test_an_address_that_cannot_be_is_refused_without_its_password(
    study: Study, plan: Plan, place: str, message: str
) -> None:
    with pytest.raises((BadStore, StoreUnavailable), match=message) as caught:
        open_store(place, study, plan)
    assert "secret" not in str(caught.value)


def test_nothing_collected_yet_is_said_and_nothing_is_made(study: Study) -> None:
    with pytest.raises(BadStore, match="nothing was collected yet"):
        open_store(None, study, create=False)
    assert not (study.folder / "study.db").exists()


def test_a_file_that_is_no_database_is_refused(study: Study) -> None:
    with pytest.raises(BadStore, match="not a database"):
        open_store(study.folder / "outputs.csv", study)


def test_a_server_that_is_not_there_is_said_without_its_password(
    study: Study, plan: Plan, tmp_path: Path
) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached") as caught:
        open_store(f"postgresql://user:secret@/name?host={tmp_path}", study, plan)
    assert "secret" not in str(caught.value)


def test_a_damaged_file_is_refused(study: Study, plan: Plan) -> None:
    with open_store(None, study, plan) as store:
        file = store.database.file
        assert file is not None
    file.write_bytes(file.read_bytes()[:100] + b"\xff" * 8000)
    with pytest.raises(BadStore, match="Restore a backup"):
        open_store(None, study)


def test_an_empty_database_is_not_filled_by_looking(database_url: str, study: Study) -> None:
    if database_url.startswith("sqlite"):
        Path(database_url.removeprefix("sqlite:///")).touch()
    with pytest.raises(BadStore, match="holds no study"):
        open_store(database_url, study, create=False)


def test_threads_that_write_first_share_one_writer(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len({id(writer) for writer in pool.map(lambda _: store.writer, range(64))}) == 1


def test_moved_places_are_found_and_no_others(study: Study, plan: Plan) -> None:
    grown = grow_plan(plan, study, len(plan.places) + 2)
    assert find_moved(plan, grown) == []
    assert find_moved(grown, plan) == list(grown.places[-2:]), "those are missing"
    table = plan.table.copy()
    third, fifth = (np.flatnonzero((table["rater"] == plan.places[place]).to_numpy())[1] for place in (2, 4))
    items = table["item"].cat.categories
    other = next(item for item in items if item != table["item"].iloc[third])
    table.loc[table.index[third], "item"] = other
    table.loc[table.index[fifth], "position"] = 2
    assert find_moved(plan, replace(plan, table=table)) == [plan.places[2], plan.places[4]]
    renamed = plan.table.assign(item=plan.table["item"].cat.rename_categories({items[0]: "another name"}))
    assert find_moved(plan, replace(plan, table=renamed)) == list(plan.places), (
        "everybody sees each item here"
    )
    shorter = plan.table[
        (plan.table["rater"].cat.codes > 0).to_numpy() | (plan.table["order"] > 1).to_numpy()
    ]
    assert find_moved(plan, replace(plan, table=shorter)) == [plan.places[0]]
