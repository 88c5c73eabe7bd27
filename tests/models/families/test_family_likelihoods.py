"""The Laplace likelihood of each family against plain numpy, and its gradient against differences of that."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize

from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.laplace import FINAL, make_laplace_workspace
from panelist.models.likelihoods.thresholds import make_thresholds
from panelist.models.search.entry_points import evaluate
from panelist.models.solvers.clmm import make_model
from panelist.numerics.arrays import Floats
from tests.models.designs import PARTS, make_ratings
from tests.models.families.definitions import log_p
from tests.models.families.designs import build
from tests.models.oracle import differences, expand_lambda, expand_z

CASES = {
    "spreads": ("cumulative", "probit", "three systems", "~ system", None),
    "spreads by number": ("cumulative", "logit", "crossed", "~ x", None),
    "thresholds": ("cumulative", "cloglog", "crossed", None, "~ system"),
    "both": ("cumulative", "logit", "one factor", "~ x", "~ system"),
    "steps": ("sequential", "loglog", "three systems", None, None),
    "steps by system": ("sequential", "probit", "a slope apart", None, "~ system"),
    "adjacent": ("adjacent", "logit", "three systems", None, None),
    "adjacent, spreads": ("adjacent", "logit", "crossed", "~ system", None),
    "adjacent, both": ("adjacent", "logit", "crossed", "~ x", "~ system"),
}


def plain_laplace(design: ModelMatrices, family: str, link: str) -> Callable[[Floats], float]:
    """N(ψ) by scipy's search of the mode and a determinant from differences of the gradient of h."""
    assert design.codes is not None
    codes, K = design.codes.astype(np.int64), len(design.categories)
    M = design.nominal.matrix if design.nominal is not None else np.empty((len(codes), 0))
    S = design.scale.matrix if design.scale is not None else np.empty((len(codes), 0))
    Z = expand_z(design.factors)

    def value(psi: Floats) -> float:
        s, p, q = (K - 1) * (1 + M.shape[1]), design.X.shape[1], S.shape[1]
        t = psi[: K - 1] + M @ psi[K - 1 : s].reshape(M.shape[1], K - 1)
        fixed, sigma = design.X @ psi[s : s + p], np.exp(S @ psi[s + p : s + p + q])
        V = Z @ expand_lambda(design.factors, psi[s + p + q :])

        def rows(eta: Floats) -> Floats:
            return -log_p(family, link, t, eta, sigma, codes)

        def slopes(eta: Floats, step: float = 2e-3) -> tuple[Floats, Floats]:
            """First and second derivatives of every row, to the sixth order."""
            at = [rows(eta + k * step) for k in range(-3, 4)]
            first = (at[6] - at[0]) / 60 - 3 * (at[5] - at[1]) / 20 + 3 * (at[4] - at[2]) / 4
            second = (
                (at[6] + at[0]) / 90 - 3 * (at[5] + at[1]) / 20 + 3 * (at[4] + at[2]) / 2 - 49 * at[3] / 18
            )
            return first / step, second / step**2

        u = np.zeros(V.shape[1])
        for _ in range(60):
            D1, W = slopes(fixed + V @ u)
            push = np.linalg.solve((V.T * W) @ V + np.eye(len(u)), V.T @ D1 + u)
            u = u - push
            if np.abs(push).max() < 1e-11:
                break
        _, W = slopes(fixed + V @ u)
        logdet = float(np.linalg.slogdet((V.T * W) @ V + np.eye(len(u)))[1])
        return float(rows(fixed + V @ u).sum() + 0.5 * u @ u) + 0.5 * logdet

    return value


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient_are_those_of_the_definition(name: str) -> None:
    family, link, part, scale, nominal = CASES[name]
    ratings = make_ratings(categories=4)
    design = build(f"rating ~ system + x + {PARTS[part]}", ratings, scale=scale, nominal=nominal)
    model = make_model(design, link, make_thresholds("flexible", design.categories, family))
    rng = np.random.default_rng(4)
    s, size = model.J.shape[1], model.J.shape[1] + model.X.shape[1] + model.S.shape[1]
    alpha = np.concatenate([[-1.0, 0.1, 0.9], rng.uniform(-0.1, 0.1, s - 3)])
    count = int(model.tau_slot[-1]) + 1
    tau = np.zeros(count)
    tau[model.tau_slot] = np.where(model.tau_row == model.tau_column, rng.uniform(0.3, 0.7, count), 0.2)
    psi = np.concatenate([alpha, rng.uniform(-0.3, 0.3, size - s), tau])
    gradient, plain = np.zeros(len(psi)), plain_laplace(design, family, link)
    value = float(evaluate(model, psi, make_laplace_workspace(model), gradient, FINAL))
    assert value == pytest.approx(plain(psi), rel=1e-8)
    np.testing.assert_allclose(gradient, differences(plain, psi, 2e-3), rtol=2e-5, atol=2e-5)


def test_thresholds_of_a_cell_must_be_in_order() -> None:
    design = build("rating ~ x + (1 | rater)", make_ratings(categories=4), nominal="~ system")
    model = make_model(design, "probit", make_thresholds("flexible", design.categories))
    psi = np.concatenate([[-1.0, 0.0, 1.0], np.zeros(model.J.shape[1] - 3 + model.X.shape[1]), [0.5]])
    work = make_laplace_workspace(model)
    assert np.isfinite(evaluate(model, psi, work, np.zeros(len(psi)), FINAL))
    psi[4] = -1.2  # the middle threshold of one system falls below the lowest
    assert evaluate(model, psi, work, np.zeros(len(psi)), FINAL) == np.inf
    steps = make_model(design, "probit", make_thresholds("flexible", design.categories, "sequential"))
    assert np.isfinite(evaluate(steps, psi, make_laplace_workspace(steps), np.zeros(len(psi)), FINAL))


def test_one_level_alone_is_integrated_as_it_is_defined() -> None:
    """Laplace in one dimension, the mode by a scalar search: a check of the check above."""
    design = build("rating ~ 1 + (1 | rater)", make_ratings(categories=4), scale="~ x")
    plain, (rater,) = plain_laplace(design, "cumulative", "probit"), design.factors
    assert design.codes is not None
    assert design.scale is not None
    psi = np.array([-1.0, 0.1, 0.9, 0.4, 0.8])
    sigma, total = np.exp(design.scale.matrix @ psi[3:4]), 0.0
    for level in range(len(rater.levels)):
        own = rater.index == level
        t = np.broadcast_to(psi[:3], (own.sum(), 3))

        def h(u: float, own: Floats = own, t: Floats = t) -> float:
            eta = np.full(int(own.sum()), psi[4] * u)
            codes = design.codes[own].astype(np.int64)  # type: ignore[index]
            return float(0.5 * u * u - log_p("cumulative", "probit", t, eta, sigma[own], codes).sum())

        mode = float(optimize.minimize_scalar(h, bounds=(-5, 5), method="bounded", options={"xatol": 1e-9}).x)
        bend = (h(mode + 1e-3) - 2.0 * h(mode) + h(mode - 1e-3)) / 1e-6
        total += h(mode) + 0.5 * np.log(bend)
    assert plain(psi) == pytest.approx(total, rel=1e-6)
