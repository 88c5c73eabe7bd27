"""What pages say about themselves: kept within limits, and never in the way of an answer."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from panelist.collection.pages.agenda import PlanPage
from panelist.collection.pages.models import PracticePage, RatingPage, SoundPage
from panelist.collection.session.page_facts import LIMITS, read_facts
from tests.collection.raters import Walk, fill, load_template, walk_through

TWO = PlanPage(1, "trial", "", (("i", "a"), ("i", "b")), ("c",))
NOBODY: frozenset[int] = frozenset()


def test_facts_are_kept_by_output() -> None:
    said = {
        "folded": True,
        "outputs": {"1": {"seen_end": True, "in_view": 2.5, "played": 1, "plays": 2}, "3": {}},
    }
    kept = json.loads(read_facts({"facts": json.dumps(said)}, TWO, frozenset({2})))
    first = {"seen_end": True, "in_view": 2.5, "played": 1.0, "plays": 2}
    assert kept == {"folded": True, "outputs": {"1": first, "2": {"failed": True}}}


@given(
    st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_nonsense_is_not_kept(text: str) -> None:
    assert read_facts({"facts": text}, TWO, NOBODY) == ""


@given(
    st.dictionaries(st.sampled_from([*LIMITS, "seen_end", "else"]), st.floats() | st.integers() | st.text())
)
def test_numbers_are_kept_within_their_limits(about: dict[str, object]) -> None:
    kept = read_facts({"facts": json.dumps({"outputs": {"1": about}})}, TWO, NOBODY)
    for name, value in (json.loads(kept)["outputs"]["1"] if kept else {}).items():
        assert 0 <= value <= LIMITS[name]


def reach_sound() -> tuple[Walk, RatingPage]:
    walk = walk_through(load_template("speech"))
    page = walk.go_to(RatingPage)
    assert isinstance(page, RatingPage)
    return walk, page


def test_a_sound_that_does_not_play_needs_no_answer_and_takes_an_earlier_one_back() -> None:
    walk, page = reach_sound()
    at = (walk.visit.occasion, walk.visit.page)
    walk.history.given[at] = {"c1p1": "4"}
    outcome = walk.send({"page": page.id, "c1p1": "4", f"media:{page.id}-1-1": "1"}, 5.0)
    assert outcome.again is None
    assert [(one.name, one.value) for one in outcome.answers] == [("c1p1", "")]
    assert [event.kind for event in outcome.events] == ["does not play"]
    assert outcome.done is not None
    assert json.loads(outcome.done.facts) == {"outputs": {"1": {"failed": True}}}


def test_only_what_is_on_the_page_can_fail_to_play() -> None:
    walk, page = reach_sound()
    for name in ("media:1-99-1-1", f"media:{page.id}-9-1", "media:x", f"media:{page.id}-0-1"):
        outcome = submit_without_answer(walk, page, name)
        assert outcome is not None, name


def submit_without_answer(walk: Walk, page: RatingPage, name: str) -> object:
    before = walk.visit
    outcome = walk.send({"page": page.id, name: "1"}, 5.0)
    walk.visit = replace(before)
    return outcome.again


def test_texts_have_no_media_that_could_fail() -> None:
    walk = walk_through(load_template("likert"))
    page = walk.go_to(RatingPage)
    assert walk.send({"page": page.id, f"media:{page.id}-1-1": "1"}, 5.0).again is not None


def test_a_rater_who_hears_the_word_goes_on_and_who_does_not_is_flagged() -> None:
    walk = walk_through(load_template("speech"))
    page = walk.go_to(SoundPage)
    assert walk.send({"page": page.id, "word": " "}).again is not None
    assert walk.send(fill(page, {"word": "LEMON!"})).move is not None
    assert walk.visit.state == "instructions"
    other = walk_through(load_template("speech"))
    other.go_to(SoundPage)
    for n in (1, 2, 3):
        shown = other.look()
        assert isinstance(shown, SoundPage)
        assert shown.left == (4 - n if n > 1 else 0)
        other.send({"page": shown.id, "word": "melon"})
        other.send({"page": shown.id, "word": "melon"})  # sent twice, counted once
    assert other.visit.state == "instructions"
    assert other.events().count("flag") == 1


def test_practice_is_played_too() -> None:
    page = walk_through(load_template("speech")).go_to(PracticePage)
    assert isinstance(page, PracticePage)
    assert page.media
    assert 'src="media:1-1-1-1"' in page.outputs[0].text
    assert page.ahead == "1-2-1-1"
