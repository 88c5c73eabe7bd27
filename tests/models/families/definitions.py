"""The families by their definitions, in plain numpy."""

import numpy as np

from panelist.numerics.arrays import Floats, Longs
from tests.models.oracle import LINKS


def log_p(family: str, link: str, t: Floats, eta: Floats, sigma: Floats, codes: Longs) -> Floats:
    """log P of each rating, by the definition of its family; t is (n, K − 1)."""
    F, upper, _ = LINKS[link]
    away, n = (t - eta[:, None]) / sigma[:, None], len(eta)
    each = np.arange(n)
    if family == "cumulative":
        up_to = np.hstack([np.zeros((n, 1)), F(away), np.ones((n, 1))])
        return np.asarray(np.log(up_to[each, codes + 1] - up_to[each, codes]))
    if family == "sequential":
        total = np.where(codes < t.shape[1], np.log(F(away))[each, np.minimum(codes, t.shape[1] - 1)], 0.0)
        passed = np.arange(t.shape[1]) < codes[:, None]
        return np.asarray(total + np.where(passed, np.log(upper(away)), 0.0).sum(axis=1))
    q = np.hstack([np.zeros((n, 1)), np.cumsum(-away, axis=1)])
    return np.asarray(q[each, codes] - np.log(np.exp(q).sum(axis=1)))
