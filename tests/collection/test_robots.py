"""Simulated raters: they read pages as browsers do, judge as simulated ratings do, and do not travel."""

import asyncio
import sqlite3
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest

import panelist
from panelist.collection.export.tables_of_study import export_answers, export_ratings, export_visits
from panelist.collection.pages.agenda import PlanPage
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import RatingPage
from panelist.collection.pages.translations import find_languages, load_words
from panelist.collection.robots.browser import BadServer, Browser, Reply, read_address
from panelist.collection.robots.fleet import Fleet, find_groups, send_robots
from panelist.collection.robots.mind import Mind, Recognition, RobotView, Seen, World
from panelist.collection.robots.page_reader import read_sheet
from panelist.collection.robots.robot import Habits
from panelist.collection.session.visit_flow import next_page
from panelist.design.make import plan_study
from panelist.design.plan_files import write_plan
from panelist.design.simulate import simulate_ratings
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.collection.faulty_servers import check_whole, write_faulty_study
from tests.collection.raters import (
    DESIGNS,
    SCALES,
    TEMPLATE_NAMES,
    TEMPLATES,
    make_study,
    render,
    walk_through,
)
from tests.collection.store.studies import write_study
from tests.patience import PATIENCE
from tests.web.servers import make_study as make_folder
from tests.web.servers import serve_in_thread


class Reference(HTMLParser):
    """The fields of a page, read by the parser of the standard library."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: set[tuple[str, str, str]] = set()
        self.actions: list[str] = []
        self.select = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        name, kind = has.get("name", ""), has.get("type", "text")
        if tag == "form":
            self.actions.append(has["action"])
        elif tag == "select":
            self.select = name
        elif tag == "textarea":
            self.fields.add(("words", name, ""))
        elif tag == "input" and name:
            self.fields.add(
                ("words" if kind == "text" else kind, name, "" if kind == "text" else has["value"])
            )

    def handle_data(self, data: str) -> None:
        if self.select and data.strip().isdigit():
            self.fields.add(("radio", self.select, data.strip()))

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self.select = ""


def find_seen(study: Study, item: str, system: str) -> Seen:
    """Return an output as robots know it."""
    return Seen(study.items.index(item), study.systems.index(system))


def list_columns(frame: pd.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    """Return the rows of some columns."""
    return list(zip(*(frame[name].tolist() for name in names), strict=True))


def find_fields(html: str) -> set[tuple[str, str, str]]:
    """Return the fields of a page as robots read them."""
    sheet = read_sheet(html)
    fields = {("hidden", name, value) for name, value in sheet.hidden.items()}
    fields |= {("checkbox", name, value) for name, value in sheet.boxes.items()}
    fields |= {("radio", name, value) for name, values in sheet.choices.items() for value in values}
    return fields | {("words", name, "") for name in sheet.words}


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_every_page_of_a_template_is_read_as_a_parser_reads_it(name: str) -> None:
    walk = walk_through(load_study(TEMPLATES / name))
    walk.finish()
    kinds = set()
    for page in walk.pages:
        html = render(page, walk.booklet)
        reference, sheet = Reference(html), read_sheet(html)
        assert find_fields(html) == reference.fields
        assert [sheet.action] == (reference.actions or [""])
        kinds.add(type(page).__name__)
    assert {"ConsentPage", "RatingPage", "EndPage"} <= kinds


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_can_be_answered_with_what_the_page_offers(scale: str) -> None:
    study = make_study({scale: SCALES[scale]}, DESIGNS.get(scale, {"type": "lists", "trials_per_rater": 6}))
    walk = walk_through(study, state="rating", place="r001")
    world = World(study, 3)
    mind = Mind(world, 1)
    html = render(next_page(walk.turn()), walk.booklet)
    sheet = read_sheet(html)
    view = world.recognition.look(sheet)
    shown = walk.booklet.agenda.sitting("r001", 1).pages[0].outputs
    assert [(study.items[seen.item], study.systems[seen.system]) for seen in view.outputs] == list(shown)
    answers = {name: mind.answer(name, view) for name in sheet.names}
    assert answers
    outcome = walk.send({"page": sheet.page} | answers)
    assert {given.name: given.value for given in outcome.answers} == answers


MARKDOWN = """## Text {item}

