"""The connection to Prolific: what is repeated and what is not, and where the token goes and never shows."""

import pytest

from panelist.collection.recruiting.errors import (
    AnswerLost,
    BadRecruiting,
    NotThere,
    PanelRefused,
    TokenRefused,
)
from panelist.collection.recruiting.prolific.client import API, HttpClient, find_url, open_client
from panelist.collection.recruiting.prolific.endpoints import Api
from tests.collection.recruiting.fake_prolific import FAULTS, TOKEN, Fake, Server


def open_api(server: Server, token: str = TOKEN) -> tuple[Api, list[float]]:
    waits: list[float] = []
    return Api(HttpClient(token, server.url, sleep=waits.append)), waits


def plan_faults(fake: Fake, *faults: str) -> None:
    left = list(faults)
    fake.faults = lambda method, path: left.pop(0) if left else ""


def test_every_page_of_a_list_is_read_and_no_address_in_an_answer_is_followed() -> None:
    with Server() as server:
        fake = server.fake
        fake.studies["s"] = {"id": "s", "status": "ACTIVE", "total_available_places": 99}
        names = {fake.take_place("s", f"p{n}") for n in range(7)}
        api, _ = open_api(server)
        assert {one.id for one in api.list_submissions("s")} == names
        assert len({one.person for one in api.list_submissions("s")}) == 7


def test_a_list_that_shrinks_while_it_is_read_ends_at_the_404() -> None:
    with Server() as server:
        fake = server.fake
        fake.studies["s"] = {"id": "s", "status": "ACTIVE", "total_available_places": 99}
        for n in range(4):
            fake.take_place("s", f"p{n}")
        api, _ = open_api(server)

        def shrink(method: str, path: str) -> str:
            if len(fake.asked) == 1:
                fake.submissions.pop(next(reversed(fake.submissions)), None)
            return ""

        fake.faults = shrink
        assert len(api.list_submissions("s")) == 3


@pytest.mark.parametrize("fault", FAULTS)
def test_what_can_be_asked_twice_is_asked_again(fault: str) -> None:
    with Server() as server:
        server.fake.studies["s"] = {"id": "s", "status": "ACTIVE"}
        plan_faults(server.fake, fault, fault)
        api, waits = open_api(server)
        assert api.get_study("s")["status"] == "ACTIVE"
        assert len(waits) == 2
        assert waits[1] > waits[0] * 0.9


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "429"])
def test_what_cannot_be_asked_twice_says_that_its_answer_was_lost(fault: str) -> None:
    with Server() as server:
        server.fake.studies["s"] = {"id": "s", "status": "UNPUBLISHED"}
        plan_faults(server.fake, fault)
        api, _ = open_api(server)
        with pytest.raises(AnswerLost):
            api.move_study("s", "PUBLISH")
        assert len(server.fake.asked) == ("after" in fault)


def test_as_long_as_prolific_asks_for_is_waited() -> None:
    with Server() as server:
        server.fake.studies["s"] = {"id": "s", "status": "UNPUBLISHED"}
        server.fake.retry_after = "7"
        plan_faults(server.fake, "429")
        api, waits = open_api(server)
        assert api.move_study("s", "PUBLISH")["status"] == "ACTIVE"
        assert len(waits) == 1
        assert waits[0] > 7 * 0.7
        server.fake.retry_after = "86400"
        plan_faults(server.fake, "429")
        with pytest.raises(PanelRefused, match="wait 86400 seconds"):
            api.get_study("s")


def test_a_refused_token_is_one_clear_sentence_without_the_token() -> None:
    with Server() as server:
        api, _ = open_api(server, "tok-wrong-secret")
        with pytest.raises(TokenRefused, match="refuses the token in PROLIFIC_TOKEN") as caught:
            api.get_study("s")
        assert "tok-wrong" not in str(caught.value) + repr(caught.value) + repr(api)


def test_what_is_not_there_is_said_so() -> None:
    with Server() as server:
        api, _ = open_api(server)
        with pytest.raises(NotThere, match="knows nothing under /studies/nobody/"):
            api.get_study("nobody")


def test_a_server_that_is_away_says_so() -> None:
    with Server() as server:
        api, waits = open_api(server)
    with pytest.raises(PanelRefused, match="cannot be reached"):
        api.get_study("s")
    assert len(waits) == 5


def test_the_token_goes_to_https_or_to_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROLIFIC_URL", raising=False)
    assert find_url() == API
    assert find_url("http://127.0.0.1:9/api/v1/") == "http://127.0.0.1:9/api/v1"
    monkeypatch.setenv("PROLIFIC_URL", "https://proxy.example.org/api")
    assert find_url() == "https://proxy.example.org/api"
    for bad in (
        "http://api.prolific.com",
        "ftp://x",
        "prolific",
        "https://u:p@x.org",
        "https://[",
        "https://",
    ):
        with pytest.raises(BadRecruiting, match="https"):
            find_url(bad)


def test_without_a_token_it_is_said_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    with pytest.raises(BadRecruiting, match="There is no token"):
        open_client()
    for odd in ("two words", "line\nbreak-secret", "ümlaut-secret"):
        with pytest.raises(BadRecruiting) as caught:
            open_client(token=odd)
        assert "secret" not in str(caught.value)
