"""From stages to strengths with their covariance: connected, separated or not, clustered."""

from __future__ import annotations

import numpy as np

from panelist.analysis.comparative.choice_model import (
    Cluster,
    Stages,
    Strengths,
    check_cluster,
    cluster_covariance,
    maximise,
)
from panelist.analysis.comparative.separation import check_connected, check_separation
from panelist.analysis.comparative.trials import Trials
from panelist.analysis.comparative.wins import count_wins

PRIOR = 2.5  # standard deviation of log-strengths where likelihood alone has no finite answer


def estimate_strengths(model: str, trials: Trials, stages: Stages, cluster: Cluster, ties: bool) -> Strengths:
    """Return the strengths, or raise BadModel where systems were never compared with each other.

    Where some systems win always, maximum likelihood has no finite answer. Then log-strengths get a normal
    prior with standard deviation 2.5 (odds of 12 to 1), the standard errors are those of its information,
    and a note names the systems.
    """
    check_cluster(cluster)
    table = count_wins(trials)
    check_connected(table, ties)
    separation = check_separation(table, ties)
    prior = None if separation.finite else PRIOR
    found = maximise(stages, prior)
    k = stages.n_systems
    notes: list[str] = []
    if prior is None:
        covariance, df, n_clusters, notes = cluster_covariance(stages, found, trials, cluster)
    else:
        covariance, df, n_clusters = found.bread, float("inf"), 0
        cluster = "none"
        notes.append(
            f"{separation.reason}, so by likelihood alone the distance has no limit. The strengths are those "
            f"under a normal prior (mean 0, SD {PRIOR:g}) and say who is ahead, not by how much; the "
            "standard errors take comparisons as independent."
        )
    return Strengths(
        model=model,
        systems=trials.systems,
        theta=found.beta[:k] - found.beta[:k].mean(),
        covariance=covariance[:k, :k],
        df=df,
        loglik=found.loglik,
        tie=float(found.beta[k]) if len(found.beta) > k else float(np.nan),
        steps=found.steps,
        cluster=cluster if n_clusters else "none",
        n_clusters=n_clusters,
        prior=prior,
        notes=tuple(notes),
    )
