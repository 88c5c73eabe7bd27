"""Inner kernels: as good as others inside compiled code, and none of Python's business."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import njit

from panelist.numerics import numba_internals
from panelist.numerics.arrays import Floats
from panelist.numerics.kernel import inner
from tests.models.compiled import compiled

jit: Any = njit
SMALL_FIT = """
import pandas as pd, panelist
from panelist.numerics.numba_internals import is_tuned
rows = [dict(rater=r, system=s, rating=1 + (r * r + 2 * s) % 5) for r in range(12) for s in range(3)]
fit = panelist.fit("rating ~ system", pd.DataFrame(rows), model="clm")
print(is_tuned(), fit.loglik, *fit.vcov.ravel())
"""

KEPT = """
from panelist.numerics.kernel import kernel

@kernel
def double(x: float) -> float:
    return 2.0 * x
"""
CALL = """
from kept import double
from numba import njit

before = double(4.0)
print(before, dict(double.stats.cache_hits), njit(lambda x: double(x) + 1.0)(4.0))
"""


@inner
def halve(x: float) -> float:
    return 0.5 * x


@inner
def sum_halves(numbers: Floats) -> float:
    total = 0.0
    for number in numbers:
        total += halve(number)
    return total


def test_compiled_functions_call_them() -> None:
    def call(numbers: Floats) -> float:
        return sum_halves(numbers) + halve(1.0)

    assert jit(call)(np.arange(5.0)) == 5.5
    assert compiled(sum_halves)(np.arange(4.0)) == 3.0


def test_python_is_refused_before_and_after_they_are_compiled() -> None:
    with pytest.raises(TypeError, match="halve is an inner kernel"):
        halve(1.0)
    assert compiled(halve)(1.0) == 0.5
    with pytest.raises(TypeError, match="halve is an inner kernel"):
        halve(1.0)


@pytest.mark.slow
def test_a_plain_numba_fits_the_same_model(tmp_path: Path) -> None:
    fitted = {}
    for plain in ("", "1"):
        environment = os.environ | {"PANELIST_PLAIN_NUMBA": plain}
        environment |= {"NUMBA_CACHE_DIR": str(tmp_path)} if plain else {}
        done = subprocess.run(
            [sys.executable, "-c", SMALL_FIT], env=environment, capture_output=True, text=True, check=True
        )
        tuned, *numbers = done.stdout.split()
        fitted[tuned] = [float(number) for number in numbers]
    assert fitted["False"] == pytest.approx(fitted["True"], rel=1e-10)


def test_an_unknown_version_is_left_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PANELIST_PLAIN_NUMBA", raising=False)
    known = numba_internals.is_tuned.__wrapped__
    assert known()
    monkeypatch.setattr(numba, "__version__", "9.1.0")
    assert not known()


def test_the_lock_file_has_a_version_that_was_tested() -> None:
    lock = (Path(__file__).parents[2] / "requirements.lock").read_text(encoding="utf-8")
    version = next(line.split("==")[1] for line in lock.splitlines() if line.startswith("numba=="))
    assert ".".join(version.split(".")[:2]) in numba_internals.TESTED


def test_other_functions_are_compiled_as_ever() -> None:
    def halve(x: float) -> float:  # of the same name
        return x / 2.0

    assert jit(halve)(3.0) == 1.5


@pytest.mark.slow
def test_what_is_loaded_from_disk_is_called_and_compiled_into_others(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text(KEPT, encoding="utf-8")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONPATH"] = os.pathsep.join((str(tmp_path), *sys.path))
    command = [sys.executable, "-c", CALL]
    first, again = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first == "8.0 {} 9.0\n"
    assert again == "8.0 {(float64,): 1} 9.0\n"


def test_only_kernels_are_saved_with_their_names() -> None:
    def triple(x: float) -> float:
        return 3.0 * x

    other = jit(triple)
    assert other(2.0) == 6.0
    result = next(iter(other.overloads.values()))
    assert result._reduce()[0][1] == "object"  # which numba reads without Panelist
    assert numba_internals._save_with_names(result)[0][1] != "object"
