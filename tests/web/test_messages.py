"""A message from the dashboard on the rater's next page: once, to nobody else, and as text."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from panelist.collection.pages.translations import find_languages, load_words
from tests.web.researchers import STUDY, Desk, enter, make_folder, read_text
from tests.web.servers import Served, serve_in_thread
from tests.web.walking import Walker

TITLE = "A note from the research team"
SCRIPT = '<script>alert(1)</script><img src=x onerror="alert(2)">{{ 7 * 7 }}'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = make_folder(tmp_path_factory.mktemp("messages") / "study", STUDY)
    with serve_in_thread(folder, joins_a_minute=0) as running:
        yield running


@pytest.fixture(scope="module")
def desk(served: Served) -> Iterator[Desk]:
    with enter(served) as entered:
        yield entered


@pytest.fixture
def walker(served: Served) -> Iterator[Walker]:
    """Somebody who has just begun to rate; the place is free again afterwards."""
    with served.client() as client:
        joined = Walker(client, served.study).join()
        yield joined
        served.store.exclude(number(served, joined), "the end of the test")


def number(served: Served, walker: Walker) -> int:
    visit = served.store.find_visit(walker.link.rpartition("/")[2])
    assert visit is not None
    return visit.id


def send(desk: Desk, walker: Walker, words: str) -> None:
    desk.post(f"/raters/{number(desk.served, walker)}/message", words=words)


def kinds(served: Served, walker: Walker) -> list[str]:
    return [event.kind for event in served.store.visit_events(number(served, walker))]


def test_two_messages_stand_once_on_the_next_page(desk: Desk, served: Served, walker: Walker) -> None:
    with served.client() as client:
        other = Walker(client, served.study).join()
        assert TITLE not in walker.look().html
        send(desk, walker, "Are you still there?")
        send(desk, walker, "Please take a break.")
        assert TITLE not in other.look().html
        page = walker.look()
        assert f"{TITLE} Are you still there? Please take a break." in read_text(page.html)
        assert '<div class="notice" role="status">' in page.html
        assert TITLE not in walker.look().html
        assert kinds(served, walker).count("message shown") == 1
        assert "message shown" not in kinds(served, other)
        served.store.release(number(served, other), "the end of the test")
    send(desk, walker, "One more.")
    assert f"{TITLE} One more." in read_text(walker.look().html)
    assert "message shown" in read_text(desk.get(f"/raters/{number(served, walker)}"))


def test_a_message_is_text_and_never_markup(desk: Desk, walker: Walker) -> None:
    send(desk, walker, SCRIPT)
    html = walker.look().html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img" in html
    assert SCRIPT in read_text(html)
    assert "<script>alert" not in html
    assert "<img src=x" not in html


def test_a_page_that_is_only_fetched_ahead_shows_no_message(
    desk: Desk, served: Served, walker: Walker
) -> None:
    send(desk, walker, "Are you still there?")
    walker.client.head(walker.link)
    ahead = walker.client.get(walker.link, headers={"Sec-Purpose": "prefetch"})
    assert TITLE not in ahead.text
    assert "message shown" not in kinds(served, walker)
    assert TITLE in walker.look().html


def test_a_form_that_is_not_complete_leaves_the_message_for_the_next_page(
    desk: Desk, served: Served, walker: Walker
) -> None:
    # The script of a page sends it twice before it is seen again: the first reply is thrown away.
    sheet = walker.look()
    send(desk, walker, "Are you still there?")
    reply = walker.send({"page": sheet.page})
    assert (reply.status_code, TITLE in reply.text) == (422, False)
    assert TITLE in walker.look().html


def test_the_last_page_shows_a_message_too(desk: Desk, walker: Walker) -> None:
    for _ in walker.walk("comments"):
        pass
    send(desk, walker, "Thank you, that was quick.")
    sheet = walker.seen[-1]
    assert walker.send(walker.fill(sheet)).status_code == 303
    last = walker.look()
    assert not last.action
    assert "Thank you, that was quick." in last.html


@pytest.mark.parametrize("language", find_languages())
def test_the_heading_is_in_the_language_of_the_study(language: str, tmp_path: Path) -> None:
    from panelist.collection.pages.models import EndPage
    from panelist.web.rendering import Frame, render_page

    words = load_words(language)
    page = EndPage(id="end-paused", kind="paused")
    html = render_page(page, words, Frame("A study", messages=("Hello",)))
    assert words.say("message_title") in html
    assert words.say("message_title") not in render_page(page, words, Frame("A study"))
