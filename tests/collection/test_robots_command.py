"""``panelist simulate --web``: simulated raters at the pages of a running server."""

from pathlib import Path

import pytest

from panelist.collection.robots import browser
from panelist.collection.robots.browser import BadServer, find_server, read_address
from tests.cli.commands import call
from tests.collection.faulty_servers import write_faulty_study
from tests.collection.recruiting.people import write_paid
from tests.web.servers import serve_in_thread


def test_the_command_fills_the_places_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = write_faulty_study(tmp_path / "study", 4, 3)
    with serve_in_thread(study.folder, joins_a_minute=0) as served:
        done = call(capsys, "simulate", study.folder, "--web", served.url, "--careless", "0")
        assert done.code == 0, done.err
        stored = len(served.store.snapshot().answers)
        assert f"4 of 4 simulated raters finished; {stored} answers acknowledged" in done.out
        assert "Nobody gave these ratings" in done.out
        again = call(capsys, "simulate", study.folder, "--web", served.url, "--raters", "2")
        assert again.code == 1
        assert "0 of 2 simulated raters finished (2 full)" in again.out


def test_thinking_takes_its_time_and_nothing_else_is_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_faulty_study(tmp_path / "study", 2, 3)
    for think in ("8-4", "often", "-1", "4-x"):
        done = call(capsys, "simulate", study.folder, "--web", "127.0.0.1:9", f"--think={think}")
        assert done.code == 2
        assert "such as 4-8" in done.err
    with serve_in_thread(study.folder) as served:
        done = call(capsys, "simulate", study.folder, "--web", served.url, "--think", "0.01-0.02")
        assert done.code == 0, done.err


def test_other_machines_are_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = write_faulty_study(tmp_path / "study", 2, 3)
    done = call(capsys, "simulate", study.folder, "--web", "http://192.0.2.1:8000")
    assert done.code == 2
    assert "only visit a server on this machine" in done.err
    assert "Traceback" not in done.err


def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_faulty_study(tmp_path / "study", 2, 3)
    out = call(capsys, "simulate", study.folder, "--web", "http://127.0.0.1:9", "-o", "x.csv")
    assert out.code == 2
    assert "panelist export" in out.err
    raters = call(capsys, "simulate", study.folder, "--raters", "3")
    assert raters.code == 2
    assert "go with --web" in raters.err


@pytest.mark.parametrize("panel", ["class", "sona"])
def test_simulated_raters_come_in_where_only_links_of_the_researcher_do(
    panel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_paid(tmp_path / "study", "", "panel: prolific", f"panel: {panel}")
    early = call(capsys, "simulate", study.folder, "--web", "http://127.0.0.1:9")
    assert (early.code, "Start with: panelist serve" in early.err) == (2, True)
    with serve_in_thread(study.folder, joins_a_minute=0) as served:
        done = call(capsys, "simulate", study.folder, "--web", served.url, "--raters", "2")
        assert done.code == 0, done.out + done.err
        assert "2 of 2 simulated raters finished" in done.out
        assert all(visit.simulated for visit in served.store.visits())


def test_a_server_that_is_not_there_is_named_instead_of_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    address = read_address("http://127.0.0.1:1")
    with pytest.raises(
        BadServer, match=r"No server answers at http://127\.0\.0\.1:1 .* panelist serve STUDY"
    ):
        find_server(address, seconds=0.0)
    refused = [ConnectionRefusedError(111, "Connection refused")]

    class Connection:
        def close(self) -> None:
            pass

    def connect(*_: object, **__: object) -> Connection:
        if refused:
            raise refused.pop()
        return Connection()

    monkeypatch.setattr(browser, "create_connection", connect)
    find_server(address)  # one that is just starting is waited for
    assert not refused
