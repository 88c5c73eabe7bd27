"""Passes over rows and small matrices, compiled, against what numpy says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from panelist.models.formulas.response import _find_points
from panelist.numerics import spectra
from panelist.numerics.arrays import Floats
from panelist.numerics.rows import number_points, sort_rows, spread_of, varies_within
from panelist.numerics.spectra import routine
from tests.models.compiled import compiled


@pytest.mark.parametrize(("n", "levels"), [(1, 1), (40, 3), (40, 60)])
def test_rows_are_sorted_by_level_and_stay_in_order_within_one(n: int, levels: int) -> None:
    index = np.random.default_rng(n).integers(levels, size=n).astype(np.int32)
    order, start = np.empty(n, dtype=np.int64), np.empty(levels + 1, dtype=np.int64)
    sort_rows(index, order, start)
    np.testing.assert_array_equal(order, np.argsort(index, kind="stable"))
    np.testing.assert_array_equal(start[1:], np.cumsum(np.bincount(index, minlength=levels)))


@given(
    arrays(np.float64, st.integers(1, 30), elements=st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, 7.25, 1e6]))
)
def test_points_are_numbered_as_numpy_numbers_them(values: Floats) -> None:
    points, codes = _find_points(values)
    expected, places = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(points, expected)
    np.testing.assert_array_equal(codes, places)
    assert codes.dtype == np.int32


def test_points_in_whole_steps_are_counted_and_others_are_not() -> None:
    codes = np.empty(3, dtype=np.int32)
    assert number_points(np.array([1.5, 4.5, 2.5]), 10, codes).tolist() == [1.5, 2.5, 4.5]
    assert codes.tolist() == [0, 2, 1]
    assert len(number_points(np.array([1.0, 1.5, 2.0]), 10, codes)) == 0
    assert len(number_points(np.array([1.0, 12.0, 2.0]), 10, codes)) == 0


def test_a_column_varies_within_a_level_or_only_between_levels() -> None:
    index = np.array([0, 1, 0, 1], dtype=np.int32)
    Z = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert not varies_within(index, 2, Z, 0, 2)
    Z[3, 1] = 0.0
    assert varies_within(index, 2, Z, 0, 2)
    assert not varies_within(index, 2, Z, 0, 1)


def test_spread_is_the_standard_deviation() -> None:
    y = 1e6 + np.random.default_rng(1).normal(size=50)
    assert spread_of(y) == pytest.approx(np.std(y), rel=1e-12)
    assert spread_of(np.full(5, 3.0)) == 0.0


@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("vectors", [True, False])
def test_eigenvalues_are_numpys(k: int, vectors: bool) -> None:
    A = np.random.default_rng(k).normal(size=(k, k))
    A = A + A.T
    values, turned = np.empty(k), A.copy()
    assert compiled(spectra.decompose)(routine(), turned, values, vectors)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=1e-12 * k)
    if vectors:  # a row each
        np.testing.assert_allclose(turned.T * values @ turned, A, atol=1e-12 * k)
