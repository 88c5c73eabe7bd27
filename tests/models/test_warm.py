"""Whether compiled code is there already, which decides if the user is told to wait."""

import logging
from pathlib import Path

import pytest

from panelist.analysis.demo import simulate_demo
from panelist.models import warm
from panelist.models.fit import fit

FORMULAS = {"clmm": "rating ~ system + (1 | rater)", "lmm": "rating ~ system + (1 | rater)"}
FORMULAS |= {"clm": "rating ~ system", "lm": "rating ~ system"}


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "_announced", set())


@pytest.mark.parametrize("model", FORMULAS)
def test_code_is_known_to_be_compiled_after_a_fit(model: str) -> None:
    frame = simulate_demo()
    _ = fit(FORMULAS[model], frame[frame["criterion"] == "fluency"], model=model).coefficients
    assert warm.is_compiled(model)


@pytest.mark.usefixtures("fresh")
def test_the_wait_is_announced_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with caplog.at_level(logging.WARNING, logger="panelist"):
        for _ in range(2):
            warm.announce_compiling("clmm")
    assert [record.getMessage() for record in caplog.records] == [
        "Compiling the model code, once: about 30 s; later fits start at once."
    ]


@pytest.mark.usefixtures("fresh")
def test_nothing_is_announced_where_nothing_compiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    warm.announce_compiling("lm")
    assert not caplog.records


@pytest.mark.parametrize(("age", "compiled"), [(-100.0, False), (100.0, True)], ids=["older", "newer"])
def test_code_older_than_its_source_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, age: float, compiled: bool
) -> None:
    import os
    import sys

    folder = tmp_path / "models_0123"
    folder.mkdir()
    source = Path(warm.__file__).parent / "clm.py"
    cached = folder / f"clm.solve-12.py{sys.version_info.major}{sys.version_info.minor}.nbi"
    cached.touch()
    time = source.stat().st_mtime + age
    os.utime(cached, (time, time))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert warm.is_compiled("clm") is compiled
