"""Correlations between studies: what was printed, scipy's answers, and what must not matter."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from panelist.reproduction.measures.system_correlation import correlate, rank
from tests.reproduction.published import MILTENBURG, QRA3, QRA3_TYPE_II, R2

TABLES = st.integers(3, 7).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=2, max_size=4)
)


def rows(criterion: str) -> list[list[float]]:
    return [list(column) for column in zip(*(row[0] for row in QRA3[criterion].values()), strict=True)]


@pytest.mark.parametrize("criterion", QRA3)
def test_the_output_of_qra3(criterion: str) -> None:
    r, rho, w, p, _ = QRA3_TYPE_II[criterion]
    found = correlate(rows(criterion))
    assert (found.pearson, found.spearman, found.w, found.w_p) == pytest.approx((r, rho, w, p), abs=1e-12)
    assert found.few


def test_pairs_of_studies_of_answer_relevancy() -> None:
    found = correlate(rows("Answer Relevancy"), ["O", "R1", "R3"])
    assert [(pair.first, pair.second) for pair in found.pairs] == [("O", "R1"), ("O", "R3"), ("R1", "R3")]
    expected = [0.9967194743744456, 0.984457925752635, 0.9954420384097744]
    assert [pair.pearson for pair in found.pairs] == pytest.approx(expected, abs=1e-12)
    assert [pair.spearman for pair in found.pairs] == pytest.approx([0.866025, 0.5, 0.866025], abs=1e-6)
    assert found.w_ties == pytest.approx(0.818, abs=5e-4)


def test_four_studies_of_readability() -> None:
    found = correlate([*rows("Readability"), [R2[name] for name in QRA3["Readability"]]])
    assert (found.pearson, found.spearman, found.w) == pytest.approx((0.9945306188178318, 1, 1), abs=1e-12)
    assert found.w_p == pytest.approx(0.0183156, abs=5e-8)


def test_arvan_and_parde() -> None:
    found = correlate([[-39, -12, -6, 58], [-45, -13.44444444, 1.44444444, 57]])
    assert (found.pearson, found.pairs[0].pearson_p) == pytest.approx((0.9917304875, 0.0082695), abs=5e-8)
    assert found.spearman == 1


def test_lux_and_vu_with_two_names_swapped() -> None:
    original = [22, 106, 76, 63, 51, 88]
    found = correlate([original, [274, 271, 391, 113, 471, 358]])
    swapped = correlate([original, [113, 471, 358, 274, 271, 391]])
    assert (found.pearson, found.pairs[0].pearson_p) == pytest.approx((0.0019781710, 0.99703), abs=5e-6)
    assert swapped.pearson == pytest.approx(0.9908988181, abs=5e-11)
    assert swapped.pairs[0].pearson_p == pytest.approx(0.00012387, abs=5e-9)


@pytest.mark.parametrize("criterion", MILTENBURG)
def test_ranks_of_the_best_worst_slides(criterion: str) -> None:
    original, again, rho = MILTENBURG[criterion]
    assert correlate([original, again]).spearman == pytest.approx(rho, abs=5e-5)


@given(TABLES)
def test_scipy_gives_the_same(table: list[list[int]]) -> None:
    found = correlate(table)
    for pair, (a, b) in zip(
        found.pairs, [(a, b) for i, a in enumerate(table) for b in table[i + 1 :]], strict=True
    ):
        if len(set(a)) == 1 or len(set(b)) == 1:
            assert all(isnan(value) for value in (pair.pearson, pair.spearman, pair.tau))
            continue
        assert pair.pearson == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-9)
        assert pair.spearman == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-9)
        assert pair.tau == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-9)
        assert pair.rmse == pytest.approx(float(np.sqrt(np.mean((np.array(a) - np.array(b)) ** 2))), abs=1e-9)


@given(TABLES, st.randoms())
def test_neither_order_of_studies_nor_of_systems_matters(table: list[list[int]], random: object) -> None:
    X = np.array(table, dtype=float)
    rng = np.random.default_rng(int(random.random() * 1e9))  # type: ignore[attr-defined]
    moved = X[rng.permutation(len(X))][:, rng.permutation(X.shape[1])]
    one, other = correlate(X.tolist()), correlate(moved.tolist())
    for name in ("pearson", "spearman", "tau", "rmse", "w", "w_p", "w_ties"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9, nan_ok=True)


@given(TABLES)
def test_w_is_the_mean_rank_correlation_in_other_words(table: list[list[int]]) -> None:
    found, m = correlate(table), len(table)
    if all(len(set(row)) == len(row) for row in table):  # W = (1 + (m − 1) ρ) / m without ties
        assert found.w == pytest.approx((1 + (m - 1) * found.spearman) / m, abs=1e-9)
        assert found.w_ties == pytest.approx(found.w)
    assert isnan(found.w) or -1e-12 <= found.w <= 1 + 1e-12


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_ranks_are_scipys(values: list[int]) -> None:
    assert rank(np.array(values, dtype=float)).tolist() == stats.rankdata(values).tolist()


def test_few_systems_and_ties_are_said() -> None:
    assert "below 5" in correlate([[1, 2, 3], [1, 3, 2]]).notes[0]
    assert "only be -1, -0.5" in correlate([[1, 2, 3], [1, 3, 2]]).notes[0]
    assert "same score in study 2" in correlate([[1, 2, 3, 4, 5], [1, 1, 1, 1, 1]]).notes[0]
    assert "one common system" in correlate([[1], [2]]).notes[0]
    assert correlate([[1, 2, 3, 4, 5], [1, 3, 2, 4, 5]]).notes == ()
