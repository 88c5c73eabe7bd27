"""Satterthwaite's degrees of freedom where a variance is small or zero, against dense brute force."""

import numpy as np
import pandas as pd
import pytest

from panelist.models.fit import fit
from panelist.numerics.arrays import Floats

FORMULA = "rating ~ system + (1 | rater) + (1 | rater:system) + (1 | item:system)"
GROUPS = ("rater", "rater:system", "item:system")
DIFFERENCE = np.array([0.0, 1.0])


def make_ratings(seed: int) -> pd.DataFrame:
    """Return ratings of two systems by five raters of six items, on five points."""
    rng = np.random.default_rng(seed)
    rater, item = rng.normal(0, 0.5, 5), rng.normal(0, 0.5, 6)
    rows = [
        (f"r{r}", f"i{i}", f"s{s}", float(np.clip(round(3 + s + rater[r] + item[i] + rng.normal()), 1, 5)))
        for r in range(5)
        for i in range(6)
        for s in range(2)
    ]
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


class Dense:
    """The REML deviance over (θ, σ) by dense matrices, and its derivatives by differences, as lmerTest's."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.y: Floats = frame["rating"].to_numpy(dtype=np.float64)
        self.X: Floats = np.column_stack([np.ones(len(frame)), (frame["system"] == "s1").to_numpy(float)])
        self.same = []
        for group in GROUPS:
            key = frame[group.split(":")].agg("|".join, axis=1).to_numpy()
            self.same.append((key[:, None] == key).astype(float))

    def covariance(self, phi: Floats) -> tuple[float, Floats]:
        """Return the deviance and the covariance of the fixed effects."""
        *theta, sigma = phi
        V = sigma**2 * np.eye(len(self.y))
        for one, same in zip(theta, self.same, strict=True):
            V += (one * sigma) ** 2 * same
        root = np.linalg.cholesky(V)
        X = np.asarray(np.linalg.solve(root, self.X), dtype=np.float64)
        y = np.asarray(np.linalg.solve(root, self.y), dtype=np.float64)
        C = np.asarray(np.linalg.inv(X.T @ X), dtype=np.float64)
        rest = y - X @ (C @ X.T @ y)
        return float(2 * np.log(np.diag(root)).sum() - np.linalg.slogdet(C)[1] + rest @ rest), C

    def degrees(self, phi: Floats, step: float = 1e-4) -> float:
        """Return 2 v² / g'Ag with A and g by central differences."""
        k = len(phi)
        unit = step * np.eye(k)
        H = np.empty((k, k))
        for i in range(k):
            for j in range(k):
                ends = [
                    self.covariance(phi + a * unit[i] + b * unit[j])[0] * a * b
                    for a in (1, -1)
                    for b in (1, -1)
                ]
                H[i, j] = sum(ends) / (4 * step**2)
        values, vectors = np.linalg.eigh(H)
        A = 2 * sum(
            np.outer(u, u) / value for value, u in zip(values, vectors.T, strict=True) if value > 1e-8
        )

        def variance(at: Floats) -> float:
            return float(DIFFERENCE @ self.covariance(at)[1] @ DIFFERENCE)

        g = np.array([(variance(phi + e) - variance(phi - e)) / (2 * step) for e in unit])
        return 2 * variance(phi) ** 2 / float(g @ A @ g)


@pytest.mark.parametrize("seed", [1, 8, 123, 145, 161, 170, 171, 219])
def test_degrees_of_freedom_are_those_of_brute_force(seed: int) -> None:
    frame = make_ratings(seed)
    fitted = fit(FORMULA, frame, model="lmm")
    spread = {group: float(sd) for group, sd in zip(fitted.random["group"], fitted.random["sd"], strict=True)}
    phi = np.array([*(spread[group] / fitted.sigma for group in GROUPS), fitted.sigma])
    dense = Dense(frame)
    ours = float(fitted.degrees(DIFFERENCE[None])[0])
    assert ours == pytest.approx(dense.degrees(phi), rel=2e-3)
    for place, group in enumerate(GROUPS):  # no small spread is left where none is as likely
        without = phi.copy()
        without[place] = 0.0
        if 0 < phi[place] < 0.02:
            assert dense.covariance(without)[0] > dense.covariance(phi)[0], group
