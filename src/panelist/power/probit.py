"""Power over the size of a study: a probit line, fitted to counts.

A test whose standard error falls as 1/√n has power Φ(a + b √n) with a = Φ⁻¹(α/2), but for the other tail. So
the line has two parameters, b ≥ 0, and a normal prior on a around that value that data overrule.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PRIOR_SD = 0.5
_STEPS = 50
_TINY = 1e-12


@dataclass(frozen=True)
class PowerLine:
    """Φ(a + b √n), with the covariance of a and log b."""

    a: float
    b: float
    covariance: tuple[tuple[float, float], tuple[float, float]]

    def predict(self, n: Any) -> Floats:
        """Return the power at n."""
        from scipy.special import ndtr

        return np.asarray(ndtr(self.a + self.b * np.sqrt(np.asarray(n, dtype=float))))

    def find_size(self, power: float) -> float:
        """Return the n at which the line reaches a power."""
        from scipy.special import ndtri

        return float(max((ndtri(power) - self.a) / self.b, 0.0) ** 2)

    def find_error(self, n: float) -> float:
        """Return the standard error of the line at n, on the probit scale."""
        slope = np.array([1.0, self.b * np.sqrt(n)])
        return float(np.sqrt(slope @ np.array(self.covariance) @ slope))


def fit_line(n: Any, found: Any, sims: Any, alpha: float, guess: float) -> PowerLine:
    """Return the line through counts: ``found`` of ``sims`` at each ``n``.

    ``guess`` is the n where power .8 is expected; it starts the search, and weighs no more than a few data
    sets.
    """
    from scipy.special import ndtri

    x = np.sqrt(np.asarray(n, dtype=float))
    y, m = np.asarray(found, dtype=float), np.asarray(sims, dtype=float)
    a0 = float(ndtri(alpha / 2))
    theta = np.array([a0, np.log((ndtri(0.8) - a0) / np.sqrt(guess))])
    prior = np.array([a0, theta[1]])
    weight = np.array([1 / _PRIOR_SD**2, 1 / 1.0**2])  # the guess may be wrong by a factor of e in √n
    information = np.diag(weight)
    for _ in range(_STEPS):
        gradient, information = _differentiate(theta, x, y, m)
        gradient = gradient - weight * (theta - prior)
        information = information + np.diag(weight)
        step = np.linalg.solve(information, gradient)
        step *= min(1.0, 1.0 / max(float(np.abs(step).max()), _TINY))
        theta = theta + step
        if float(np.abs(step).max()) < 1e-9:
            break
    inverse = np.linalg.inv(information)
    rows = ((float(inverse[0, 0]), float(inverse[0, 1])), (float(inverse[1, 0]), float(inverse[1, 1])))
    return PowerLine(float(theta[0]), float(np.exp(theta[1])), rows)


def _differentiate(theta: Floats, x: Floats, y: Floats, m: Floats) -> tuple[Floats, Floats]:
    """Return the gradient and the expected information of the binomial likelihood, for a and log b."""
    from scipy.special import ndtr

    b = np.exp(theta[1])
    eta = theta[0] + b * x
    p = np.clip(ndtr(eta), _TINY, 1 - _TINY)
    density = np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)
    columns = np.stack([np.ones_like(x), b * x])
    score = (y - m * p) * density / (p * (1 - p))
    curve = m * density**2 / (p * (1 - p))
    return columns @ score, (columns * curve) @ columns.T
