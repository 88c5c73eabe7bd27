"""A cell is one point of a power grid; its result is what the data sets simulated there gave."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import nan
from typing import Any

import numpy as np

from panelist.core.prose import list_words
from panelist.power.layouts.base import Layout
from panelist.power.tally import Tally
from panelist.power.truth.base import Truth

_ROWS_A_CHUNK, _MOST_SETS, _LEAST_SETS = 60_000, 50, 5
_COSTLY = 3  # systems from which models get costly: random slopes of each, and their correlations


@dataclass(frozen=True, eq=False)
class Cell:
    """One truth on one layout with one effect. ``effect`` is in threshold distances, ``effects`` latent.

    The effect of a claim is the true difference in the unit of its margin.
    """

    truth: Truth
    layout: Layout
    effect: float
    effects: tuple[float, ...]

    @cached_property
    def stream_key(self) -> str:
        """What its random numbers depend on: not the effect, so that a curve rises on the same people."""
        return f"{self.truth.key}-{self.layout.key}"

    @cached_property
    def key(self) -> str:
        """A digest that no other cell has."""
        text = f"{self.stream_key}-{self.truth.name}-{self.effects!r}"
        return blake2b(text.encode(), digest_size=12).hexdigest()

    @property
    def chunk_size(self) -> int:
        """How many data sets are simulated at once: it depends on the cell alone, never on the engine.

        A chunk takes seconds at most, so that there is something to report: many systems make small chunks,
        and as the time of a fit grows with the cube of the rows, large designs go one by one.
        """
        rows, systems = self.layout.n_rows, self.layout.n_systems
        if systems >= _COSTLY:
            sets = _ROWS_A_CHUNK * 4 // (rows * systems**2)
            return max(1, min(_MOST_SETS, sets, sets**3 // 100))
        return max(_LEAST_SETS, min(_MOST_SETS, _ROWS_A_CHUNK // rows))

    @property
    def differences(self) -> tuple[float, ...]:
        """The true difference of each pair, latent."""
        return tuple(self.effects[b] - self.effects[a] for a, b in self.layout.pairs)


@dataclass(frozen=True)
class PairPower:
    """One pair of systems: the share of data sets in which it was found to differ, and how well."""

    a: str
    b: str
    power: float
    low: float
    high: float
    type_s: float
    """Among the data sets that found a difference, the share that found it with the wrong sign."""
    type_m: float
    """By how much the differences found exaggerate: their mean size over the mean estimate of all sets."""
    width: float
    """The mean width of the interval for the difference, in the analysis' own units; nan without one."""


@dataclass(frozen=True)
class CellResult:
    """What one analysis reaches in one cell. ``power`` is that of the pair, or of all pairs that differ.

    Failed fits count as finding nothing. Intervals are exact (Clopper & Pearson 1934).
    """

    model: str
    preset: str
    items: int
    ratings_per_item: float
    raters: int
    effect: float
    sims: int
    failed: int
    singular: int
    smaller: int
    """Data sets analysed by a smaller model than the largest, as compare takes it."""
    separated: int
    """Data sets with a system all at one end of the scale."""
    led_by_linear: int
    """Data sets whose ordinal model could not be trusted: the linear one was used, as compare does."""
    power: float
    low: float
    high: float
    any: float
    all: float
    pairs: tuple[PairPower, ...]
    ratings: int
    seconds: float

    @property
    def type_s(self) -> float:
        """Wrong signs among what was found; over all pairs, the mean."""
        return _mean([pair.type_s for pair in self.pairs])

    @property
    def type_m(self) -> float:
        """Exaggeration; over all pairs, the mean."""
        return _mean([pair.type_m for pair in self.pairs])

    @property
    def width(self) -> float:
        """The mean width of intervals; over all pairs, the mean."""
        return _mean([pair.width for pair in self.pairs])

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as JSON names it."""
        names = ["model", "preset", "items", "ratings_per_item", "raters", "effect", "sims", "failed"]
        names += list_words(
            "singular smaller separated led_by_linear power low high type_s type_m width any all ratings"
        )
        found = {name: getattr(self, name) for name in names}
        found["pairs"] = [vars(pair) for pair in self.pairs] if len(self.pairs) > 1 else []
        return found


def find_interval(found: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404).

    >>> [round(end, 4) for end in find_interval(5, 100)]
    [0.0164, 0.1128]
    >>> find_interval(0, 0)
    (0.0, 1.0)
    """
    from scipy.special import betaincinv

    rest = (1 - confidence) / 2
    low = float(betaincinv(found, n - found + 1, rest)) if found else 0.0
    high = float(betaincinv(found + 1, n - found, 1 - rest)) if found < n else 1.0
    return low, high


def count_whole(cell: Cell, tally: Tally, claim: str | None) -> int:
    """Return in how many data sets all that is true was found; of a null truth, in how many anything was."""
    differs = any(abs(gap) > 1e-12 for gap in cell.differences)
    return tally.all_true if differs or claim is not None else tally.any_found


def summarise(cell: Cell, model: str, tally: Tally, claim: str | None = None) -> CellResult:
    """Return the result of one analysis from what was counted."""
    differs = [abs(gap) > 1e-12 for gap in cell.differences]
    whole = count_whole(cell, tally, claim)
    low, high = find_interval(whole, tally.n)
    told = claim is None
    pairs = tuple(_summarise_pair(cell, place, tally, told) for place in range(len(cell.layout.pairs)))
    n = max(tally.n, 1)
    return CellResult(
        model=model,
        preset=cell.truth.name,
        items=cell.layout.n_items,
        ratings_per_item=cell.layout.ratings_per_item,
        raters=cell.layout.n_raters,
        effect=cell.effect,
        sims=tally.n,
        failed=tally.failed,
        singular=tally.singular,
        smaller=tally.smaller,
        separated=tally.separated,
        led_by_linear=tally.linear,
        power=whole / n,
        low=low,
        high=high,
        any=tally.any_found / n,
        all=tally.all_true / n if any(differs) or claim is not None else nan,
        pairs=pairs,
        ratings=cell.layout.n_rows,
        seconds=tally.seconds,
    )


def _summarise_pair(cell: Cell, place: int, tally: Tally, told: bool) -> PairPower:
    """Return the power of one pair; ``told`` where a difference is looked for: it has a sign and a size."""
    a, b = cell.layout.pairs[place]
    found, truth = tally.found[place], cell.differences[place]
    low, high = find_interval(found, tally.n)
    fitted = tally.estimated[place]
    expected = abs(tally.sum_estimate[place] / fitted) if fitted else nan
    told, sized = told and found > 0 and abs(truth) > 1e-12, tally.sized[place]
    wrong = tally.found_above[place] if truth < 0 else found - tally.found_above[place]
    widths = tally.measured[place]
    return PairPower(
        a=cell.layout.systems[a],
        b=cell.layout.systems[b],
        power=found / max(tally.n, 1),
        low=low,
        high=high,
        type_s=wrong / found if told else nan,
        type_m=tally.sum_size[place] / sized / expected if told and sized and expected > 0 else nan,
        width=tally.sum_width[place] / widths if widths else nan,
    )


def _mean(values: list[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return sum(known) / len(known) if known else nan
