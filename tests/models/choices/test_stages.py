"""Choices with random preferences: the objective against dense matrices, its gradient, the reference."""

import numpy as np
import pytest

from panelist.models.choices.search_stages import estimate_stages
from panelist.models.choices.stages import ChoiceStages, evaluate_stages
from panelist.numerics.arrays import Floats
from tests.analysis.choices.choices import needs_shared
from tests.models.choices.stage_models import draw_stages, make_davidson, read_reference

PSI = np.array([0.3, -0.2, 0.5, 0.7, 0.4])


def find_by_brute_force(model: ChoiceStages, psi: Floats) -> float:
    """Return N by dense matrices, stage by stage, the mode by a general optimiser."""
    from scipy.optimize import minimize

    p = model.X.shape[1]
    V = np.hstack([w * Z.toarray() for w, Z in zip(psi[p:], model.Z, strict=True)])
    stages = [np.flatnonzero(model.of_stage == s) for s in range(model.of_stage[-1] + 1)]

    def h(u: Floats) -> float:
        eta = model.X @ psi[:p] + V @ u
        lost = 0.5 * u @ u
        for rows in stages:
            lost -= eta[rows][model.chosen[rows]].sum() - np.log(np.exp(eta[rows]).sum())
        return float(lost)

    u = minimize(h, np.zeros(V.shape[1]), method="BFGS", options={"gtol": 1e-9}).x
    eta = model.X @ psi[:p] + V @ u
    H = np.eye(len(u))
    for rows in stages:
        q = np.exp(eta[rows]) / np.exp(eta[rows]).sum()
        H += V[rows].T @ (np.diag(q) - np.outer(q, q)) @ V[rows]
    return h(u) + 0.5 * float(np.linalg.slogdet(H)[1])


def test_the_objective_is_that_of_dense_matrices() -> None:
    model = draw_stages(1, stages=12)
    found = evaluate_stages(model, PSI, np.zeros(model.n_effects))
    assert found.value == pytest.approx(find_by_brute_force(model, PSI), abs=1e-8)


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("psi", [PSI, np.array([0.3, -0.2, 0.5, -0.7, 0.0])])
def test_the_gradient_is_that_of_differences(seed: int, psi: Floats) -> None:
    model = draw_stages(seed)
    found = evaluate_stages(model, psi, np.zeros(model.n_effects))
    for at in range(len(psi)):
        step = 1e-5 * (np.arange(len(psi)) == at)
        up, down = (evaluate_stages(model, psi + sign * step, found.u).value for sign in (1, -1))
        assert found.gradient[at] == pytest.approx((up - down) / 2e-5, abs=2e-7)


def test_the_mode_does_not_depend_on_where_it_is_searched_from() -> None:
    model = draw_stages(4)
    first = evaluate_stages(model, PSI, np.zeros(model.n_effects))
    far = evaluate_stages(model, PSI, np.full(model.n_effects, 9.0))
    assert far.value == pytest.approx(first.value, abs=1e-10)
    assert far.u == pytest.approx(first.u, abs=1e-6)


def test_estimates_are_at_a_minimum_and_spreads_may_be_zero() -> None:
    model = draw_stages(5, stages=60)
    found = estimate_stages(model, np.zeros(3))
    assert found.converged
    assert found.gradient < 1e-5
    assert (found.sds >= 0).all()
    assert np.linalg.eigvalsh(found.vcov)[0] > 0


@needs_shared
def test_ties_as_a_third_alternative_are_davidsons_model_with_random_preferences() -> None:
    wanted = read_reference("pairs_ties_exchangeable_adjacent")["laplace"]
    found = estimate_stages(make_davidson(), np.zeros(5))
    assert found.loglik == pytest.approx(wanted["logLik"], abs=1e-6)
    position, *systems = wanted["beta"]["estimate"]
    # Strengths and their spread are twice the adjacent coefficients, log ν is the upper threshold.
    assert found.beta[:3] == pytest.approx(2 * np.array(systems), abs=2e-4)
    assert found.beta[3:] == pytest.approx([2 * position, wanted["alpha"]["estimate"][0]], abs=2e-4)
    assert np.sqrt(np.diag(found.vcov))[:3] == pytest.approx(2 * np.array(wanted["beta"]["se"][1:]), rel=1e-3)
    sds = [2 * wanted["random"][name]["sd"][0] for name in ("item", "rater")]
    assert found.sds == pytest.approx(sds, abs=2e-4)
