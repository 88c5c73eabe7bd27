"""Kenward-Roger tests against pbkrtest, the formulas written out with n x n matrices, and exact ANOVA."""

from dataclasses import replace

import numpy as np
import pytest

from panelist.core.errors import BadModel
from panelist.models.formulas.matrices import Factor, ModelMatrices
from panelist.models.inference.hypotheses import term_contrasts
from panelist.models.inference.kenward_roger import MOST_COLUMNS, KenwardRoger, kenward_roger
from panelist.numerics.arrays import Floats
from tests.models.reference_fits import covariances_of, design_of
from tests.reference_cases import Case, own_case, own_cases, r_names

CASES = [case for case in own_cases() if case.answer.kenward_roger]


def fit_of(case: Case) -> tuple[ModelMatrices, KenwardRoger, Floats]:
    design, answer = design_of(case), case.answer
    assert answer.sigma is not None
    beta = np.array([answer.kenward_roger[name]["estimate"] for name in r_names(design.names)], dtype=float)
    return design, kenward_roger(design.X, design.factors, covariances_of(design, answer), answer.sigma), beta


# ---- R -----------------------------------------------------------------------------------------------------
def test_the_references_have_slopes_three_factors_and_singular_fits() -> None:
    assert len(CASES) >= 20
    assert any(case.answer.singular for case in CASES)
    assert any(len(case.answer.blocks) == 3 for case in CASES)
    assert any(len(block.terms) == 3 for case in CASES for block in case.answer.blocks)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_standard_errors_and_degrees_are_those_of_pbkrtest(case: Case) -> None:
    design, kr, _ = fit_of(case)
    rows = [case.answer.kenward_roger[name] for name in r_names(design.names)]
    assert np.sqrt(np.diag(kr.adjusted)) == pytest.approx([row["se"] for row in rows], rel=1e-9)
    assert kr.degrees(np.eye(len(rows))) == pytest.approx([row["df"] for row in rows], rel=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_f_table_is_that_of_lmertest(case: Case) -> None:
    design, kr, beta = fit_of(case)
    contrasts = term_contrasts(design.fixed, design.X, design.names)
    assert len(contrasts) == len(case.answer.anova_kenward_roger)
    for L, row in zip(contrasts.values(), case.answer.anova_kenward_roger.values(), strict=True):
        statistic, numdf, ddf, p = kr.test(L, beta)
        assert numdf == row["num_df"]
        assert statistic == pytest.approx(row["F"], rel=1e-9)
        assert ddf == pytest.approx(row["den_df"], rel=1e-9)
        assert p == pytest.approx(row["p"], rel=1e-8)


# ---- the formulas ------------------------------------------------------------------------------------------
def make_factor(
    rng: np.random.Generator, n: int, size: int, Z: Floats, blocks: tuple[tuple[int, int], ...]
) -> Factor:
    index = rng.permutation(np.arange(n) % size).astype(np.int32)
    levels = tuple(f"l{level}" for level in range(size))
    columns = tuple(f"c{column}" for column in range(Z.shape[1]))
    return Factor(f"g{size}", levels, index, columns, np.ascontiguousarray(Z), blocks)


def brute_force(
    X: Floats, factors: list[Factor], covariances: list[Floats], sigma: float
) -> tuple[Floats, Floats, Floats, list[Floats]]:
    """Φ, Φ_A, W and the P_r by the definitions of Kenward & Roger (1997), with everything n x n."""
    n = len(X)
    G: list[Floats] = []
    gamma: list[float] = []
    for factor, covariance in zip(factors, covariances, strict=True):
        same = (factor.index[:, None] == factor.index).astype(float)
        for low, high in factor.blocks:
            for a in range(low, high):
                for b in range(low, a + 1):
                    outer = np.outer(factor.Z[:, a], factor.Z[:, b])
                    G.append(same * (outer if a == b else outer + outer.T))
                    gamma.append(covariance[a, b])
    G.append(np.eye(n))
    gamma.append(sigma**2)
    S = np.linalg.inv(sum(g * matrix for g, matrix in zip(gamma, G, strict=True)))
    Phi: Floats = np.asarray(np.linalg.inv(X.T @ S @ X), dtype=float)
    P = [-X.T @ S @ Gr @ S @ X for Gr in G]
    Q = [[X.T @ S @ Gr @ S @ Gs @ S @ X for Gs in G] for Gr in G]
    information = np.array(
        [
            [
                np.trace(Gr @ S @ Gs @ S) - 2 * np.trace(Phi @ Q[r][s]) + np.trace(Phi @ P[r] @ Phi @ P[s])
                for s, Gs in enumerate(G)
            ]
            for r, Gr in enumerate(G)
        ]
    )
    W = 2 * np.linalg.inv(information)
    inner = sum(W[r, s] * (Q[r][s] - P[r] @ Phi @ P[s]) for r in range(len(G)) for s in range(len(G)))
    return Phi, Phi + 2 * Phi @ inner @ Phi, W, P


def brute_test(
    L: Floats, beta: Floats, Phi: Floats, adjusted: Floats, W: Floats, P: list[Floats]
) -> tuple[float, float]:
    q = len(L)
    Theta = L.T @ np.linalg.inv(L @ Phi @ L.T) @ L
    A1 = A2 = 0.0
    for r, Pr in enumerate(P):
        for s, Ps in enumerate(P):
            A1 += W[r, s] * np.trace(Theta @ Phi @ Pr @ Phi) * np.trace(Theta @ Phi @ Ps @ Phi)
            A2 += W[r, s] * np.trace(Theta @ Phi @ Pr @ Phi @ Theta @ Phi @ Ps @ Phi)
    B = (A1 + 6 * A2) / (2 * q)
    g = ((q + 1) * A1 - (q + 4) * A2) / ((q + 2) * A2)
    c1, c2, c3 = (value / (3 * q + 2 * (1 - g)) for value in (g, q - g, q + 2 - g))
    expectation = 1 / (1 - A2 / q)
    variance = 2 / q * (1 + c1 * B) / ((1 - c2 * B) ** 2 * (1 - c3 * B))
    rho = variance / (2 * expectation**2)
    ddf = 4 + (q + 2) / (q * rho - 1)
    wald = (L @ beta) @ np.linalg.inv(L @ adjusted @ L.T) @ (L @ beta)
    return float(ddf / (expectation * (ddf - 2)) * wald / q), float(ddf)


Structure = list[tuple[tuple[tuple[int, int], ...], list[list[float]]]]  # of each factor: blocks, covariance
STRUCTURES: dict[str, Structure] = {
    "intercepts": [(((0, 1),), [[0.8]]), (((0, 1),), [[0.4]])],
    "slopes": [(((0, 3),), [[0.8, 0.2, -0.1], [0.2, 0.5, 0.1], [-0.1, 0.1, 0.6]]), (((0, 1),), [[0.4]])],
    "two terms on one factor": [
        (((0, 1), (1, 3)), [[0.8, 0, 0], [0, 0.5, 0.1], [0, 0.1, 0.6]]),
        (((0, 2),), [[0.4, -0.1], [-0.1, 0.3]]),
    ],
    "three factors": [(((0, 1),), [[0.8]]), (((0, 2),), [[0.4, 0.1], [0.1, 0.2]]), (((0, 1),), [[0.3]])],
    "a variance of zero": [(((0, 1),), [[0.8]]), (((0, 1),), [[0.0]])],
    "a correlation of one": [(((0, 2),), [[0.25, 0.5], [0.5, 1.0]]), (((0, 1),), [[0.4]])],
    "no variance at all": [(((0, 2),), [[0.0, 0.0], [0.0, 0.0]])],
}


@pytest.mark.parametrize("structure", STRUCTURES)
def test_it_equals_the_definition_with_n_by_n_matrices(structure: str) -> None:
    rng = np.random.default_rng(11)
    n = 90
    systems = np.eye(3)[rng.integers(3, size=n)]
    X = np.column_stack([np.ones(n), systems[:, 1:], rng.normal(size=n)])
    factors, covariances = [], []
    for size, (blocks, covariance) in zip((14, 9, 6), STRUCTURES[structure], strict=False):
        Z = np.column_stack([np.ones(n), X[:, 1], X[:, 3]])[:, : blocks[-1][1]]
        factors.append(make_factor(rng, n, size, Z, blocks))
        covariances.append(np.array(covariance))
    beta = np.array([3.0, 0.4, -0.7, 0.2])
    kr = kenward_roger(X, factors, covariances, 1.3)
    Phi, adjusted, W, P = brute_force(X, factors, covariances, 1.3)
    assert kr.vcov == pytest.approx(Phi, rel=1e-8, abs=1e-12)
    assert kr.adjusted == pytest.approx(adjusted, rel=1e-8, abs=1e-12)
    for L in (np.eye(4), np.eye(4)[1:3], np.array([[0.0, 1.0, -1.0, 0.5]])):
        test = kr.test(L, beta)
        assert (test.F, test.ddf) == pytest.approx(brute_test(L, beta, Phi, adjusted, W, P), rel=1e-8)
    rows = [brute_test(row[None], beta, Phi, adjusted, W, P)[1] for row in np.eye(4)]
    assert kr.degrees(np.eye(4)) == pytest.approx(rows, rel=1e-8)


def test_complete_blocks_get_the_exact_f_of_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(5)
    blocks, systems = 9, 4
    y = rng.normal(size=(blocks, systems)) + 2 * rng.normal(size=(blocks, 1)) + np.arange(systems) / 2
    between = systems * ((y.mean(axis=1) - y.mean()) ** 2).sum() / (blocks - 1)
    treatment = blocks * ((y.mean(axis=0) - y.mean()) ** 2).sum() / (systems - 1)
    residual = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    error = (residual**2).sum() / ((blocks - 1) * (systems - 1))
    assert between > error  # so that REML is the analysis of variance

    index = np.repeat(np.arange(blocks), systems).astype(np.int32)
    factor = Factor(
        "block", tuple(map(str, range(blocks))), index, ("1",), np.ones((len(index), 1)), ((0, 1),)
    )
    X = np.tile(np.column_stack([np.ones(systems), np.eye(systems)[:, 1:]]), (blocks, 1))
    kr = kenward_roger(X, [factor], [np.array([[(between - error) / systems]])], float(np.sqrt(error)))
    beta = np.linalg.lstsq(X, y.ravel(), rcond=None)[0]
    statistic, _, ddf, _ = kr.test(np.eye(systems)[1:], beta)
    assert statistic == pytest.approx(treatment / error, rel=1e-9)
    assert ddf == pytest.approx((blocks - 1) * (systems - 1), rel=1e-9)


def test_without_random_effects_it_is_ordinary_regression() -> None:
    X = np.column_stack([np.ones(12), np.arange(12.0), np.arange(12) % 3])
    kr = kenward_roger(X, [], [], 2.0)
    assert kr.degrees(np.eye(3)) == pytest.approx([9, 9, 9], rel=1e-10)
    assert kr.adjusted == pytest.approx(4 * np.linalg.inv(X.T @ X), rel=1e-10)


# ---- around them -------------------------------------------------------------------------------------------
def test_the_unit_of_the_ratings_does_not_matter() -> None:
    case = own_case("slider", "lmer_rater_slopes")
    design, kr, beta = fit_of(case)
    assert case.answer.sigma is not None
    larger = [covariance * 1e8 for covariance in covariances_of(design, case.answer)]
    scaled = kenward_roger(design.X, design.factors, larger, case.answer.sigma * 1e4)
    L = np.eye(3)[1:]
    assert scaled.test(L, beta * 1e4) == pytest.approx(kr.test(L, beta), rel=1e-9)


def test_repeated_rows_of_a_contrast_count_once() -> None:
    _, kr, beta = fit_of(own_case("three", "lmer"))
    L = np.eye(3)[1:]
    test = kr.test(np.vstack([L, L[0] - L[1], L]), beta)
    assert test.numdf == 2
    assert test == pytest.approx(kr.test(L, beta), rel=1e-10)


def test_a_contrast_without_rows_is_not_tested() -> None:
    _, kr, beta = fit_of(own_case("three", "lmer"))
    test = kr.test(np.empty((0, 3)), beta)
    assert test.numdf == 0
    assert np.isnan([test.F, test.ddf, test.p]).all()


def test_where_the_approximation_breaks_down_there_is_no_p() -> None:
    _, kr, beta = fit_of(own_case("slider", "lmer_rater_slopes"))
    L = np.eye(3)[1:]
    statistic, _, ddf, p = replace(kr, W=kr.W * 8).test(L, beta)
    assert statistic == pytest.approx((L @ beta) @ np.linalg.solve(L @ kr.adjusted @ L.T, L @ beta) / 2)
    assert ddf < 0
    assert np.isnan(p)


def test_terms_that_cannot_be_told_apart_share_their_variance() -> None:
    design, kr, beta = fit_of(own_case("paper", "lmer"))
    item, rater = design.factors
    covariances = covariances_of(design, own_case("paper", "lmer").answer)
    sigma = own_case("paper", "lmer").answer.sigma
    assert sigma is not None
    twice = kenward_roger(
        design.X, [item, rater, rater], [covariances[0], covariances[1] / 2, covariances[1] / 2], sigma
    )
    L = np.eye(2)
    assert twice.test(L, beta) == pytest.approx(kr.test(L, beta), rel=1e-7)


def test_too_many_random_effects_are_refused_with_a_way_out() -> None:
    n = MOST_COLUMNS + 1
    index = np.arange(n, dtype=np.int32)
    factor = Factor("item", tuple(map(str, range(n))), index, ("1",), np.ones((n, 1)), ((0, 1),))
    with pytest.raises(BadModel, match=r"4,001 of them, most of them for item.*Satterthwaite"):
        kenward_roger(np.ones((n, 1)), [factor], [np.eye(1)], 1.0)
