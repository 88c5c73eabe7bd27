"""The compiled loop over all pairs of raters, and all coefficients of one pair in one pass.

Ratings carry weights (how often a bootstrap drew their unit); a weight of two is the same as the row twice.
Concordant and discordant pairs are counted with a Fenwick tree over the second rater's values, so that a pair
of n common outputs costs n log n (Knight 1966, Journal of the American Statistical Association 61, 436-439,
gives the same order by merging).
"""

import numpy as np

from panelist.numerics.arrays import Bools, Floats, Ints, Longs
from panelist.numerics.kernel import kernel

COLUMNS = ("percent", "cohen", "linear", "quadratic", "scott", "pearson", "spearman", "tau", "gamma")
_WIDTH = len(COLUMNS)


@kernel
def measure_pairs(
    rater_start: Longs,
    rater_unit: Ints,
    rater_code: Ints,
    unit_start: Longs,
    unit_rater: Ints,
    unit_code: Ints,
    points: Floats,
    weight: Floats,
    room: int,
    least: int,
) -> tuple[Ints, Ints, Floats, Floats, Bools]:
    """Return raters, common outputs and coefficients of every pair that shares enough; which units enter."""
    n_raters = len(rater_start) - 1
    met = np.zeros(n_raters, np.int64)
    place = np.zeros(n_raters + 1, np.int64)
    x, y, w = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room)
    unit, entered = np.empty(room, np.int32), np.zeros(len(weight), np.bool_)
    order, local, tree = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room + 2)
    bins = np.zeros(len(points) + 1, np.int64)
    held = 16
    first, second = np.empty(held, np.int32), np.empty(held, np.int32)
    common, values = np.empty(held), np.empty((held, _WIDTH))
    n = 0
    for a in range(n_raters):
        met[:] = 0
        for i in range(rater_start[a], rater_start[a + 1]):
            u = rater_unit[i]
            if weight[u] > 0.0:
                for j in range(unit_start[u], unit_start[u + 1]):
                    if unit_rater[j] > a:
                        met[unit_rater[j]] += 1
        place[a + 1] = 0
        for b in range(a + 1, n_raters):
            place[b] = 0 if b == a + 1 else place[b - 1] + met[b - 1]
        for i in range(rater_start[a], rater_start[a + 1]):
            u = rater_unit[i]
            if weight[u] > 0.0:
                for j in range(unit_start[u], unit_start[u + 1]):
                    b = unit_rater[j]
                    if b > a:
                        at = place[b]
                        x[at], y[at], w[at], unit[at] = rater_code[i], unit_code[j], weight[u], u
                        place[b] = at + 1
        for b in range(a + 1, n_raters):
            stop = place[b]
            begin = stop - met[b]
            total = 0.0
            for i in range(begin, stop):
                total += w[i]
            if total < least:
                continue
            if n == held:
                held *= 2
                first, second = _longer(first, held), _longer(second, held)
                wider, longer = np.empty((held, _WIDTH)), np.empty(held)
                wider[:n], longer[:n] = values, common
                values, common = wider, longer
            first[n], second[n], common[n] = a, b, total
            for i in range(begin, stop):
                entered[unit[i]] = True
            _sort_second(y[begin:stop], order, bins)
            _measure_pair(
                x[begin:stop], y[begin:stop], w[begin:stop], total, points, order, local, tree, values[n]
            )
            n += 1
    return first[:n].copy(), second[:n].copy(), common[:n].copy(), values[:n].copy(), entered


@kernel
def _longer(old: Ints, length: int) -> Ints:
    new = np.empty(length, np.int32)
    new[: len(old)] = old
    return new


@kernel
def _sort_second(y: Ints, order: Longs, bins: Longs) -> None:
    """Write into ``order`` the positions of y in ascending order, by counting where there are few values."""
    n, k = len(y), len(bins) - 1
    if k > 4 * n + 16:
        order[:n] = np.argsort(y)
        return
    bins[:] = 0
    for i in range(n):
        bins[y[i] + 1] += 1
    for c in range(k):
        bins[c + 1] += bins[c]
    for i in range(n):
        order[bins[y[i]]] = i
        bins[y[i]] += 1


