"""From stages to strengths and their spread: connected, separated or not, clustered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from panelist.analysis.choices.models.choice_model import (
    Cluster,
    Maximum,
    Stages,
    Strengths,
    check_cluster,
    maximise,
)
from panelist.analysis.choices.models.clusters import (
    FEWEST,
    StrengthCovariance,
    Way,
    gather_scores,
    moderate,
    relabel,
)
from panelist.analysis.choices.one_sided import find_one_sided
from panelist.analysis.choices.trials import ChoiceTrials
from panelist.analysis.choices.wins import WinTable, count_wins
from panelist.core.errors import BadModel
from panelist.core.prose import capitalise, listing
from panelist.numerics.arrays import Bools, Floats, Longs

FEW = 6  # clusters below which a note says that little is known about how they differ
PRIOR = 2.5  # standard deviation of log-strengths where likelihood alone has no finite answer


class Sides(NamedTuple):
    """The clusters of every trial by side, the sides with too few of them, and the notes."""

    codes: dict[str, Longs]
    fixed: tuple[str, ...]
    notes: list[str]

    @property
    def cluster(self) -> Cluster:
        """The word for the clusters used."""
        if len(self.codes) == 2:
            return "both"
        return "none" if not self.codes else ("rater" if "rater" in self.codes else "item")


def estimate_strengths(
    model: str, trials: ChoiceTrials, stages: Stages, cluster: Cluster, ties: bool
) -> Strengths:
    """Return the strengths, or raise BadModel where systems were never compared with each other.

    Where some systems always win, maximum likelihood has no finite answer. Then log-strengths get a normal
    prior with standard deviation 2.5 (odds of 12 to 1), a note names the systems, and pairs of which one won
    every comparison are tested separately.
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
    if prior is not None and not table.wins.any():
        notes.append(
            f"{capitalise(separation.reason)}, so nothing says who is ahead: strengths of 0 are those of a "
            f"normal prior (mean 0, SD {PRIOR:g})."
        )
    elif prior is not None:
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


def choose_sides(trials: ChoiceTrials, used: Longs, cluster: Cluster) -> Sides:
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
            notes.append(f"There is no column {name}: that answers {what} are correlated is not allowed for.")
        elif name not in kept:
            fixed.append(name)
            few = f"one {name}" if counts[name] == 1 else f"{counts[name]} {name}s"
            these = f"this {name}" if counts[name] == 1 else f"these {name}s"
            notes.append(
                f"With {few} nothing can be said about how {name}s differ: the conclusion holds for {these}."
            )
        elif counts[name] < FEW:
            notes.append(f"How {name}s differ is known from {counts[name]} of them only.")
    return Sides({name: codes[name] for name in kept}, tuple(fixed), notes)


def _find_spread(stages: Stages, found: Maximum, sides: Sides, floor: bool) -> tuple[StrengthCovariance, int]:
    """Return how far the strengths spread, and the number of clusters, of two sides the smaller."""
    k = stages.n_systems
    bread = found.bread[:k, :k]
    least = bread if floor else None
    if not sides.codes:
        return StrengthCovariance((Way(bread, float("inf")),), least), 0
    scores = _score_stages(stages, found.residual)
    codes = [relabel(code[stages.trial]) for code in sides.codes.values()]
    counts = [int(code.max()) + 1 for code in codes]
    ways = [gather_scores(scores, stages.source, found.bread, code)[:k, :k] for code in codes]
    if len(ways) == 1:
        return StrengthCovariance((Way(ways[0], counts[0] - 1.0),), least), counts[0]
    crossed = relabel(codes[0] * counts[1] + codes[1])
    cells = gather_scores(scores, stages.source, found.bread, crossed)[:k, :k]
    both = [moderate(way, cells, bread, n) for way, n in zip(ways, counts, strict=True)]
    return StrengthCovariance((*both, Way(cells, float(max(crossed.max(), 1)))), least), min(counts)


def _score_stages(stages: Stages, residual: Floats) -> object:
    """Return the score of every stage, (stages, parameters), sparse."""
    from scipy.sparse import csr_array

    rows = np.arange(len(residual))
    n = int(stages.of_stage[-1]) + 1
    return csr_array((residual, (stages.of_stage, rows)), shape=(n, len(rows))) @ stages.X


