"""The overview: its counts against a plain count of the same tables."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from panelist.collection.export.tables_of_study import export_visits
from panelist.collection.forgetting import find_person, forget
from panelist.collection.monitor.agreement_so_far import compare_with_rest, measure_so_far
from panelist.collection.monitor.given_ratings import collect_ratings
from panelist.collection.monitor.ledger import Ledger
from panelist.collection.monitor.overview import Overview, make_overview
from panelist.collection.monitor.plan_facts import count_plan
from panelist.collection.monitor.system_means import average_systems
from panelist.collection.pages.agenda import Agenda
from panelist.collection.store.errors import NoPlace, NoVisit
from panelist.collection.store.operations import ops
from panelist.collection.store.operations.messages import SendMessage
from panelist.collection.store.operations.researcher_ops import Readmit
from panelist.collection.store.operations.saving import Answer, Move, PageDone
from panelist.collection.store.store import Store, open_store
from panelist.design.make import plan_study
from panelist.study.reading.load import load_study
from panelist.study.study import Study
from tests.collection.store.studies import COMPARED, GROUPED, write_study

RATED = """\
title: A rated study
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
design: {type: latin-square}
raters: {count: 8}
pay: {living_wage: 12.60, minutes_per_trial: 0.5, minutes_before: 1}
"""


@pytest.fixture
def rated(tmp_path: Path) -> Iterator[tuple[Study, Store]]:
    study = write_study(tmp_path / "rated", RATED, n_items=12)
    with open_store(None, study, plan_study(study)) as store:
        yield study, store


def rate(
    store: Store,
    study: Study,
    n: int,
    until: int | None = None,
    value: str | None = None,
    seconds: float = 30.0,
) -> int:
    """Let somebody rate, to the end or to a page; return the number of the visit."""
    visit = store.join(None, f"person {n}", {}, "rating")
    pages = Agenda(store.plan()).sitting(visit.place, 1).pages
    begun = time.time() - 600
    for page in pages[:until]:
        item, system = page.outputs[0]
        given = value or str(1 + (int(item[1:]) + n % 2) % 5)
        answer = Answer("c1p1", "fluency", item, given, f"key-{page.order}", system)
        last = page is pages[-1]
        move = Move("finished" if last else "rating", 1, page.order + (not last))
        moment = begun + 30.0 * page.order
        store.do(
            ops.SaveAnswers(visit.id, 1, page.order, (answer,), PageDone(None, seconds), move, time=moment)
        )
    return visit.id


def look(study: Study, store: Store) -> tuple[Ledger, Overview]:
    ledger = Ledger(store)
    ledger.look()
    facts = count_plan(store.plan(), study)
    return ledger, make_overview(ledger, study, facts, time.time())


def test_the_counts_are_those_of_the_tables(rated: tuple[Study, Store]) -> None:
    study, store = rated
    for n in range(4):
        rate(store, study, n)
    rate(store, study, 5, until=3)
    excluded = rate(store, study, 6)
    store.exclude(excluded, "a robot", "me")
    _, overview = look(study, store)
    assert (overview.finished, overview.places, overview.open_places) == (4, 8, 3)
    assert (overview.ratings, overview.of_ratings) == (4 * 12 + 3, 8 * 12)
    table = store.plan().table
    filled = {visit.place for visit in store.visits() if visit.state == "finished"}
    rows = table[table["rater"].isin(filled)]
    by_output = Counter(zip(rows["item"], rows["system"], strict=True))
    wanted = Counter(zip(table["item"], table["system"], strict=True))
    assert overview.per_output == (min(by_output[cell] for cell in wanted), max(by_output.values()))
    assert overview.of_per_output == (min(wanted.values()), max(wanted.values()))
    assert sum(overview.outputs_by_ratings.values()) == len(wanted)
    assert overview.gone == 1
    assert sum(row.count("finished") for row in overview.rows) == 4
    assert sum(row.count("rating") for row in overview.rows) == 1
    assert sum(len(row.states) for row in overview.rows) == 8


def test_pay_is_by_the_time_that_was_really_taken(rated: tuple[Study, Store]) -> None:
    study, store = rated
    number = rate(store, study, 1)
    ledger, overview = look(study, store)
    (line,) = overview.raters
    seconds = ledger.folders[number].tally.seconds
    paid = 1.47  # 7 minutes at 12.60 an hour
    assert line.hourly == pytest.approx(paid * 3600 / seconds)
    assert overview.pay.median == pytest.approx(line.hourly)
    assert (overview.pay.below > 0) == (line.hourly is not None and line.hourly < 12.60)


def test_who_cannot_have_read_the_texts_is_flagged_from_the_first_rater_on(tmp_path: Path) -> None:
    second = '  - {name: adequacy, question: "How true is it?", scale: {type: likert, points: 5}}\ndesign:'
    study = write_study(tmp_path / "rated", RATED.replace("design:", second), n_items=12)
    outputs = study.folder / "outputs.csv"
    text = outputs.read_text(encoding="utf-8")
    outputs.write_text(re.sub(r" by (.)", r" by \1" + " and so on" * 20, text), encoding="utf-8")
    study = load_study(study.folder)
    with open_store(None, study, plan_study(study)) as store:
        facts = count_plan(store.plan(), study)
        counts = {words for place in facts.places.values() for words in place.words.values()}
        assert counts == {63}, "each output once, though two criteria ask about it"
        hasty, quick = rate(store, study, 1, seconds=0.9), rate(store, study, 2, seconds=8.0)
        store.do(ops.AddEvent(quick, "check", {"occasion": 1, "check": "instructed-1", "passed": False}))
        _, overview = look(study, store)
        flags = {line.id: [flag.text for flag in line.flags] for line in overview.raters}
        assert flags[hasty][0] == "Too fast to read: 0.9 s a page of 63 words"
        assert flags[quick][0] == "Checks missed: 1 of 1", "also where one is allowed"
        assert not any("fast" in text for text in flags[quick])
        table = export_visits(store.snapshot(), study, store.plan()).frame
        assert [cell.split("; ")[0] for cell in table["flags"]] == [flags[hasty][0], flags[quick][0]]
        assert {visit.state for visit in store.visits()} == {"finished"}, "a flag excludes nobody"


def test_a_second_look_finds_what_is_new_and_counts_nothing_twice(rated: tuple[Study, Store]) -> None:
    study, store = rated
    facts = count_plan(store.plan(), study)
    ledger = Ledger(store)
    ledger.look()
    assert make_overview(ledger, study, facts, time.time()).raters == ()
    rate(store, study, 1, until=5)
    ledger.look()
    first = make_overview(ledger, study, facts, time.time())
    looks = ledger.looks
    ledger.look()
    assert ledger.looks == looks
    assert first.ratings == 5
    visit = store.visits()[0]
    changed = Answer("c1p1", "fluency", "i1", "5", "another", "a")
    store.do(ops.SaveAnswers(visit.id, 1, 5, (changed,)))
    ledger.look()
    assert make_overview(ledger, study, facts, time.time()).ratings == 5  # a change of mind is no new rating
    assert ledger.folders[visit.id].answers[1, 5, "c1p1"].value == "5"


def test_late_answers_do_not_take_the_place_of_those_in_time(rated: tuple[Study, Store]) -> None:
    study, store = rated
    number = rate(store, study, 1, until=3)
    before = store.visit_answers(number, 1, 3)["c1p1"].value
    store.release(number, "gone", "me")
    late = Answer("c1p1", "fluency", "i1", "1" if before != "1" else "2", "late", "a")
    store.do(ops.SaveAnswers(number, 1, 3, (late,)))
    ledger, overview = look(study, store)
    assert ledger.folders[number].answers[1, 3, "c1p1"].value == before
    assert overview.ratings == 0  # the place is open again
    assert overview.raters[0].state == "Released, place open"
    rate(store, study, 2, until=1)
    states = {line.id: line.state for line in look(study, store)[1].raters}
    assert states[number] == "Released, place refilled"


def test_groups_are_counted_apart(tmp_path: Path) -> None:
    study = write_study(tmp_path / "grouped", GROUPED)
    with open_store(None, study, plan_study(study)) as store:
        store.join("learner", "a", {}, "rating")
        _, overview = look(study, store)
    assert overview.by in ("group", "list")
    assert sum(row.count("rating") for row in overview.rows) == 1
    if overview.by == "group":
        assert {row.label: row.count("open") for row in overview.rows} == {"native": 2, "learner": 1}


def test_agreement_is_not_measured_before_there_is_enough(rated: tuple[Study, Store]) -> None:
    study, store = rated
    rate(store, study, 1)
    ledger, _ = look(study, store)
    (given,) = collect_ratings(ledger.folders.values(), Agenda(store.plan()), study)
    found = measure_so_far([given])
    assert found.n_raters == 1
    assert found.criteria[0].agreement is None
    assert "Too early to say" in found.criteria[0].words


def test_agreement_so_far_is_that_of_the_exported_ratings(rated: tuple[Study, Store]) -> None:
    from panelist.agreement.measure import measure_agreement
    from panelist.collection.export.tables_of_study import export_ratings

    study, store = rated
    for n in range(8):
        rate(store, study, n)
    ledger, _ = look(study, store)
    given = collect_ratings(ledger.folders.values(), Agenda(store.plan()), study)
    found = measure_so_far(given).criteria[0]
    frame = export_ratings(store.snapshot(), study, store.plan()).frame
    whole = measure_agreement(frame, "ordinal", ["krippendorff_alpha_ordinal", "spearman"], interval="none")[
        "fluency"
    ]
    assert found.agreement is not None
    assert found.correlation is not None
    assert found.agreement.value == pytest.approx(whole["krippendorff_alpha_ordinal"].estimate)
    assert found.correlation.value == pytest.approx(whole["spearman"].estimate)
    assert found.agreement.low <= found.agreement.value <= found.agreement.high


def test_who_rates_the_other_way_round_disagrees_with_the_rest(rated: tuple[Study, Store]) -> None:
    study, store = rated
    ids = [rate(store, study, 2 * n) for n in range(7)]
    visit = store.join(None, "contrary", {}, "rating")
    pages = Agenda(store.plan()).sitting(visit.place, 1).pages
    for page in pages:
        item, system = page.outputs[0]
        answer = Answer("c1p1", "fluency", item, str(5 - int(item[1:]) % 5), f"k{page.order}", system)
        done = page is pages[-1]
        store.do(
            ops.SaveAnswers(
                visit.id,
                1,
                page.order,
                (answer,),
                PageDone(),
                Move("finished" if done else "rating", 1, page.order),
            )
        )
    ledger, _ = look(study, store)
    rest = compare_with_rest(collect_ratings(ledger.folders.values(), Agenda(store.plan()), study))
    assert rest[visit.id] < -0.9
    assert all(rest[number] > 0.5 for number in ids)


def test_means_of_systems_are_those_of_the_ratings(rated: tuple[Study, Store]) -> None:
    study, store = rated
    for n in range(8):
        rate(store, study, n)
    ledger, _ = look(study, store)
    (means,) = average_systems(
        collect_ratings(ledger.folders.values(), Agenda(store.plan()), study), study.systems
    )
    from panelist.collection.export.tables_of_study import export_ratings

    frame = export_ratings(store.snapshot(), study, store.plan()).frame
    for one in means.systems:
        rows = frame[frame["system"] == one.system]
        assert one.n_ratings == len(rows)
        assert one.mean == pytest.approx(rows.groupby("rater")["rating"].mean().mean())
        assert one.low < one.mean < one.high


def test_comparisons_are_scored_by_who_was_called_best(tmp_path: Path) -> None:
    study = write_study(tmp_path / "compared", COMPARED)
    with open_store(None, study, plan_study(study)) as store:
        agenda = Agenda(store.plan(), ["preference"])
        for n in range(4):
            visit = store.join(None, f"p{n}", {}, "rating")
            pages = agenda.sitting(visit.place, 1).pages
            for page in pages:
                best = next(k for k, output in enumerate(page.outputs, start=1) if output[1] == "b")
                answer = Answer("c1", "preference", page.outputs[0][0], str(best), f"k{page.order}", "", 0)
                end = "finished" if page is pages[-1] else "rating"
                store.do(
                    ops.SaveAnswers(visit.id, 1, page.order, (answer,), PageDone(), Move(end, 1, page.order))
                )
        ledger, overview = look(study, store)
        (given,) = collect_ratings(ledger.folders.values(), agenda, study)
        (means,) = average_systems([given], study.systems)
    assert overview.ratings == overview.of_ratings == overview.finished * len(pages)
    assert {one.system: one.mean for one in means.systems} == {"a": 0.0, "b": 1.0}
    assert given.measurement == "nominal"


def test_following_and_the_deeds_of_researchers_work_on_either_database(study: Study, store: Store) -> None:
    visit = store.join(None, "somebody", {}, "rating")
    ledger = Ledger(store, frozenset({"remarks"}))
    ledger.look()
    given = Answer("c1p1", "fluency", "i1", "4", "k1", "a")
    store.do(ops.SaveAnswers(visit.id, 1, 1, (given,), PageDone(None, 5.0), Move("rating", 1, 2)))
    store.do(SendMessage(visit.id, "me", "Are you there?"))
    for _ in range(2):  # what is met again is not counted again
        ledger.look()
        folder = ledger.folders[visit.id]
        assert (folder.tally.ratings, sorted(folder.tally.pages)) == (1, [(1, 1)])
        assert [event.kind for event in folder.events.values()] == ["message"]
    store.exclude(visit.id, "a reason", "me")
    back = store.do(Readmit(visit.id, "me", "a mistake"))
    assert (back.state, back.valid, back.ended) == ("rating", True, None)
    with pytest.raises(NoVisit, match="not excluded"):
        store.do(Readmit(visit.id, "me"))
    store.exclude(visit.id, "a reason", "me")
    assert store.join(None, "another", {}, "rating").place == visit.place
    with pytest.raises(NoPlace, match="Another rater has place"):
        store.do(Readmit(visit.id, "me"))
    assert [action.what for action in store.actions()] == ["excluded", "readmitted", "excluded", "message"]
    ledger.look()
    assert make_overview(ledger, study, count_plan(store.plan(), study), time.time()).refilled == 1


def test_who_is_erased_leaves_the_dashboard_at_once_and_newcomers_are_seen(
    rated: tuple[Study, Store],
) -> None:
    study, store = rated
    first, last = rate(store, study, 1), rate(store, study, 2)
    ledger, before = look(study, store)
    assert before.ratings == 2 * 12
    forget(store, find_person(store, "person 2"), "Ada")
    rate(store, study, 3, until=5)  # its rows get the numbers of those that were erased
    ledger.look()
    gone = ledger.folders[last]
    assert (gone.answers, gone.events, gone.pages) == ({}, {}, {})
    after = make_overview(ledger, study, count_plan(store.plan(), study), time.time(), {last: 0.0})
    assert (after.ratings, after.finished) == (12 + 5, 1)
    assert not any(line.flags for line in after.raters if line.id == last), "measured before"
    assert len(ledger.folders[first].answers) == 12