@kernel
def _measure_pair(
    x: Ints,
    y: Ints,
    w: Floats,
    total: float,
    points: Floats,
    order: Longs,
    local: Longs,
    tree: Floats,
    out: Floats,
) -> None:
    """Write the coefficients of one pair; x is sorted, ``order`` sorts y; nan where one is undefined."""
    n = len(x)
    mean_x = mean_y = 0.0
    for i in range(n):
        mean_x += w[i] * points[x[i]] / total
        mean_y += w[i] * points[y[i]] / total
    xx = yy = xy = agree = gap = gap2 = 0.0
    for i in range(n):
        dx, dy = points[x[i]] - mean_x, points[y[i]] - mean_y
        d = points[x[i]] - points[y[i]]
        xx += w[i] * dx * dx
        yy += w[i] * dy * dy
        xy += w[i] * dx * dy
        gap += w[i] * abs(d)
        gap2 += w[i] * d * d
        if x[i] == y[i]:
            agree += w[i]
    varied_x, varied_y = x[0] != x[n - 1], y[order[0]] != y[order[n - 1]]
    out[0] = agree / total
    _chance_corrected(x, y, w, total, points, order, agree, gap, out)
    by_chance = (xx + yy) / total + (mean_x - mean_y) ** 2
    out[3] = 1.0 - gap2 / total / by_chance if varied_x or varied_y or x[0] != y[0] else np.nan
    out[5] = xy / np.sqrt(xx * yy) if varied_x and varied_y else np.nan
    _ranked(x, y, w, total, order, local, tree, varied_x and varied_y, out)


@kernel
def _chance_corrected(
    x: Ints,
    y: Ints,
    w: Floats,
    total: float,
    points: Floats,
    order: Longs,
    agree: float,
    gap: float,
    out: Floats,
) -> None:
    """Write Cohen's and Scott's coefficients and the linearly weighted kappa: one merge of x and y."""
    n = len(x)
    i = j = 0
    below_x = below_y = same = pooled = spread = last = 0.0
    seen = 0
    while i < n or j < n:
        c = x[i] if j == n or (i < n and x[i] <= y[order[j]]) else y[order[j]]
        if seen > 0:
            f, g = below_x / total, below_y / total
            spread += (points[c] - last) * (f * (1.0 - g) + g * (1.0 - f))
        last = points[c]
        seen += 1
        here_x = here_y = 0.0
        while i < n and x[i] == c:
            here_x += w[i]
            i += 1
        while j < n and y[order[j]] == c:
            here_y += w[order[j]]
            j += 1
        below_x += here_x
        below_y += here_y
        same += here_x * here_y
        pooled += (here_x + here_y) ** 2
    same /= total * total
    pooled /= 4.0 * total * total
    out[1] = (agree / total - same) / (1.0 - same) if seen > 1 else np.nan
    out[2] = 1.0 - gap / total / spread if seen > 1 else np.nan
    out[4] = (agree / total - pooled) / (1.0 - pooled) if seen > 1 else np.nan


@kernel
def _ranked(
    x: Ints,
    y: Ints,
    w: Floats,
    total: float,
    order: Longs,
    local: Longs,
    tree: Floats,
    varied: bool,
    out: Floats,
) -> None:
    """Write Spearman's rho (mid-ranks), Kendall's tau-b and Goodman and Kruskal's gamma."""
    out[6] = out[7] = out[8] = np.nan
    if not varied:
        return
    n = len(x)
    n_values = 0
    for i in range(n):
        if i == 0 or y[order[i]] != y[order[i - 1]]:
            n_values += 1
        local[order[i]] = n_values
    rank = np.zeros(n_values + 1)  # mid-ranks of y, centred
    for i in range(n):
        rank[local[i]] += w[i]
    below = rank_yy = squares_y = 0.0
    for v in range(1, n_values + 1):
        here = rank[v]
        rank[v] = below + 0.5 * here - 0.5 * total
        rank_yy += here * rank[v] ** 2
        squares_y += here * here
        below += here
    tree[: n_values + 1] = 0.0
    rank_xx = rank_xy = squares_x = concordant = discordant = below = 0.0
    i = 0
    while i < n:
        stop, here = i, 0.0
        while stop < n and x[stop] == x[i]:
            here += w[stop]
            stop += 1
        rank_x = below + 0.5 * here - 0.5 * total
        rank_xx += here * rank_x**2
        squares_x += here * here
        for k in range(i, stop):
            rank_xy += w[k] * rank_x * rank[local[k]]
            upto = _count_to(tree, local[k])
            lower = _count_to(tree, local[k] - 1)
            concordant += w[k] * lower
            discordant += w[k] * (below - upto)
        for k in range(i, stop):
            at = local[k]
            while at <= n_values:
                tree[at] += w[k]
                at += at & -at
        below += here
        i = stop
    out[6] = rank_xy / np.sqrt(rank_xx * rank_yy)
    untied = 0.5 * np.sqrt(total * total - squares_x) * np.sqrt(total * total - squares_y)
    out[7] = (concordant - discordant) / untied
    if concordant + discordant > 0.0:
        out[8] = (concordant - discordant) / (concordant + discordant)


@kernel
def _count_to(tree: Floats, place: int) -> float:
    """Return the weight at this place and all before it."""
    whole = 0.0
    while place > 0:
        whole += tree[place]
        place -= place & -place
    return whole
