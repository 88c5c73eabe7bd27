"""One person is erased: from every table, and from the file; the count of withdrawals stays."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from panelist.collection.export.tables_of_study import export_ratings, export_visits
from panelist.collection.forgetting import NobodyFound, find_person, forget, list_rated, wipe
from panelist.collection.store.operations import ops
from panelist.collection.store.operations.erasing import KEPT
from panelist.collection.store.operations.messages import SendMessage
from panelist.collection.store.operations.recruits import Recruit, SaveRecruits, read_recruits
from panelist.collection.store.operations.saving import Move, PageDone
from panelist.collection.store.records import Visit
from panelist.collection.store.store import Store, open_store
from panelist.design.plan import Plan
from panelist.study.study import Study
from tests.cli.commands import call
from tests.collection.store.studies import answer

PERSON, WORDS = "PID-of-somebody-5f2d8a", "I am the only glassblower of Ely"


def rate(store: Store, person: str, words: str) -> Visit:
    """Return the visit of somebody who rated a page and wrote something."""
    visit = store.join(outside_id=person, params={"PROLIFIC_PID": person, "SESSION_ID": f"session {person}"})
    given = (answer("4", "k1"), answer(words, "k2", "c2p1", "remarks"))
    move = Move("rating", 1, 2)
    store.do(ops.SaveAnswers(visit.id, 1, 1, given, PageDone(None, 4.0), move))
    store.do(ops.AddEvent(visit.id, "background", {"trade": words}))
    store.do(SendMessage(visit.id, "Ada", f"Dear {person}"))
    store.do(SaveRecruits((Recruit(f"session {person}", "study", visit.id, "ACTIVE", "", None, 0, 0.0),)))
    return visit


def dump(store: Store) -> str:
    """Return everything that the database holds, as text."""
    snapshot = store.snapshot()
    frames = (snapshot.visits, snapshot.answers, snapshot.pages_done, snapshot.events, snapshot.actions)
    told = [frame.to_json() for frame in frames]
    told += [json.dumps(asdict(one)) for one in store.database.read(read_recruits)]
    return "\n".join(told)


def test_everything_about_one_person_is_erased_and_nothing_about_others(
    store: Store, study: Study, plan: Plan
) -> None:
    other = rate(store, "another", "Nothing to say.")
    visit = rate(store, PERSON, WORDS)
    store.exclude(visit.id, f"{PERSON} wrote to us", "Ada")
    before = store.all_answers(other.id)
    person = find_person(store, PERSON)
    assert (person.traces.answers, person.traces.pages, person.traces.submissions) == (2, 1, 1)
    assert PERSON in dump(store)
    forget(store, person, "Ada")
    told = dump(store)
    for trace in (PERSON, WORDS, visit.token):
        assert trace not in told
    assert told.count("Dear another") == 2, "what was written to others stays: the message, and its record"
    assert store.all_answers(other.id) == before
    assert store.find_visit(visit.token) is None
    emptied = store.get_visit(visit.id)
    assert emptied is not None
    assert (emptied.state, emptied.valid, emptied.seen, emptied.opened) == ("released", False, None, None)
    last = store.actions(1)[0]
    assert (last.who, last.what, last.detail["answers"]) == ("Ada", "erased a person", 2)
    frame = export_visits(store.snapshot(), study, plan).frame
    assert len(frame) == 2, "that a person withdrew is reported"
    assert export_ratings(store.snapshot(), study, plan).frame["rater"].nunique() == 1
    with pytest.raises(NobodyFound):
        find_person(store, PERSON)
    assert store.join(outside_id="new").place == visit.place, "the place is offered again"


def test_a_person_is_found_by_id_pseudonym_and_link(store: Store) -> None:
    visit = rate(store, PERSON, WORDS)
    person = find_person(store, PERSON)
    link = f"https://rate.example.org/r/{visit.token}"
    for known_as in (f" {PERSON} ", person.name, visit.token, link, f"{link}?x=1"):
        assert find_person(store, known_as).visit.id == visit.id
    for unknown in ("", "r001", "PID", "A" * 26, person.name[:-1]):
        with pytest.raises(NobodyFound, match="Nobody is known as"):
            find_person(store, unknown)


def test_the_file_itself_forgets(study: Study, plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with open_store(str(path), study, plan) as store:
        for n in range(5):
            rate(store, f"other {n}", "x" * 5000)
        rate(store, PERSON, WORDS)
        forget(store, find_person(store, PERSON), "Ada")
        assert wipe(store)
        for file in tmp_path.glob("study.db*"):
            kept = file.read_bytes()
            assert PERSON.encode() not in kept, file.name
            assert WORDS.encode() not in kept, file.name


def test_the_command_tells_first_and_erases_with_yes(
    study: Study, plan: Plan, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(database_url, study, plan) as store:
        visit = rate(store, PERSON, WORDS)
    done = call(capsys, "forget", study.folder, "--rater", PERSON, "--db", database_url)
    assert (done.code, "2 answers, 1 page done" in done.out) == (0, True), done.err
    assert "Nothing is erased yet. Add --yes" in done.out
    with open_store(database_url, study, create=False) as store:
        assert len(store.all_answers(visit.id)) == 1
    done = call(capsys, "forget", study.folder, "--rater", PERSON, "--db", database_url, "--yes")
    assert (done.code, "All of that is erased" in done.out) == (0, True), done.err
    assert "backups, exports and archives made before" in done.err
    with open_store(database_url, study, create=False) as store:
        assert store.all_answers(visit.id) == {}
    done = call(capsys, "forget", study.folder, "--rater", PERSON, "--db", database_url, "--yes")
    assert (done.code, "Nobody is known as" in done.err) == (2, True)


def test_ratings_are_kept_without_the_person_where_the_consent_says_so(
    store: Store, study: Study, plan: Plan
) -> None:
    visit = rate(store, PERSON, WORDS)
    store.do(ops.AddEvent(visit.id, "check", {"check": "attention", "passed": True}))
    reason = answer("as my aunt in Ely says", "k3", "c1p1-why")
    store.do(ops.SaveAnswers(visit.id, 1, 1, (reason,), None, None))
    assert "my aunt" in dump(store)
    person = find_person(store, PERSON)
    forget(store, person, "Ada", list_rated(study))
    told = dump(store)
    for trace in (PERSON, visit.token, person.name, "glassblower", "my aunt"):
        assert trace not in told, trace
    kept = export_ratings(store.snapshot(), study, plan).frame
    assert len(kept) == 1
    assert person.name not in set(kept["rater"]), "no id and no earlier pseudonym leads to them"
    assert "attention" in told, "checks stay, because they decide which ratings are analysed"
    last = store.actions(1)[0]
    assert (last.what, last.reason) == ("erased a person", KEPT)
    with pytest.raises(NobodyFound):
        find_person(store, PERSON)


def test_the_command_does_what_the_consent_declares_unless_it_is_told(
    study: Study, plan: Plan, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(database_url, study, plan) as store:
        visit = rate(store, PERSON, WORDS)
    refused = call(
        capsys, "forget", study.folder, "--rater", PERSON, "--db", database_url, "--ratings", "all"
    )
    assert (refused.code, "erase or keep" in refused.err) == (2, True)
    asked = ("forget", study.folder, "--rater", PERSON, "--db", database_url, "--ratings", "keep")
    done = call(capsys, *asked)
    assert "The ratings will be kept" in done.out
    done = call(capsys, *asked, "--yes")
    assert (done.code, "under a new pseudonym" in done.out) == (0, True), done.err
    assert "made before still hold it, and show by place, times and answers whose ratings" in done.err
    with open_store(database_url, study, create=False) as store:
        assert len(store.all_answers(visit.id)) == 1
