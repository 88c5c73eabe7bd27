"""What the agreement needs is compiled before anybody waits for it, in a separate process."""

import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from panelist.collection.monitor import warming
from panelist.numerics import compile_ahead as compiling
from panelist.numerics.compile_ahead import CompiledPart
from tests.patience import PATIENCE

# A process of its own: here other tests may have compiled what the sample leaves out.
CHECK = """
import sys
import pandas as pd
from panelist.collection.monitor.agreement_so_far import measure_so_far
from panelist.collection.monitor.given_ratings import GivenRatings
from panelist.collection.monitor.warming import LEVELS, is_loaded, measure_sample

def count():
    kernels = [one for module in list(sys.modules.values()) for one in list(vars(module).values())
               if getattr(module, "__name__", "").startswith("panelist.agreement")]
    return sum(len(one.overloads) for one in kernels if isinstance(getattr(one, "overloads", None), dict))

assert (is_loaded(), count()) == (False, 0)
measure_sample()
assert is_loaded()
before = count()
rows = [(r, str(i), float(1 + (i * r + i) % 4)) for r in range(6) for i in range(30) if (i + r) % 3]
judged = pd.DataFrame(rows, columns=["rater", "item", "rating"])
found = measure_so_far([GivenRatings(level, level, judged, judged) for level in LEVELS])
assert all(one.agreement is not None for one in found.criteria)
print(before, count())
"""


def test_after_the_sample_no_agreement_needs_the_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert before == after > 5


def wait(warming_up: warming.Warming) -> None:
    until = time.monotonic() + PATIENCE
    while not warming_up.over and time.monotonic() < until:
        time.sleep(0.01)
    assert warming_up.over


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a process that has not measured before does; the folder of compiled code is empty."""
    made: list[str] = []
    empty = SimpleNamespace(overloads={}, _cache=SimpleNamespace(_cache_file=SimpleNamespace()))
    empty._cache._cache_file._load_index = dict
    monkeypatch.setattr(warming, "find_kernel", lambda: empty)

    def compile_parts(parts: list[CompiledPart], **settings: Any) -> None:
        made.extend(part.name for part in parts)

    monkeypatch.setattr(compiling, "compile_apart", compile_parts)
    monkeypatch.setattr(warming, "measure_sample", lambda: made.append("sample"))
    return made


def test_where_nothing_is_compiled_another_process_does_it_first(calls: list[str]) -> None:
    wait(warming.Warming())
    assert calls == ["agreement", "sample"]


def test_what_is_compiled_is_only_loaded(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "is_kept", lambda: True)
    wait(warming.Warming())
    assert calls == ["sample"]


def test_where_nothing_can_be_kept_no_process_is_started(
    calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "find_kernel", lambda: SimpleNamespace(overloads={}))
    wait(warming.Warming())
    assert calls == ["sample"]


def test_a_process_that_has_measured_does_nothing(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "is_loaded", lambda: True)
    assert warming.Warming().over
    assert calls == []


def test_a_failure_is_logged_and_holds_nobody_up(
    calls: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OSError("no room")

    monkeypatch.setattr(warming, "measure_sample", fail)
    wait(warming.Warming())
    assert "no room" in caplog.text