- the **version {system}** of `f({item}) < 1`

| a | b |
|---|---|
| $x_{item}$ | {system} words |

```python
if x: pass  # {item} {system}
```
"""


@pytest.mark.parametrize("name", ["markdown", "code"])
@pytest.mark.parametrize("scale", ["likert", "pairs", "preference", "best-worst", "ranking"])
def test_texts_in_a_format_are_recognised(scale: str, name: str) -> None:
    study = make_study(
        {scale: SCALES[scale]},
        DESIGNS.get(scale, {"type": "lists", "trials_per_rater": 6}),
        lambda item, system: MARKDOWN.format(item=item, system=system),
        outputs={"formats": {"output": name}, "code": {"language": "python"}},
    )
    walk = walk_through(study, state="rating", place="r001")
    html = render(next_page(walk.turn()), walk.booklet)
    shown = walk.booklet.agenda.sitting("r001", 1).pages[0].outputs
    seen = Recognition(study).look(read_sheet(html)).outputs
    assert [(study.items[one.item], study.systems[one.system]) for one in seen] == list(shown)
    assert find_fields(html) == Reference(html).fields


@pytest.mark.parametrize("name", ["plain", "markdown", "code"])
def test_a_spoilt_copy_is_recognised_as_one(name: str) -> None:
    checks = {"items": [{"kind": "degraded", "how": "shuffle words"}]}
    study = make_study(
        output=lambda item, system: f"- Words of text {item}, not in **order in** version {system}.",
        checks=checks,
        outputs={"formats": {"output": name}},
    )
    walk = walk_through(study, state="rating", place="r001")
    booklet: Booklet = walk.booklet
    page: PlanPage = next(one for one in booklet.agenda.sitting("r001", 1).pages if one.check)
    walk.visit = type(walk.visit)(state="rating", place="r001", page=page.order)
    sheet = read_sheet(render(walk.look(), booklet))
    (seen,) = Recognition(study).look(sheet).outputs
    assert seen.spoilt
    assert (study.items[seen.item], study.systems[seen.system]) == page.outputs[0]


def test_robots_think_what_the_simulated_raters_of_a_file_think() -> None:
    study = make_study({"fluency": SCALES["vas"]})
    plan = plan_study(study)
    world = World(study, len(plan.raters), seed=5, careless=0.0)
    ratings = simulate_ratings(study, plan, seed=5, careless=0.0)
    raters = {name: number for number, name in enumerate(plan.raters)}
    latent = [
        world.judge("fluency", raters[rater], find_seen(study, item, system))
        for rater, item, system in list_columns(ratings, "rater", "item", "system")
    ]
    # A line is SPAN = 3.72 long: where it is not cut off, latent = (value - 50) / 100 * 3.72 + noise of sd 1.
    value = (ratings["rating"].to_numpy() - 50) / 100 * 3.72
    inside = np.abs(value) < 1.86
    noise = (value - np.array(latent))[inside]
    assert inside.sum() > 20
    assert np.corrcoef(value, latent)[0, 1] > 0.5
    assert np.std(noise) < 1.2


def test_careful_robots_do_what_a_check_asks_and_careless_ones_do_not_read() -> None:
    checks = {"items": [{"kind": "instructed", "text": "Choose 2.", "answers": {"ease": "2"}}]}
    study = make_study(checks=checks)
    told = RobotView((Seen(),), "instructed-1")
    careful = Mind(World(study, 1, careless=0.0), 0)
    careless = Mind(World(study, 1, careless=1.0), 0)
    assert {careful.answer("c1p1", told) for _ in range(50)} == {"2"}
    assert {careless.answer("c1p1", told) for _ in range(50)} > {"2"}


@pytest.mark.parametrize("url", ["http://10.1.2.3:8000", "http://example.org", "http://0.0.0.0:80"])
def test_robots_visit_no_other_machine(url: str) -> None:
    with pytest.raises(BadServer, match="only visit a server on this machine"):
        read_address(url)


@pytest.mark.parametrize("url", ["https://127.0.0.1", "ftp://127.0.0.1", "", "http://", "http://127.0.0.1:x"])
def test_what_is_no_address_is_said_to_be_none(url: str) -> None:
    with pytest.raises(BadServer, match="is not the address of a server"):
        read_address(url)


def test_addresses_may_be_short_or_those_of_a_link() -> None:
    assert read_address("127.0.0.1:8000/").path == "/join"
    assert read_address("http://localhost:9/r/ABC").path == "/r/ABC"
    assert read_address("http://[::1]:9/join?group=a").query == "group=a"


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_robots_fill_every_place_of_a_template(name: str, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "study", name)
    with serve_in_thread(folder, joins_a_minute=0) as served:
        plan = served.store.plan()
        fleet = Fleet(raters=len(plan.raters), habits=Habits(twice=0.2))
        record = send_robots(served.study, served.url, fleet)
        assert record.ends == {"finished": fleet.raters}
        assert (record.refused, record.faults, record.unknown) == ([], {}, 0)
        assert all(stay.code for stay in record.stays)
        answers = served.store.snapshot().answers
        assert record.answers == len(answers)
        assert answers["seconds"].median() > 3


def test_robots_fill_a_plan_with_holes_and_see_what_exists(tmp_path: Path) -> None:
    rows = [
        f"{i},{s},{s} writes {i},{'timeout' if (i + n) % 5 == 0 else 'ok'}"
        for i in range(8)
        for n, s in enumerate("abc")
    ]
    rows[1] = "0,b,,ok"  # an empty answer is an output
    (tmp_path / "outputs.csv").write_text("\n".join(["item,system,output,status", *rows, ""]))
    (tmp_path / "study.yaml").write_text(
        "title: Holes\noutputs: {file: outputs.csv, missing: plan}\n"
        "criteria: [{name: fluency, question: 'How fluent?', scale: {type: likert, points: 5}}]\n"
        "design: {type: pages, ratings_per_output: 2}\n"
    )
    study = load_study(tmp_path)
    write_plan(plan_study(study), tmp_path)
    exists = set(zip(study.outputs.frame["item"], study.outputs.frame["system"], strict=True))
    with serve_in_thread(tmp_path, joins_a_minute=0) as served:
        plan = served.store.plan()
        record = send_robots(served.study, served.url, Fleet(raters=len(plan.raters)))
        assert record.ends == {"finished": len(plan.raters)}
        assert (record.refused, record.faults, record.unknown) == ([], {}, 0)
        ratings = export_ratings(served.store.snapshot(), served.study, plan).frame
    assert set(zip(ratings["item"], ratings["system"], strict=True)) == exists
    assert len(ratings) == 2 * len(exists)


def test_robots_rate_the_items_that_were_drawn_and_no_others(tmp_path: Path) -> None:
    rows = [f"{i},{s},{s} writes {i},context {i}" for i in range(9) for s in "ab"]
    (tmp_path / "outputs.csv").write_text("\n".join(["item,system,output,context", *rows, ""]))
    (tmp_path / "study.yaml").write_text(
        "title: Drawn\nsample: {items: 4}\n"
        "criteria: [{name: fluency, question: 'How fluent?', scale: {type: likert, points: 5}}]\n"
        "design: {type: full}\nraters: {count: 2}\n"
    )
    study = load_study(tmp_path)
    with serve_in_thread(tmp_path, joins_a_minute=0) as served:
        plan = served.store.plan()
        record = send_robots(served.study, served.url, Fleet(raters=len(plan.raters)))
        assert record.ends == {"finished": 2}
        assert (record.refused, record.faults, record.unknown) == ([], {}, 0)
        ratings = export_ratings(served.store.snapshot(), served.study, plan).frame
    assert set(ratings["item"]) == set(study.items)
    assert (len(study.items), len(ratings)) == (4, 16)


@pytest.mark.parametrize("language", find_languages())
def test_an_empty_output_is_shown_as_nothing_in_every_language(language: str) -> None:
    study = make_study()
    frame = study.outputs.frame.assign(output="  ")
    empty = replace(
        study,
        file=study.file.model_copy(update={"language": language}),
        outputs=replace(study.outputs, frame=frame),
    )
    walk = walk_through(empty)
    page = walk.go_to(RatingPage)
    assert isinstance(page, RatingPage)
    assert f"<em>{load_words(language).say('nothing')}</em>" in page.outputs[0].text
    assert load_words(language).say("nothing") in render(page, Booklet(empty, plan_study(empty)))


def test_what_robots_collect_is_marked_as_simulated_wherever_it_goes(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "study", "likert")
    with serve_in_thread(folder, joins_a_minute=0) as served:
        study, plan = served.study, served.store.plan()
        person = served.store.join(outside_id="a person")
        (own, *_) = served.store.make_links(1)
        send_robots(study, f"{served.url}/r/{own.token}", Fleet(raters=1))
        send_robots(study, served.url, Fleet(raters=2))
        snapshot = served.store.snapshot()
    marked = dict(list_columns(snapshot.visits, "id", "params"))
    assert [visit for visit, params in marked.items() if "simulated" not in params] == [person.id]
    ratings = export_ratings(snapshot, study, plan).frame
    assert set(ratings["simulated"]) == {"yes"}
    assert sorted(export_visits(snapshot, study, plan).frame["simulated"]) == ["", "yes", "yes", "yes"]
    assert "simulated" in export_answers(snapshot, study, plan).frame
    assert panelist.load_ratings(ratings).notes[0].startswith("Simulated ratings: not data from people")


def test_what_people_give_has_no_column_for_simulation(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "study", "likert")
    with serve_in_thread(folder, joins_a_minute=0) as served:
        served.store.join(outside_id="a person")
        frame = export_visits(served.store.snapshot(), served.study, served.store.plan()).frame
    assert "simulated" not in frame


def test_robots_that_come_in_turn_get_the_same_places_every_time(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "study", "likert")
    with serve_in_thread(folder, joins_a_minute=0) as served:
        places = served.store.plan().raters
        send_robots(served.study, served.url, Fleet(raters=len(places), in_turn=True, name="one"))
        visits = served.store.snapshot().visits
    taken = dict(list_columns(visits, "outside_id", "place"))
    assert taken == {f"one-{number}": place for number, place in enumerate(places, start=1)}


def test_what_robots_collect_carries_what_they_think(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "study", "vas")
    with serve_in_thread(folder, joins_a_minute=0) as served:
        study = served.study
        fleet = Fleet(raters=len(served.store.plan().raters), seed=3, name="tried")
        send_robots(study, served.url, fleet)
        snapshot = served.store.snapshot()
    world = World(study, 3 * fleet.raters, seed=3, careless=0.0)
    ids = dict(list_columns(snapshot.visits, "id", "outside_id"))
    trials = snapshot.answers[snapshot.answers["phase"] == "trial"]
    pairs = [
        (
            world.judge(criterion, int(ids[visit].rpartition("-")[2]) - 1, find_seen(study, item, system)),
            value,
        )
        for visit, criterion, item, system, value in list_columns(
            trials.astype({"value": float}), "visit", "criterion", "item", "system", "value"
        )
    ]
    assert len(pairs) > 100
    assert np.corrcoef(np.array(pairs).T)[0, 1] > 0.5


GROUPED = """\
title: A study of two sittings, with groups, reasons and pages of several outputs
criteria:
  - {name: fluency, question: "How fluent is it?", scale: {type: likert, points: 5}}
  - {name: size, question: "How good is it?", scale: {type: magnitude, reference: "A text.", modulus: 100}}
  - {name: rank, question: "Which is best?", scale: {type: ranking}}
