"""The likelihood that Bradley-Terry and Plackett-Luce share: a chain of choices among alternatives.

Each *stage* is one choice. An alternative a has the linear predictor x_a'β, and is chosen with probability
exp(x_a'β) / Σ_b exp(x_b'β) (Luce 1959, Individual choice behavior). β holds the log-strengths θ of the
systems, which sum to 0, and, where there are ties, one more parameter. Choosing the best has x = e_system,
choosing the worst x = −e_system. The log-likelihood is concave; Newton's method finds its maximum in a few
steps.

Standard errors allow for correlated answers: see clusters.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from panelist.analysis.choices.models.clusters import StrengthCovariance
from panelist.analysis.choices.models.mixed_part import MixedCovariance, MixedPart
from panelist.analysis.choices.one_sided import OneSided
from panelist.core.errors import BadModel, UnknownName, did_you_mean
from panelist.numerics.arrays import Bools, Floats, Longs

Cluster: TypeAlias = Literal["rater", "item", "both", "none"]
CLUSTERS: tuple[Cluster, ...] = ("rater", "item", "both", "none")
_STEPS, _TOLERANCE = 200, 1e-18  # of g'H⁻¹g, twice the gain that a step still promises
_SURE = 1e-8  # below it a full step is right, and rounding hides the gain in the log-likelihood


@dataclass(frozen=True, eq=False)
class Stages:
    """Alternatives in the order of their stages: ``X`` (sparse, rows × parameters), and which were chosen.

    ``of_stage`` says to which stage a row belongs. Answers that are alike may share a stage: ``trial`` says
    from which trial each answer comes, and ``source`` which stage it is. The first ``n_systems`` parameters
    are the systems'; a further one, if any, is that of ties. ``option`` is the option that a row stands for,
    where it stands for one.
    """

    X: Any = field(repr=False)
    of_stage: Longs = field(repr=False)
    chosen: Bools = field(repr=False)
    trial: Longs = field(repr=False)
    n_systems: int
    source: Longs = field(repr=False)
    option: Longs | None = field(default=None, repr=False)

    @property
    def weight(self) -> Floats:
        """How many answers each stage stands for."""
        return np.bincount(self.source, minlength=int(self.of_stage[-1]) + 1).astype(np.float64)


class Maximum(NamedTuple):
    """Where Newton's method ended: parameters, log-likelihood, residuals of the rows (of one answer each),
    inverse information.
    """

    beta: Floats
    loglik: float
    residual: Floats
    bread: Floats
    steps: int


@dataclass(frozen=True, eq=False)
class Strengths:
    """Log-strengths ``theta`` of the systems (their sum is 0), and how far they spread.

    ``tie`` is log ν of Davidson's model, nan without ties; ``cluster`` says which clusters were used, and
    ``fixed`` which side has so few that the conclusion holds only for these; ``n_clusters`` is the number
    of clusters, of two sides the smaller. ``prior`` is the standard deviation of the normal prior that was
    needed, None for plain likelihood; then ``one_sided`` holds the pairs of which one system won every
    comparison. ``mixed`` has the spreads and slopes of a model with random preferences.
    """

    model: str
    systems: tuple[str, ...]
    theta: Floats
    spread: StrengthCovariance | MixedCovariance
    loglik: float
    tie: float
    steps: int
    cluster: Cluster
    n_clusters: int
    fixed: tuple[str, ...] = ()
    prior: float | None = None
    one_sided: tuple[OneSided, ...] = ()
    notes: tuple[str, ...] = ()
    mixed: MixedPart | None = None

    @property
    def covariance(self) -> Floats:
        """The covariance matrix of theta."""
        return self.spread.covariance


def check_cluster(cluster: str) -> Cluster:
    """Return the word for clusters, or raise UnknownName with those there are."""
    for known in CLUSTERS:
        if cluster == known:
            return known
    raise UnknownName(f"Clusters cannot be {cluster!r}. {did_you_mean(cluster, CLUSTERS)}")


def stack_stages(parts: list[tuple[Longs, Longs, Longs, float]], system: Longs, n_systems: int) -> Stages:
    """Return stages of plain choices: parts of (trials, options shown (n, m), place chosen, sign).

    ``system`` is that of each option. The sign is 1 where the best and −1 where the worst was chosen.
    """
    from scipy.sparse import csr_array

    options, signs, stages, chosen, trials, begun = [], [], [], [], [], 0
    for trial, shown, picked, sign in parts:
        n, m = shown.shape
        options.append(shown.ravel())
        signs.append(np.full(n * m, sign))
        stages.append(np.repeat(np.arange(n), m) + begun)
        chosen.append((np.arange(m) == picked[:, None]).ravel())
        trials.append(trial)
        begun += n
    option = np.concatenate(options)
    column = system[option]
    rows = np.arange(len(column))
    X = csr_array((np.concatenate(signs), (rows, column)), shape=(len(column), n_systems))
    return Stages(
        X,
        np.concatenate(stages),
        np.concatenate(chosen),
        np.concatenate(trials),
        n_systems,
        np.arange(begun),
        option,
    )


def maximise(stages: Stages, prior: float | None = None) -> Maximum:
    """Return the maximum of the log-likelihood, or with a normal ``prior`` on theta of the posterior."""
    X, of_stage, k, times = stages.X, stages.of_stage, stages.n_systems, stages.weight
    answers = times[of_stage]
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
        fit = (times * (eta[stages.chosen] - top - np.log(total))).sum()
        loglik = float(fit - 0.5 * (ridge * b * b).sum())
        return loglik, weight / total[of_stage]

    loglik, p = evaluate(beta)
    for step in range(1, _STEPS + 1):
        gradient = X.T @ (answers * (stages.chosen - p)) - ridge * beta
        H = _information(X, of_stage, p, times) + np.diag(ridge)
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


def _information(X: Any, of_stage: Longs, p: Floats, times: Floats) -> Floats:
    """Return Σ over answers of the covariance of x under the choice probabilities."""
    from scipy.sparse import csr_array

    rows = np.arange(len(p))
    mean = csr_array((p, (of_stage, rows)), shape=(len(times), len(p))) @ X
    weighted = X.multiply((times[of_stage] * p)[:, None]).tocsr()
    information: Floats = (X.T @ weighted - mean.T @ mean.multiply(times[:, None]).tocsr()).toarray()
    return information
