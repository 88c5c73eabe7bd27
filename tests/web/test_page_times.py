"""How long a page took is measured by the server: what a browser says can only make it shorter."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from panelist.collection.store.operations.ops import SaveAnswers
from panelist.collection.store.operations.saving import PageDone
from panelist.web.state import ShownPages
from tests.web.servers import Served, make_study, serve_in_thread
from tests.web.walking import Walker, find, to_first_trial


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study whose pages close after a minute."""
    folder = make_study(tmp_path_factory.mktemp("timed") / "likert")
    path = folder / "study.yaml"
    text = path.read_text(encoding="utf-8")
    assert "\ncollecting:" not in text
    path.write_text(text + "\ncollecting:\n  page_seconds: 60\n", encoding="utf-8")
    with serve_in_thread(folder) as served:
        yield served


@pytest.fixture
def walker(timed: Served) -> Iterator[Walker]:
    with timed.client() as client:
        yield Walker(client, timed.study).join()


@pytest.mark.parametrize("looked", [True, False])
def test_a_page_is_not_skipped_by_saying_that_its_time_is_up(
    timed: Served, walker: Walker, looked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = to_first_trial(walker)
    if not looked:  # as a script does that never asks for the page, or after a restart of the server
        monkeypatch.setattr(timed.app.state.site, "shown", ShownPages())
    for _ in range(3):
        assert walker.send({"page": page, "timed_out": "1", "seconds": "61"}).status_code == 422
    visit = find(timed, walker)
    assert (visit.occasion, visit.page) == tuple(map(int, page.split("-")))


def test_a_page_whose_time_is_really_up_goes_on(
    timed: Served, walker: Walker, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = to_first_trial(walker)
    seconds = [0.0]
    monkeypatch.setattr(timed.app.state.site, "shown", ShownPages(clock=lambda: seconds[0]))
    walker.look()
    seconds[0] = 60.0
    assert walker.send({"page": page, "timed_out": "1"}).status_code == 303


def test_the_time_on_a_page_is_never_longer_than_the_server_has_seen(timed: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    sheet = walker.look()
    form = walker.fill(sheet)
    for name in sheet.names:
        assert walker.answer(
            page, name, form[name], f"key-{name}-1", seconds=42.5, seconds_first=40.0
        ).is_success
    assert walker.send({**form, "seconds": "42.5"}).status_code == 303
    visit = find(timed, walker)
    occasion, order = map(int, page.split("-"))
    done = timed.store.snapshot().pages_done
    (row,) = done[(done["visit"] == visit.id) & (done["page"] == order)].to_dict("records")
    assert 0 < row["seconds"] <= row["done"] - row["shown"] + 0.001
    assert row["seconds"] < 42.5
    for stored in timed.store.visit_answers(visit.id, occasion, order).values():
        assert max(stored.seconds or 0.0, stored.seconds_first or 0.0) < 42.5


def test_a_simulated_rater_says_how_long_it_would_have_taken(timed: Served) -> None:
    with timed.client() as client:
        walker = Walker(client, timed.study).join("?simulated=yes&id=robot")
        page = to_first_trial(walker)
        assert walker.send({**walker.fill(walker.look()), "seconds": "42.5"}).status_code == 303
        visit = find(timed, walker)
    assert visit.simulated
    done = timed.store.snapshot().pages_done
    order = int(page.split("-")[1])
    assert done[(done["visit"] == visit.id) & (done["page"] == order)]["seconds"].tolist() == [42.5]


def test_where_a_visit_has_moved_is_known_with_its_time(timed: Served, walker: Walker) -> None:
    to_first_trial(walker)
    before = find(timed, walker)
    timed.store.do(SaveAnswers(before.id, before.occasion, before.page, (), PageDone()))
    after = find(timed, walker)
    assert after.moved == before.moved, "an answer moves nobody"
    assert replace(after, seen=before.seen) == before
    assert walker.send(walker.fill(walker.look())).status_code == 303
    assert (find(timed, walker).moved or 0.0) > (before.moved or 0.0)


def test_a_clock_that_is_set_releases_nobody_who_is_there(
    timed: Served, walker: Walker, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_first_trial(walker)
    site = timed.app.state.site
    now = time.time()
    for jump in (1e6, -1e6):
        monkeypatch.setattr(time, "time", lambda by=jump: now + by)
        asyncio.run(site.release_stale())
        assert not find(timed, walker).over
