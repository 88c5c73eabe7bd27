"""What a judge says of every output, as covariates: within items, between items, and no answer.

w_is = f_is − f̄_i and b_i = f̄_i − f̄, for each judge, known for all N items without any person; m_is marks no
answer (then w is 0, and f̄_i is over the scores that are there). A covariate that does not vary is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from panelist.numerics.arrays import Floats, Longs

FLAT = 1e-12  # of a covariate's size: what varies less does not vary


@dataclass(frozen=True, eq=False)
class Covariates:
    """The covariates of all N × S outputs by name; ``term`` and ``judge`` say what each one is."""

    columns: Mapping[str, Floats]
    term: Mapping[str, str]  # within, between or no answer; with a slope for each system also of which
    judge: Mapping[str, str]

    def split_by(self, systems: Sequence[str], labelled: Longs) -> Covariates:
        """Return the same with a slope for each system, in place of one for all."""
        columns: dict[str, Floats] = {}
        term: dict[str, str] = {}
        judges: dict[str, str] = {}
        for name, values in self.columns.items():
            if self.term[name] == "no answer":
                columns[name], term[name], judges[name] = values, self.term[name], self.judge[name]
                continue
            for s, system in enumerate(systems):
                part = np.zeros_like(values)
                part[:, s] = values[:, s]
                if _varies(values[:, s][labelled[:, s] > 0]):
                    own = f"{name}s{s}"
                    columns[own], judges[own] = part, self.judge[name]
                    term[own] = f"{self.term[name]}, {system}"
        return Covariates(columns, term, judges)


def rank_scores(grid: Floats) -> Floats:
    """Return midranks over all scored outputs, divided by their number; no answer stays none."""
    ranks = np.full(grid.shape, np.nan)
    said = np.isfinite(grid)
    if said.any():
        ranks[said] = rankdata(grid[said]) / said.sum()
    return ranks


def make_covariates(scores: Mapping[str, Floats], labelled: Longs | None = None) -> Covariates:
    """Return the covariates of judges' scores, each (N, S).

    ``labelled`` counts the ratings of each output: a covariate that does not vary among the rated has no
    slope and is dropped as well.
    """
    columns: dict[str, Floats] = {}
    term: dict[str, str] = {}
    judges: dict[str, str] = {}
    for at, (judge, grid) in enumerate(scores.items()):
        said = np.isfinite(grid)
        n = said.sum(axis=1)
        total = np.where(said, grid, 0.0).sum(axis=1)
        some = n > 0
        item = np.divide(total, n, out=np.zeros(len(grid)), where=some)
        middle = float(item[some].mean()) if some.any() else 0.0
        item = np.where(some, item, middle)
        parts = {
            f"w{at}": ("within", np.where(said, grid - item[:, None], 0.0)),
            f"b{at}": ("between", np.repeat((item - middle)[:, None], grid.shape[1], axis=1)),
            f"m{at}": ("no answer", (~said).astype(np.float64)),
        }
        for name, (what, values) in parts.items():
            if _varies(values) and (labelled is None or _varies(values[labelled > 0])):
                columns[name], term[name], judges[name] = values, what, judge
    return Covariates(columns, term, judges)


def make_strata(stratum: Sequence[str], n_systems: int) -> dict[str, Floats]:
    """Return stratum × system as columns, (N, S) each, for all strata but the first."""
    names = sorted(set(stratum))
    own = np.array(stratum, dtype=object)
    made = {}
    for h, name in enumerate(names[1:], 1):
        for s in range(n_systems):
            column = np.zeros((len(own), n_systems))
            column[own == name, s] = 1.0
            made[f"h{h}s{s}"] = column
    return made


def _varies(values: Floats) -> bool:
    size = float(np.abs(values).max(initial=0.0))
    return bool(len(values)) and float(np.ptp(values)) > FLAT * max(size, FLAT)
