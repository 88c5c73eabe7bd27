"""The likelihood that Bradley-Terry and Plackett-Luce share: a chain of choices among alternatives.

Each *stage* is one choice. An alternative a has the linear predictor x_a'β, and is chosen with probability
exp(x_a'β) / Σ_b exp(x_b'β) (Luce 1959, Individual choice behavior). β holds the log-strengths θ of the
systems, which sum to 0, and where there are ties one parameter more. Choosing the best has x = e_system,
choosing the worst x = −e_system. The log-likelihood is concave; Newton's method finds its maximum in a few
steps.

Standard errors. The answers of one rater hang together, so the covariance is the sandwich H⁻¹ (Σ_g s_g s_g')
H⁻¹ with s_g the score of cluster g (Liang & Zeger 1986, doi:10.1093/biomet/73.1.13), times G / (G − 1), and
tests use t on G − 1 degrees of freedom. With raters and items as clusters: V_raters + V_items − V_both
(Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136), on the smaller G.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from panelist.analysis.comparative.trials import Trials
from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.models.arrays import Bools, Floats, Longs

Cluster: TypeAlias = Literal["rater", "item", "both", "none"]
CLUSTERS: tuple[Cluster, ...] = ("rater", "item", "both", "none")
FEW = 10  # with fewer clusters the sandwich is known to be too small
_STEPS, _TOLERANCE = 200, 1e-18  # of g'H⁻¹g, twice the gain that a step still promises
_SURE = 1e-8  # below it a full step is right, and rounding hides the gain in the log-likelihood


@dataclass(frozen=True, eq=False)
class Stages:
    """Alternatives in the order of their stages: ``X`` (sparse, rows × parameters), and which were chosen.

    ``of_stage`` says to which stage a row belongs, ``trial`` from which trial a stage comes. The first
    ``n_systems`` parameters are the systems'; a further one, if any, is that of ties.
    """

    X: Any = field(repr=False)
    of_stage: Longs = field(repr=False)
    chosen: Bools = field(repr=False)
    trial: Longs = field(repr=False)
    n_systems: int


class Maximum(NamedTuple):
    """Where Newton's method ended: parameters, log-likelihood, residuals of the rows, inverse information."""

    beta: Floats
    loglik: float
    residual: Floats
    bread: Floats
    steps: int


@dataclass(frozen=True, eq=False)
class Strengths:
    """Log-strengths ``theta`` of the systems (their sum is 0), and their covariance.

    ``tie`` is log ν of Davidson's model, nan without ties; ``df`` the degrees of freedom of t, infinite for
    z; ``prior`` is the standard deviation of the normal prior that was needed, None for plain likelihood.
    """

    model: str
    systems: tuple[str, ...]
    theta: Floats
    covariance: Floats
    df: float
    loglik: float
    tie: float
    steps: int
    cluster: Cluster
    n_clusters: int
    prior: float | None = None
    notes: tuple[str, ...] = ()


def check_cluster(cluster: str) -> Cluster:
    """Return the word for clusters, or raise UnknownName with those there are."""
    for known in CLUSTERS:
        if cluster == known:
            return known
    raise UnknownName(f"Clusters cannot be {cluster!r}. {did_you_mean(cluster, CLUSTERS)}")


def stack_stages(parts: list[tuple[Longs, Longs, Longs, float]], n_systems: int) -> Stages:
    """Return stages of plain choices: parts of (trials, systems shown (n, m), place chosen, sign).

    The sign is 1 where the best and −1 where the worst was chosen.
    """
    from scipy.sparse import csr_array

    systems, signs, stages, chosen, trials, begun = [], [], [], [], [], 0
    for trial, system, picked, sign in parts:
        n, m = system.shape
        systems.append(system.ravel())
        signs.append(np.full(n * m, sign))
        stages.append(np.repeat(np.arange(n), m) + begun)
        chosen.append((np.arange(m) == picked[:, None]).ravel())
        trials.append(trial)
        begun += n
    column = np.concatenate(systems)
    rows = np.arange(len(column))
    X = csr_array((np.concatenate(signs), (rows, column)), shape=(len(column), n_systems))
    return Stages(X, np.concatenate(stages), np.concatenate(chosen), np.concatenate(trials), n_systems)


