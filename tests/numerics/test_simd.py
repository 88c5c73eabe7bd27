"""Eight numbers at once: arithmetic as for floats, the normal distribution, the probit row table."""

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from scipy.special import erfcx, ndtr

from panelist.models.likelihoods import link_functions as links
from panelist.models.likelihoods.link_functions import N_ENTRIES, PROBIT
from panelist.models.search.entry_points import fill_rows
from panelist.numerics.kernel import kernel, part
from panelist.numerics.normal import FAR, evaluate_normal, move_probit_row, probit_row
from panelist.numerics.simd import (
    WIDTH,
    absolute,
    broadcast,
    constant,
    empty_f64x8,
    exp2,
    fma,
    fold,
    get,
    load,
    per_vector,
    put,
    rint,
    sqrt,
    store,
    where_less,
)
from tests.models.compiled import compiled

OPERATIONS = 12
fill_probit_rows = compiled(links.fill_probit_rows)


@kernel
def calculate(a: Any, b: Any, out: Any) -> None:
    x, y = load(a, 0), load(b, 0)
    z = x
    z += y
    store(out, 0, x + y)
    store(out, 1, x - 2.0)
    store(out, 2, 3.0 * y)
    store(out, 3, x / y)
    store(out, 4, fma(x, y, 1.0))
    store(out, 5, where_less(x, y, x, -1.0))
    store(out, 6, absolute(x))
    store(out, 7, sqrt(absolute(y)))
    store(out, 8, rint(x))
    store(out, 9, exp2(rint(x)))
    store(out, 10, broadcast(0.5))
    store(out, 11, z)


@kernel
def take_rounding(x: Any, out: Any) -> None:
    at = load(x, 0)
    store(out, 0, fma(at, at, at * at * -1.0))


def is_fused() -> bool:
    """Return whether this machine adds to a product before it is rounded."""
    out = empty_f64x8(1)
    take_rounding(np.full(WIDTH, 9.7), out)
    return bool(out[0, 0] != 0.0)


