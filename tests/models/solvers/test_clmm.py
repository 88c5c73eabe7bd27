"""Standard errors of ordinal mixed models are those of the curvature, in dense blocks small and large."""

import numpy as np
import pandas as pd
import pytest

from panelist.core.seeds import stream
from panelist.models.fit import fit
from panelist.models.likelihoods.covariance import free_entries
from panelist.models.likelihoods.laplace import FINAL, make_laplace_workspace
from panelist.models.search.entry_points import evaluate
from panelist.models.solvers.clmm import make_model


def make_frame(n_raters: int, n_items: int) -> pd.DataFrame:
    rng = stream(5, "clmm", n_raters, n_items)
    rater, item = rng.normal(0.0, 0.7, (n_raters, 2)), rng.normal(0.0, 0.8, (n_items, 2))
    r = np.repeat(np.arange(n_raters), 24)
    i = np.concatenate([rng.choice(n_items, 24, replace=False) for _ in range(n_raters)])
    s = rng.integers(0, 2, len(r))
    latent = 0.4 * s + rater[r, 0] + s * rater[r, 1] + item[i, 0] + s * item[i, 1] + rng.normal(size=len(r))
    rating = np.digitize(latent, [-1.2, -0.3, 0.5, 1.4]) + 1
    names = {"rater": [f"r{k}" for k in r], "item": [f"i{k}" for k in i], "system": np.array(["a", "b"])[s]}
    return pd.DataFrame({**names, "rating": rating})


@pytest.mark.parametrize(("n_raters", "n_items"), [(30, 40), (60, 70)], ids=["small block", "large block"])
@pytest.mark.parametrize("random", ["(system | rater) + (system | item)", "(1 | rater) + (system | item)"])
def test_standard_errors_are_those_of_the_curvature(n_raters: int, n_items: int, random: str) -> None:
    fitted = fit(f"rating ~ system + {random}", make_frame(n_raters, n_items), model="clmm")
    assert fitted.converged
    assert not fitted.singular
    assert fitted.structure is not None
    model = make_model(fitted.design, "probit", fitted.structure)
    rows, columns, _ = free_entries(fitted.design.factors)
    size = len(model.pattern.Z.T)
    whole, first = np.zeros((size, size)), 0
    for block in fitted.solution.lambdas:
        whole[first : first + len(block), first : first + len(block)] = block
        first += len(block)
    psi = np.concatenate([fitted.solution.alpha, fitted.beta, whole[rows, columns]])
    work = make_laplace_workspace(model)
    hessian = np.empty((len(psi), len(psi)))
    for k in range(len(psi)):
        ends = []
        for sign in (1.0, -1.0):
            moved, slope = psi.copy(), np.empty(len(psi))
            moved[k] += sign * 1e-4
            work.counts[2] = 0
            evaluate(model, moved, work, slope, FINAL)
            ends.append(slope)
        hessian[k] = (ends[0] - ends[1]) / 2e-4
    covariance = np.linalg.inv(0.5 * (hessian + hessian.T))
    fixed = len(fitted.solution.alpha) + len(fitted.beta)
    np.testing.assert_allclose(
        np.sqrt(np.diag(fitted.solution.joint_vcov)), np.sqrt(np.diag(covariance))[:fixed], rtol=1e-3
    )
    if n_raters == 60 and random.startswith("(system"):
        assert model.pattern.q > 80  # where steps with an old factor begin
