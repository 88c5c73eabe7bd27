"""Cells: ratings that share their thresholds, and where each rating lies among them.

A model with nominal effects has thresholds t_k(i) = J_kα + m_i'γ_k. Rows with the same m form a *cell* with
K − 1 thresholds of its own, and with γ a part of α all of them are again t = Jα. The edges of a model are
−∞, the thresholds of all cells one after another, and ∞; every row knows the two edges around it.

A rating of the sequential family is a row for each of its steps: P(stops at k) = F(t_k − η) has the edges
(−∞, t_k), and going on has (t_k, ∞). A row of the adjacent family takes all thresholds of its cell: its lower
edge is the first of them, its upper edge as many further as there are categories below the rating.

Where a cell never uses a category its threshold there has no finite estimate. With thresholds that are free
in every cell it is taken out: the thresholds around an unused category are one, or infinite at either end.
"""

from dataclasses import dataclass, replace

import numpy as np

from panelist.core.errors import BadModel
from panelist.core.prose import listing
from panelist.models.formulas.coding import independent_columns
from panelist.models.formulas.matrices import ModelMatrices
from panelist.models.likelihoods.link_functions import ADJACENT, link_code
from panelist.models.likelihoods.thresholds import Edges, Thresholds, place_ratings
from panelist.numerics.arrays import Floats, Ints, Longs


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a model, and the threshold parameters α, those of nominal effects last."""

    thresholds: Thresholds
    patterns: Floats  # (cells, c) the m of each
    index: Longs  # (n,) the cell of each rating
    names: tuple[str, ...]  # of α without nominal effects
    effects: tuple[tuple[str, str], ...]  # threshold and term of each nominal effect
    table: Floats  # (cells, K − 1, s): thresholds of a cell are its table times α
    ends: Floats  # (cells, K − 1) what is added: 0, or ±∞ where a cell does not go that far
    unused: tuple[tuple[int, ...], ...]  # the categories that a cell never uses and that were taken out
    kept: Longs  # which of all (1 + c) × s₀ parameters are α

    def values(self, alpha: Floats) -> Floats:
        """Return the thresholds of each cell (cells, K − 1)."""
        found: Floats = self.table @ alpha + self.ends
        return found

    def find(self, M: Floats) -> Longs:
        """Return the cell of each row of nominal columns; BadModel where no rating has such a row."""
        if not M.shape[1]:
            return np.zeros(len(M), dtype=np.int64)
        near = np.abs(M[:, None, :] - self.patterns[None]).max(axis=2)
        cell: Longs = near.argmin(axis=1)
        if len(M) and near[np.arange(len(M)), cell].max() > 1e-9:
            raise BadModel(
                "A row has a combination of the nominal variables that no rating of the fit has, so its "
                "thresholds are not known. Leave such rows out."
            )
        return cell


def find_cells(design: ModelMatrices, thresholds: Thresholds) -> Cells:
    """Return the cells of a design; ``thresholds`` have the structure within each."""
    assert design.codes is not None
    K, s = len(thresholds.J) + 1, thresholds.J.shape[1]
    if design.nominal is None:
        index = np.zeros(len(design.codes), dtype=np.int64)
        ends = np.zeros((1, K - 1))
        table, kept = thresholds.J[None], np.arange(s)
        return Cells(thresholds, np.empty((1, 0)), index, thresholds.names, (), table, ends, ((),), kept)
    M = design.nominal.matrix
    patterns, index = np.unique(M, axis=0, return_inverse=True)
    index = index.reshape(-1)
    full = np.stack([np.kron(np.concatenate([[1.0], m])[None], thresholds.J) for m in patterns])
    ends = np.zeros((len(patterns), K - 1))
    unused: list[tuple[int, ...]] = [()] * len(patterns)
    if s == K - 1 and len(patterns) == M.shape[1] + 1:
        for cell in range(len(patterns)):
            counts = np.bincount(design.codes[index == cell], minlength=K)
            unused[cell] = tuple(np.flatnonzero(counts == 0).tolist())
            if unused[cell]:
                _take_out(thresholds.family, counts, full[cell], ends[cell])
    finite = full.reshape(-1, full.shape[2])[ends.ravel() == 0.0]
    kept = np.array(independent_columns(finite), dtype=np.int64)
    terms = ("", *design.nominal.names)
    labels = [(thresholds.names[k % s], terms[k // s]) for k in kept.tolist()]
    return Cells(
        thresholds,
        patterns,
        index,
        tuple(name for name, term in labels if not term),
        tuple((name, term) for name, term in labels if term),
        np.ascontiguousarray(full[:, :, kept]),
        ends,
        tuple(unused),
        kept,
    )


def _take_out(family: str, counts: Longs, table: Floats, ends: Floats) -> None:
    """Take the categories with a count of zero out of one cell: change its thresholds in place."""
    K, used = len(counts), np.flatnonzero(counts)
    if family == "adjacent":
        return  # refused where a fit says so
    for k in range(K - 1):
        if family == "sequential":
            stopped, went_on = counts[k] > 0, counts[k + 1 :].sum() > 0
            ends[k] = 0.0 if stopped and went_on else -np.inf if went_on else np.inf
        elif k < used[0]:
            ends[k] = -np.inf
        elif k >= used[-1]:
            ends[k] = np.inf
        elif counts[k] == 0:
            table[k] = table[k - 1]
        if np.isinf(ends[k]):
            table[k] = 0.0


def lay_rows(design: ModelMatrices, cells: Cells) -> tuple[ModelMatrices, Edges]:
    """Return the design with the rows that compiled code takes, and the edges around them."""
    assert design.codes is not None
    family, codes, K = cells.thresholds.family, design.codes, len(cells.thresholds.J) + 1
    if family == "cumulative" and design.nominal is None:
        return design, place_ratings(codes, cells.thresholds)
    place, J, joined = _number_thresholds(cells)
    where = place[cells.index]  # (n, K + 1) the edge below and above each category
    each = np.arange(len(codes))
    if family == "cumulative":
        upper, lower = where[each, codes + 1], where[each, codes]
        return design, Edges(upper, lower, J, joined)
    if family == "adjacent":
        lower = where[:, 1].copy()
        return design, Edges(lower + codes.astype(np.int32), lower, J, joined)
    last = np.int32(len(J) + 1)
    steps = np.arange(K - 1)
    taken = (steps <= codes[:, None]) & (where[:, 1:K] > 0) & (where[:, 1:K] < last)
    rows, step = np.nonzero(taken)
    edge, stopped = where[rows, step + 1], step == codes[rows]
    upper, lower = np.where(stopped, edge, last), np.where(stopped, np.int32(0), edge)
    return _repeat_rows(design, rows), Edges(upper, lower, J, np.zeros_like(joined))


def _number_thresholds(cells: Cells) -> tuple[Ints, Floats, Longs]:
    """Return the edges of each cell (cells, K + 1), and J and joined of all that are finite, each once."""
    count, K = cells.ends.shape[0], cells.ends.shape[1] + 1
    place = np.zeros((count, K + 1), dtype=np.int32)
    rows: list[Floats] = []
    joined: list[int] = []
    for cell in range(count):
        fresh = True
        for k in range(K - 1):
            if cells.ends[cell, k] != 0.0:
                place[cell, k + 1] = -1 if cells.ends[cell, k] > 0.0 else 0
                continue
            if cells.thresholds.family == "cumulative" and k in cells.unused[cell]:
                place[cell, k + 1] = len(rows)  # the threshold above an unused category is that below it
                continue
            rows.append(cells.table[cell, k])
            joined.append(int(not fresh))
            place[cell, k + 1] = len(rows)
            fresh = False
        place[cell, K] = -1
    place[place == -1] = len(rows) + 1
    J = np.ascontiguousarray(np.stack(rows)) if rows else np.empty((0, cells.table.shape[2]))
    return place, J, np.array(joined, dtype=np.int64)


def _repeat_rows(design: ModelMatrices, rows: Longs) -> ModelMatrices:
    """Return the design with these of its rows, some more than once."""
    assert design.codes is not None
    scale = design.scale
    if scale is not None:
        scale = replace(scale, matrix=np.ascontiguousarray(scale.matrix[rows]))
    factors = tuple(
        replace(
            factor, index=np.ascontiguousarray(factor.index[rows]), Z=np.ascontiguousarray(factor.Z[rows])
        )
        for factor in design.factors
    )
    X, codes = np.ascontiguousarray(design.X[rows]), design.codes[rows]
    return replace(design, X=X, factors=factors, codes=codes, rows=design.rows[rows], scale=scale)


def describe_unused(cells: Cells, design: ModelMatrices) -> list[str]:
    """Return a sentence for each cell that never uses a category."""
    if design.nominal is None:
        return []
    found = []
    for cell, unused in enumerate(cells.unused):
        if unused:
            names = listing([design.categories[k] for k in unused], None, "or")
            who = design.nominal.label(int(np.flatnonzero(cells.index == cell)[0]))
            found.append(
                f"no rating of {who} is {names}: it has no threshold of its own there, so fewer parameters"
            )
    return found


def family_code(family: str, link: str) -> int:
    """Return what stands for link and family in compiled code."""
    return ADJACENT if family == "adjacent" else link_code(link)
