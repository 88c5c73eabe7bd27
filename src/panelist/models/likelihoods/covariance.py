"""The free entries of Λ, and what a variance at its boundary means in words."""

from functools import cache
from math import hypot

import numpy as np

from panelist.models.blocks.pattern import Blocks, Pattern, level_variances, put_back
from panelist.models.formulas.grouping import Factor
from panelist.numerics.arrays import Floats, Longs
from panelist.numerics.rows import fill_lambda, fill_modes

_AT_ZERO = 1e-4  # of lme4's isSingular: a relative standard deviation below this counts as zero


def free_entries(factors: tuple[Factor, ...]) -> tuple[Longs, Longs, Longs]:
    """Return row and column in Λ of each free entry, and which τ it is.

    Entries are lower triangles, column by column, block by block; of a factor that shares one standard
    deviation they are the diagonal, and all of them are one τ.
    """
    return _find_entries(tuple((len(factor.columns), factor.blocks, factor.shared) for factor in factors))


@cache
def _find_entries(
    shapes: tuple[tuple[int, tuple[tuple[int, int], ...], bool], ...],
) -> tuple[Longs, Longs, Longs]:
    rows, columns, slots, first, slot = [], [], [], 0, 0
    for width, blocks, shared in shapes:
        for start, stop in blocks:
            for column in range(start, stop):
                for row in range(column, column + 1 if shared else stop):
                    rows.append(first + row)
                    columns.append(first + column)
                    slots.append(slot)
                    slot += not shared
        first, slot = first + width, slot + shared
    return tuple(np.array(each, dtype=np.int64) for each in (rows, columns, slots))  # type: ignore[return-value]


def first_entries(factors: tuple[Factor, ...], scale: float) -> Floats:
    """Return starting values for τ: intercepts 0.6, slopes 0.5, nothing off the diagonal."""
    values = []
    for factor in factors:
        if factor.shared:
            values.append(0.6 * scale)
            continue
        for start, stop in factor.blocks:
            for column in range(start, stop):
                values.append(scale * (0.6 if column == start else 0.5))
                values += [0.0] * (stop - column - 1)
    return np.array(values)


def split_lambda(factors: tuple[Factor, ...], tau: Floats) -> tuple[Floats, ...]:
    """Return the m × m lower triangle of each factor, its diagonal non-negative."""
    return _split(factors, tau, upright=True)


def _split(factors: tuple[Factor, ...], tau: Floats, *, upright: bool) -> tuple[Floats, ...]:
    pieces, first = [], 0
    for factor in factors:
        m = len(factor.columns)
        rows, columns, slots = _find_entries(((m, factor.blocks, factor.shared),))
        block = np.zeros((m, m))
        fill_lambda(rows, columns, slots, tau, first, block, upright)
        pieces.append(block)
        first += int(slots[-1]) + 1
    return tuple(pieces)


def level_effects(
    factors: tuple[Factor, ...], tau: Floats, pattern: Pattern, blocks: Blocks, u: Floats
) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Return b = Λu and the square roots of diag(ΛH⁻¹Λ'), one row per level, factor by factor."""
    pieces = _split(factors, tau, upright=False)
    effects, at = [], 0
    for number, (factor, block) in enumerate(zip(factors, pieces, strict=True)):
        modes = np.empty((len(factor.levels), len(block)))
        fill_modes(block, u, at, modes)
        effects.append(put_back(pattern, number, modes))
        at += modes.size
    variances = level_variances(pattern, blocks, pieces)
    return tuple(effects), tuple(np.sqrt(v, out=v) for v in variances)


def is_singular(factors: tuple[Factor, ...], lambdas: tuple[Floats, ...]) -> bool:
    """Return whether the covariance matrix of some random term has lost its rank."""
    return any(
        _has_lost_rank(block[start:stop, start:stop])
        for factor, block in zip(factors, lambdas, strict=True)
        for start, stop in factor.blocks
    )


def describe_singular(factors: tuple[Factor, ...], lambdas: tuple[Floats, ...]) -> list[str]:
    """Return a sentence for each random term whose covariance matrix has lost its rank."""
    sentences = []
    for factor, block in zip(factors, lambdas, strict=True):
        for start, stop in factor.blocks:
            part = block[start:stop, start:stop]
            if not _has_lost_rank(part):
                continue
            sds = [hypot(*row) for row in part.tolist()]
            zero = [factor.columns[start + k] for k, sd in enumerate(sds) if sd < _AT_ZERO]
            sentences += [_say_zero(factor, name) for name in zero]
            if not zero:
                names = ", ".join(factor.columns[start:stop])
                sentences.append(
                    f"singular: the random effects of {factor.name} ({names}) are estimated as perfectly "
                    "correlated: some of them follow from the others; the estimates are valid"
                    + (f"; a simpler term to try is (1 | {factor.name})" if stop - start == 2 else "")
                )
    return sentences


def _has_lost_rank(part: Floats) -> bool:
    """Return whether the smallest singular value counts as zero."""
    if part.shape == (1, 1):
        return bool(abs(part[0, 0]) < _AT_ZERO)
    if part.shape == (2, 2):
        # s₁² + s₂² = ‖part‖², s₁ s₂ = |det|; the difference of squares is taken without cancellation.
        (a, b), (c, d) = part.tolist()
        square, det = a * a + b * b + c * c + d * d, abs(a * d - b * c)
        apart = max((a * a + c * c - b * b - d * d) ** 2 + 4.0 * (a * b + c * d) ** 2, 0.0)
        largest = (0.5 * (square + apart**0.5)) ** 0.5
        return bool(largest == 0.0 or det / largest < _AT_ZERO)
    return bool(np.linalg.svd(part, compute_uv=False)[-1] < _AT_ZERO)


def _say_zero(factor: Factor, name: str) -> str:
    what = (
        f"difference between {factor.name}s"
        if name == "Intercept"
        else f"difference between {factor.name}s in the effect of {name}"
    )
    return (
        f"singular: the variance of {name} over {factor.name} is estimated as zero (these data show no "
        f"{what}, which does not mean that there is none); the estimates are valid, and a model without this "
        "term fits as well"
    )
