"""Dense factors and inverses from inside compiled code."""

import numpy as np
import pytest

from panelist.numerics import lapack
from tests.models.compiled import compiled

factor_upper = compiled(lapack.factor_upper)
solve_upper = compiled(lapack.solve_upper)
invert_upper = compiled(lapack.invert_upper)


@pytest.mark.parametrize("n", [1, 2, 47, 48, 49, 97, 151, 300, 333])
def test_the_inverse_from_the_factor_is_the_inverse(n: int) -> None:
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n + 3))
    matrix = root @ root.T + np.eye(n)
    found = matrix.copy()
    assert factor_upper(lapack.routines(), found)
    invert_upper(lapack.routines(), found)
    np.testing.assert_allclose(found @ matrix, np.eye(n), atol=1e-11)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("n", [0, 1, 5, 60])
def test_rows_may_be_longer_than_there_are_columns(n: int) -> None:
    rng = np.random.default_rng(n)
    root, x = rng.normal(size=(n, n + 3)), rng.normal(size=n)
    matrix = root @ root.T + np.eye(n)
    factor = np.full((n, n + 7), np.nan)
    factor[:, :n] = matrix
    assert factor_upper(lapack.routines(), factor)
    solved = x.copy()
    square = solve_upper(lapack.routines(), factor, solved)
    np.testing.assert_allclose(matrix @ solved, x, atol=1e-11)
    assert square == pytest.approx(x @ solved, rel=1e-12, abs=1e-300)
    invert_upper(lapack.routines(), factor)
    np.testing.assert_allclose(factor[:, :n] @ matrix, np.eye(n), atol=1e-11)
    assert np.isnan(factor[:, n:]).all()


def test_what_is_not_positive_has_no_factor() -> None:
    assert not factor_upper(lapack.routines(), np.array([[1.0, 2.0], [2.0, 1.0]]))