@kernel
def normal(x: Any, out: Any) -> None:
    for i in range(len(x) // WIDTH):
        density, lower, upper = evaluate_normal(load(x, i))
        store(out, 3 * i, density)
        store(out, 3 * i + 1, lower)
        store(out, 3 * i + 2, upper)


@kernel
def move(above: float, below: float, up: Any, low: Any, out: Any) -> None:
    _, here = probit_row(broadcast(above), broadcast(below))
    _keep(here, out, 0)
    a, b = out[3, 0], out[4, 0]
    _, entries = probit_row(load(up, 0), load(low, 0))
    _keep(entries, out, 0)
    _keep(move_probit_row(above, below, a, b, load(up, 0), load(low, 0)), out, N_ENTRIES)


@part
def _keep(entries: Any, out: Any, first: int) -> None:
    a, b, c, d, e, f, g, h, i = entries
    store(out, first, a)
    store(out, first + 1, b)
    store(out, first + 2, c)
    store(out, first + 3, d)
    store(out, first + 4, e)
    store(out, first + 5, f)
    store(out, first + 6, g)
    store(out, first + 7, h)
    store(out, first + 8, i)


@pytest.mark.parametrize(
    ("above", "below"), [(0.3, -0.4), (2.0, 1.5), (-3.0, -4.0), (FAR, 1.0), (-1.0, -FAR)]
)
def test_a_row_moved_a_little_is_the_row_there(above: float, below: float) -> None:
    steps = np.random.default_rng(3).normal(0.0, 1e-4, (2, WIDTH))
    out = empty_f64x8(2 * N_ENTRIES)
    move(above, below, above + steps[0], below + steps[1], out)
    expected, found = out.reshape(2, N_ENTRIES, WIDTH)
    np.testing.assert_allclose(found, expected, rtol=2e-12, atol=1e-12)  # differences of terms of up to 30


def test_operations_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    a, b, out = rng.normal(0.0, 3.0, WIDTH), rng.normal(0.0, 3.0, WIDTH), empty_f64x8(OPERATIONS)
    calculate(a, b, out)
    found = out.reshape(OPERATIONS, WIDTH)
    expected = (
        a + b,
        a - 2.0,
        3.0 * b,
        a / b,
        a * b + 1.0,
        np.where(a < b, a, -1.0),
        np.abs(a),
        np.sqrt(np.abs(b)),
        np.rint(a),
        2.0 ** np.rint(a),
        np.full(WIDTH, 0.5),
        a + b,
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@kernel
def combine(x: Any, y: Any, out: Any) -> int:
    put(out, 0, fma(get(x, 0), get(y, 1), constant(out, 1.0)))
    put(out, 1, sqrt(get(x, 1)) - get(y, 0))
    put(out, 2, fold(out, load(x, 0)))
    return int(per_vector(x))


def test_one_source_serves_single_numbers_and_eight() -> None:
    eight, other = np.random.default_rng(6).uniform(1.0, 2.0, (2, 8, WIDTH))
    together = empty_f64x8(3)
    assert combine(eight, other, together) == 1
    for lane in range(WIDTH):
        x, y, alone = eight[:, lane].copy(), other[:, lane].copy(), np.empty(3)
        assert combine(x, y, alone) == WIDTH
        np.testing.assert_array_equal(alone[:2], together[:2, lane])
        assert alone[2] == pytest.approx(x.sum(), rel=1e-15)
    np.testing.assert_array_equal(together[2], eight[0])


def test_tails_of_the_normal_distribution_keep_all_their_digits() -> None:
    x = -np.array([0.0, 0.3, 1.0, 2.5, 5.0, 9.7, 20.0, 36.5])
    out = empty_f64x8(3)
    normal(x, out)
    density, lower, upper = out.reshape(3, WIDTH)
    with localcontext() as context:
        context.prec = 40
        exponentials = [(-(Decimal(float(at)) ** 2) / 2).exp() for at in x]
        tails = [
            float(e * Decimal(float(erfcx(-at / np.sqrt(2.0))))) / 2
            for e, at in zip(exponentials, x, strict=True)
        ]
    lost = 0.0 if is_fused() else 0.5 * x**2 * np.finfo(float).eps  # relative, see normal
    expected = np.array([float(e) for e in exponentials]) / np.sqrt(2.0 * np.pi)
    assert np.all(np.abs(lower / tails - 1.0) <= 3e-15 + lost)
    assert np.all(np.abs(density / expected - 1.0) <= 1e-15 + lost)
    np.testing.assert_allclose(upper, ndtr(-x), rtol=1e-15)


def test_the_ends_of_the_normal_distribution_are_exact() -> None:
    out = empty_f64x8(3)
    normal(np.array([FAR, -FAR, 50.0, -50.0, 1e5, -1e5, 38.0, -38.0]), out)
    density, lower, upper = out.reshape(3, WIDTH)
    np.testing.assert_array_equal(density, 0.0)
    np.testing.assert_array_equal(lower, [1.0, 0.0] * 4)
    np.testing.assert_array_equal(upper, [0.0, 1.0] * 4)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 8, 61])
def test_eight_ratings_at_once_have_the_row_table_of_each(n: int) -> None:
    rng = np.random.default_rng(n)
    thresholds = np.array([-1.5, -0.2, 0.9, 1.1])
    codes, eta = rng.integers(0, 5, n).astype(np.int32), rng.normal(0.0, 2.0, n)
    expected = np.empty((N_ENTRIES, n))
    edges = np.concatenate([[-FAR], thresholds, [FAR]])
    total = fill_rows(PROBIT, edges[codes + 1], edges[codes], eta, expected)
    whole = -(-n // WIDTH) * WIDTH
    high, low, at = np.full(whole, FAR), np.full(whole, -FAR), np.zeros(whole)
    high[:n], low[:n], at[:n] = edges[codes + 1], edges[codes], eta
    rows, p = np.empty((N_ENTRIES, whole)), np.empty(whole)
    assert fill_probit_rows(high, low, at, rows, p) == pytest.approx(total, rel=1e-13)
    np.testing.assert_allclose(rows[:, :n], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(rows[:, n:], 0.0)


@pytest.mark.slow
def test_a_lost_probability_is_noticed_among_eight() -> None:
    high, low, eta = np.full(WIDTH, FAR), np.full(WIDTH, 0.0), np.zeros(WIDTH)
    eta[5] = -60.0
    assert fill_probit_rows(high, low, eta, np.empty((N_ENTRIES, WIDTH)), np.empty(WIDTH)) == np.inf
