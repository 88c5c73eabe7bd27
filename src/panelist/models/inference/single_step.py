"""The largest of several correlated t statistics: single-step tests of all pairs, or of all with one.

Statistics T = Z / s share one estimate of spread, s² ~ χ²_ν / ν, and Z is normal with their correlation, of
rank q. Z = r A u, with u on the unit sphere of q dimensions, r² ~ χ²_q, and a unit row of A for each test.
Hence max|T| = (r / s) M(u), M(u) = max|A u|, and r² / (q s²) ~ F(q, ν):

    P(max|T| > t) = E_u P(F > t² / (q M²)).

Only the direction u is drawn, from Sobol's points with one seed, so that the same data give the same numbers
on any machine; the rest is exact, which keeps tails accurate (Genz & Bretz 2009, Computation of Multivariate
Normal and t Probabilities, 4.1, doi:10.1007/978-3-642-01689-9; Hothorn, Bretz & Westfall 2008,
doi:10.1002/bimj.200810425, for the tests). With equal standard errors of all pairs it is Tukey's test, with
equal correlations of .5 Dunnett's (1955, doi:10.1080/01621459.1955.10501294).
"""

from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtri, stdtr, stdtrit

from panelist.numerics.arrays import Floats

POINTS = 16  # 2 to this power directions: p-values good to three digits after the point
_SEED = 7
_FINE, _COARSE = 1024, 512  # the largest M one by one, the others averaged in groups
_CHUNK = 4_000_000  # numbers of A u held at once
_MANY = 1e10  # degrees of freedom from which t is the normal to ten digits
_NODES = 24  # quantiles at many different degrees of freedom are a polynomial in 1/df
_RANK = 1e-9


