from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.design.tuples.balanced import Shape, count_pairs, find_tuples_per_item, make_tuples
from panelist.design.tuples.exchange import level_pairs
from tests.design.plan_counts import Ints, spread
from tests.examples import examples


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    s = draw(st.integers(2, 8))
    return Shape(s, draw(st.integers(2, s)), draw(st.integers(1, 6)))


def pair_counts(tuples: Ints, n_systems: int) -> Ints:
    return count_pairs(tuples, n_systems)[np.triu_indices(n_systems, 1)]


@pytest.mark.slow
@examples(80)
@given(st.integers(1, 16), shapes(), st.integers(0, 999))
def test_every_system_stands_equally_often_over_all_and_within_each_item(
    n: int, shape: Shape, seed: int
) -> None:
    tuples = make_tuples(n, shape, seed)
    assert tuples.shape == (n, shape.tuples, shape.shown)
    assert (np.diff(tuples, axis=-1) > 0).all()  # sorted, and no system twice
    assert spread(np.bincount(tuples.reshape(-1), minlength=shape.systems)) <= 1
    for item in tuples:
        assert spread(np.bincount(item.reshape(-1), minlength=shape.systems)) <= 1


@examples(60)
@given(st.integers(1, 10), shapes(), st.integers(0, 999))
def test_no_item_has_a_tuple_oftener_than_it_must(n: int, shape: Shape, seed: int) -> None:
    most = -(-shape.tuples // comb(shape.systems, shape.shown))
    for item in make_tuples(n, shape, seed).tolist():
        times = [item.count(one) for one in item]
        assert max(times) <= most


@pytest.mark.parametrize(
    ("n", "s", "m", "most"),
    [
        (20, 5, 4, 0), (50, 6, 4, 0), (50, 7, 4, 0), (14, 8, 4, 0), (20, 8, 4, 1), (13, 9, 4, 1),
        (5, 11, 4, 0), (60, 5, 3, 0), (40, 13, 4, 0),
    ],
)  # fmt: skip
def test_pairs_stand_as_often_as_arithmetic_allows(n: int, s: int, m: int, most: int) -> None:
    for seed in range(3):
        tuples = make_tuples(n, Shape(s, m, find_tuples_per_item(s, m)), seed)
        assert spread(pair_counts(tuples, s)) <= most


@examples(30)
@given(st.integers(10, 60), st.integers(4, 9), st.integers(2, 5), st.integers(0, 999))
def test_pairs_differ_by_two_at_most_for_usual_tuples(n: int, s: int, m: int, seed: int) -> None:
    m = min(m, s)
    tuples = make_tuples(n, Shape(s, m, find_tuples_per_item(s, m)), seed)
    assert spread(pair_counts(tuples, s)) <= 2


def test_many_batches_stay_level() -> None:
    tuples = make_tuples(3000, Shape(10, 4, 5), 1)
    assert spread(pair_counts(tuples, 10)) <= 1
    assert len(np.unique(tuples.reshape(len(tuples), -1), axis=0)) > 1000  # renamed, not repeated


def test_more_tuples_than_there_are_go_through_all_of_them_first() -> None:
    tuples = make_tuples(3, Shape(4, 2, 13), 1)  # six pairs: all of them twice, and one more
    for item in tuples.tolist():
        assert sorted(item.count(pair) for pair in ([0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3])) == [
            2
        ] * 5 + [3]


def test_exchanges_count_what_was_there_before() -> None:
    batch = make_tuples(30, Shape(8, 4, 2), 1)
    before = np.zeros((8, 8), dtype=np.int64)
    before[0, 1] = before[1, 0] = 6
    levelled = level_pairs(batch, before, 8, np.random.default_rng(1))
    together = (before + count_pairs(levelled, 8))[np.triu_indices(8, 1)]
    assert spread(together) <= 2
    assert spread((before + count_pairs(batch, 8))[np.triu_indices(8, 1)]) > 4


def test_the_same_seed_gives_the_same_tuples() -> None:
    one, same, other = (make_tuples(30, Shape(8, 4, 2), seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
