from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.design.dealing.allocate import Deal, allocate
from panelist.design.dealing.carry_over import count_carry_over, order_by_rows
from panelist.design.dealing.squares import make_pairs, make_williams_rows
from tests.design.plan_counts import Ints, spread
from tests.examples import examples


def others(counts: Ints) -> Ints:
    """Return the counts of one system after another, without those after itself."""
    return counts[~np.eye(len(counts), dtype=bool)]


@given(st.integers(2, 40))
def test_williams_rows_hold_every_system_in_every_place_and_after_every_other(n: int) -> None:
    rows = make_williams_rows(n)
    assert len(rows) == n * (1 + n % 2)
    assert (np.sort(rows, axis=1) == np.arange(n)).all()
    for place in range(n):
        assert spread(np.bincount(rows[:, place], minlength=n)) == 0
    counts = count_carry_over(rows, n)
    assert set(others(counts).tolist()) == {1 + n % 2}
    assert counts.trace() == 0


@given(st.integers(2, 40))
def test_all_pairs_come_once_and_in_rounds(n: int) -> None:
    pairs = make_pairs(n)
    assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs) == n * (n - 1) // 2
    size = n // 2
    for first in range(0, len(pairs), size):
        assert max(Counter(pairs[first : first + size].reshape(-1).tolist()).values()) == 1


@examples(150)
@given(st.integers(2, 9), st.integers(1, 5), st.integers(1, 3), st.integers(0, 999))
def test_carry_over_is_balanced_at_multiples_of_the_rows(s: int, rows: int, cycles: int, seed: int) -> None:
    n_rows = s * (1 + s % 2)
    lists = allocate(Deal(s * rows, s, s * rows, seed), n_rows * cycles)
    orders = order_by_rows(lists.kinds, s, seed, ("w",))
    assert (np.sort(orders, axis=1) == np.arange(s * rows)).all()
    counts = count_carry_over(np.take_along_axis(lists.kinds, orders, axis=1), s)
    assert counts.trace() == 0
    assert spread(others(counts)) <= (0 if rows == 1 else 1)


def test_seams_are_even_when_their_number_allows_it() -> None:
    lists = allocate(Deal(20, 4, 20, 1), 12)  # five rows each, four seams, three turns: 48 seams for 12 pairs
    orders = order_by_rows(lists.kinds, 4, 1, ())
    counts = count_carry_over(np.take_along_axis(lists.kinds, orders, axis=1), 4)
    assert set(others(counts).tolist()) == {19}


@examples(100)
@given(st.integers(3, 8), st.integers(2, 20), st.integers(1, 40), st.integers(0, 999))
def test_no_system_follows_itself_unless_it_must(s: int, k: int, raters: int, seed: int) -> None:
    lists = allocate(Deal(20, s, k, seed), raters)
    orders = order_by_rows(lists.kinds, s, seed, ())
    assert count_carry_over(np.take_along_axis(lists.kinds, orders, axis=1), s).trace() == 0


@pytest.mark.parametrize(("s", "k", "raters"), [(5, 3, 40), (4, 6, 20), (10, 25, 60)])
def test_parts_of_rows_are_more_even_than_chance(s: int, k: int, raters: int) -> None:
    lists = allocate(Deal(40, s, k, 3), raters)
    rng = np.random.default_rng(5)
    ours, chance = (
        others(count_carry_over(np.take_along_axis(lists.kinds, orders, axis=1), s)).var()
        for orders in (
            order_by_rows(lists.kinds, s, 3, ()),
            rng.permuted(np.tile(np.arange(k), (raters, 1)), axis=1),
        )
    )
    assert ours < chance / 2
