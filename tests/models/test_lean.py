"""Inner kernels: as good as others inside compiled code, and none of Python's business."""

from typing import Any

import numpy as np
import pytest
from numba import njit

from panelist.models.arrays import Floats
from panelist.models.solvers.kernel import inner
from tests.models.compiled import compiled

jit: Any = njit


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


def test_other_functions_are_compiled_as_ever() -> None:
    def halve(x: float) -> float:  # of the same name
        return x / 2.0

    assert jit(halve)(3.0) == 1.5