design: {type: pages, trials_per_rater: 3, occasions: 2, criteria: in turn}
raters: {groups: [{name: native, raters: 2}, {name: learner, raters: 3}]}
background:
  - name: english
    question: "Is English your first language?"
    options: ["Yes", "No"]
    groups: {"Yes": native, "No": learner}
collecting: {reasons: true, back: true}
"""


def test_robots_join_their_groups_and_come_for_a_second_sitting(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", GROUPED, n_items=6, systems="abc")
    with serve_in_thread(study.folder, joins_a_minute=0) as served:
        plan = served.store.plan()
        fleet = Fleet(raters=len(plan.raters), groups=find_groups(plan))
        record = send_robots(study, served.url, fleet)
        check_whole(study, None, fleet, record, comparative=("rank",))
        answers = served.store.snapshot().answers
        assert answers["occasion"].nunique() == 2


def test_robots_without_scripts_get_there_too(tmp_path: Path) -> None:
    study = write_faulty_study(tmp_path / "study", 3, 4)
    with serve_in_thread(study.folder, joins_a_minute=0) as served:
        fleet = Fleet(raters=3, habits=Habits(scripts=False))
        record = send_robots(study, served.url, fleet)
        assert "answer" not in record.times
        check_whole(study, None, fleet, record)


def test_the_proof_notices_a_lost_answer_and_a_doubled_one(tmp_path: Path) -> None:
    study = write_faulty_study(tmp_path / "study", 2, 3)
    with serve_in_thread(study.folder, joins_a_minute=0) as served:
        fleet = Fleet(raters=2)
        record = send_robots(study, served.url, fleet)
    check_whole(study, None, fleet, record)
    change(study, "INSERT INTO answers SELECT id + 1000, visit, occasion, page, {} FROM answers LIMIT 1")
    with pytest.raises(AssertionError):
        check_whole(study, None, fleet, record)
    change(study, "DELETE FROM answers WHERE id > 1000 OR id = 3")
    with pytest.raises(AssertionError):
        check_whole(study, None, fleet, record)


def change(study: Study, statement: str) -> None:
    """Change the database of a study behind the store's back."""
    rest = (
        "name, criterion, item, system, position, phase, check_name, value, revision + 1, key || 'x', given, "
        "seconds_first, seconds, changes, raw, width, late"
    )
    database = sqlite3.connect(study.folder / "study.db")
    with database:
        database.execute(statement.format(rest))
    database.close()


