"""The blocked factor of V'WV + I against dense linear algebra, on patterns of every kind."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from panelist.models.blocks import elimination, inversion, products
from panelist.models.blocks.dense import MOST
from panelist.models.blocks.pattern import Blocks, Pattern, find_pattern, level_variances, make_blocks
from panelist.models.formulas.grouping import Factor
from panelist.numerics.arrays import Floats
from panelist.numerics.simd import WIDTH
from tests.examples import examples
from tests.extending.counts import approximate_counts
from tests.models.compiled import compiled
from tests.models.oracle import expand_lambda, expand_z

factorise = compiled(elimination.factorise)
solve = compiled(elimination.solve)
solve_eight = compiled(elimination.solve_eight)
invert_rows = compiled(inversion.invert_rows)
multiply = compiled(products.multiply)
find_laplace = compiled(approximate_counts)
multiply_transposed = compiled(products.multiply_transposed)


def make_factor(
    name: str, index: "np.ndarray[tuple[int], np.dtype[np.int32]]", levels: int, Z: Floats
) -> Factor:
    width = Z.shape[1]
    return Factor(
        name,
        tuple(f"{name}{k}" for k in range(levels)),
        index.astype(np.int32),
        tuple(f"c{k}" for k in range(width)),
        np.ascontiguousarray(Z),
        ((0, width),),
    )


@dataclass(frozen=True)
class Case:
    """One random pattern, and everything about it that a dense matrix can say."""

    factors: tuple[Factor, ...]
    pattern: Pattern
    V: Floats  # (n, m), rows in the order of the pattern
    dense: Floats  # (n, q) the same with its zeros
    w: Floats
    H: Floats
    blocks: Blocks
    logdet: float


def make_case(seed: int, n: int, shapes: tuple[tuple[int, int], ...], nested: bool = False) -> Case:
    """``shapes`` are levels and columns; every level of the first factor has at least one row."""
    rng = np.random.default_rng(seed)
    factors = []
    for place, (levels, width) in enumerate(shapes):
        # Skewed draws leave some levels with one row, some with many, and pairs that never meet.
        index = np.minimum((levels * rng.random(n) ** 2).astype(np.int32), levels - 1)
        index[:levels] = np.arange(levels)
        factors.append(make_factor(f"g{place}", index, levels, rng.normal(size=(n, width))))
    if nested:
        parent = (factors[0].index % 3).astype(np.int32)
        factors[1:] = [make_factor("parent", parent, 3, factors[-1].Z)]
    factors.sort(key=lambda factor: -len(factor.levels) * factor.Z.shape[1])
    pattern = find_pattern(tuple(factors))
    V = rng.normal(size=pattern.Z.shape)
    w = rng.uniform(0.05, 2.0, n)
    first, spread = 0, []
    for factor in factors:
        width = factor.Z.shape[1]
        own = make_factor("x", factor.index[pattern.order], len(factor.levels), V[:, first : first + width])
        spread.append(expand_z((own,)))
        first += width
    dense = np.hstack(spread)
    H = (dense.T * w) @ dense + np.eye(dense.shape[1])
    blocks = make_blocks(pattern)
    logdet = factorise(pattern, V.reshape(-1), w, blocks)
    return Case(tuple(factors), pattern, V, dense, w, H, blocks, float(logdet))


shapes = st.lists(st.tuples(st.integers(2, 9), st.integers(1, 3)), min_size=1, max_size=3).map(tuple)
cases = st.builds(make_case, st.integers(0, 10_000), st.integers(12, 60), shapes, st.booleans())
ordinary = settings(examples(60), derandomize=True, database=None)


@pytest.mark.slow
@ordinary
@given(cases)
def test_the_log_determinant_is_that_of_the_dense_matrix(case: Case) -> None:
    assert case.logdet == pytest.approx(np.linalg.slogdet(case.H)[1], rel=1e-11, abs=1e-11)


@pytest.mark.slow
@ordinary
@given(cases, st.integers(0, 1000))
def test_solving_inverts_the_dense_matrix(case: Case, seed: int) -> None:
    right = np.random.default_rng(seed).normal(size=len(case.H))
    expected = np.linalg.solve(case.H, right)
    x = right.copy()
    square = solve(case.pattern, case.blocks, x)
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-11)
    assert square == pytest.approx(right @ expected, rel=1e-10)


@pytest.mark.slow
@ordinary
@given(cases)
def test_the_inverse_is_found_at_the_columns_of_every_row(case: Case) -> None:
    P = np.full(case.V.shape, np.nan)
    invert_rows(case.pattern, case.V.reshape(-1), case.blocks, P.reshape(-1))
    inverse = np.linalg.inv(case.H)
    spread = case.dense @ inverse  # row i is H⁻¹v_i
    expected = np.empty_like(P)
    at = first = 0
    for factor in case.factors:
        width = factor.Z.shape[1]
        own = factor.index[case.pattern.order]
        for b in range(width):
            expected[:, first + b] = spread[np.arange(len(own)), at + own * width + b]
        at += len(factor.levels) * width
        first += width
    np.testing.assert_allclose(P, expected, rtol=1e-8, atol=1e-11)


@ordinary
@given(cases, st.integers(0, 1000))
@pytest.mark.slow
def test_variances_of_levels_are_the_diagonal_of_the_dense_covariance(case: Case, seed: int) -> None:
    P = np.empty(case.V.shape)
    invert_rows(case.pattern, case.V.reshape(-1), case.blocks, P.reshape(-1))
    rng = np.random.default_rng(seed)
    lambdas = tuple(np.tril(rng.normal(size=(f.Z.shape[1],) * 2)) for f in case.factors)
    found = level_variances(case.pattern, case.blocks, lambdas)
    tau = np.concatenate([block.T[np.triu_indices(len(block))] for block in lambdas])  # column by column
    turn = expand_lambda(case.factors, tau)
    expected = np.diag(turn @ np.linalg.inv(case.H) @ turn.T)
    np.testing.assert_allclose(np.concatenate([v.ravel() for v in found]), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@ordinary
@given(cases, st.integers(0, 1000))
def test_products_are_those_of_the_dense_matrix(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    u, row = rng.normal(size=(case.dense.shape[1],)), rng.normal(size=(len(case.dense),))
    out, back = np.empty(len(row)), np.ones(len(u))
    multiply(case.pattern, case.V.reshape(-1), u, out)
    np.testing.assert_allclose(out, case.dense @ u, rtol=1e-12, atol=1e-12)
    multiply_transposed(case.pattern, case.V.reshape(-1), row, 0, back)
    np.testing.assert_allclose(back, 1.0 + case.dense.T @ row, rtol=1e-12, atol=1e-12)


def test_levels_that_share_no_row_are_no_neighbours() -> None:
    index = np.repeat(np.arange(6), 2).astype(np.int32)
    apart = make_factor("a", index, 6, np.ones((12, 1)))
    halves = make_factor("b", (index >= 3).astype(np.int32), 2, np.ones((12, 1)))
    pattern = find_pattern((apart, halves))
    assert list(np.diff(pattern.reach)) == [1] * 6
    assert pattern.widest == 1
    assert pattern.q == 2


@pytest.mark.slow
def test_a_large_dense_part_goes_to_lapack() -> None:
    case = make_case(3, 1300, ((MOST + 60, 1), (MOST + 9, 1)))
    assert case.pattern.q > MOST
    assert case.logdet == pytest.approx(np.linalg.slogdet(case.H)[1], rel=1e-11)
    right = np.random.default_rng(1).normal(size=len(case.H))
    x = right.copy()
    solve(case.pattern, case.blocks, x)
    np.testing.assert_allclose(case.H @ x, right, atol=1e-9)
    P = np.empty(case.V.shape)
    invert_rows(case.pattern, case.V.reshape(-1), case.blocks, P.reshape(-1))
    kappa = np.einsum("ij,jk,ik->i", case.dense, np.linalg.inv(case.H), case.dense)
    np.testing.assert_allclose((case.V * P).sum(axis=1), kappa, rtol=1e-8, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("border", [True, False])
def test_parts_that_never_meet_are_factorised_one_by_one(border: bool) -> None:
    """Cells rater × system and item × system: those of two systems meet through raters and items alone."""
    rng = np.random.default_rng(8)
    raters, items, systems = 110, 90, 5
    rater, item, system = (rng.integers(0, count, 1400) for count in (raters, items, systems))
    shapes = [(rater * systems + system, raters * systems), (item * systems + system, items * systems)]
    shapes += [(rater, raters), (item, items)] if border else []
    factors = tuple(
        make_factor(f"g{place}", index, levels, np.ones((len(index), 1)))
        for place, (index, levels) in enumerate(shapes)
    )
    pattern = find_pattern(factors)
    assert pattern.q > MOST
    assert len(pattern.bounds) == systems + 1
    assert pattern.bounds[-1] == items * systems
    V, w = rng.normal(size=pattern.Z.shape), rng.uniform(0.05, 2.0, len(rater))
    blocks = make_blocks(pattern)
    logdet = factorise(pattern, V.reshape(-1), w, blocks)
    own = [
        make_factor("x", factor.index[pattern.order], len(factor.levels), V[:, place : place + 1])
        for place, factor in enumerate(factors)
    ]
    dense = expand_z(tuple(own))
    H = (dense.T * w) @ dense + np.eye(dense.shape[1])
    stands = np.arange(len(H))  # where each column of the dense matrix stands in ours
    first = raters * systems
    stands[first : first + items * systems] = first + pattern.slots
    assert logdet == pytest.approx(np.linalg.slogdet(H)[1], rel=1e-11)
    right = rng.normal(size=(len(H), WIDTH))
    expected = np.linalg.solve(H, right)
    x = np.empty(len(H))
    x[stands] = right[:, 0]
    assert solve(pattern, blocks, x) == pytest.approx(right[:, 0] @ expected[:, 0], rel=1e-10)
    np.testing.assert_allclose(x[stands], expected[:, 0], atol=1e-10)
    eight = np.empty((len(H), WIDTH))
    eight[stands] = right
    solve_eight(pattern, blocks, eight)
    np.testing.assert_allclose(eight[stands], expected, atol=1e-10)
    P = np.empty(V.shape)
    invert_rows(pattern, V.reshape(-1), blocks, P.reshape(-1))
    inverse = np.linalg.inv(H)
    spread, at = dense @ inverse, 0
    for place, factor in enumerate(factors):
        columns = at + factor.index[pattern.order]
        np.testing.assert_allclose(P[:, place], spread[np.arange(len(rater)), columns], atol=1e-10)
        at += len(factor.levels)
    found = level_variances(pattern, blocks, (np.ones((1, 1)),) * len(factors))
    np.testing.assert_allclose(np.concatenate([v.ravel() for v in found]), np.diag(inverse), atol=1e-11)


@pytest.mark.slow
def test_eight_right_hand_sides_are_solved_as_one() -> None:
    for case in (make_case(5, 60, ((9, 2), (7, 2))), make_case(6, 60, ((9, 3), (4, 1), (3, 2)))):
        right = np.random.default_rng(2).normal(size=(len(case.H), WIDTH))
        x = right.copy()
        solve_eight(case.pattern, case.blocks, x)
        np.testing.assert_allclose(x, np.linalg.solve(case.H, right), atol=1e-10)


@pytest.mark.slow
def test_a_new_likelihood_needs_value_slope_and_weight_of_a_row() -> None:
    """The Laplace approximation for counts, as docs/extending.md builds it, beside dense matrices."""
    for case in (make_case(5, 60, ((9, 2), (7, 2))), make_case(6, 60, ((9, 3), (4, 1), (3, 2)))):
        rng = np.random.default_rng(4)
        y, fixed = rng.poisson(1.5, len(case.w)).astype(float), rng.normal(0.0, 0.3, len(case.w))
        u, dense, mode = np.zeros(len(case.H)), 0.3 * case.dense, np.zeros(len(case.H))
        value = find_laplace(case.pattern, 0.3 * case.V.reshape(-1), fixed, y, u, case.blocks)
        for _ in range(50):
            mean = np.exp(fixed + dense @ mode)
            H = (dense.T * mean) @ dense + np.eye(len(mode))
            mode -= np.linalg.solve(H, mode + dense.T @ (mean - y))
        at = fixed + dense @ mode
        expected = np.sum(np.exp(at) - y * at) + 0.5 * mode @ mode + 0.5 * np.linalg.slogdet(H)[1]
        np.testing.assert_allclose(u, mode, atol=1e-7)
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_a_single_factor_leaves_nothing_dense() -> None:
    case = make_case(1, 20, ((5, 2),))
    assert case.pattern.q == 0
    assert case.logdet == pytest.approx(np.linalg.slogdet(case.H)[1], rel=1e-12)


@pytest.mark.slow
def test_a_level_without_rows_stays_at_the_prior() -> None:
    rng = np.random.default_rng(4)
    index = rng.integers(0, 3, 15).astype(np.int32)  # level 3 of 4 never occurs
    case_factors = (
        make_factor("a", index, 4, np.ones((15, 1))),
        make_factor("b", rng.integers(0, 2, 15).astype(np.int32), 2, np.ones((15, 1))),
    )
    pattern = find_pattern(case_factors)
    blocks = make_blocks(pattern)
    assert np.isfinite(factorise(pattern, pattern.Z.reshape(-1), np.ones(15), blocks))
    x = np.arange(6.0)
    solve(pattern, blocks, x)
    assert x[3] == 3.0


def test_a_matrix_that_is_not_positive_has_no_factor() -> None:
    case = make_case(2, 30, ((6, 1), (4, 1)))
    blocks = make_blocks(case.pattern)
    assert np.isnan(factorise(case.pattern, case.V.reshape(-1), np.full(30, -5.0), blocks))


def test_rows_may_come_in_any_order() -> None:
    case = make_case(3, 40, ((7, 2), (5, 1)))
    shuffle = np.random.default_rng(0).permutation(40)
    turned = tuple(make_factor(f.name, f.index[shuffle], len(f.levels), f.Z[shuffle]) for f in case.factors)
    pattern = find_pattern(turned)
    one = factorise(case.pattern, case.pattern.Z.reshape(-1), np.ones(40), make_blocks(case.pattern))
    other = factorise(pattern, pattern.Z.reshape(-1), np.ones(40), make_blocks(pattern))
    assert one == pytest.approx(other, rel=1e-13)
