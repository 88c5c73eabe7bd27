"""What is compiled before it is called, where, and what the user reads about the wait."""

import logging
import os
import subprocess
import sys
from importlib.metadata import Distribution, PackagePath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from panelist.numerics import compile_ahead as compiling
from panelist.numerics import kernel as kernels
from panelist.numerics.compile_ahead import PARTS, estimate_wait, find, list_parts, prepare, share_out
from panelist.numerics.kernel import add_to_record, can_be_kept, is_compiled, kernel


def make_new() -> Any:
    def double(x: float) -> float:
        return 2.0 * x

    return kernel(double)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is started where nothing is on disk."""
    names: list[str] = []

    class Process:
        def __init__(self, command: list[str], **settings: Any) -> None:
            names.extend(command[4:])

        def wait(self, timeout: float) -> None: ...

        def poll(self) -> int:
            return 0

        def kill(self) -> None: ...

    monkeypatch.setattr(compiling, "_looked_at", set())
    monkeypatch.setattr(compiling, "is_compiled", lambda compiled: False)
    monkeypatch.setattr(subprocess, "Popen", Process)
    return names


def test_every_part_is_compiled_by_its_sample() -> None:
    prepare(*PARTS)  # at once where it was done before
    assert all(is_compiled(find(part.kernel)) for part in PARTS.values())


def test_only_what_is_needed_is_compiled(started: list[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="panelist"):
        prepare("clm", "ordinal")
        prepare("ordinal")
    assert sorted(started) == ["clm", "ordinal"]
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("Compiling the model code, once: about ")


def test_what_cannot_be_kept_is_left_to_its_first_call(
    started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "can_be_kept", lambda compiled: False)
    prepare("linear")
    assert started == []


def test_each_core_compiles_about_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "count_cores", lambda: 2)
    parts = [PARTS[name] for name in ("errors", "linear", "ordinal")]
    first, second = ([part.name for part in share] for share in share_out(parts))
    assert (first, second) == (["ordinal"], ["linear", "errors"])
    monkeypatch.setattr(compiling, "count_cores", lambda: 8)
    assert sorted(len(share) for share in share_out(parts)) == [1, 1, 1]


@pytest.mark.slow
def test_compiled_code_is_loaded_without_preparing_to_compile() -> None:
    code = (
        "import sys, panelist\n"
        "rows = [dict(rater=r, item=i, system=s, rating=1 + (r * i + s) % 5)"
        " for r in range(4) for i in range(6) for s in range(2)]\n"
        "import pandas as pd\n"
        "panelist.fit('rating ~ system + (1 | rater)', pd.DataFrame(rows), model='clmm')\n"
        "print('numba.typed.listobject' in sys.modules)"
    )
    prepare(*list_parts("clmm"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_all_compiled_code_is_in_the_packages_whose_sources_it_is_stamped_with() -> None:
    package = Path(kernels.__file__).parents[1]
    packages = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if any(mark in path.read_bytes() for mark in kernels._MARKS)
    }
    assert packages == set(kernels.PACKAGES)


def test_the_estimate_is_that_of_the_busiest_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_probe", lambda: compiling._REFERENCE)
    monkeypatch.setattr(compiling, "count_cores", lambda: 2)
    assert estimate_wait([PARTS["clm"]]) == PARTS["clm"].seconds
    parts = [PARTS[name] for name in ("ordinal", "linear", "errors")]
    assert estimate_wait(parts) == max(parts[0].seconds, parts[1].seconds + parts[2].seconds)


def test_a_model_that_needs_no_compiled_code_has_no_parts() -> None:
    assert list_parts("item_means") == []
    assert list_parts("lmm", "clmm") == ["linear", "ordinal", "errors"]


HASTENED = """
from collections import namedtuple
from panelist.numerics.numba_internals import hasten_numba; hasten_numba()
from numba import njit
from numba.core.runtime import rtsys
import numpy as np

Pair = namedtuple("Pair", "a b")

@njit
def f(x, y):
    return x * y + len(x) - y ** 2 + np.sqrt(x[0]) / 3

@njit(inline="always")
def total(pair):
    above = 0.0
    for number in pair.a:
        if number > 1.0:
            above += number
    return above + pair.b[0]

@njit
def g(n):
    pair = Pair(np.ones(n), np.arange(n) * 2.0)
    return total(pair) + total(Pair(pair.b, pair.a))

