"""Columns of the Hessian, eight at once: as if taken one after the other."""

import numpy as np
import pytest

from panelist.models.arrays import Floats
from panelist.models.solvers import clmm, lmm
from panelist.models.solvers.links import LINKS
from panelist.models.solvers.thresholds import make_thresholds
from tests.models.designs import design
from tests.models.test_batch import CASES, draw, make_table

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
    built = design(formula, frame.assign(rating=draw(frame, 1)[0]), ordinal=True)
    thresholds = make_thresholds("flexible", built.categories)
    model = clmm.make_model(built, link, thresholds)
    room = clmm.make_room(model)
    assert len(room.lanes.psi)
    apart = room._replace(lanes=room.lanes._replace(psi=np.empty(0)))
    together = clmm.find_estimates(model, built.factors, link, thresholds, room)
    one_by_one = clmm.find_estimates(model, built.factors, link, thresholds, apart)
    np.testing.assert_allclose(together.psi, one_by_one.psi, atol=1e-6)
    close(together.hessian, one_by_one.hessian)


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("case", EIGHT_AT_ONCE)
def test_linear_columns_do_not_depend_on_how_they_are_taken(case: str, reml: bool) -> None:
    systems, share, formula = CASES[case]
    frame = make_table(systems, share)
    built = design(formula, frame.assign(rating=draw(frame, 1)[0]))
    model, _ = lmm.set_response(lmm.make_linear(built, reml), built.y)
    room = lmm.make_room(model)
    assert len(room.lanes.theta)
    apart = room._replace(lanes=room.lanes._replace(theta=np.empty(0)))
    together = lmm.find_estimates(model, built.factors, room)
    one_by_one = lmm.find_estimates(model, built.factors, apart)
    np.testing.assert_allclose(together.theta, one_by_one.theta, atol=1e-6)
    close(together.curvature, one_by_one.curvature)


@pytest.mark.parametrize("case", [case for case in CASES if case not in EIGHT_AT_ONCE])
def test_other_models_take_one_column_after_the_other(case: str) -> None:
    systems, share, formula = CASES[case]
    frame = make_table(systems, share)
    built = design(formula, frame.assign(rating=draw(frame, 1)[0]), ordinal=True)
    thresholds = make_thresholds("flexible", built.categories)
    assert not len(clmm.make_room(clmm.make_model(built, "probit", thresholds)).lanes.psi)
    assert not len(lmm.make_room(lmm.make_linear(built, True)).lanes.theta)
