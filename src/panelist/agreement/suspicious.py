"""What looks wrong with ratings before any coefficient is believed: found, counted and described in words."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.agreement.criterion_table import RatingTable
from panelist.core.prose import listing
from panelist.numerics.arrays import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

    from panelist.core.tables.ratings import Ratings

LEAST_CONSTANT = 5  # fewer equal ratings in a row are not worth a note
MOST_CHANCE = 1e-6
MOST_SORTED_RATERS = 20


@dataclass(frozen=True)
class Suspicion:
    """One thing that looks wrong: its kind in a word, a sentence on what and how likely, the raters."""

    kind: str
    text: str
    raters: tuple[str, ...] = ()


def find_suspicions(
    table: RatingTable, scale: tuple[float, float] | None = None, ratings: "Ratings | None" = None
) -> tuple[Suspicion, ...]:
    """Return what looks wrong with the ratings of one criterion.

    ``scale`` gives the lowest and highest point, for values off it; ``ratings`` the rows with their systems,
    for assignments that were copied from one system to another.
    """
    found = [*find_sorted(table), *find_constant(table)]
    if scale is not None:
        found += find_off_scale(table, *scale)
    if ratings is not None:
        found += find_repeated(ratings)
    return tuple(found)


def find_sorted(table: RatingTable) -> list[Suspicion]:
    """Return the suspicion that each unit's ratings were sorted, so that raters are positions, not persons.

    If raters were exchangeable, each order of a unit's ratings would be as likely as any other: of the
    m!/(a! b! …) different ones a single one is sorted. The chance that every unit is sorted by the same order
    of raters is the product over units, times the m! orders that might have been noticed.
    """
    m = table.n_raters
    if m < 2 or m > MOST_SORTED_RATERS or table.complete.sum() < 2 or table.labels:
        return []
    complete = table.matrix()[table.complete]
    order = np.argsort(complete.mean(axis=0), kind="stable")
    if not (np.diff(complete[:, order], axis=1) >= 0).all():
        return []
    log10_chance = min(0.0, _log10_factorial(m) - _log10_orders(complete))
    if log10_chance > np.log10(MOST_CHANCE):
        return []
    raters = tuple(table.raters[place] for place in order)
    text = (
        f"{' ≤ '.join(raters)} in all {len(complete):,} units that all of them rated. If the raters were "
        f"exchangeable, the chance of this would be {_say_chance(log10_chance)}. Either the file holds each "
        "unit's ratings sorted, so that its raters are positions and not persons, or each rater is always at "
        "least as lenient as the one before. In the first case everything that distinguishes raters "
        "(correlations, gamma, W, Cohen's kappa, ICC(A) and ICC(C), leniency) is an artefact; Fleiss' kappa, "
        "Krippendorff's alpha, AC1, AC2 and ICC(1) are not."
    )
    return [Suspicion("sorted", text, raters)]


def find_constant(table: RatingTable) -> list[Suspicion]:
    """Return the raters who gave one value throughout, although others gave the same units other values."""
    low, high = _range(table.value, table.rater, table.n_raters)
    unit_low, unit_high = _range(table.value, table.unit, table.n_units)
    differs = (unit_low[table.unit] < table.value) | (unit_high[table.unit] > table.value)
    disputed = np.bincount(table.rater, weights=differs, minlength=table.n_raters)
    n = table.ratings_per_rater
    places = np.flatnonzero((n >= LEAST_CONSTANT) & (low == high) & (disputed > 0))
    if not len(places):
        return []
    raters = tuple(table.raters[place] for place in places)
    if len(places) == 1:
        (place,) = places
        text = (
            f"{raters[0]} gave {table.label(low[place])} to all {n[place]:,} units, although others differed "
            f"on {int(disputed[place]):,} of them: a rater who did not look, or a scale that was not "
            "understood. Correlations with this rater are undefined."
        )
    else:
        each = [f"{table.raters[k]} ({table.label(low[k])} to all {n[k]:,} units)" for k in places]
        text = (
            f"{len(places)} raters gave one value throughout, although others differed on the same units: "
            f"{listing(each)}. Did they look, and was the scale understood? Correlations with them are "
            "undefined."
        )
    return [Suspicion("constant", text, raters)]


def find_off_scale(table: RatingTable, low: float, high: float) -> list[Suspicion]:
    """Return the ratings below the lowest or above the highest point of the scale."""
    off = (table.value < low) | (table.value > high)
    if not off.any():
        return []
    values, counts = np.unique(table.value[off], return_counts=True)
    listed = ", ".join(f"{value:g} {_times(count)}" for value, count in zip(values, counts, strict=True))
    raters = tuple(table.raters[place] for place in np.unique(table.rater[off]))
    text = (
        f"{off.sum():,} of {len(table.value):,} ratings are off the scale {low:g} to {high:g}: {listed}, by "
        f"{listing(raters)}. They are counted as they are; correct them, or mark their rows as excluded."
    )
    return [Suspicion("off scale", text, raters)]


def find_repeated(ratings: "Ratings") -> list[Suspicion]:
    """Return the pairs of systems under which raters gave the very same ratings to the same items.

    That every rater who saw both systems gave equal ratings throughout is suspicious; or that one rater did,
    if the texts differed. The chance must be below one in a million for people with the raters' habits: the
    sum of the squared shares of their values, to the power of the number of items.
    """
    frame = ratings.frame
    keys = [name for name in ("rater", "item", "turn", "criterion", "occasion") if name in frame]
    if not {"system", "item", "rater"} <= set(frame) or frame["system"].nunique() < 2:
        return []
    texts = ["text"] if "text" in frame else []
    rows = frame[[*keys, "system", "rating", *texts]].dropna(subset=[*keys, "system", "rating"])
    rows = rows.drop_duplicates([*keys, "system"])
    if not rows.duplicated(keys).any():
        return []
    given = rows.groupby(["rater", "rating"], observed=True).size()
    shares = given / given.groupby(level="rater", observed=True).transform("sum")
    habits = (shares**2).groupby(level="rater", observed=True).sum()
    names: list[Any] = [name for name, _ in rows.groupby("system", observed=True)]
    found = []
    for a, b in _find_alike(rows, keys, names, habits):
        parts = [rows[rows["system"] == name].drop(columns="system") for name in (names[a], names[b])]
        both = parts[0].merge(parts[1], on=keys, suffixes=("_a", "_b"))
        found += _compare_assignments(both, habits, str(names[a]), str(names[b]))
    return found


def _find_alike(
    rows: "pd.DataFrame", keys: list[str], names: list[Any], habits: "pd.Series"
) -> list[tuple[int, int]]:
    """Return the pairs of systems that raters, or one of them, rated alike throughout and not by chance.

    Of many systems nearly all pairs differ. How often two met, and how often they got the same, are products
    of sparse matrices: so only the few that matter are checked one by one.
    """
    import pandas as pd

    met = rows.groupby(keys, observed=True, sort=False).ngroup().to_numpy()
    value = pd.factorize(rows["rating"])[0]
    same = pd.factorize(met * (value.max() + 1) + value)[0]
    system = pd.Index(names).get_indexer(pd.Index(rows["system"]))
    chance = np.log10(habits.loc[rows["rater"]].to_numpy(dtype=float))
    least = np.log10(MOST_CHANCE) * (1 - 1e-9)  # pairs that pass here are checked again, exactly
    rater = pd.factorize(rows["rater"])[0]
    parts = [np.arange(len(rows))]
    if "text" in rows:
        parts += np.split(np.argsort(rater, kind="stable"), np.cumsum(np.bincount(rater))[:-1])
    found: set[tuple[int, int]] = set()
    for part in parts:
        every = np.ones(len(part))
        alike = _count_pairs(same[part], system[part], every, len(names))
        together = _count_pairs(met[part], system[part], every, len(names))
        likely = _count_pairs(met[part], system[part], chance[part], len(names))
        a, b = np.nonzero(np.triu((likely < least) & (alike == together), 1))
        found |= set(zip(a.tolist(), b.tolist(), strict=True))
    return sorted(found)


def _count_pairs(group: Any, system: Any, weight: Floats, n_systems: int) -> Floats:
    """Return, for all pairs of systems, the weight of the groups in which both are."""
    from scipy.sparse import csr_matrix

    groups = np.unique(group, return_inverse=True)[1]
    shape = (int(groups.max()) + 1, n_systems)
    left, right = (csr_matrix((one, (groups, system)), shape) for one in (weight, np.ones(len(groups))))
    counted: Floats = (left.T @ right).toarray()
    return counted


def _compare_assignments(both: "pd.DataFrame", habits: "pd.Series", a: str, b: str) -> list[Suspicion]:
    same = both["rating_a"] == both["rating_b"]
    by_rater = same.groupby(both["rater"], observed=True).agg(["all", "size"])
    whole = by_rater[by_rater["all"]]
    log10 = whole["size"] * np.log10(habits.loc[whole.index])
    if same.all() and float(log10.sum()) < np.log10(MOST_CHANCE):
        copied = whole
    elif "text_a" in both and bool((both["text_a"] != both["text_b"]).all()):
        copied = whole[log10 < np.log10(MOST_CHANCE)]
    else:  # one text under two systems, rated alike by one person: consistency, not a copy
        return []
    if copied.empty:
        return []
    raters = tuple(str(name) for name in copied.index)
    who = "every rater who saw both" if len(copied) == len(by_rater) else listing(raters)
    text = (
        f"{who} gave the same ratings to the same items under {a} and under {b} "
        f"({int(copied['size'].sum()):,} pairs of ratings, all equal): whole assignments seem to be in "
        "the file more than once. Count them once."
    )
    return [Suspicion("repeated", text, raters)]


def _range(value: Floats, group: Ints, n: int) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value of each group."""
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, group, value)
    np.maximum.at(high, group, value)
    return low, high


def _log10_orders(complete: Floats) -> float:
    """Return log10 of the number of possible orders of these ratings, unit by unit."""
    n, m = complete.shape
    factorials = np.array([_log10_factorial(k) for k in range(m + 1)])
    ordered = np.sort(complete, axis=1)
    run = np.ones(n, dtype=np.int64)
    total = np.full(n, factorials[m])
    for place in range(1, m):
        same = ordered[:, place] == ordered[:, place - 1]
        total -= np.where(same, 0.0, factorials[run])
        run = np.where(same, run + 1, 1)
    return float((total - factorials[run]).sum())


def _log10_factorial(k: int) -> float:
    return float(np.log10(np.arange(1, k + 1)).sum())


def _say_chance(log10: float) -> str:
    power = int(np.ceil(-log10))
    if power <= 6:
        return "one in a million"
    return f"below one in 10^{power - 1:,}, that is, practically zero"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(int(count), f"{count:,} times")