print(f(np.array([4.0, 9.0]), 2.0).tolist(), f(np.array([1, 2]), 3).tolist(), g(4))
print(rtsys.get_allocation_stats().alloc > 0)
used = rtsys.get_allocation_stats()
print(used.alloc - used.free, used.mi_alloc - used.mi_free)
"""


@pytest.mark.slow
def test_a_process_that_hastens_numba_compiles_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HASTENED],
        env={**os.environ, "NUMBA_NRT_STATS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    x, n = np.array([4.0, 9.0]), np.array([1, 2])
    expected = [(x * 2.0 + 2 - 4.0 + 2.0 / 3).tolist(), (n * 3 + 2 - 9 + 1.0 / 3).tolist()]
    values, counted, left = done.stdout.splitlines()
    assert values == f"{expected[0]} {expected[1]} 13.0"
    assert (counted, left) == ("True", "0 0")  # references are counted: all memory is given back


FIRST_FIT = """
import sys
from panelist.models.compile_samples import SLOPES, make_table
from panelist.models.fit import fit
from panelist.numerics import compile_ahead, kernel

for name in compile_ahead.list_parts(sys.argv[1]):
    compile_ahead.find(compile_ahead.PARTS[name].sample)()
known = {one for one in kernel._kept if one.overloads}
str(fit(SLOPES if sys.argv[1] != "clm" else "rating ~ system", make_table(), model=sys.argv[1]))
print([one.__name__ for one in kernel._kept if one.overloads and one not in known])
"""


@pytest.mark.slow
@pytest.mark.parametrize("model", ["clmm", "lmm", "clm"])
def test_a_first_fit_compiles_nothing_after_its_parts(model: str) -> None:
    command = [sys.executable, "-c", FIRST_FIT, model]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_code_made_from_other_sources_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_new()(np.float64(1.0)) == 2.0
    again = make_new()
    assert can_be_kept(again)
    assert is_compiled(again)
    monkeypatch.setattr(again._cache._cache_file, "_version", "of other sources")
    assert not is_compiled(again)


@pytest.mark.parametrize("name", ["simd.py", "lapack.py", "normal.py", "two_by_two.py", "rows.py"])
def test_an_edit_outdates_what_was_compiled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, read = kernels._stamp.__wrapped__(), Path.read_bytes

    def read_edited(path: Path) -> bytes:
        return read(path) + (b"# edited" if path.name == name else b"")

    monkeypatch.setattr(Path, "read_bytes", read_edited)
    assert kernels._stamp.__wrapped__() != before


class Pair(NamedTuple):
    """What a kernel is called with; a later version may not know it any more."""

    one: float
    other: float


def make_adder() -> Any:
    def add(pair: Any) -> Any:
        return pair.one + pair.other

    return kernel(add)


def test_code_that_names_a_class_which_is_gone_is_out_of_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_stamp", lambda: "of the version before")
    assert make_adder()(Pair(1.0, 2.0)) == 3.0
    assert is_compiled(make_adder())
    monkeypatch.undo()
    monkeypatch.delattr(sys.modules[__name__], "Pair")
    assert not is_compiled(make_adder())


class Installed(Distribution):
    """An installation in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read_text(self, filename: str) -> str | None:
        path = self.root / "panelist.dist-info" / filename
        return path.read_text(encoding="utf-8") if path.exists() else None

    def locate_file(self, path: Any) -> Any:
        return self.root / path

    @property
    def files(self) -> list[PackagePath]:
        lines = (self.read_text("RECORD") or "").splitlines()
        found = [PackagePath(line.split(",")[0]) for line in lines]
        for one in found:
            one.dist = self
        return found


@pytest.mark.parametrize("editable", [False, True])
def test_compiled_files_are_listed_for_uninstalling(tmp_path: Path, editable: bool) -> None:
    folder, info = tmp_path / "panelist" / "__pycache__", tmp_path / "panelist.dist-info"
    folder.mkdir(parents=True)
    info.mkdir()
    (folder / "clm.find_optimum.nbi").touch()
    record = "" if editable else "panelist/__init__.py,sha256=x,1\n"
    (info / "RECORD").write_text(record + "panelist.dist-info/RECORD,,\n", encoding="utf-8")
    before = (info / "RECORD").read_text(encoding="utf-8")
    for _ in range(2):
        add_to_record(Installed(tmp_path), {folder})
    added = "" if editable else "panelist/__pycache__/clm.find_optimum.nbi,,\n"
    assert (info / "RECORD").read_text(encoding="utf-8") == before + added
