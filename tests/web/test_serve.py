"""``panelist serve`` as its user runs it: a separate process on a loopback port."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from panelist.collection.store.errors import BadStore
from panelist.collection.store.store import open_store
from panelist.design.grow import grow_plan
from panelist.design.make import plan_study
from panelist.design.plan_files import read_plan, write_plan
from panelist.study.reading.load import load_study
from panelist.web.server import ServeOptions, allow_connections, prepare
from tests.cli.commands import call
from tests.patience import PATIENCE
from tests.web.servers import Command, make_study, serve_command
from tests.web.walking import Walker, find_code, read_sheet


def walk(command: Command, folder: Path) -> str:
    """Go through a whole visit; return its code."""
    with httpx.Client(base_url=command.url, timeout=PATIENCE) as client:
        return find_code(Walker(client, load_study(folder)).join().finish())


def test_serve_plans_prints_the_links_and_ends_cleanly(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study", "vas")
    with serve_command(folder, "--links", "2") as command:
        assert "there was no plan, so one was made" in command.said
        assert (folder / "plan.csv").exists()
        assert f"dashboard    {command.url}/dashboard" in command.said
        assert re.search(r"password     ([a-z2-9]{4}-){3}[a-z2-9]{4}\n", command.said)
        links = re.findall(r"(r\d+)  (http\S+)", command.said)
        assert [place for place, _ in links] == ["r001", "r002"]
        sheet = read_sheet(httpx.get(links[0][1], timeout=PATIENCE))
        agreed = httpx.post(
            command.url + sheet.action, data={**sheet.fixed, "consent": "yes"}, timeout=PATIENCE
        )
        assert (sheet.page, agreed.status_code) == ("consent", 303)
        code = walk(command, folder)
        assert command.stop() == 0
    with open_store(None, load_study(folder), create=False) as store:
        assert [visit.code for visit in store.visits() if visit.state == "finished"] == [code]
    with serve_command(folder, "--links", "2") as command:
        assert "there was no plan" not in command.said
        tokens = re.findall(r"r\d+  http\S+/r/(\S+)", command.said)
        assert len(tokens) == 2
        assert tokens[0] == links[1][1].rpartition("/")[2]  # the first is used, so there is a new one
        assert httpx.get(f"{command.url}/health", timeout=PATIENCE).status_code == 200
        assert command.stop(signal.SIGINT) == 0


def test_several_processes_serve_one_study_and_a_dead_one_comes_back(tmp_path: Path, postgres: str) -> None:
    folder = make_study(tmp_path / "study", "binary")
    with serve_command(folder, "--workers", "2", PANELIST_DATABASE_URL=postgres) as command:
        walk(command, folder)
        workers = find_children(command.process.pid)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        walk(command, folder)
        until = time.monotonic() + PATIENCE
        while len({*find_children(command.process.pid)} - {workers[0]}) < 2:
            assert time.monotonic() < until
            time.sleep(0.2)
        walk(command, folder)
        assert command.stop() == 0


def test_workers_end_with_the_server_that_started_them(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study", "binary")
    with serve_command(folder, "--workers", "2") as command:
        walk(command, folder)  # on SQLite, too, several processes do
        workers = find_children(command.process.pid)
        port = command.url.rpartition(":")[2]
        command.process.kill()
        command.process.wait()
        until = time.monotonic() + PATIENCE
        while any(is_alive(worker) for worker in workers):
            assert time.monotonic() < until
            time.sleep(0.1)
    with serve_command(folder, "--port", port) as command:
        walk(command, folder)


def find_children(parent: int) -> list[int]:
    """Return the processes of the server that serve, not Python's own tracker."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            line = (path / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z" and b"spawn_main" in line:
            found.append(int(path.name))
    return sorted(found)


