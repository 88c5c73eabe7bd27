from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from panelist.design.dealing.allocate import Allocation, Deal, allocate, repeat_offsets, step_offsets
from tests.design.plan_counts import Ints, spread
from tests.examples import examples


@st.composite
def deals(draw: st.DrawFn, most_items: int = 40, longer: bool = False) -> tuple[Deal, int]:
    """Return something to deal, and for how many raters."""
    n, T = draw(st.integers(1, most_items)), draw(st.integers(1, 24))
    k = draw(st.integers(n, n * T)) if longer else draw(st.integers(1, n))
    return Deal(n, T, k, draw(st.integers(0, 2**32)), ("test",)), draw(st.integers(1, 30))


def count_kinds(lists: Allocation, n_kinds: int) -> Ints:
    counts = np.zeros((len(lists.kinds), n_kinds), dtype=np.int64)
    np.add.at(counts, (np.arange(len(counts))[:, None], lists.kinds), 1)
    return counts


def count_cells(lists: Allocation, deal: Deal, raters: int) -> Ints:
    cells = np.zeros((deal.n_items, deal.n_kinds), dtype=np.int64)
    np.add.at(cells, (lists.items[:raters], lists.kinds[:raters]), 1)
    return cells


def test_offsets_keep_every_small_size_balanced() -> None:
    for n in range(1, 13):
        for T in range(1, 13):
            for k in range(1, n + 1):
                offsets = list(islice(step_offsets(n, T, k), 3 * T + k))
                assert all(len(set(offsets[b : b + T])) == T for b in range(0, 3 * T, T)), (n, T, k)
                kinds = np.concatenate([(np.arange(n) + offset) % T for offset in offsets])
                lists = kinds[: len(kinds) // k * k].reshape(-1, k)
                counts = (lists[:, :, None] == np.arange(T)).sum(axis=1)
                assert (counts.max(axis=1) - counts.min(axis=1)).max() <= 1, (n, T, k)


@given(st.integers(1, 60), st.integers(1, 60))
def test_offsets_of_a_repeated_block_are_all_different(n: int, T: int) -> None:
    assert sorted(repeat_offsets(n, T).tolist()) == list(range(T))


@examples(700)
@given(deals())
def test_no_rater_has_an_item_twice_and_kinds_differ_by_at_most_one(case: tuple[Deal, int]) -> None:
    deal, raters = case
    lists = allocate(deal, raters)
    assert lists.items.shape == (raters, deal.n_trials)
    assert all(len(set(row)) == deal.n_trials for row in lists.items.tolist())
    counts = count_kinds(lists, deal.n_kinds)
    assert (counts.max(axis=1) - counts.min(axis=1)).max() <= 1


@examples(500)
@given(deals())
def test_cells_and_items_differ_by_at_most_one_at_any_number_of_raters(case: tuple[Deal, int]) -> None:
    deal, raters = case
    lists = allocate(deal, raters)
    for first in {1, raters // 2 or 1, raters}:
        cells = count_cells(lists, deal, first)
        assert spread(cells) <= 1
        assert spread(cells.sum(axis=1)) <= 1


@examples(300)
@given(deals(most_items=12, longer=True))
def test_lists_longer_than_a_round_hold_no_output_twice(case: tuple[Deal, int]) -> None:
    deal, raters = case
    lists = allocate(deal, raters)
    cells = lists.items * deal.n_kinds + lists.kinds
    assert all(len(set(row)) == deal.n_trials for row in cells.tolist())
    assert spread(count_cells(lists, deal, raters)) <= 1
    counts = count_kinds(lists, deal.n_kinds)
    exact = deal.n_trials % deal.n_kinds == 0 or deal.n_trials == deal.n_items
    assert (counts.max(axis=1) - counts.min(axis=1)).max() <= (1 if exact else 2)


@examples(300)
@given(deals(), st.integers(1, 40))
def test_more_raters_move_nobody(case: tuple[Deal, int], more: int) -> None:
    deal, raters = case
    few, many = allocate(deal, raters), allocate(deal, raters + more)
    assert np.array_equal(few.items, many.items[:raters])
    assert np.array_equal(few.kinds, many.kinds[:raters])


@examples(100)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000))
def test_as_many_raters_as_systems_make_a_latin_square(systems: int, times: int, seed: int) -> None:
    lists = allocate(Deal(systems * times, systems, systems * times, seed), systems)
    square = np.empty((systems, systems * times), dtype=np.int64)
    np.put_along_axis(square, lists.items, lists.kinds, axis=1)
    wanted = np.arange(systems)
    assert (np.sort(square, axis=0) == wanted[:, None]).all()  # every item meets every system once
    assert (
        np.sort(square, axis=1) == np.repeat(wanted, times)
    ).all()  # every rater every system equally often


@pytest.mark.parametrize(
    ("n", "T", "k", "raters"),
    [(20, 45, 10, 6), (20, 10, 10, 6), (20, 5, 10, 6), (100, 4, 25, 12), (6, 15, 3, 8), (12, 12, 4, 9)],
)
def test_lists_mix_so_that_all_raters_and_items_hang_together(n: int, T: int, k: int, raters: int) -> None:
    for seed in range(20):
        lists = allocate(Deal(n, T, k, seed), raters)
        rater = np.repeat(np.arange(raters), k)
        size = raters + n
        graph = coo_array(
            (np.ones(raters * k), (rater, raters + lists.items.reshape(-1))), shape=(size, size)
        )
        assert connected_components(graph, directed=False)[0] == 1


def test_another_square_is_drawn_anew() -> None:
    lists = allocate(Deal(20, 4, 20, 7), 8)
    first, second = (
        {frozenset(zip(lists.items[p].tolist(), lists.kinds[p].tolist(), strict=True)) for p in part}
        for part in (range(4), range(4, 8))
    )
    assert not first & second


def test_the_seed_alone_decides() -> None:
    one, same, other = (allocate(Deal(30, 5, 12, seed), 10) for seed in (1, 1, 2))
    assert np.array_equal(one.items, same.items)
    assert np.array_equal(one.kinds, same.kinds)
    assert not np.array_equal(one.items, other.items)
