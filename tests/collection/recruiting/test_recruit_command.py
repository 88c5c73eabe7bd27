"""The command: requests shown without sending, and one clear sentence for whatever is wrong."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Outcome, call
from tests.collection.recruiting.fake_prolific import TOKEN, Server
from tests.collection.recruiting.people import URL, open_office, write_paid


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_paid(tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server() as serving:
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PROLIFIC_URL", serving.url)
        yield serving


def recruit(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> Outcome:
    outcome = call(capsys, "recruit", folder, *words)
    assert TOKEN not in outcome.out + outcome.err
    assert "Traceback" not in outcome.err
    return outcome


def test_a_dry_run_shows_the_whole_request_and_leaves_no_trace(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Server
) -> None:
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    said = recruit(capsys, folder, "draft", "--dry-run", "--url", URL)
    assert said.code == 0
    assert said.out.startswith(f"POST {server.url}/studies/\nAuthorization: Token …\n{{")
    body = json.loads(re.search(r"\{.*\}\n\n", said.out, re.DOTALL)[0])  # type: ignore[index]
    assert (body["reward"], body["total_available_places"]) == (168, 4)
    assert "Nothing was sent" in said.err
    assert server.fake.asked == []
    assert before == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_a_dry_run_of_what_is_going_on_changes_nothing(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Server
) -> None:
    assert recruit(capsys, folder, "draft", "--url", URL).code == 0
    asked = len(server.fake.asked)
    for action in ("publish", "test", "status", "watch", "approve", "bonus", "close", "reject"):
        said = recruit(capsys, folder, action, "--dry-run")
        assert said.code == 0, said
        assert "GET " in said.out or "POST " in said.out
    assert len(server.fake.asked) == asked
    assert [study["status"] for study in server.fake.studies.values()] == ["UNPUBLISHED"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("publish", "--yes"), "There is no study on Prolific yet. Make one: panelist recruit STUDY draft"),
        (("status",), "There is no study on Prolific yet"),
        (("draft", "--url", "http://rate.example.org"), "Serve the pages under an https address"),
        (("draft", "--url", "nonsense"), "is not an address for the pages"),
        (("draft", "9", "--url", URL), "more than the plan has places for: it has 4 places"),
        (("draft", "0", "--url", URL), "1 place at least"),
        (("draft", "many", "--url", URL), "one whole number"),
        (("places",), "one whole number of places"),
        (("publsh",), "Did you mean 'publish'"),
        (
            ("draft", "--url", URL, "--api", "http://evil.example"),
            "is not an address to which the token may be sent",
        ),
        (("draft", "--url", URL, "--group", "native"), "The plan has no groups"),
    ],
)
def test_what_is_wrong_is_one_clear_sentence(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Server, words: tuple[str, ...], said: str
) -> None:
    outcome = recruit(capsys, folder, *words)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.splitlines()[-1].startswith("Error: ")
    assert outcome.err.count("\n") <= 2
    assert server.fake.studies == {}


def test_a_refused_token_is_one_sentence_and_nothing_is_half_done(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROLIFIC_TOKEN", "tok-somebody-elses")
    outcome = recruit(capsys, folder, "draft", "--url", URL)
    assert outcome.code == 2
    assert outcome.err.count("\n") <= 2
    assert "Prolific refuses the token in PROLIFIC_TOKEN (401)" in outcome.err
    assert "tok-somebody" not in outcome.err
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
    assert recruit(capsys, folder, "draft", "--url", URL).code == 0
    assert len(server.fake.studies) == 1


def test_without_a_token_it_says_where_to_get_one(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    outcome = recruit(capsys, folder, "draft", "--url", URL)
    assert outcome.code == 2
    assert "There is no token" in outcome.err
    assert sorted(path.name for path in folder.iterdir()) == ["outputs.csv", "study.yaml"]


def test_a_draft_whose_answer_was_lost_is_found_again_and_not_made_twice(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("panelist.collection.recruiting.payments.WAITS", (0.0,) * 5)
    monkeypatch.setattr("panelist.collection.recruiting.recruiter.WAITS", (0.0,) * 5)
    lost = ["lost after"]
    server.fake.faults = lambda method, path: lost.pop() if lost and method == "POST" else ""
    assert recruit(capsys, folder, "draft", "--url", URL).code == 0
    assert len(server.fake.studies) == 1
    lost.append("lost after")
    assert recruit(capsys, folder, "publish", "--yes").code == 0
    assert [study["status"] for study in server.fake.studies.values()] == ["ACTIVE"]


def test_a_study_that_somebody_made_cheaper_on_prolific_is_not_published(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Server
) -> None:
    recruit(capsys, folder, "draft", "--url", URL)
    (study,) = server.fake.studies.values()
    study["reward"] = 100
    outcome = recruit(capsys, folder, "publish", "--yes")
    assert outcome.code == 2
    assert "less than the 12.60 GBP an hour promised" in outcome.err
    assert study["status"] == "UNPUBLISHED"


def test_a_study_that_is_gone_on_prolific_is_said_so(
    capsys: pytest.CaptureFixture[str], folder: Path, server: Server
) -> None:
    recruit(capsys, folder, "draft", "--url", URL)
    server.fake.studies.clear()
    outcome = recruit(capsys, folder, "status")
    assert outcome.code == 2
    assert "Prolific knows nothing under /studies/" in outcome.err


def test_other_panels_get_their_link(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    said = recruit(capsys, folder, "--panel", "sona", "--url", URL)
    assert said.code == 0
    assert f"{URL}/join?survey_code=%SURVEY_CODE%" in said.out
    assert "Did you mean 'sona'" in recruit(capsys, folder, "--panel", "sonar").err
    write_paid(folder, "", "panel: prolific", "panel: connect")
    assert "participantId" in recruit(capsys, folder).out
    assert "has no API here" in recruit(capsys, folder, "draft").err


def test_a_study_without_recruiting_says_what_to_add(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    write_paid(folder, "", "recruiting:\n  panel: prolific\n", "")
    outcome = recruit(capsys, folder, "status")
    assert outcome.code == 2
    assert "Add recruiting: {panel: prolific}" in outcome.err


def test_groups_without_a_question_are_recruited_one_by_one(tmp_path: Path) -> None:
    groups = "raters: {groups: [{name: native, raters: 2}, {name: learner, raters: 3}]}"
    study = write_paid(tmp_path / "study", "", "raters: {count: 4}", groups)
    with open_office(study) as office:
        with pytest.raises(Exception, match="--group NAME"):
            office.recruiter.draft(URL)
        for group, places in (("native", 2), ("learner", 3)):
            object.__setattr__(office.recruiter, "group", group)
            campaign, offer = office.recruiter.draft(URL)
            assert (campaign.group, offer.places) == (group, places)
        urls = [one["external_study_url"] for one in office.server.fake.studies.values()]
        assert [url.rpartition("group=")[2] for url in urls] == ["native", "learner"]
