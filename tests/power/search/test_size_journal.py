"""A search that is killed continues where it stopped, and finds what it would have found."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from panelist.core.errors import BadFile
from panelist.power.search.size import find_sample_size
from tests.patience import PATIENCE

COMMAND = [sys.executable, "-c", "from panelist.cli.main import main; main()", "size", "--json"]
OPTIONS = ["--effect", "0.5", "--model", "item_means", "--ratings-per-item", "2,5", "--sims", "4000"]
OPTIONS += ["--workers", "1", "--seed", "3"]
KILLED = """\
import os, signal
from panelist.cli.main import main
from panelist.power.journal import Journal

write = Journal._write

def die(self, line):
    write(self, line)
    if len(self.done) == 40:  # and in the middle of the next line
        self._file.write('{"cell":')
        self._file.flush()
        os.kill(os.getpid(), signal.SIGKILL)

Journal._write = die
main()
"""
"""A search that is killed after 40 chunks, however busy the machine is."""
QUICK: dict[str, Any] = {"model": "item_means", "ratings_per_item": (2, 5), "sims": 200, "seed": 3}


def read_numbers(said: str) -> dict[str, Any]:
    found = dict(json.loads(said))
    assert found.pop("seconds") > 0
    return found


def test_a_search_that_was_killed_ends_with_the_same_numbers(tmp_path: Path) -> None:
    journal = tmp_path / "size.jsonl"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *COMMAND[3:], *OPTIONS, "--journal", str(journal)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    kept = journal.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    run = subprocess.run(
        [*COMMAND, *OPTIONS, "--journal", str(journal)], capture_output=True, text=True, check=True
    )
    assert journal.read_bytes().startswith(kept)  # nothing that was there was run again
    assert 40 < kept.count(b"\n") < journal.read_bytes().count(b"\n")
    names = [(line["cell"], line["chunk"]) for line in map(json.loads, journal.read_text().splitlines()[1:])]
    assert len(set(names)) == len(names)
    whole = find_sample_size(0.5, model="item_means", ratings_per_item=(2, 5), sims=4000, seed=3)
    assert read_numbers(run.stdout) == read_numbers(json.dumps(whole.to_dict()))


def test_a_finished_search_is_read_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "size.jsonl"
    first = find_sample_size(1.0, journal=path, **QUICK)
    written = path.read_bytes()
    again = find_sample_size(1.0, journal=path, **QUICK)
    assert path.read_bytes() == written
    assert again.confirmed == first.confirmed
    assert again.options == first.options


def test_another_target_uses_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "size.jsonl"
    find_sample_size(1.0, 0.8, journal=path, **QUICK)
    written = path.read_bytes()
    more = find_sample_size(1.0, 0.9, journal=path, **QUICK)
    assert path.read_bytes().startswith(written)
    assert more.options == find_sample_size(1.0, 0.9, **QUICK).options


def test_a_journal_of_another_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "size.jsonl"
    find_sample_size(1.0, journal=path, **QUICK)
    with pytest.raises(BadFile, match="belongs to another"):
        find_sample_size(1.0, journal=path, **{**QUICK, "seed": 4})
    with pytest.raises(BadFile, match="belongs to another"):
        find_sample_size(1.0, journal=path, **{**QUICK, "model": "t_test"})
