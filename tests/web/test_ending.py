"""The end of the server: what only reads, and may take minutes in a large study, is not waited for."""

import sys
import threading
from pathlib import Path

import httpx
import pytest

from tests.patience import PATIENCE
from tests.web import servers
from tests.web.researchers import STUDY, make_folder
from tests.web.servers import PASSWORD, serve_command

NEVER_DONE = """
import time
from panelist.web import server
from panelist.web.dashboard import action_routes
from panelist.web.planner import runs, setting

def go_on(*_, **__):
    print("busy", flush=True)
    time.sleep(3600)

runs.Compiling.is_over = lambda *_: True
action_routes.make_file = setting.Setting.find_truth = go_on
server.ANSWERING_SECONDS = 1
from panelist.cli.main import main
main()
"""
EARLY = """
import os, signal, uvicorn
begin = uvicorn.Server.run

def run(server, sockets=None):
    os.kill(os.getpid(), signal.SIGTERM)
    begin(server, sockets)

uvicorn.Server.run = run
from panelist.cli.main import main
main()
"""


def test_who_is_told_to_end_while_starting_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path / "study", STUDY)
    monkeypatch.setattr(servers, "COMMAND", [sys.executable, "-c", EARLY])
    with serve_command(folder) as running:
        assert running.process.wait(PATIENCE) == 0


def test_long_work_does_not_keep_the_server_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "study", STUDY)
    monkeypatch.setattr(servers, "COMMAND", [sys.executable, "-c", NEVER_DONE])
    with (
        serve_command(folder, PANELIST_PASSWORD=PASSWORD) as running,
        httpx.Client(base_url=running.url, timeout=PATIENCE) as client,
    ):
        assert client.post("/dashboard/login", data={"password": PASSWORD}).status_code == 303
        token = client.get("/dashboard/download").text.split('name="csrf" value="')[1].split('"')[0]

        heard = []

        def download() -> None:
            heard.append(client.post("/dashboard/download", data={"csrf": token, "what": "ratings"}))

        def plan() -> None:
            client.get("/dashboard/planner/live?preset=low&model=lmm")

        asking = [threading.Thread(target=ask, daemon=True) for ask in (download, plan)]
        for one in asking:
            one.start()
        assert running.process.stdout is not None
        busy = (line for line in running.process.stdout if line == "busy\n")
        assert [next(busy), next(busy)]
        assert running.stop() == 0  # what goes on takes longer than the patience of stop()
        for one in asking:
            one.join(PATIENCE)
            assert not one.is_alive()
        assert [(reply.status_code, reply.headers["retry-after"]) for reply in heard] == [(503, "5")]
        assert running.process.stderr is not None
        said = running.process.stderr.read()
        assert "A request to /dashboard was given up" in said
        assert "Traceback" not in said
