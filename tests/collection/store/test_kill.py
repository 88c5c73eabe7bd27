"""Killed while writing: every answer that was acknowledged is there, once."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from panelist.collection.store.store import open_store
from panelist.design.plan import Plan
from panelist.study.study import Study

WRITE = """
import sys, threading
from pathlib import Path
from panelist.collection.store.operations.saving import Answer
from panelist.collection.store.operations.ops import SaveAnswers
from panelist.collection.store.store import open_store
from panelist.study.reading.load import load_study

url, folder, run = sys.argv[1:]
store = open_store(url, load_study(Path(folder)))
lock = threading.Lock()

def rate(number):
    visit = store.join(outside_id=f"person {number}")
    for page in range(1, 100_000):
        key = f"{run}-{page}"
        store.do(SaveAnswers(visit.id, 1, page, (Answer("c1p1", "fluency", "i1", run, key, system="a"),)))
        with lock:
            print(visit.id, page, key, flush=True)

for number in range(4):
    threading.Thread(target=rate, args=(number,), daemon=True).start()
threading.Event().wait()
"""
ENOUGH = 150
KILLS = 2


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a signal of POSIX systems")
def test_no_acknowledged_answer_is_lost_or_doubled(database_url: str, study: Study, plan: Plan) -> None:
    open_store(database_url, study, plan).close()
    acknowledged = [line for run in range(KILLS) for line in write_and_kill(database_url, study.folder, run)]
    assert len(acknowledged) >= KILLS * ENOUGH
    with open_store(database_url, study) as store:
        answers = store.snapshot().answers
    there = Counter(
        f"{visit} {page} {key}" for visit, page, key in answers[["visit", "page", "key"]].to_numpy()
    )
    assert [line for line in acknowledged if there[line] != 1] == []
    assert max(there.values()) == 1


def write_and_kill(url: str, folder: Path, run: int) -> list[str]:
    """Return what a writing process had acknowledged when it was killed in the middle of its work."""
    command = [sys.executable, "-c", WRITE, url, str(folder), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(ENOUGH)]
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split("\n")[:-1]  # what follows the last line end was cut off
    assert process.returncode == -signal.SIGKILL
    return [line for line in [*lines, *rest] if line]