def find_directions(D: Floats, vcov: Floats) -> Floats:
    """Return the unit rows A with AA' the correlation of the contrasts D; nan for one without a variance."""
    unknown = np.isnan(np.diag(vcov))
    values, vectors = np.linalg.eigh(np.where(np.isnan(vcov), 0.0, vcov))
    rows = D @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    rows[np.abs(D[:, unknown]).max(axis=1, initial=0.0) > 0.0] = np.nan
    length = np.linalg.norm(rows, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        directions: Floats = np.where(length[:, None] > 0.0, rows / length[:, None], np.nan)
    return directions


def equal_directions(m: int) -> Floats:
    """Return the directions of m differences from one mean, all means equally well known."""
    return np.asarray(np.linalg.cholesky(0.5 * np.eye(m) + 0.5), dtype=np.float64)


def single_step_tail(statistic: Floats, df: Floats, directions: Floats) -> Floats:
    """Return P(max|T| > |statistic|) for each statistic, on its own degrees of freedom; nan gives nan.

    Where degrees of freedom differ, each statistic is compared with the maximum on its own degrees of
    freedom, as in R's emmeans. The result lies between the p-value of one test and Šidák's, as it must.
    """
    size, df = np.broadcast_arrays(np.abs(np.asarray(statistic, float)), np.asarray(df, float))
    tail: Floats = np.full(size.shape, np.nan)
    known = np.isfinite(size) & (df > 0)
    tail[np.isinf(size) & (df > 0)] = 0.0
    use = known & np.isfinite(directions).all(axis=1)
    if not use.any():
        return tail
    largest, weight, rank = _largest_projections(directions[use])
    for place in np.flatnonzero(use):
        tail[place] = _radial_tail(float(size[place]), float(df[place]), largest, rank) @ weight
    one = 2 * stdtr(np.minimum(df[use], _MANY), -size[use])
    with np.errstate(divide="ignore"):
        most = -np.expm1(int(use.sum()) * np.log1p(-np.minimum(one, 1.0)))
    tail[use] = np.clip(tail[use], one, np.maximum(most, one))
    return tail


def single_step_quantile(confidence: float, df: Floats, directions: Floats) -> Floats:
    """Return c with P(max|T| ≤ c) = ``confidence``, elementwise over ``df``."""
    df = np.asarray(df, float)
    rows = directions[np.isfinite(directions).all(axis=1)]
    if not len(rows):
        return np.full(df.shape, np.nan)
    nodes, weight, rank = _largest_projections(rows)
    values, places = np.unique(np.minimum(df.ravel(), _MANY), return_inverse=True)

    def find(one: float) -> float:
        return _quantile(confidence, one, nodes, weight, rank, len(rows))

    if len(values) > _NODES and values[0] >= 1:
        x = 1 / values
        middle, half = (x[0] + x[-1]) / 2, (x[0] - x[-1]) / 2
        at = np.cos(np.pi * np.arange(_NODES + 1) / _NODES)
        exact = [find(float(1 / max(middle + half * node, 1 / _MANY))) for node in at]
        series = np.polynomial.chebyshev.Chebyshev.fit(at, exact, _NODES, domain=[-1, 1])
        found = np.asarray(series((x - middle) / half), dtype=float)
    else:
        found = np.array([find(float(one)) for one in values])
    quantiles: Floats = found[places].reshape(df.shape)
    return quantiles


def _largest_projections(directions: Floats) -> tuple[Floats, Floats, int]:
    """Return values of M with their weights, and the rank."""
    return _cached_projections(directions.tobytes(), directions.shape)


@lru_cache(maxsize=8)  # tests and intervals of one family ask for the same
def _cached_projections(content: bytes, shape: tuple[int, int]) -> tuple[Floats, Floats, int]:
    A = np.frombuffer(content).reshape(shape)
    _, singular, axes = np.linalg.svd(A, full_matrices=False)
    rank = int((singular > _RANK * singular[0]).sum())
    if rank == 1 or len(A) == 1:
        return np.ones(1), np.ones(1), 1
    A = np.ascontiguousarray(A @ axes[:rank].T)
    u = _draw_directions(rank)
    M = np.empty(len(u))
    step = max(1, _CHUNK // len(A))
    for start in range(0, len(u), step):
        M[start : start + step] = np.abs(u[start : start + step] @ A.T).max(axis=1)
    M.sort()
    groups = np.array_split(M[:-_FINE], _COARSE)
    values = np.concatenate([[group.mean() for group in groups], M[-_FINE:]])
    weight = np.concatenate([[len(group) for group in groups], np.ones(_FINE)]) / len(M)
    return values, weight, rank


@lru_cache(maxsize=4)
def _draw_directions(rank: int) -> Floats:
    """Return points on the unit sphere: evenly on the circle, elsewhere by Sobol's sequence, shifted."""
    if rank == 2:
        angle = (np.arange(2**POINTS) + 0.5) * (np.pi / 2**POINTS)  # half of it: M(u) = M(−u)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    from scipy.stats import qmc  # imported late: it takes a moment

    shift = np.random.default_rng(_SEED).random(rank)
    uniform = np.modf(qmc.Sobol(rank, scramble=False).random_base2(POINTS) + shift)[0]
    normal = ndtri(np.clip(uniform, 1e-12, 1 - 1e-12))
    points: Floats = normal / np.linalg.norm(normal, axis=1)[:, None]
    return points


def _radial_tail(t: float, df: float, largest: Floats, rank: int) -> Floats:
    """Return P(r M / s > t) for each M."""
    square = (t / largest) ** 2
    tail: Floats = chdtrc(rank, square) if df >= _MANY else fdtrc(rank, df, square / rank)
    return tail


def _quantile(confidence: float, df: float, largest: Floats, weight: Floats, rank: int, m: int) -> float:
    """Return one quantile by bracketing between one test and Bonferroni's."""
    if not df > 0:
        return float("nan")
    low, high = (float(stdtrit(min(df, _MANY), 1 - (1 - confidence) / (2 * count))) for count in (1, m))
    if rank == 1:
        return low
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        return float(_radial_tail(t, df, largest, rank) @ weight) - (1 - confidence)

    low, high = low * (1 - 1e-9), high * (1 + 1e-9)
    if not excess(low) > 0 > excess(high):
        return low if excess(low) <= 0 else high
    return float(brentq(excess, low, high, xtol=1e-10, rtol=1e-12))
