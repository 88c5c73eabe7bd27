"""From stages to strengths and their spread: connected, separated or not, clustered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from panelist.analysis.comparative.choice_model import (
    Cluster,
    Maximum,
    Stages,
    Strengths,
    check_cluster,
    maximise,
)
from panelist.analysis.comparative.clusters import FEWEST, Spread, Way, gather_scores, moderate, relabel
from panelist.analysis.comparative.one_sided import find_one_sided
from panelist.analysis.comparative.separation import check_connected, check_separation
from panelist.analysis.comparative.trials import Trials
from panelist.analysis.comparative.wins import count_wins
from panelist.models.arrays import Floats, Longs

FEW = 6  # clusters below which it is said that little is known of how they differ
PRIOR = 2.5  # standard deviation of log-strengths where likelihood alone has no finite answer


class Sides(NamedTuple):
    """The clusters of every trial by side, the sides with too few of them, and what is to be said."""

    codes: dict[str, Longs]
    fixed: tuple[str, ...]
    notes: list[str]

    @property
    def cluster(self) -> Cluster:
        """The word for the clusters used."""
        if len(self.codes) == 2:
            return "both"
        return "none" if not self.codes else ("rater" if "rater" in self.codes else "item")


def estimate_strengths(model: str, trials: Trials, stages: Stages, cluster: Cluster, ties: bool) -> Strengths:
    """Return the strengths, or raise BadModel where systems were never compared with each other.

    Where some systems win always, maximum likelihood has no finite answer. Then log-strengths get a normal
    prior with standard deviation 2.5 (odds of 12 to 1), a note names the systems, and pairs of which one won
    every comparison are tested by themselves.
    """
    check_cluster(cluster)
    table = count_wins(trials)
    check_connected(table, ties)
    separation = check_separation(table, ties)
    prior = None if separation.finite else PRIOR
    found = maximise(stages, prior)
    k = stages.n_systems
    sides = choose_sides(trials, stages.trial, cluster)
    spread, n_clusters = _find_spread(stages, found, sides, floor=prior is not None)
    notes = sides.notes
    if prior is not None:
        notes.append(
            f"{separation.reason}, so by likelihood alone the distance has no limit. The strengths are those "
            f"under a normal prior (mean 0, SD {PRIOR:g}) and say who is ahead, not by how much; where one "
            "system won every comparison of a pair, the test is the exact sign test and the interval has no "
            "upper end."
        )
    return Strengths(
        model=model,
        systems=trials.systems,
        theta=found.beta[:k] - found.beta[:k].mean(),
        spread=spread,
        loglik=found.loglik,
        tie=float(found.beta[k]) if len(found.beta) > k else float(np.nan),
        steps=found.steps,
        cluster=sides.cluster,
        n_clusters=n_clusters,
        fixed=sides.fixed,
        prior=prior,
        one_sided=find_one_sided(trials, table, sides.codes) if prior is not None else (),
        notes=tuple(notes),
    )


def choose_sides(trials: Trials, used: Longs, cluster: Cluster) -> Sides:
    """Return the clusters to allow for, of the trials that are ``used``.

    One cluster cannot say how clusters vary. Two can hardly: where both sides are asked for and one has fewer
    than three, the other alone is taken, and the conclusion holds for these raters, or these items.
    """
    names = {"rater": trials.raters, "item": trials.items}
    codes = {"rater": trials.rater, "item": trials.item}
    wanted = [name for name in codes if cluster in (name, "both")]
    counts = {name: len(np.unique(codes[name][used])) for name in wanted}
    least = FEWEST if cluster == "both" else 2
    kept = [name for name in wanted if counts[name] >= least]
    notes, fixed = [], []
    for name in wanted:
        if not names[name]:
            what = "by one rater" if name == "rater" else "about one item"
            notes.append(f"There is no column {name}: that answers {what} hang together is not allowed for.")
        elif name not in kept:
            fixed.append(name)
            few = f"one {name}" if counts[name] == 1 else f"{counts[name]} {name}s"
            these = f"this {name}" if counts[name] == 1 else f"these {name}s"
            notes.append(
                f"With {few} nothing can be said of how {name}s differ: the conclusion holds for {these}."
            )
        elif counts[name] < FEW:
            notes.append(f"How {name}s differ is known from {counts[name]} of them only.")
    return Sides({name: codes[name] for name in kept}, tuple(fixed), notes)


def _find_spread(stages: Stages, found: Maximum, sides: Sides, floor: bool) -> tuple[Spread, int]:
    """Return how far the strengths spread, and the number of clusters, of two sides the smaller."""
    k = stages.n_systems
    bread = found.bread[:k, :k]
    least = bread if floor else None
    if not sides.codes:
        return Spread((Way(bread, float("inf")),), least), 0
    scores = _score_stages(stages, found.residual)
    codes = [relabel(code[stages.trial]) for code in sides.codes.values()]
    counts = [int(code.max()) + 1 for code in codes]
    ways = [gather_scores(scores, found.bread, code)[:k, :k] for code in codes]
    if len(ways) == 1:
        return Spread((Way(ways[0], counts[0] - 1.0),), least), counts[0]
    crossed = relabel(codes[0] * counts[1] + codes[1])
    cells = gather_scores(scores, found.bread, crossed)[:k, :k]
    both = [moderate(way, cells, bread, n) for way, n in zip(ways, counts, strict=True)]
    return Spread((*both, Way(cells, float(max(crossed.max(), 1)))), least), min(counts)


def _score_stages(stages: Stages, residual: Floats) -> object:
    """Return the score of every stage, (stages, parameters), sparse."""
    from scipy.sparse import csr_array

    rows = np.arange(len(residual))
    return csr_array((residual, (stages.of_stage, rows)), shape=(len(stages.trial), len(rows))) @ stages.X
