"""Systems whose ratings are all at one end of the scale: no finite estimate, but a test and a bound.

The likelihood of such a system keeps growing as its effect diverges, and Wald tests, likelihood ratios and
profiles of a model with random slopes fail there: its variances diverge as well. So the question is turned
round: what if one of its ratings had been less extreme? One rating is moved to where it
overlaps with those of the other systems, and the model is fitted again, with one spread for all systems,
since the spread of the separated one is not known. The test and the near end of the interval are those of
this fit. They err on the side of caution: the ratings say more than that.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from panelist.core.errors import PanelistError
from panelist.models.inference.adjust import HypothesisFamily, find_adjustment
from panelist.models.inference.contrasts import Means, PairContrasts, contrast_pairs
from panelist.models.random_part import RandomPart
from panelist.numerics.arrays import Longs

if TYPE_CHECKING:
    import pandas as pd

    from panelist.core.tables.ratings import Ratings
    from panelist.models.results.fitted import Fit

Codes = NDArray[np.integer[Any]]
_INSTEAD = "A weak prior (--prior weak) gives them a size, and says that it is the prior's."


def find_separated(fit: "Fit", term: str) -> dict[str, float]:
    """Return the levels of ``term`` whose ratings are all highest, with 1, or all lowest, with −1."""
    codes = fit.design.codes
    if codes is None or term not in fit.design.fixed.levels:
        return {}
    by_level = fit.design.fixed.data[term].to_numpy()
    levels = fit.design.fixed.levels[term]
    ends = find_ends(codes, np.array([levels.index(level) for level in by_level]), len(levels))
    return {levels[place]: end for place, end in ends.items()}


def find_ends(codes: Codes, system: Codes, n_systems: int) -> dict[int, float]:
    """Return the systems whose codes are all the highest, with 1, or all the lowest, with −1."""
    top, bottom = codes.max(), codes.min()
    ends = {}
    for place in range(n_systems):
        own = codes[system == place]
        if len(own) and (own.min() == top or own.max() == bottom):
            ends[place] = 1.0 if own.min() == top else -1.0
    return ends


def order_rows(frame: "pd.DataFrame") -> Longs:
    """Return the rows by the names of rater and item, whatever their order in the table."""
    names = [frame[name].astype(str).to_numpy() for name in ("item", "rater") if name in frame]
    return np.lexsort(names) if names else np.arange(len(frame))


def pull_in(codes: Longs, system: Codes, ends: Mapping[int, float], order: Longs) -> Longs:
    """Return the codes with one of each separated system's moved to overlap with those of the others.

    It becomes one point less extreme than the most extreme of the others. It is the first in ``order``.
    Codes have no gaps.
    """
    pulled = codes.copy()
    for place, end in ends.items():
        others = codes[system != place]
        far = others.max() - 1 if end > 0 else others.min() + 1
        pulled[order[np.argmax(system[order] == place)]] = np.clip(far, codes.min(), codes.max())
    return pulled


def pool_slopes(part: RandomPart) -> RandomPart:
    """Return the part with one spread for all systems: that of a separated one is not known."""
    return part.lower({group for group, shape in part.shapes.items() if shape == "slopes"}) or part


def fill_separated(
    pairs: PairContrasts,
    ends: dict[str, float],
    fit: "Fit",
    table: "Ratings",
    refit: "Callable[[Ratings], Fit]",
) -> PairContrasts:
    """Return the pairs with tests and bounds where there were none; ``ends`` are the separated systems.

    ``refit`` fits the model of ``fit``, its slopes pooled, to a table.
    """
    levels = list(pairs.levels)
    named = " and of ".join(f"{name} are {'highest' if end > 0 else 'lowest'}" for name, end in ends.items())
    note = f"All ratings of {named}: how far that is from the others has no limit on one side."
    frame = table.frame.iloc[np.asarray(fit.design.rows)].reset_index(drop=True)
    system = np.array([levels.index(name) for name in frame["system"].astype(str)])
    by_place = {levels.index(name): end for name, end in ends.items()}
    codes = np.asarray(fit.design.codes, dtype=np.int64)
    pulled = pull_in(codes, system, by_place, order_rows(frame))
    try:
        near = refit(replace(table, frame=frame.assign(rating=pulled + 1)))
    except PanelistError:
        near = None
    if near is None or not near.converged:
        return replace(
            pairs, notes=(*pairs.notes, f"{note} Their differences could not be tested. {_INSTEAD}")
        )
    found = contrast_pairs(near, pairs.term, pairs.adjust, pairs.confidence)
    columns: dict[str, Any] = {
        name: np.array(getattr(pairs, name)) for name in ("estimate", "se", "df", "statistic")
    }
    filled = np.flatnonzero(np.isnan(pairs.p)).tolist()
    for place in filled:
        at, sign = _find_pair(found, pairs.a[place], pairs.b[place])
        for name in columns:
            columns[name][place] = getattr(found, name)[at] * (1.0 if name in ("se", "df") else sign)
    method = find_adjustment(pairs.adjust)
    family = HypothesisFamily(columns["statistic"], columns["df"], len(levels))
    reach = np.broadcast_to(method.critical(pairs.confidence, family), len(pairs.a)) * columns["se"]
    columns["low"], columns["high"] = columns["estimate"] - reach, columns["estimate"] + reach
    for place in filled:
        sign = float(np.sign(ends.get(pairs.a[place], 0.0) - ends.get(pairs.b[place], 0.0)))
        if sign:
            columns["estimate"][place], columns["se"][place] = sign * inf, nan
            columns["high" if sign > 0 else "low"][place] = sign * inf
    note += (
        " Such differences are tested, and the near ends of their intervals found, as if one of these "
        f"ratings had been less extreme: the ratings say at least as much. {_INSTEAD}"
    )
    adjusted = method.adjust(family)
    return replace(pairs, **columns, p=family.p, p_adjusted=adjusted, notes=(*pairs.notes, note))


def _find_pair(pairs: PairContrasts, a: str, b: str) -> tuple[int, float]:
    """Return the place of a pair, and −1 where it is the other way round."""
    places = {ends: at for at, ends in enumerate(zip(pairs.a, pairs.b, strict=True))}
    return (places[a, b], 1.0) if (a, b) in places else (places[b, a], -1.0)


def run_off(means: Means, ends: dict[str, float]) -> Means:
    """Return the means, those of separated systems being infinite."""
    estimate = means.estimate.copy()
    for level, end in ends.items():
        estimate[means.levels.index(level)] = end * inf
    return replace(means, estimate=estimate)
