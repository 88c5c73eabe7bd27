"""Single-step tests: against Tukey's and Dunnett's integrals, published tables, and brute force."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr

from panelist.models.inference.adjust import ADJUSTMENTS, HypothesisFamily, two_sided_p
from panelist.models.inference.single_step import (
    equal_directions,
    find_directions,
    single_step_quantile,
    single_step_tail,
)
from panelist.models.inference.studentised_range import studentised_range_quantile, studentised_range_tail
from panelist.numerics.arrays import Floats


def _all_pairs(k: int) -> Floats:
    return np.array([np.eye(k)[i] - np.eye(k)[j] for i, j in combinations(range(k), 2)])


@pytest.mark.parametrize("k", [3, 4, 6, 10, 20])
@pytest.mark.parametrize("df", [3.0, 12.0, np.inf])
def test_equally_precise_means_give_tukeys_test(k: int, df: float) -> None:
    D = _all_pairs(k)
    A = find_directions(D, 0.3 * np.eye(k) + 0.1)
    t = np.linspace(0.5, 8.0, len(D))
    exact = studentised_range_tail(t * np.sqrt(2), k, np.full(len(D), df))
    ours = single_step_tail(t, np.full(len(D), df), A)
    np.testing.assert_allclose(ours, exact, atol=1e-3)
    np.testing.assert_allclose(ours[exact < 0.1], exact[exact < 0.1], atol=3e-4)  # where it matters
    quantile = studentised_range_quantile(0.95, k, np.array([df])) / np.sqrt(2)
    np.testing.assert_allclose(single_step_quantile(0.95, np.array([df]), A), quantile, rtol=1e-3)


def _dunnett_tail(t: float, m: int, df: float) -> float:
    """Return P(max|T| > t) of m differences from one mean: two integrals that need no direction."""
    z = np.linspace(-9, 9, 1801)
    at = np.exp(-z * z / 2)
    x = np.linspace(-4.0, 1.2, 2601)  # log s
    logs = df * (x - np.exp(2 * x) / 2)
    spread = np.exp(logs - logs.max())
    reach = np.sqrt(2) * t * np.exp(x)[:, None]
    inside = ((ndtr(reach + z) - ndtr(z - reach)) ** m) @ at / at.sum()
    return float(1 - spread @ inside / spread.sum())


@pytest.mark.slow
@pytest.mark.parametrize(("m", "df"), [(2, 10.0), (3, 20.0), (5, 6.0), (9, 60.0)])
def test_equal_correlations_of_a_half_give_dunnetts_test(m: int, df: float) -> None:
    t = np.linspace(0.5, 5.0, m)
    exact = [_dunnett_tail(float(one), m, df) for one in t]
    np.testing.assert_allclose(single_step_tail(t, np.full(m, df), equal_directions(m)), exact, atol=5e-4)


TABLE = [(2, 10.0, 2.57), (3, 20.0, 2.54), (5, 20.0, 2.73)]


@pytest.mark.parametrize(("m", "df", "c"), TABLE)
def test_critical_values_are_those_of_dunnetts_table(m: int, df: float, c: float) -> None:
    # Dunnett (1964), Biometrics 20, table II: two-sided, joint confidence of 95 %, to two digits.
    found = single_step_quantile(0.95, np.array([df]), equal_directions(m))
    assert float(found[0]) == pytest.approx(c, abs=0.0051)


@pytest.mark.parametrize("reference", [False, True])
def test_any_correlation_gives_what_brute_force_gives(reference: bool) -> None:
    rng = np.random.default_rng(3)
    k, df, n = 5, 7.0, 400_000
    F = rng.normal(size=(k, k))
    V = F @ F.T * np.outer(*[np.array([1.0, 0.2, 3.0, 1.0, 0.5])] * 2)
    D = np.eye(k)[1:] - np.eye(k)[0] if reference else _all_pairs(k)
    se = np.sqrt(np.einsum("ij,jk,ik->i", D, V, D))
    normal = rng.normal(size=(n, k)) @ np.linalg.cholesky(V).T @ D.T / se
    largest = np.abs(normal).max(axis=1) / np.sqrt(rng.chisquare(df, n) / df)
    t = np.linspace(1.5, 4.5, len(D))
    brute = (largest[:, None] > t).mean(axis=0)
    ours = single_step_tail(t, np.full(len(D), df), find_directions(D, V))
    np.testing.assert_allclose(ours, brute, atol=0.004)  # five standard errors of the brute force


def test_one_test_is_not_adjusted_and_an_unknown_one_does_not_count() -> None:
    A = find_directions(_all_pairs(3), np.eye(3))
    t, df = np.array([2.1, np.nan, np.nan]), np.full(3, 9.0)
    family = HypothesisFamily(t, df, 3, A)
    np.testing.assert_allclose(
        ADJUSTMENTS["mvt"].adjust(family), [two_sided_p(t[:1], df[:1])[0], np.nan, np.nan], rtol=1e-12
    )
    V = np.diag([1.0, np.nan, 1.0])
    assert np.isnan(find_directions(_all_pairs(3), V)).any(axis=1).tolist() == [True, False, True]


def test_tails_stay_between_one_test_and_bonferroni() -> None:
    k = 12
    D = _all_pairs(k)
    A = find_directions(D, np.diag(np.linspace(0.2, 3.0, k)))
    t, df = np.linspace(0.0, 14.0, len(D)), np.full(len(D), 40.0)
    p, one = single_step_tail(t, df, A), two_sided_p(t, df)
    assert (p >= one).all()
    assert (p <= np.minimum(len(D) * one, 1.0) * (1 + 1e-9)).all()
    assert (np.diff(p) <= 1e-12).all()
    np.testing.assert_array_equal(p, single_step_tail(t, df, A))


def test_quantiles_at_many_degrees_of_freedom_undo_the_tail() -> None:
    A = find_directions(_all_pairs(9), np.diag(np.linspace(0.5, 2.0, 9)))
    df = np.linspace(4.0, 300.0, 36)
    c = single_step_quantile(0.95, df, A)
    np.testing.assert_allclose(single_step_tail(c, df, A), 0.05, rtol=1e-6)
