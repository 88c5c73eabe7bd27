"""Whole visits over HTTP, without a browser: each template from consent to code, on both databases."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from panelist.collection.store.records import StoredAnswer, Visit
from panelist.study.start import list_templates
from panelist.study.study import Study
from tests.collection.store.studies import RATED, write_study
from tests.patience import PATIENCE
from tests.web.servers import Served, make_study, serve_in_thread
from tests.web.walking import Walker, find, find_code, read_sheet, to_first_trial


@pytest.fixture(scope="module", params=sorted(list_templates()))
def template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = make_study(tmp_path_factory.mktemp("study") / request.param, request.param)
    with serve_in_thread(folder) as served:
        yield served


@pytest.fixture(scope="module")
def likert(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(make_study(tmp_path_factory.mktemp("study") / "likert")) as served:
        yield served


@pytest.fixture
def walker(likert: Served) -> Iterator[Walker]:
    """Somebody who came by the open link; the place is free again afterwards."""
    with likert.client() as client:
        walker = Walker(client, likert.study).join()
        yield walker
        visit = find(likert, walker)
        if not visit.freed:
            likert.store.exclude(visit.id, "the test is over")


def find_answers(served: Served, visit: Visit) -> list[StoredAnswer]:
    """Return every answer of a visit, changes of mind included."""
    return [one for one in served.store.answers_after() if one.visit == visit.id]


def test_every_template_leads_from_consent_to_a_code(template: Served) -> None:
    with template.client() as client:
        walker = Walker(client, template.study).join("?PROLIFIC_PID=5f2d8a")
        last = walker.finish()
    visit = find(template, walker)
    assert visit.state == "finished", visit
    assert find_code(last) == visit.code
    assert visit.outside_id == "5f2d8a"
    rows = template.store.plan().table
    mine = rows[rows["rater"] == visit.place]
    pages = {(int(a), int(b)) for a, b in zip(mine["occasion"], mine["order"], strict=True)}
    answers = template.store.all_answers(visit.id)
    assert set(answers) == pages == template.store.done_pages(visit.id)
    fields = mine.drop_duplicates(["occasion", "order", "criterion", "position"])
    comparative = {one.name for one in template.study.criteria if one.scale.comparative}
    compared = fields["criterion"].isin(comparative)
    wanted = int((~compared | (fields["position"] == 1)).sum())
    # A check has one row for each criterion; where it compares, its page shows two texts, and each is rated.
    paired = fields.loc[compared & (fields["phase"] == "check"), "order"]
    wanted += int((~compared & fields["order"].isin(paired)).sum())
    if template.study.outputs.in_parts:  # each turn has its own answer; the page of a request has one
        told = fields["check"].astype(str).str.startswith("instructed")
        cells = zip(fields["item"], fields["system"], fields["phase"], told, strict=True)
        wanted = sum(_count_turns(template.study, *cell) for cell in cells)
    given = [name for page in answers.values() for name in page]
    assert sum(not name.endswith("-why") for name in given) == wanted, "reasons come on top"


def _count_turns(study: Study, item: str, system: str, phase: str, told: bool) -> int:
    """Return how many turns of an output are rated: those of practice stand in the study file."""
    if told:
        return 1
    if phase == "practice":
        assert study.file.practice is not None
        shown = study.file.practice.items[int(item.rpartition("-")[2]) - 1]
        return study.outputs.parts((shown.outputs or (shown.output,))[0])
    return study.outputs.parts(study.outputs.text(item, system))


def test_a_finished_visit_shows_its_last_page_again(template: Served) -> None:
    with template.client() as client:
        walker = Walker(client, template.study).join()
        last = walker.finish()
        assert find_code(walker.look()) == find_code(last)


def test_a_visit_on_postgresql_ends_with_a_code(postgres: str, tmp_path: Path) -> None:
    folder = make_study(tmp_path / "pairs", "pairs")
    with serve_in_thread(folder, postgres) as served, served.client() as client:
        walker = Walker(client, served.study).join()
        last = walker.finish()
        assert find_code(last) == find(served, walker).code


def test_one_answer_is_saved_the_moment_it_is_given_and_once(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    replies = [walker.answer(page, "c1p1", "4", "key-0001", seconds=2.5, changes=0).json() for _ in range(3)]
    assert replies == [{"saved": True, "revision": 0, "late": False}] * 3
    visit = find(likert, walker)
    stored = [one for one in find_answers(likert, visit) if one.phase != "practice"]
    assert [(one.name, one.value, one.width) for one in stored] == [("c1p1", "4", 800)]
    assert 0 < (stored[0].seconds or 0) < 2.5, "not longer than the server has seen the page open"


def test_a_change_of_mind_is_a_new_row_and_the_page_shows_it(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    assert walker.answer(page, "c1p1", "4", "key-0001").json()["revision"] == 0
    assert walker.answer(page, "c1p1", "2", "key-0002").json()["revision"] == 1
    assert walker.look().chosen["c1p1"] == "2"
    visit = find(likert, walker)
    kept = [one.value for one in find_answers(likert, visit) if one.key.startswith("key-")]
    assert kept == ["4", "2"]


def test_the_form_repeats_answers_under_their_keys_and_makes_no_second_row(
    likert: Served, walker: Walker
) -> None:
    page = to_first_trial(walker)
    form = walker.fill(walker.look())
    for name in walker.look().names:
        walker.answer(page, name, form[name], f"key-of-{name}")
        form[f"key-{name}"] = f"key-of-{name}"
    assert walker.send(form).status_code == 303
    visit = find(likert, walker)
    stored = [one for one in find_answers(likert, visit) if one.phase != "practice"]
    assert sorted((one.name, one.revision) for one in stored) == [("c1p1", 0), ("c2p1", 0)]


def test_a_form_sent_twice_moves_on_once(likert: Served, walker: Walker) -> None:
    to_first_trial(walker)
    form = walker.fill(walker.look())
    before = find(likert, walker).page
    assert [walker.send(form).status_code for _ in range(2)] == [303, 303]
    assert find(likert, walker).page == before + 1


def test_a_form_sent_many_times_at_once_is_one_step(likert: Served, walker: Walker) -> None:
    form = walker.fill(walker.look())
    assert form["page"] == "background"
    with ThreadPoolExecutor(8) as threads, likert.client() as client:
        sent = [threads.submit(client.post, f"{walker.link}/page", data=form) for _ in range(24)]
        assert {one.result().status_code for one in sent} == {303}
    visit = find(likert, walker)
    assert visit.state == "instructions"
    assert [event.kind for event in likert.store.visit_events(visit.id)] == ["consent", "background"]


def test_two_tabs_show_the_same_page_and_make_one_answer_each(likert: Served, walker: Walker) -> None:
    to_first_trial(walker)
    with likert.client() as other:
        second = Walker(other, likert.study)
        second.link = walker.link
        forms = [walker.fill(walker.look()), second.fill(second.look())]
        assert [walker.send(forms[0]).status_code, second.send(forms[1]).status_code] == [303, 303]
        assert walker.look().page == second.look().page != forms[0]["page"]
    visit = find(likert, walker)
    stored = [one for one in find_answers(likert, visit) if one.phase != "practice"]
    assert len(stored) == 2


def test_the_link_resumes_on_another_device_with_what_was_answered(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    walker.answer(page, "c1p1", "3", "key-0001")
    with likert.client() as phone:
        sheet = read_sheet(phone.get(walker.link))
    assert (sheet.page, sheet.chosen["c1p1"]) == (page, "3")


def test_missing_answers_are_named_and_the_rest_is_saved(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    form = walker.fill(walker.look())
    del form["c2p1"]
    reply = walker.send(form)
    sheet = read_sheet(reply)
    assert reply.status_code == 422
    assert "One answer is still missing." in reply.text
    assert 'href="#c2p1-1"' in reply.text
    assert sheet.chosen == {"c1p1": form["c1p1"]}
    visit = find(likert, walker)
    occasion, order = map(int, page.split("-"))
    stored = likert.store.visit_answers(visit.id, occasion, order)
    assert {name: one.value for name, one in stored.items()} == {"c1p1": form["c1p1"]}
    assert visit.page == order


@pytest.mark.parametrize("value", ["0", "6", "4.5", "four", "4; DROP TABLE answers", "４"])
def test_an_answer_that_is_not_on_the_scale_is_refused_in_both_ways(walker: Walker, value: str) -> None:
    page = to_first_trial(walker)
    assert walker.answer(page, "c1p1", value, "key-0001").status_code == 422
    form = walker.fill(walker.look()) | {"c1p1": value}
    assert walker.send(form).status_code == 422


def test_pages_ahead_and_fields_of_others_are_not_answered(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    order = int(page.split("-")[1])
    assert walker.answer(f"1-{order + 1}", "c1p1", "4", "key-0001").status_code == 422
    assert walker.answer("2-1", "c1p1", "4", "key-0001").status_code == 422
    assert walker.answer(page, "c1p2", "4", "key-0001").status_code == 422
    assert walker.answer(page, "c9p1", "4", "key-0001").status_code == 422
    assert walker.answer(page, "c1p1-why", "because", "key-0001").status_code == 422


def test_nothing_can_be_answered_before_consent(likert: Served, walker: Walker) -> None:
    assert walker.answer("1-1", "c1p1", "4", "key-0001").status_code == 409
    assert likert.store.all_answers(find(likert, walker).id) == {}


@pytest.mark.parametrize("headers", [{}, {"Sec-Purpose": "prefetch"}], ids=["opened", "prefetched"])
def test_without_a_briefing_the_first_page_can_be_answered_at_once(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    write_study(tmp_path / "bare", RATED)
    with serve_in_thread(tmp_path / "bare") as served, served.client() as client:
        walker = Walker(client, served.study).join()
        sheet = read_sheet(client.get(walker.link, headers=headers))
        reply = walker.answer(sheet.page, "c1p1", "4", "key-0001")
        assert (reply.status_code, reply.json()) == (200, {"saved": True, "revision": 0, "late": False})
        assert client.get(walker.link).status_code == 200
        assert find(served, walker).state == "rating"


def test_a_done_page_stays_as_it_is_where_nobody_may_go_back(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    form = walker.fill(walker.look())
    walker.answer(page, "c1p1", form["c1p1"], "key-0001")
    walker.step()
    assert walker.answer(page, "c1p1", form["c1p1"], "key-0001").json()["saved"] is True
    changed = "5" if form["c1p1"] != "5" else "4"
    assert walker.answer(page, "c1p1", changed, "key-0002").status_code == 409
    assert walker.send({"page": walker.look().page}, "back").status_code == 303
    assert walker.look().page != page


def test_declining_keeps_nothing_and_frees_the_place(likert: Served) -> None:
    with likert.client() as client:
        sheet = read_sheet(client.get("/join?PROLIFIC_PID=gone-again&STUDY_ID=s1"))
        free = likert.store.overview().free
        reply = client.post(sheet.action, data={**sheet.fixed, "consent": "no"})
        assert reply.status_code == 303
        walker = Walker(client, likert.study)
        walker.link = reply.headers["location"]
        last = walker.look()
        assert "We kept nothing" in last.html
        assert walker.answer("1-1", "c1p1", "4", "key-0001").status_code == 422
        after = {"page": "consent", "consent": "yes", "box1": "1", "box2": "1", "box3": "1"}
        assert walker.send(after).is_redirect
        visit = find(likert, walker)
        assert (visit.state, visit.outside_id, dict(visit.params)) == ("declined", None, {})
        assert likert.store.all_answers(visit.id) == {}
        assert {event.kind for event in likert.store.visit_events(visit.id)} <= {"declined"}
        assert likert.store.overview().free == free
        again = Walker(client, likert.study).join("?PROLIFIC_PID=gone-again", again=True)
        assert find(likert, again).place is not None
        likert.store.exclude(find(likert, again).id, "the test is over")


def test_who_declines_on_a_link_of_their_own_leaves_nothing_and_frees_the_place(likert: Served) -> None:
    (invited,) = likert.store.make_links(1)
    with likert.client() as client:
        walker = Walker(client, likert.study)
        walker.link = f"/r/{invited.token}"
        assert walker.send({"page": "consent", "consent": "no"}).status_code == 303
        assert "We kept nothing" in walker.look().html
    visit = find(likert, walker)
    assert (visit.state, visit.outside_id, dict(visit.params)) == ("declined", None, {})
    assert {event.kind for event in likert.store.visit_events(visit.id)} <= {"declined"}
    assert likert.store.make_links(1)[0].place == invited.place


def test_who_comes_again_with_the_same_outside_id_goes_on(likert: Served) -> None:
    with likert.client() as client:
        first = Walker(client, likert.study).join("?PROLIFIC_PID=same-person&SESSION_ID=a&group=")
        second = Walker(client, likert.study).join("?PROLIFIC_PID=same-person&SESSION_ID=b")
    assert first.link == second.link
    visit = find(likert, first)
    assert visit.params == {"PROLIFIC_PID": "same-person", "SESSION_ID": "a", "group": ""}
    likert.store.exclude(visit.id, "the test is over")


@pytest.mark.parametrize("name", ["participantId", "survey_code", "id"])
def test_other_panels_ids_are_known_too(likert: Served, name: str) -> None:
    with likert.client() as client:
        walker = Walker(client, likert.study).join(f"?{name}=person-of-{name}")
    visit = find(likert, walker)
    assert visit.outside_id == f"person-of-{name}"
    likert.store.exclude(visit.id, "the test is over")


def test_a_preview_of_the_open_link_takes_no_place(likert: Served) -> None:
    before = len(likert.store.visits())
    with likert.client() as client:
        assert client.head("/join").status_code == 200
        assert client.get("/join", headers={"Sec-Purpose": "prefetch;prerender"}).status_code == 200
    assert len(likert.store.visits()) == before


def test_a_link_of_ones_own_is_opened_by_its_person_and_not_by_a_preview(likert: Served) -> None:
    (visit,) = likert.store.make_links(1)
    with likert.client() as client:
        client.head(f"/r/{visit.token}")
        client.get(f"/r/{visit.token}", headers={"Sec-Purpose": "prefetch"})
        unopened = likert.store.find_visit(visit.token)
        assert unopened is not None
        assert (unopened.state, unopened.opened) == ("invited", None)
        walker = Walker(client, likert.study)
        walker.link = f"/r/{visit.token}"
        assert walker.look().page == "consent"
        unopened = likert.store.find_visit(visit.token)
        assert unopened == visit, "a program that follows the links of a mail starts no hold"
        walker.step()
    opened = likert.store.find_visit(visit.token)
    assert opened is not None
    assert (opened.state, opened.place, opened.seen is None) == ("background", visit.place, False)
    likert.store.exclude(visit.id, "the test is over")


def test_a_full_a_paused_and_a_closed_study_say_so_calmly(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "full", "binary")
    with serve_in_thread(folder) as served, served.client() as client:
        inside = Walker(client, served.study).join()
        inside.step()
        for state, words in (("paused", "taking a break"), ("closed", "has ended")):
            served.store.set_state(state, "a test")
            with served.client() as other:
                assert words in other.get("/join").text
            wait_for(client, inside.link, words)
        served.store.set_state("open", "a test")
        served.store.make_links()
        client.cookies.clear()
        reply = client.get("/join")
        assert (reply.status_code, "All places are taken" in reply.text) == (409, True)


def wait_for(client: httpx.Client, link: str, words: str) -> None:
    """The state of the study is looked at once a second."""
    until = time.monotonic() + PATIENCE
    while words not in client.get(link).text:
        assert time.monotonic() < until, words
        time.sleep(0.1)


def test_late_answers_of_somebody_released_are_kept_and_marked(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    form = walker.fill(walker.look())
    visit = find(likert, walker)
    likert.store.release(visit.id, "returned on the panel")
    assert walker.answer(page, "c1p1", form["c1p1"], "key-0001").json() == {
        "saved": True, "revision": 0, "late": True,
    }  # fmt: skip
    assert walker.send(form).status_code == 303
    occasion, order = map(int, page.split("-"))
    stored = likert.store.visit_answers(visit.id, occasion, order)
    assert {name: one.late for name, one in stored.items()} == {"c1p1": True, "c2p1": True}
    assert "given to someone else" in walker.look().html
    assert find(likert, walker).state == "released"


def test_who_timed_out_goes_on_if_the_place_is_still_free(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    visit = find(likert, walker)
    likert.store.release_stale(now=(visit.seen or 0) + likert.store.hold_seconds + 1)
    away = walker.look()
    assert (away.page, find(likert, walker).state) == ("end-away", "released")
    assert walker.send(away.fixed).status_code == 303
    assert walker.look().page == page
    assert find(likert, walker).state == "rating"


def test_going_back_is_recorded_as_a_change(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "back", "binary", back="back: true")
    with serve_in_thread(folder) as served, served.client() as client:
        walker = Walker(client, served.study).join()
        to_first_trial(walker)
        first = walker.step()
        second = walker.look()
        assert f'formaction="{walker.link}/back"' in second.html
        assert walker.send({"page": second.page}, "back").status_code == 303
        again = walker.look()
        assert (again.page, again.chosen) == (first.page, dict.fromkeys(first.names, "0"))
        form = walker.fill(again) | {first.names[0]: "1"}
        assert walker.send(form).status_code == 303
        visit = find(served, walker)
        kept = [
            (one.value, one.revision)
            for one in find_answers(served, visit)
            if one.name == first.names[0] and one.phase != "practice"
        ]
        assert kept[:2] == [("0", 0), ("1", 1)]
        assert walker.look().page == second.page


def test_a_pause_keeps_what_was_answered_and_goes_on_there(likert: Served, walker: Walker) -> None:
    page = to_first_trial(walker)
    form = walker.fill(walker.look())
    del form["c2p1"]
    assert walker.send(form, "pause").status_code == 303
    rest = walker.look()
    assert "Take the time you need." in rest.html
    assert walker.send(walker.fill(rest)).status_code == 303
    sheet = walker.look()
    assert (sheet.page, sheet.chosen) == (page, {"c1p1": form["c1p1"]})
