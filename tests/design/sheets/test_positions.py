import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from panelist.design.dealing.allocate import Deal, allocate
from panelist.design.dealing.squares import make_pairs
from panelist.design.sheets.positions import place_pairs, shuffle_positions
from panelist.design.tuples.balanced import Shape, find_tuples_per_item, make_tuples
from panelist.design.tuples.placing import place_tuples, suit_tuples
from tests.design.plan_counts import Ints, spread
from tests.examples import examples


def count_leans(placed: Ints, n_systems: int) -> Ints:
    """Return how much oftener each rater sees each system left than right."""
    leans = np.zeros((len(placed), n_systems), dtype=np.int64)
    rows = np.arange(len(placed))[:, None]
    np.add.at(leans, (rows, placed[:, :, 0]), 1)
    np.add.at(leans, (rows, placed[:, :, 1]), -1)
    return leans


@examples(150)
@given(st.integers(2, 7), st.integers(2, 30), st.integers(1, 25), st.integers(0, 999), st.data())
def test_left_and_right_differ_by_at_most_one_for_every_pair_at_any_number_of_raters(
    s: int, n: int, raters: int, seed: int, data: st.DataObject
) -> None:
    pairs = make_pairs(s)
    k = data.draw(st.integers(1, n))
    lists = allocate(Deal(n, len(pairs), k, seed), raters)
    shown = pairs[lists.kinds]
    placed = place_pairs(shown, lists.kinds, seed, ())
    assert np.array_equal(np.sort(placed, axis=-1), np.sort(shown, axis=-1))
    for first in {1, raters // 2 or 1, raters}:
        table = np.zeros((s, s), dtype=np.int64)
        np.add.at(table, (placed[:first, :, 0], placed[:first, :, 1]), 1)
        assert abs(table - table.T).max() <= 1
    more = place_pairs(shown[: raters // 2], lists.kinds[: raters // 2], seed, ())
    assert np.array_equal(more, placed[: raters // 2])  # nobody who comes later turns a page round


@examples(60)
@given(st.integers(3, 8), st.integers(1, 3), st.integers(1, 12), st.integers(0, 999))
@example(8, 1, 5, 957)  # one system leans right by three, and none left by more than one
def test_a_rater_who_sees_all_pairs_sees_every_system_left_and_right_alike(
    s: int, times: int, raters: int, seed: int
) -> None:
    pairs = make_pairs(s)
    k = len(pairs) * times
    lists = allocate(Deal(k, len(pairs), k, seed), raters)
    leans = count_leans(place_pairs(pairs[lists.kinds], lists.kinds, seed, ()), s)
    assert abs(leans).max() <= ((s - 1) * times) % 2


def test_raters_who_see_some_pairs_lean_less_than_by_chance() -> None:
    pairs = make_pairs(10)
    lists = allocate(Deal(50, 45, 25, 1), 200)
    ours = count_leans(place_pairs(pairs[lists.kinds], lists.kinds, 1, ()), 10)
    chance = count_leans(shuffle_positions(pairs[lists.kinds], 1, ()), 10)
    assert (ours**2).mean() < (chance**2).mean() / 3


def count_places(placed: Ints, n_systems: int) -> Ints:
    """Return how often each rater sees each system in each position."""
    n_raters, _, m = placed.shape
    counts = np.zeros((n_raters, n_systems, m), dtype=np.int64)
    np.add.at(counts, (np.arange(n_raters)[:, None, None], placed, np.arange(m)), 1)
    return counts


@examples(60)
@given(st.integers(3, 9), st.integers(2, 6), st.integers(4, 20), st.integers(1, 20), st.integers(0, 999))
def test_every_rater_meets_every_system_in_all_positions_alike(
    s: int, m: int, n: int, raters: int, seed: int
) -> None:
    m = min(m, s)
    b = find_tuples_per_item(s, m)
    tuples = make_tuples(n, Shape(s, m, b), seed)
    lists = allocate(Deal(n, b, n, seed), raters)
    shown = tuples[lists.items, lists.kinds]
    placed = place_tuples(shown, s, seed, ())
    assert np.array_equal(np.sort(placed, axis=-1), np.sort(shown, axis=-1))
    assert np.ptp(count_places(placed, s), axis=2).max() <= 1
    half = raters // 2
    assert np.array_equal(place_tuples(shown[:half], s, seed, ()), placed[:half])  # nobody moves


def test_positions_stay_level_over_all_raters() -> None:
    tuples = make_tuples(100, Shape(10, 4, 5), 1)
    lists = allocate(Deal(100, 5, 25, 1), 100)
    shown = tuples[lists.items, lists.kinds]
    ours = np.ptp(count_places(place_tuples(shown, 10, 1, ()), 10).sum(axis=0), axis=1).max()
    chance = np.ptp(count_places(shuffle_positions(shown, 1, ()), 10).sum(axis=0), axis=1).max()
    assert ours <= 3 < chance


@examples(60)
@given(st.integers(4, 10), st.integers(5, 40), st.integers(1, 30), st.integers(0, 999), st.data())
def test_suited_tuples_still_come_all_before_one_comes_again(
    s: int, n: int, raters: int, seed: int, data: st.DataObject
) -> None:
    shape = Shape(s, min(4, s), find_tuples_per_item(s, min(4, s)))
    tuples = make_tuples(n, shape, seed)
    k = data.draw(st.integers(1, n))
    lists = allocate(Deal(n, shape.tuples, k, seed), raters)
    chosen = suit_tuples(lists.items, tuples, s, seed, ())
    for first in {1, raters // 2 or 1, raters}:
        counts = np.zeros((n, shape.tuples), dtype=np.int64)
        np.add.at(counts, (lists.items[:first], chosen[:first]), 1)
        assert spread(counts) <= 1


def test_suited_tuples_level_the_systems_of_a_rater() -> None:
    tuples = make_tuples(100, Shape(10, 4, 5), 1)
    lists = allocate(Deal(100, 5, 25, 1), 100)

    def unevenness(kinds: Ints) -> float:
        counts = np.zeros((100, 10))
        np.add.at(counts, (np.arange(100)[:, None, None], tuples[lists.items, kinds]), 1)
        return float(counts.var(axis=1).mean())

    assert unevenness(suit_tuples(lists.items, tuples, 10, 1, ())) < unevenness(lists.kinds) / 3
