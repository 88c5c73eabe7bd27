"""Dense factors and inverses by vector code, beside numpy."""

import numpy as np
import pytest

from panelist.models.blocks import dense
from panelist.models.blocks.pattern import fill_up
from panelist.numerics.arrays import Floats
from panelist.numerics.simd import WIDTH
from tests.models.compiled import compiled

factor_dense = compiled(dense.factor_dense)
invert_dense = compiled(dense.invert_dense)


def lay_out(matrix: Floats) -> Floats:
    """Rows filled up to whole vectors of eight, and nonsense below the diagonal, which nobody may look at."""
    q = len(matrix)
    rows = np.full((q, fill_up(q)), 7.0)
    rows[:, :q] = np.triu(matrix) + np.tril(np.full((q, q), 1e6), -1)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("q", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 30, 60, 61, 100, 203, dense.MOST])
def test_factor_determinant_and_inverse_are_numpys(q: int) -> None:
    root = np.random.default_rng(q).normal(size=(q, 2 * q))
    matrix = root @ root.T / q + np.eye(q)
    rows = lay_out(matrix)
    T, M = np.full(rows.shape, np.nan), np.full(rows.size + WIDTH, np.nan)
    logdet = factor_dense(rows.reshape(-1), q, rows.shape[1])
    assert logdet == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12, abs=1e-13)
    U = np.triu(rows[:, :q])
    np.testing.assert_allclose(U.T @ U, matrix, atol=1e-12)
    invert_dense(rows.reshape(-1), T.reshape(-1), M, q, rows.shape[1])
    np.testing.assert_allclose(T[:, :q], np.linalg.inv(matrix), atol=1e-12)
    np.testing.assert_array_equal(T[:, :q], T[:, :q].T)


def test_nothing_has_the_determinant_one() -> None:
    assert factor_dense(np.empty(0), 0, 0) == 0.0


@pytest.mark.parametrize("q", [2, 5, 40])
def test_what_is_not_positive_has_no_factor(q: int) -> None:
    matrix = np.eye(q)
    matrix[q - 2, q - 1] = matrix[q - 1, q - 2] = 1.5
    rows = lay_out(matrix)
    assert np.isnan(factor_dense(rows.reshape(-1), q, rows.shape[1]))
