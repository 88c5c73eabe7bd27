"""Whether compiled code is there already, which decides if the user is told to wait."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panelist.analysis import warm
from panelist.models.solvers import kernel as kernels
from panelist.models.solvers.clm import _newton
from panelist.models.solvers.kernel import announce_compiling, is_compiled, kernel
from panelist.models.solvers.search_linear import search_linear
from panelist.models.solvers.search_ordinal import search_ordinal

WAIT = "Compiling the model code, once: about 40 s; later fits start at once."


def make_new() -> Any:
    def double(x: float) -> float:
        return 2.0 * x

    return kernel(double)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_announced", False)


def test_everything_is_compiled_after_filling_the_cache() -> None:
    warm.fill_cache()
    assert all(map(is_compiled, (search_ordinal, search_linear, _newton)))


@pytest.mark.usefixtures("fresh")
def test_the_wait_is_announced_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = make_new()
    monkeypatch.setattr(new._cache._cache_file, "_source_stamp", "of other sources")
    with caplog.at_level(logging.WARNING, logger="panelist"):
        for _ in range(2):
            announce_compiling(new)
    assert [record.getMessage() for record in caplog.records] == [WAIT]


@pytest.mark.usefixtures("fresh")
def test_nothing_is_announced_where_nothing_compiles(caplog: pytest.LogCaptureFixture) -> None:
    new = make_new()
    assert new(2.0) == 4.0
    announce_compiling(new)
    assert not caplog.records


def test_code_made_from_other_sources_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_new()(np.float64(1.0)) == 2.0
    again = make_new()
    assert is_compiled(again)
    monkeypatch.setattr(again._cache._cache_file, "_source_stamp", "of other sources")
    assert not is_compiled(again)


@pytest.mark.parametrize("name", ["octets.py", "lapack.py", "normal.py", "search_ordinal.py", "rows.py"])
def test_an_edit_outdates_what_was_compiled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, read = kernels._stamp.__wrapped__(), Path.read_bytes

    def read_edited(path: Path) -> bytes:
        return read(path) + (b"# edited" if path.name == name else b"")

    monkeypatch.setattr(Path, "read_bytes", read_edited)
    assert kernels._stamp.__wrapped__() != before
