"""Columns of the Hessian, eight at once: as if taken one after the other."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from panelist.models.likelihoods.link_functions import LINKS
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.search.starts import start_cells
from panelist.models.solvers import clmm, lmm
from panelist.numerics.arrays import Floats
from tests.models.designs import design
from tests.models.small_tables import CASES, draw, make_table

EIGHT_AT_ONCE = ("two systems, slopes", "unbalanced, slopes")


def close(found: Floats, expected: Floats) -> None:
    """Differences with steps of 1e-4 of a standard error keep about eight digits of the largest entries."""
    scale = np.sqrt(np.outer(np.abs(np.diag(expected)), np.abs(np.diag(expected)))) + 1e-3
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-6)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("case", EIGHT_AT_ONCE)
def test_ordinal_columns_do_not_depend_on_how_they_are_taken(case: str, link: str) -> None:
    systems, share, formula = CASES[case]
    frame = make_table(systems, share)
    # With the tails of a Cauchy distribution, seven ratings of a level can have two modes, and the Laplace
    # approximation then jumps between them: its Hessian is no number at all. With six times as many it is.
    drawn = draw(frame, 6 if link == "cauchit" else 1)
    ratings = pd.concat([frame.assign(rating=one) for one in drawn], ignore_index=True)
    built = design(formula, ratings, ordinal=True)
    thresholds = make_thresholds("flexible", built.categories)
    model = clmm.make_model(built, link, thresholds)
    space = clmm.make_workspace(model)
    assert len(space.lanes.psi)
    apart = space._replace(lanes=space.lanes._replace(psi=np.empty((0, 8))))
    start = partial(start_cells, built, thresholds, link)
    together = clmm.find_estimates(model, built.factors, link, start, space)
    one_by_one = clmm.find_estimates(model, built.factors, link, start, apart)
    assert together.converged(len(built.X))
    np.testing.assert_allclose(together.point, one_by_one.point, atol=1e-6)
    close(together.hessian, one_by_one.hessian)


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("case", EIGHT_AT_ONCE)
def test_linear_columns_do_not_depend_on_how_they_are_taken(case: str, reml: bool) -> None:
    systems, share, formula = CASES[case]
    frame = make_table(systems, share)
    built = design(formula, frame.assign(rating=draw(frame, 1)[0]))
    model, _ = lmm.set_response(lmm.make_linear(built, reml), built.y)
    space = lmm.make_workspace(model)
    assert len(space.lanes.theta)
    apart = space._replace(lanes=space.lanes._replace(theta=np.empty((0, 8))))
    together = lmm.find_estimates(model, built.factors, space)
    one_by_one = lmm.find_estimates(model, built.factors, apart)
    np.testing.assert_allclose(together.point, one_by_one.point, atol=1e-6)
    close(together.hessian, one_by_one.hessian)


@pytest.mark.parametrize("case", [case for case in CASES if case not in EIGHT_AT_ONCE])
def test_other_models_take_one_column_after_the_other(case: str) -> None:
    systems, share, formula = CASES[case]
    frame = make_table(systems, share)
    built = design(formula, frame.assign(rating=draw(frame, 1)[0]), ordinal=True)
    thresholds = make_thresholds("flexible", built.categories)
    assert not len(clmm.make_workspace(clmm.make_model(built, "probit", thresholds)).lanes.psi)
    assert not len(lmm.make_workspace(lmm.make_linear(built, True)).lanes.theta)
