"""What holds for every registered coefficient: a new file in agreement/ is tested as soon as it exists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panelist.agreement  # noqa: F401  (its folder registers itself)
from panelist.agreement.coefficient import COEFFICIENTS, LEVELS
from panelist.agreement.criterion_table import from_matrix
from panelist.agreement.statistics.rater_pairs import PairTables
from panelist.agreement.statistics.rater_variances import MeanSquares
from panelist.agreement.statistics.unit_sums import UnitSums
from panelist.numerics.arrays import Floats
from tests.agreement.brute_force import BY_NAME
from tests.examples import examples

NAMES = list(COEFFICIENTS)
RANKS = [
    "spearman",
    "kendall_tau_b",
    "goodman_kruskal_gamma",
    "kendall_w",
    "krippendorff_alpha_ordinal",
    "gwet_ac2",
]
NOMINAL = [name for name in NAMES if COEFFICIENTS[name].levels[0] == "nominal"]
PRODUCT = [
    "percent_agreement", "cohen_kappa", "weighted_kappa_linear", "weighted_kappa_quadratic", "scott_pi",
    "fleiss_kappa", "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "krippendorff_alpha_interval",
    "krippendorff_alpha_ratio", "gwet_ac1", "gwet_ac2", "kendall_w", "pearson", "spearman", "kendall_tau_b",
    "goodman_kruskal_gamma", "icc_a1", "icc_ak", "icc_c1", "icc_ck", "icc_1", "icc_k", "cronbach_alpha",
]  # fmt: skip


@st.composite
def matrices(draw: st.DrawFn, gaps: bool = True) -> Floats:
    """Return a small units × raters matrix of values 1 to 5, with gaps; no unit is without a rating."""
    n, m = draw(st.integers(2, 14)), draw(st.integers(2, 5))
    seed, k = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 5))
    missing = draw(st.sampled_from([0.0, 0.1, 0.5])) if gaps else 0.0
    rng = np.random.default_rng(seed)
    quality = rng.integers(0, k, size=(n, 1))
    noise = rng.integers(0, k, size=(n, m))
    x = 1.0 + np.where(rng.random((n, m)) < draw(st.sampled_from([0.2, 0.6, 1.0])), noise, quality)
    hidden = rng.random((n, m)) < missing
    hidden[np.arange(n), rng.integers(0, m, n)] = False
    hidden[rng.integers(0, n, m), np.arange(m)] = False
    x[hidden] = np.nan
    return x


def agree(a: float, b: float) -> bool:
    return bool(np.isclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True))


def test_the_names_are_those_of_the_product() -> None:
    assert sorted(PRODUCT) == NAMES == sorted(BY_NAME)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is_and_when_it_suits(name: str) -> None:
    one = COEFFICIENTS[name]
    assert len(one.title) > 20
    assert set(one.levels) <= set(LEVELS)
    assert one.levels


@pytest.mark.parametrize("name", NAMES)
@examples(60)
@given(x=matrices())
def test_it_equals_its_definition_on_tables_with_gaps(name: str, x: Floats) -> None:
    ours = COEFFICIENTS[name](from_matrix(x), "ordinal")
    theirs = BY_NAME[name](x)
    assert agree(ours, theirs), (ours, theirs)


@pytest.mark.parametrize("name", NAMES)
@examples(25)
@given(x=matrices(), seed=st.integers(0, 1000))
def test_the_order_of_raters_and_items_is_immaterial(name: str, x: Floats, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = x[rng.permutation(len(x))][:, rng.permutation(x.shape[1])]
    first, second = (COEFFICIENTS[name](from_matrix(each), "ordinal") for each in (x, shuffled))
    assert agree(first, second) or max(abs(first), abs(second)) > 1e6


@pytest.mark.parametrize("name", NAMES)
@examples(25)
@given(seed=st.integers(0, 1000), k=st.integers(2, 6), raters=st.integers(2, 5))
def test_perfect_agreement_gives_1(name: str, seed: int, k: int, raters: int) -> None:
    column = np.random.default_rng(seed).permutation(np.repeat(np.arange(1.0, k + 1), 3))
    assert agree(COEFFICIENTS[name](from_matrix(np.tile(column[:, None], raters)), "ordinal"), 1.0)


@pytest.mark.parametrize("name", NOMINAL)
@examples(25)
@given(x=matrices(), seed=st.integers(0, 1000))
def test_relabelling_leaves_nominal_ones_alone(name: str, x: Floats, seed: int) -> None:
    new = np.random.default_rng(seed).permutation([3.0, 7.0, 8.0, 20.0, 21.0])
    relabelled = np.where(np.isnan(x), np.nan, new[np.where(np.isnan(x), 1, x).astype(int) - 1])
    assert agree(COEFFICIENTS[name](from_matrix(x)), COEFFICIENTS[name](from_matrix(relabelled)))


@pytest.mark.parametrize("name", RANKS)
@examples(25)
@given(x=matrices())
def test_monotone_relabelling_leaves_rank_measures_alone(name: str, x: Floats) -> None:
    first = COEFFICIENTS[name](from_matrix(x), "ordinal")
    assert agree(first, COEFFICIENTS[name](from_matrix(np.exp(x)), "ordinal"))


@pytest.mark.parametrize("name", NAMES)
@examples(25)
@given(x=matrices(), seed=st.integers(0, 1000))
def test_a_unit_weighed_twice_is_the_unit_twice(name: str, x: Floats, seed: int) -> None:
    times = np.random.default_rng(seed).integers(1, 4, len(x))
    one, table = COEFFICIENTS[name], from_matrix(x)
    statistics = one.statistics.prepare(table, "ordinal")
    if isinstance(statistics.weigh(), MeanSquares):
        same_branch = (~np.isnan(x).any(axis=1)).sum() >= 10 or not np.isnan(x).any()
        copied = (~np.isnan(np.repeat(x, times, axis=0)).any(axis=1)).sum() >= 10 or not np.isnan(x).any()
        if same_branch != copied:
            return  # copies can make complete units enough; a resample keeps to what the data decided
    weighed = one.evaluate(statistics.weigh(times.astype(np.float64)))[0]
    copied_value = one(from_matrix(np.repeat(x, times, axis=0)), "ordinal")
    assert agree(weighed, copied_value) or max(abs(weighed), abs(copied_value)) > 1e6


@pytest.mark.parametrize(
    "name", [n for n in NAMES if COEFFICIENTS[n].statistics in (UnitSums, PairTables) and "gwet" not in n]
)
@examples(25)
@given(x=matrices(), seed=st.integers(0, 1000))
def test_raters_weighed_0_or_1_are_the_table_of_those_raters(name: str, x: Floats, seed: int) -> None:
    kept = np.asarray(np.random.default_rng(seed).random(x.shape[1]) < 0.6)
    kept[:2] = True
    one, table = COEFFICIENTS[name], from_matrix(x)
    weighed = one.evaluate(one.statistics.prepare(table, "ordinal").weigh(raters=kept.astype(np.float64)))[0]
    assert agree(weighed, one(from_matrix(x[:, kept]), "ordinal"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "x",
    [
        [[3.0, 3.0], [3.0, 3.0], [3.0, 3.0], [3.0, 3.0]],
        [[1.0], [2.0], [4.0]],
        [[1.0, 2.0, 4.0]],
        [[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0], [np.nan, 1.0]],
    ],
    ids=["all equal", "one rater", "one item", "no overlap"],
)
def test_degenerate_data_give_nan_and_a_sentence(name: str, x: list[list[float]]) -> None:
    found = COEFFICIENTS[name].estimate(from_matrix(x), "ordinal")
    one_item, all_equal = len(x) == 1, len(set(np.ravel(x))) == 1
    if name == "percent_agreement" and (one_item or all_equal):
        assert found.value == (1.0 if all_equal else 0.0)  # a plain share is defined here
        return
    if one_item and COEFFICIENTS[name].statistics is UnitSums:
        assert np.isfinite(found.value)  # chance is estimated from the ratings of the one item
        return
    assert isinstance(found.value, float)
    assert np.isnan(found.value)
    assert len(found.note) > 20
