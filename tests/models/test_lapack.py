"""Dense factors and inverses from inside compiled code."""

import numpy as np
import pytest

from panelist.models.solvers import lapack


@pytest.mark.parametrize("n", [1, 2, 47, 48, 49, 97, 151, 300, 333])
def test_the_inverse_from_the_factor_is_the_inverse(n: int) -> None:
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n + 3))
    matrix = root @ root.T + np.eye(n)
    found = matrix.copy()
    assert lapack.cholesky(lapack.routines(), found)
    lapack.invert_from_cholesky(lapack.routines(), found)
    np.testing.assert_allclose(found @ matrix, np.eye(n), atol=1e-11)
    np.testing.assert_array_equal(found, found.T)


def test_what_is_not_positive_has_no_factor() -> None:
    assert not lapack.cholesky(lapack.routines(), np.array([[1.0, 2.0], [2.0, 1.0]]))