MOST_NAMED = 6


class Separation(NamedTuple):
    """Whether maximum likelihood has finite estimates, and the sentence that says why not."""

    finite: bool
    reason: str = ""


def check_connected(table: WinTable, ties: bool) -> None:
    """Raise BadModel where systems fall into groups that were never compared with each other."""
    from scipy.sparse.csgraph import connected_components

    links = (table.wins > 0) | ((table.ties > 0) if ties else False)
    n, group = connected_components(links, directed=False)
    if n == 1:
        return
    groups = [
        [name for name, g in zip(table.systems, group, strict=True) if g == which] for which in range(n)
    ]
    silent = [members[0] for members in groups if len(members) == 1]
    if len(silent) == n or (len(silent) and n - len(silent) == 1):
        raise BadModel(
            f"On {table.criterion!r} no decided comparison involves {listing(silent, MOST_NAMED)}, so "
            "its place is unknown. Leave out the rows, or collect comparisons."
        )
    raise BadModel(
        f"On {table.criterion!r} the systems fall into {n} groups that were never compared with each other: "
        f"{'; '.join(listing(members, MOST_NAMED) for members in groups)}. Compare within a group "
        f"(--where system=…, in Python: ratings.where(system=[…])), or collect comparisons across groups."
    )


def check_separation(table: WinTable, ties: bool) -> Separation:
    """Return whether the strengths have finite estimates by maximum likelihood."""
    from scipy.sparse.csgraph import connected_components

    n, group = connected_components(table.wins > 0, directed=True, connection="strong")
    if n == 1:
        return Separation(True)
    if not (table.wins > 0).any():
        return Separation(False, "no comparison was decided")
    tied = np.triu(table.ties) > 0
    if ties and tied.any() and not _has_direction(table.wins > 0, tied):
        return Separation(True)
    top, bottom = _ends(table.wins > 0, group, n)
    names = np.array(table.systems, dtype=object)
    said = []
    if top.any():
        said.append(f"{listing(names[top], MOST_NAMED)} never lost to {_others(names, ~top)}")
    if bottom.any() and not (top | bottom).all():
        said.append(f"{listing(names[bottom], MOST_NAMED)} never won over {_others(names, ~bottom)}")
    return Separation(False, " and ".join(said))


def _others(names: object, which: Bools) -> str:
    found = np.asarray(names, dtype=object)[which]
    return listing(found, MOST_NAMED) if len(found) <= 2 else "any of the others"


def _ends(wins: Bools, group: object, n: int) -> tuple[Bools, Bools]:
    """Return the systems of groups that nobody beats, and of those that beat nobody."""
    code = np.asarray(group)
    beaten, beats = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for i, j in np.argwhere(wins):
        if code[i] != code[j]:
            beats[code[i]] = beaten[code[j]] = True
    return (~beaten)[code], (~beats)[code]


def _has_direction(wins: Bools, tied: Bools) -> bool:
    """Return whether some direction of (theta, log ν) never lowers the likelihood and is not constant.

    A win of i over j asks d_i − d_j ≥ 2δ and d_i ≥ d_j, a tie |d_i − d_j| ≤ 2δ. The programme looks for the
    direction that gains most within the unit box, for theta and for δ alone.
    """
    from scipy.optimize import linprog

    k = len(wins)
    rows = []
    for i, j in np.argwhere(wins):
        rows.append(_row(k, {j: 1.0, i: -1.0, k: 2.0}))
        rows.append(_row(k, {j: 1.0, i: -1.0}))
    for i, j in np.argwhere(tied):
        rows.append(_row(k, {i: 1.0, j: -1.0, k: -2.0}))
        rows.append(_row(k, {j: 1.0, i: -1.0, k: -2.0}))
    A = np.array(rows)
    found = linprog(A.sum(axis=0), A_ub=A, b_ub=np.zeros(len(A)), bounds=[(-1, 1)] * (k + 1))
    return bool(found.fun is not None and found.fun < -1e-7)


def _row(k: int, cells: dict[int, float]) -> list[float]:
    row = [0.0] * (k + 1)
    for at, value in cells.items():
        row[at] = value
    return row
