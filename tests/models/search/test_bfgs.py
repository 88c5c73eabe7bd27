"""The minimiser alone, on functions whose minimum is known."""

from collections.abc import Callable

import numpy as np
import pytest

from panelist.models.search.bfgs import (
    CONVERGED,
    EVALUATIONS,
    ITERATIONS,
    LOST,
    OUT_OF_STEPS,
    REASON,
    REASONS,
    STUCK,
    F,
    Search,
    make_search,
)
from panelist.models.search.entry_points import begin, judge, propose
from panelist.numerics.arrays import Floats

Function = Callable[[Floats], tuple[float, Floats]]


def rosenbrock(x: Floats) -> tuple[float, Floats]:
    value = 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2
    slope = [-400.0 * x[0] * (x[1] - x[0] ** 2) - 2.0 * (1.0 - x[0]), 200.0 * (x[1] - x[0] ** 2)]
    return float(value), np.array(slope)


def bowl(x: Floats) -> tuple[float, Floats]:
    scales = 10.0 ** np.arange(len(x))
    return float(0.5 * (scales * x**2).sum()), scales * x


def fenced(x: Floats) -> tuple[float, Floats]:
    """x − log x: infinite where x is not positive, as a likelihood is where thresholds cross."""
    if x[0] <= 0.0:
        return np.inf, np.zeros(1)
    return float(x[0] - np.log(x[0])), 1.0 - 1.0 / x


def minimise(
    function: Function,
    start: Floats,
    tolerance: float = 1e-14,
    steps: int = 500,
    metric: Floats | None = None,
) -> Search:
    search = make_search(start, np.eye(len(start)) if metric is None else metric)
    value, search.trial_gradient[:] = function(search.trial)
    begin(search, value)
    while propose(search, tolerance, steps):
        value, search.trial_gradient[:] = function(search.trial)
        judge(search, value)
    return search


def test_a_curved_valley_is_followed_to_its_end() -> None:
    search = minimise(rosenbrock, np.array([-1.2, 1.0]))
    np.testing.assert_allclose(search.point, [1.0, 1.0], atol=1e-6)
    assert search.state[REASON] == CONVERGED
    assert search.state[F] < 1e-12


def test_a_bowl_takes_about_as_many_steps_as_it_has_dimensions() -> None:
    search = minimise(bowl, np.ones(5), metric=np.diag(10.0 ** -np.arange(5.0)))
    assert search.state[ITERATIONS] == 1.0  # the metric was exact: one Newton step
    rough = minimise(bowl, np.ones(5))
    assert np.abs(rough.point).max() < 1e-6
    assert rough.state[ITERATIONS] < 60


def test_a_fence_is_never_crossed() -> None:
    search = minimise(fenced, np.array([0.01]))
    assert search.point[0] == pytest.approx(1.0, abs=1e-6)
    far = minimise(fenced, np.array([30.0]), metric=np.array([[1e3]]))  # the first step would jump it
    assert far.point[0] == pytest.approx(1.0, abs=1e-6)


def test_the_metric_ends_near_the_inverse_hessian() -> None:
    search = minimise(rosenbrock, np.array([0.5, 0.5]))
    hessian = np.array([[802.0, -400.0], [-400.0, 200.0]])
    np.testing.assert_allclose(search.metric, np.linalg.inv(hessian), rtol=0.05)


def test_every_end_has_its_reason() -> None:
    assert minimise(rosenbrock, np.array([-1.2, 1.0]), steps=3).state[REASON] == OUT_OF_STEPS
    lost = minimise(fenced, np.array([-1.0]))
    assert lost.state[REASON] == LOST
    assert lost.state[EVALUATIONS] == 1.0

    calls = []

    def walled(x: Floats) -> tuple[float, Floats]:
        calls.append(x)
        return (1.0 if len(calls) == 1 else np.inf), np.ones(len(x))

    assert minimise(walled, np.ones(2)).state[REASON] == STUCK
    assert {CONVERGED, STUCK, OUT_OF_STEPS, LOST} <= set(REASONS)


def test_the_value_never_rises_from_step_to_step() -> None:
    search = make_search(np.array([-1.2, 1.0]), np.eye(2))
    value, search.trial_gradient[:] = rosenbrock(search.trial)
    begin(search, value)
    values = [value]
    while propose(search, 1e-12, 500):
        value, search.trial_gradient[:] = rosenbrock(search.trial)
        if judge(search, value):
            values.append(float(search.state[F]))
    assert len(values) > 10
    assert (np.diff(values) <= 1e-10).all()


def test_a_held_coordinate_does_not_move() -> None:
    metric = np.diag([0.0, 1.0])
    search = minimise(rosenbrock, np.array([0.7, 3.0]), metric=metric)
    assert search.point[0] == 0.7
    assert search.point[1] == pytest.approx(0.49, abs=1e-7)


def test_a_wrong_gradient_ends_the_search_soon_instead_of_creeping() -> None:
    def wrong(x: Floats) -> tuple[float, Floats]:
        value, slope = bowl(x)
        return value, -slope

    search = minimise(wrong, np.ones(2))
    assert search.state[REASON] == STUCK
    assert search.state[EVALUATIONS] < 100
