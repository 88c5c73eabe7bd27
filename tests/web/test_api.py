"""What programs may send: described, and never answered with a server error."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from panelist.collection.store.errors import StoreUnavailable
from panelist.collection.store.operations.saving import MOST_REVISIONS
from tests.web.servers import Served, make_study, serve_in_thread
from tests.web.walking import Walker


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_in_thread(make_study(tmp_path_factory.mktemp("api") / "likert"), joins_a_minute=0) as running:
        yield running


@pytest.fixture(scope="module")
def walker(served: Served) -> Iterator[Walker]:
    """Somebody at the first practice page."""
    with served.client() as client:
        walker = Walker(client, served.study).join()
        for _ in walker.walk(until="1-1"):
            pass
        yield walker


def test_the_description_names_every_route_for_programs(served: Served) -> None:
    with served.client() as client:
        whole = client.get("/openapi.json").json()
    assert set(whole["paths"]) == {"/health", "/r/{token}/answer"}
    assert set(whole["components"]["schemas"]["Message"]["required"]) == {"page", "name", "value", "key"}
    assert "422" in whole["paths"]["/r/{token}/answer"]["post"]["responses"]


def test_there_are_no_pages_about_it_that_load_scripts_from_elsewhere(served: Served) -> None:
    with served.client() as client:
        assert [client.get(path).status_code for path in ("/docs", "/redoc")] == [404, 404]


def test_health_says_ok(served: Served) -> None:
    with served.client() as client:
        assert client.get("/health").json() == {"status": "ok"}


FUZZ = settings(
    max_examples=60,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_whatever_the_description_allows_is_answered_as_described(served: Served, walker: Walker) -> None:
    schema = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
    token = walker.link.rpartition("/")[2]
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        @FUZZ
        @given(case=operation.as_strategy())
        def check(case: schemathesis.Case[Any]) -> None:
            reply = case.call(base_url=served.url)
            case.validate_response(reply, excluded_checks=_UNSUITABLE)
            if "token" in case.path_parameters:  # the same at a link that exists
                case.path_parameters["token"] = token
                reply = case.call(base_url=served.url)
                case.validate_response(reply, excluded_checks=_UNSUITABLE)

        check()


# What is well formed may still be no answer to anything on the page (422), and a link is no login.
_UNSUITABLE = [positive_data_acceptance, ignored_auth]


@FUZZ
@given(body=st.binary(max_size=200))
def test_rubbish_is_refused_and_never_a_fault(walker: Walker, body: bytes) -> None:
    for path in ("answer", "page", "back", "pause"):
        kind = "application/json" if path == "answer" else "application/x-www-form-urlencoded"
        reply = walker.client.post(f"{walker.link}/{path}", content=body, headers={"Content-Type": kind})
        assert reply.status_code < 500
        assert path != "answer" or reply.status_code in (400, 422)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@FUZZ
@given(
    message=st.fixed_dictionaries(
        {
            "page": st.just("1-1") | JSON,
            "name": st.just("c1p1") | JSON,
            "value": JSON,
            "key": st.just("key-0001") | JSON,
        },
        optional=dict.fromkeys(("seconds_first", "seconds", "changes", "raw", "width", "more"), JSON),
    )
)
def test_messages_of_any_shape_are_saved_or_refused(walker: Walker, message: dict[str, object]) -> None:
    reply = walker.client.post(f"{walker.link}/answer", json=message)
    assert reply.status_code in (200, 422)
    assert reply.json()["saved"] is (reply.status_code == 200)


def test_a_database_that_is_away_is_told_with_503(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreUnavailable("The database postgresql://secret-host cannot be reached.")

    with served.client() as client:
        walker = Walker(client, served.study).join()
        for name in ("find_visit", "find_messaged", "state"):
            monkeypatch.setattr(served.app.state.site.store, name, fail)
        answer = walker.answer("1-1", "c1p1", "4", "key-0001")
        page = client.get(walker.link)
        health = client.get("/health")
    assert [reply.status_code for reply in (answer, page, health)] == [503, 503, 503]
    assert all(int(reply.headers["retry-after"]) > 0 for reply in (answer, page, health))
    assert answer.json()["saved"] is False
    assert "What was saved before is safe" in page.text
    assert "secret-host" not in answer.text + page.text


def test_a_fault_of_ours_is_told_calmly_and_without_its_cause(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the secret cause")

    with served.client() as client:
        walker = Walker(client, served.study).join()
        monkeypatch.setattr(served.app.state.site.store, "find_messaged", fail)
        reply = client.get(walker.link)
    assert reply.status_code == 500
    assert "Something went wrong on our side" in reply.text
    assert "secret cause" not in reply.text
    assert "content-security-policy" in reply.headers


def test_a_database_that_is_deleted_while_serving_turns_health_red_and_saves_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = make_study(tmp_path / "study")
    with serve_in_thread(folder) as running, running.client() as client:
        walker = Walker(client, running.study).join()
        for _ in walker.walk(until="1-1"):
            pass
        assert walker.answer("1-1", "c1p1", "4", "key-0001").status_code == 200
        assert client.get("/health").json() == {"status": "ok"}
        (folder / "study.db").unlink()
        answers = [walker.answer("1-1", "c1p1", "5", f"key-after-{number}") for number in range(20)]
        assert [reply.status_code for reply in answers] == [503] * 20
        assert not any(reply.json()["saved"] for reply in answers)
        told = [record for record in caplog.records if "was deleted" in record.getMessage()]
        assert len(told) < len(answers) / 2, "one line a minute, not one for every try of every rater"
        running.app.state.site._health = (-10.0, True)  # as if a second had passed
        assert client.get("/health").status_code == 503


def test_an_answer_that_is_changed_without_end_is_refused_at_last(tmp_path: Path) -> None:
    with serve_in_thread(make_study(tmp_path / "study")) as running, running.client() as client:
        walker = Walker(client, running.study).join()
        for _ in walker.walk(until="1-1"):
            pass
        replies = [
            walker.answer("1-1", "c1p1", str(1 + number % 2), f"key-{number:05}")
            for number in range(MOST_REVISIONS)
        ]
        replies += [walker.answer("1-1", "c1p1", "3", f"one-more-{number}") for number in range(2)]
        statuses = [reply.status_code for reply in replies]
        assert statuses == [200] * MOST_REVISIONS + [409, 409], "409: the page does not send it again"
        assert replies[-1].json()["saved"] is False
