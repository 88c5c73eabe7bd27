"""Cells where some do not exist: every list from those that do, in equal shares, for any pattern of holes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from panelist.core.errors import BadDesign
from panelist.design.dealing.allocate import Allocation, Deal
from panelist.design.dealing.cells import Bools, allocate_cells, find_longest


@st.composite
def patterns(draw: st.DrawFn) -> Bools:
    """Return which cells exist; every item and every kind has one."""
    n, kinds = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    there = np.array(
        draw(st.lists(st.lists(st.booleans(), min_size=kinds, max_size=kinds), min_size=n, max_size=n))
    )
    there[np.arange(n), np.arange(n) % kinds] = True
    return there


def deal(there: Bools, k: int, raters: int, returning: bool = False, seed: int = 1) -> Allocation:
    systems = np.broadcast_to(np.eye(there.shape[1], dtype=bool), (*there.shape, there.shape[1]))
    task = Deal(len(there), there.shape[1], k, seed, ("try",))
    return allocate_cells(task, there, systems, raters, returning)


def count(lists: Allocation, there: Bools) -> np.ndarray:
    times = np.zeros(there.shape, dtype=np.int64)
    np.add.at(times, (lists.items, lists.kinds), 1)
    return times


@settings(max_examples=60)
@given(there=patterns(), data=st.data())
def test_every_cell_exists_and_none_is_judged_twice_more_than_another(
    there: Bools, data: st.DataObject
) -> None:
    k, raters = data.draw(st.integers(1, find_longest(there))), data.draw(st.integers(1, 15))
    lists = deal(there, k, raters, seed=data.draw(st.integers(0, 2**31)))
    times = count(lists, there)
    assert times[~there].sum() == 0
    assert np.ptp(times[there]) <= 1
    assert times.sum() == raters * k
    assert all(len(set(own)) == k for own in lists.items.tolist())


@settings(max_examples=30)
@given(there=patterns(), data=st.data())
def test_with_returning_items_no_cell_comes_twice_in_a_list(there: Bools, data: st.DataObject) -> None:
    k, raters = data.draw(st.integers(1, int(there.sum()))), data.draw(st.integers(1, 8))
    lists = deal(there, k, raters, returning=True)
    times = count(lists, there)
    assert times[~there].sum() == 0
    assert np.ptp(times[there]) <= 1
    for items, kinds in zip(lists.items.tolist(), lists.kinds.tolist(), strict=True):
        assert len(set(zip(items, kinds, strict=True))) == k


@settings(max_examples=30)
@given(there=patterns(), data=st.data())
def test_more_raters_leave_the_first_ones_where_they_are(there: Bools, data: st.DataObject) -> None:
    k, raters = data.draw(st.integers(1, find_longest(there))), data.draw(st.integers(1, 6))
    few, many = deal(there, k, raters), deal(there, k, raters + 4)
    assert np.array_equal(few.items, many.items[:raters])
    assert np.array_equal(few.kinds, many.kinds[:raters])


@settings(max_examples=40)
@given(there=patterns(), data=st.data())
def test_where_lists_fill_rounds_a_rater_meets_each_kind_in_proportion(
    there: Bools, data: st.DataObject
) -> None:
    total = int(there.sum())
    k = data.draw(st.sampled_from([k for k in range(1, find_longest(there) + 1) if total % k == 0]))
    lists = deal(there, k, total // k)
    wanted = k * there.sum(axis=0) / total
    for kinds in lists.kinds:
        assert (np.abs(np.bincount(kinds, minlength=len(wanted)) - wanted) < 1 + 1e-9).all()


def test_longer_lists_than_the_outputs_allow_are_refused() -> None:
    there = np.array([[True, True], [True, False]])
    assert find_longest(there) == 1
    with pytest.raises(BadDesign, match="allow 1 at most"):
        deal(there, 2, 3)