def test_who_comes_too_late_finds_no_place(tmp_path: Path) -> None:
    study = write_faulty_study(tmp_path / "study", 2, 3)
    with serve_in_thread(study.folder, joins_a_minute=0) as served:
        record = send_robots(study, served.url, Fleet(raters=4))
    assert record.ends == {"finished": 2, "full": 2}


def test_a_server_that_is_not_there_is_given_up_in_words(tmp_path: Path) -> None:
    study = write_faulty_study(tmp_path / "study", 2, 3)
    fleet = Fleet(raters=1, habits=Habits(patience=0.3))
    record = send_robots(study, "http://127.0.0.1:9", fleet)
    (stay,) = record.stays
    assert stay.end.startswith("lost: GET /join")
    assert record.retries >= 1


def test_the_client_reads_replies_as_httpx_does(tmp_path: Path) -> None:
    async def ask(url: str, path: str) -> Reply:
        browser = Browser(read_address(url))
        try:
            return await browser.send("GET", path)
        finally:
            browser.close()

    study = write_faulty_study(tmp_path / "study", 2, 3)
    with serve_in_thread(study.folder) as served:
        for path in ("/health", "/nowhere"):
            expected = httpx.get(served.url + path, timeout=PATIENCE)
            reply = asyncio.run(ask(served.url, path))
            assert (reply.status, reply.body) == (expected.status_code, expected.content)
            assert reply.headers.get("content-type") == expected.headers.get("content-type")
            assert reply.headers.get("location") == expected.headers.get("location")