def is_alive(process: int) -> bool:
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_server_may_hold_as_many_connections_as_the_system_allows() -> None:
    resource = pytest.importorskip("resource", reason="this system has no such limit")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = min(soft, 512) if soft > 0 else 512
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
        assert allow_connections(few + 88) == few + 88
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (few + 88, hard)
        assert allow_connections(few) == few + 88, "it is never lowered"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_server_starts_without_what_only_the_dashboard_or_a_plan_needs() -> None:
    said = (
        "import sys, panelist.web.server;"
        "print(*sorted({'numba', 'scipy', 'panelist.agreement'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_port_in_use_is_said_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_study(tmp_path / "study")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = call(capsys, "serve", folder, "--port", port)
    assert done.code == 2
    assert f"Port {port} on 127.0.0.1 is in use" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--db", "mysql://user@host/x"], "is not a database for a study"),
        (["--db", "postgresql://nobody@127.0.0.1:1/x"], "cannot be reached"),
        (["--db", "postgresql://nobody:secret@127.0.0.1:1/x"], "PANELIST_DATABASE_URL"),
        (["--db", "postgresql://nobody@127.0.0.1:1/x?password=secret"], "PANELIST_DATABASE_URL"),
        (["--trusted-proxy", "proxy.example"], "is not the address of a proxy"),
        (["--trusted-proxy", "0.0.0.0/0"], "covers everybody"),
        (["--db", "nowhere/at/all/study.db"], "there is no folder"),
        (["--url", "rate.example.org"], "is not an address for the pages"),
        (["--port", "70000"], "There is no port 70000"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
        (["--links", "5000"], "places are free"),
    ],
)
def test_what_is_in_the_way_is_said_and_ends_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    done = call(capsys, "serve", make_study(tmp_path / "study"), "--port", "0", *arguments)
    assert done.code == 2
    assert words in done.err
    assert "secret" not in done.err


def test_no_study_a_short_password_and_a_plan_of_another_study_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call(capsys, "serve", tmp_path)
    assert (done.code, "There is no file" in done.err) == (2, True)
    folder, other = make_study(tmp_path / "study"), make_study(tmp_path / "other", "vas")
    write_plan(plan_study(load_study(other)), folder)
    done = call(capsys, "serve", folder, "--port", "0")
    assert (done.code, "belongs to another study" in done.err) == (2, True)
    monkeypatch.setenv("PANELIST_PASSWORD", "short")
    done = call(capsys, "serve", other, "--port", "0")
    assert (done.code, "at least 12" in done.err) == (2, True)


def test_a_study_that_changed_after_people_came_is_refused_until_it_is_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_study(tmp_path / "study")
    monkeypatch.setenv("PANELIST_PASSWORD", "a-password-of-my-own")
    ready = prepare(ServeOptions(study=folder, port=0))
    ready.bound.close()
    said = "\n".join(ready.lines())
    assert "as in PANELIST_PASSWORD" in said
    assert "a-password-of-my-own" not in said
    with open_store(None, load_study(folder)) as store:
        store.join()
    path = folder / "study.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("help desk", "helpdesk", 1), encoding="utf-8")
    done = call(capsys, "serve", folder, "--port", "0")
    assert done.code == 2
    assert "changed after collecting began (visits so far: 1)" in done.err
    assert "--study-changed" in done.err
    with serve_command(folder, "--study-changed", "wording") as command:
        assert "that is on record now" in command.said
        assert httpx.get(f"{command.url}/join", timeout=PATIENCE).status_code == 200
    with open_store(None, load_study(folder), create=False) as store:
        assert "study file changed" in [action.what for action in store.actions()]


def start(folder: Path) -> int:
    """Return how many places a server would offer; nothing is served."""
    ready = prepare(ServeOptions(study=folder, port=0))
    ready.bound.close()
    return ready.places


def test_places_that_were_added_on_the_dashboard_survive_a_restart(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study")
    places = start(folder)
    study = load_study(folder)
    with open_store(None, study) as store:
        store.join()
        store.change_plan(grow_plan(store.plan(), study, places + 3), "more raters", "a test")
    assert start(folder) == places + 3


def test_places_that_were_added_to_the_plan_file_are_offered_at_the_next_start(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study")
    places = start(folder)
    with open_store(None, load_study(folder)) as store:
        store.join()
    write_plan(grow_plan(read_plan(folder), load_study(folder), places + 3), folder)
    assert start(folder) == places + 3


def test_a_plan_that_takes_pages_from_people_is_refused(tmp_path: Path) -> None:
    folder = make_study(tmp_path / "study")
    start(folder)
    study = load_study(folder)
    with open_store(None, study) as store:
        store.join()
    write_plan(plan_study(study, seed=99), folder)
    with pytest.raises(BadStore, match="is not the plan that"):
        start(folder)