def maximise(stages: Stages, prior: float | None = None) -> Maximum:
    """Return the maximum of the log-likelihood, or with a normal ``prior`` on theta of the posterior."""
    X, of_stage, k = stages.X, stages.of_stage, stages.n_systems
    starts = np.flatnonzero(np.diff(of_stage, prepend=-1))
    p_dim = X.shape[1]
    ridge = np.zeros(p_dim)
    ridge[:k] = 0.0 if prior is None else prior**-2
    pin = np.zeros((p_dim, p_dim))
    pin[:k, :k] = 1.0 / k  # makes the information regular, and keeps the sum of theta at 0
    beta = np.zeros(p_dim)

    def evaluate(b: Floats) -> tuple[float, Floats]:
        eta = X @ b
        top = np.maximum.reduceat(eta, starts)
        weight = np.exp(eta - top[of_stage])
        total = np.add.reduceat(weight, starts)
        loglik = float(eta[stages.chosen].sum() - (top + np.log(total)).sum() - 0.5 * (ridge * b * b).sum())
        return loglik, weight / total[of_stage]

    loglik, p = evaluate(beta)
    for step in range(1, _STEPS + 1):
        gradient = X.T @ (stages.chosen - p) - ridge * beta
        H = _information(X, of_stage, p, len(starts)) + np.diag(ridge)
        scale = max(float(np.trace(H)) / p_dim, 1e-12)
        inverse = np.linalg.inv(H + scale * pin)
        move = inverse @ gradient
        gain, size = float(gradient @ move), 1.0
        if gain < _TOLERANCE:
            centre = np.eye(p_dim) - pin
            return Maximum(beta, loglik, stages.chosen - p, centre @ inverse @ centre, step)
        while size > 1e-6:
            try_loglik, try_p = evaluate(beta + size * move)
            if gain < _SURE or try_loglik >= loglik + 1e-4 * size * gain:
                break
            size /= 2
        beta, loglik, p = beta + size * move, try_loglik, try_p
    raise BadModel(
        f"The strengths did not settle in {_STEPS} steps: some systems nearly always win. Leave out systems "
        "that are never beaten, or collect more comparisons."
    )


def _information(X: Any, of_stage: Longs, p: Floats, n_stages: int) -> Floats:
    """Return Σ over stages of the covariance of x under the choice probabilities."""
    from scipy.sparse import csr_array

    rows = np.arange(len(p))
    mean = csr_array((p, (of_stage, rows)), shape=(n_stages, len(p))) @ X
    weighted = X.multiply(p[:, None]).tocsr()
    information: Floats = (X.T @ weighted - mean.T @ mean).toarray()
    return information


def cluster_covariance(
    stages: Stages, found: Maximum, trials: Trials, cluster: Cluster
) -> tuple[Floats, float, int, list[str]]:
    """Return the covariance of beta, degrees of freedom of t, the number of clusters, and notes.

    One cluster cannot say how clusters vary: then, and for "none", comparisons count as independent.
    """
    sides = {"rater": trials.rater, "item": trials.item}
    wanted = [name for name in ("rater", "item") if cluster in (name, "both")]
    known = [name for name in wanted if len(np.unique(sides[name][stages.trial])) > 1]
    notes = [
        f"One {name}, or no column {name}: that answers of one {name} hang together is not allowed for."
        for name in wanted
        if name not in known
    ]
    if not known:
        return found.bread, float("inf"), 0, notes
    codes = [_relabel(sides[name][stages.trial]) for name in known]
    covariance = sum((_sandwich(stages, found, code) for code in codes), np.zeros_like(found.bread))
    counts = [int(code.max()) + 1 for code in codes]
    if len(known) == 2:
        both = _relabel(codes[0] * counts[1] + codes[1])
        covariance = _make_positive(covariance - _sandwich(stages, found, both))
    for name, n in zip(known, counts, strict=True):
        if n < FEW:
            notes.append(f"With {n} {name}s the standard errors are rough: they rest on how {name}s differ.")
    return covariance, float(min(counts) - 1), min(counts), notes


def _sandwich(stages: Stages, found: Maximum, code: Longs) -> Floats:
    """Return G / (G − 1) · H⁻¹ (Σ s s') H⁻¹ for clusters of stages."""
    from scipy.sparse import csr_array

    n = int(code.max()) + 1
    rows = np.arange(len(stages.of_stage))
    gather = csr_array((found.residual, (code[stages.of_stage], rows)), shape=(n, len(rows)))
    scores = (gather @ stages.X).toarray() @ found.bread
    return np.asarray(n / (n - 1) * scores.T @ scores)


def _make_positive(V: Floats) -> Floats:
    """Return the nearest covariance without negative variances: a difference of covariances may have some."""
    values, axes = np.linalg.eigh((V + V.T) / 2)
    return np.asarray((axes * np.maximum(values, 0.0)) @ axes.T)


def _relabel(code: Longs) -> Longs:
    return np.unique(code, return_inverse=True)[1].astype(np.int64)
