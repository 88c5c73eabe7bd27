"""Sound in a real browser: played, recorded, asked for where the study says so, left out where it fails."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from panelist.collection.export.tables_of_study import export_ratings
from tests.formats.media_bytes import wav
from tests.journeys.conftest import shorten
from tests.journeys.riding import PLAY, Rider, find_faults, open_window
from tests.web.servers import Served, make_study, serve_in_thread

SEE_END = """player => new Promise((done) => {
    const end = player.closest('[data-output]').querySelector(':scope > .end');
    new IntersectionObserver(([mark]) => mark.isIntersecting && setTimeout(done, 1100)).observe(end);
})"""
"""Wait for as long as the page does until an end counts as seen, by the clock of the browser."""
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(shorten(tmp_path_factory.mktemp("media") / "speech", "speech")) as served:
        yield served


def read_facts(served: Served, rider: Rider) -> list[dict[str, Any]]:
    """Return what the pages of a rider said, oldest first."""
    done = served.store.snapshot().pages_done
    return [json.loads(facts) for facts in done.loc[done["visit"] == rider.visit().id, "facts"]]


def test_what_was_played_is_recorded_and_asked_for(browser: Browser, speech: Served) -> None:
    with open_window(browser, speech) as rider:
        rider.join().ride(until="rate")
        page, here = rider.page, rider.where()["page"]
        page.locator("main input[type=radio]").first.check()
        page.locator("#next").click()
        expect(page.locator("#unseen")).to_have_text("You have not played all of it yet.")
        assert rider.where()["page"] == here
        player = page.locator("audio")
        player.evaluate("player => { player.playbackRate = 1.5; }")
        player.evaluate(PLAY)
        player.evaluate(PLAY)
        player.evaluate(SEE_END)
        rider.go_on()
        facts = read_facts(speech, rider)[-1]["outputs"]["1"]
        assert facts["played"] >= 0.95
        assert (facts["plays"], facts["speed"], facts["seen_end"]) == (2, 1.5, True)
        assert facts["in_view"] >= 1.0
        assert (rider.errors, rider.strangers) == ([], [])
    table = export_ratings(speech.store.snapshot(), speech.study, speech.store.plan()).frame
    row = table[table["plays"] == 2].iloc[0]
    assert (row["seen_end"], row["speed"]) == (True, 1.5)


def test_seeking_to_the_end_is_not_playing(browser: Browser, speech: Served) -> None:
    with open_window(browser, speech) as rider:
        rider.join().ride(until="rate")
        page = rider.page
        page.locator("main input[type=radio]").first.check()
        page.locator("audio").evaluate("player => { player.currentTime = player.duration * 0.9; }")
        page.locator("audio").evaluate(PLAY)
        page.locator("#next").click()
        expect(page.locator("#unseen")).to_be_visible()


def test_a_sound_that_does_not_play_is_an_answer_and_no_rating(browser: Browser, tmp_path: Path) -> None:
    folder = shorten(tmp_path / "speech", "speech")
    with serve_in_thread(folder) as served:
        for path in (folder / "sounds").glob("*.wav"):
            if not path.name.startswith("melon"):
                path.write_bytes(b"RIFF\0\0\0\0WAVE, and nothing else")
        with open_window(browser, served) as rider:
            rider.join().ride(until="rate")
            page = rider.page
            page.locator("main input[type=radio]").first.check()  # before the rater finds out
            tick = page.get_by_label("It does not play")
            expect(tick).to_be_visible()
            assert find_faults(page) == []
            tick.check()
            rider.go_on()
            expect(page.get_by_label("It does not play")).to_be_visible()
            page.get_by_label("It does not play").check()
            rider.go_on()
            visit = rider.visit().id
        snapshot = served.store.snapshot()
        events = snapshot.events[snapshot.events["kind"] == "does not play"]
        assert [json.loads(one)["outputs"] for one in events["detail"]] == [[1], [1]]
        table = export_ratings(snapshot, served.study, served.store.plan())
        assert table.frame.loc[table.frame["phase"] == "trial", "rating"].isna().all()
        assert any("did not play" in note for note in table.notes)
        assert (snapshot.pages_done["visit"] == visit).sum() == 3


def test_the_end_of_each_output_is_asked_for_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    folder = make_study(tmp_path / "pairs", "pairs", trials_per_rater="trials_per_rater: 4")
    file = folder / "study.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}\ncollecting: {{read: end}}\n", encoding="utf-8")
    with serve_in_thread(folder) as served, open_window(browser, served, **PHONE) as rider:
        rider.join()
        for _ in range(20):
            if rider.where()["kind"] == "rate":
                break
            rider.answer()
            rider.go_on()
        page, here = rider.page, rider.where()["page"]
        rider.answer()
        page.evaluate("scrollTo(0, 0)")
        page.locator("[data-output].text").first.evaluate("box => { box.style.minHeight = '3000px'; }")
        page.locator("form").evaluate("form => form.requestSubmit(form.querySelector('#next'))")
        expect(page.locator("#unseen")).to_contain_text("You have not seen the end of")
        expect(page.locator("#unseen")).to_be_in_viewport(ratio=1)
        assert rider.where()["page"] == here
        for _ in range(6):
            page.wait_for_timeout(1300)
            page.locator("form").evaluate("form => form.requestSubmit(form.querySelector('#next'))")
            page.wait_for_timeout(700)
            if rider.where()["page"] != here:
                break
        facts = read_facts(served, rider)[-1]
        assert facts["folded"] is True
        assert all(one["seen_end"] for one in facts["outputs"].values())


TALKS = """\
title: Spoken answers
criteria: [{name: help, question: "Does it help?", scale: {type: likert, points: 5}}]
design: {type: pages, trials_per_rater: 1}
raters: {count: 4}
outputs: {file: outputs.jsonl, formats: {output: turns}, media: media, turns: {inside: markdown, rate: each}}
"""


def test_a_sound_within_a_turn_that_does_not_play_is_an_answer_too(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    rows = []
    for system in "ab":
        (tmp_path / "media" / f"{system}.wav").write_bytes(wav())
        turns = [
            {"role": "user", "text": "Say *it*."},
            {"role": "assistant", "text": "Here:", "audio": [f"{system}.wav"]},
        ]
        rows += [{"item": item, "system": system, "output": turns} for item in ("i1", "i2")]
    (tmp_path / "outputs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "study.yaml").write_text(TALKS, encoding="utf-8")
    with serve_in_thread(tmp_path) as served:
        for system in "ab":
            (tmp_path / "media" / f"{system}.wav").write_bytes(b"RIFF\0\0\0\0WAVE, and nothing else")
        with open_window(browser, served) as rider:
            rider.join().ride(until="rate")
            ticks = rider.page.get_by_label("It does not play")
            expect(ticks.nth(0)).to_be_visible()
            expect(ticks.nth(1)).to_be_visible()
            assert find_faults(rider.page) == []
            ticks.nth(0).check()
            ticks.nth(1).check()
            rider.go_on()
        snapshot = served.store.snapshot()
        events = snapshot.events[snapshot.events["kind"] == "does not play"]
        assert [json.loads(one)["outputs"] for one in events["detail"]] == [[1, 2]]


RECORD = """() => new Promise((done) => {
  const canvas = document.createElement("canvas");
  const drawing = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: "video/webm;codecs=vp8" });
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = async () => done([...new Uint8Array(await new Blob(parts).arrayBuffer())]);
  let n = 0;
  const drawer = setInterval(() => {
    drawing.fillStyle = `hsl(${(n += 20)} 80% 50%)`;
    drawing.fillRect(0, 0, 300, 150);
  }, 50);
  recorder.start();
  setTimeout(() => { clearInterval(drawer); recorder.stop(); }, 700);
})"""
FILMS = """\
title: Films
criteria: [{name: clear, question: "Is it clear?", scale: {type: likert, points: 5}}]
design: {type: pages, trials_per_rater: 1}
raters: {count: 4}
outputs: {file: outputs.csv, formats: {output: video}, media: films}
collecting: {read: end, played: whole}
"""
CUES = "WEBVTT\n\nNOTE by birch\n\n00:00.000 --> 00:09.000\nRinse the rice.\n"


def test_films_show_their_captions_and_are_asked_for_by_name(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    film = bytes(page.evaluate(RECORD))
    page.close()
    (tmp_path / "films").mkdir()
    rows = [f"{item},{system},{item}-{system}.webm" for item in ("i1", "i2") for system in ("alder", "birch")]
    for row in rows:
        name = row.rpartition(",")[2]
        (tmp_path / "films" / name).write_bytes(film)
        (tmp_path / "films" / name.replace("webm", "vtt")).write_text(CUES, encoding="utf-8")
    (tmp_path / "outputs.csv").write_text("\n".join(["item,system,output", *rows]), encoding="utf-8")
    (tmp_path / "study.yaml").write_text(FILMS, encoding="utf-8")
    with serve_in_thread(tmp_path) as served, open_window(browser, served) as rider:
        page = rider.join().ride(until="rate").page
        assert find_faults(page) == []
        assert not any(word in page.content() for word in ("alder", "birch", ".webm", "NOTE"))
        expect(page.locator(".transcript").first).to_contain_text("Rinse the rice.")
        films = page.locator("video")
        films.nth(0).focus()
        page.keyboard.press("Space")
        page.wait_for_function("() => document.querySelector('video').textTracks[0].activeCues?.length")
        track = films.nth(0).evaluate(
            "film => [film.textTracks[0].mode, film.textTracks[0].activeCues[0].text]"
        )
        assert track == ["showing", "Rinse the rice."]
        films.nth(0).evaluate(PLAY)
        for place in (1, 2):
            page.locator(f'input[name="c1p{place}"]').last.check()
        page.locator("#next").click()
        expect(page.locator("#unseen")).to_have_text("You have not played all of Text 2 yet.")
        expect(page.locator("#unseen")).to_be_in_viewport(ratio=1)
        films.nth(1).evaluate(PLAY)
        expect(page.locator("#unseen")).to_be_hidden()
        for number in (0, 1):
            films.nth(number).locator("xpath=..").locator(".transcript").scroll_into_view_if_needed()
            films.nth(number).evaluate(SEE_END)
        rider.go_on()
        facts = read_facts(served, rider)[-1]["outputs"]
        assert all(facts[place]["played"] >= 0.95 and facts[place]["seen_end"] for place in "12")
        assert (rider.errors, rider.strangers) == ([], [])
