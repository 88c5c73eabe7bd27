"""Many at once: no place is given twice, none is left out, and no answer is lost or doubled."""

import multiprocessing
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from panelist.collection.store.errors import NoPlace
from panelist.collection.store.operations.ops import SaveAnswers
from panelist.collection.store.store import Store, open_store
from panelist.design.make import plan_study
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.collection.store.studies import answer

PEOPLE = 60


def try_to_join(store: Store, outside_id: str | None = None) -> str | None:
    try:
        return store.join(outside_id=outside_id).place
    except NoPlace:
        return None


def join_in_process(url: str, folder: Path, people: range) -> list[str | None]:
    """What one of several processes does: it opens the database itself, and lets people in."""
    with open_store(url, load_study(folder)) as store, ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda number: try_to_join(store, f"person {number % 40}"), people))


def test_threads_fill_every_place_once(database_url: str, study: Study) -> None:
    with (
        open_store(database_url, study, plan_study(study, raters=40)) as store,
        ThreadPoolExecutor(8) as pool,
    ):
        got = list(pool.map(lambda _: try_to_join(store), range(PEOPLE)))
        places = [place for place in got if place is not None]
        assert sorted(places) == list(store.plan().raters)
        assert got.count(None) == PEOPLE - 40


def test_processes_fill_every_place_once(database_url: str, study: Study) -> None:
    open_store(database_url, study, plan_study(study, raters=40)).close()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        parts = [range(30), range(30, PEOPLE)]
        got = pool.starmap(join_in_process, [(database_url, study.folder, part) for part in parts])
    # The people 0 to 19 come twice, once to each process, and have one place each.
    given = Counter(place for part in got for place in part)
    assert len(given) == 40
    assert None not in given
    assert sorted(given.values()) == [1] * 20 + [2] * 20


def test_one_key_from_many_threads_is_one_row(store: Store) -> None:
    visit = store.join()
    barrier = threading.Barrier(8)

    def send(_: int) -> int:
        barrier.wait()
        return store.do(SaveAnswers(visit.id, 1, 1, (answer("4", "k"),))).answers[0].revision

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(send, range(8))) == [0] * 8
    assert len(store.snapshot().answers) == 1


def test_two_stores_that_change_one_answer_make_two_revisions(
    database_url: str, study: Study, store: Store
) -> None:
    visit = store.join()
    with open_store(database_url, study) as other, ThreadPoolExecutor(2) as pool:

        def change(number: int) -> int:
            writer = (store, other)[number % 2]
            one = answer(str(number), f"k{number}")
            return writer.do(SaveAnswers(visit.id, 1, 1, (one,))).answers[0].revision

        assert sorted(pool.map(change, range(40))) == list(range(40))
    assert store.snapshot().answers["revision"].tolist() == list(range(40))
