"""Rooms that are used again: the same numbers as in a new one, in every thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from panelist.models.blocks.workspaces import lend_workspace
from panelist.models.fit import fit
from panelist.models.results.fitted import Fit
from panelist.models.solvers import lmm
from panelist.numerics.arrays import Floats
from tests.models.designs import design
from tests.models.small_tables import SLOPES, draw, make_table


def refit(model: str, rating: int) -> Fit:
    frame = make_table()
    return fit(SLOPES, frame.assign(rating=draw(frame, 4)[rating]), model=model)


def keep(fitted: Fit) -> list[Floats]:
    """Copies, so that a later fit cannot change them together with what they are compared with."""
    solution = fitted.solution
    arrays = (solution.beta, solution.vcov, solution.alpha, *solution.modes, *solution.deviations)
    return [np.array(array) for array in (*arrays, fitted.loglik, fitted.optimum.evaluations)]


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_fit_neither_sees_the_one_before_nor_changes_it(model: str) -> None:
    fits = [refit(model, rating) for rating in range(4)]
    kept = [keep(refit(model, rating)) for rating in (3, 1, 2, 0)]
    assert not np.array_equal(kept[0][0], kept[1][0])
    for fitted, expected in zip(fits, (kept[3], kept[1], kept[2], kept[0]), strict=True):
        for one, other in zip(keep(fitted), expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_threads_do_not_share_a_workspace(model: str) -> None:
    alone = [refit(model, rating).loglik for rating in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda rating: refit(model, rating).loglik, [0, 1, 2, 3] * 3))
    assert together == alone * 3


def test_a_workspace_is_lent_once_at_a_time_and_only_to_models_of_its_shape() -> None:
    frame = make_table()
    built = design(SLOPES, frame.assign(rating=draw(frame, 1)[0]))
    model = lmm.make_linear(built, True)
    with (
        lend_workspace(lmm.make_workspace, model) as outer,
        lend_workspace(lmm.make_workspace, model) as inner,
    ):
        assert outer is not inner
    with lend_workspace(lmm.make_workspace, model) as again:
        assert again is outer  # the last that was given back
    smaller = lmm.make_linear(design(SLOPES, frame.iloc[:-1].assign(rating=draw(frame, 1)[0][:-1])), True)
    with lend_workspace(lmm.make_workspace, smaller) as other:
        assert len(other.work.ones) == len(frame) - 1
