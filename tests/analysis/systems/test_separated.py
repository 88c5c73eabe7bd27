"""A system whose ratings are all at one end of the scale: tested, bounded, and no harm to the others."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.compare import compare_systems
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.separated import find_ends, pull_in
from tests.analysis.systems.end_ratings import make_ratings


def compare(frame: pd.DataFrame, **options: str) -> CriterionComparison:
    (only,) = compare_systems(frame, model="clmm", **options).criteria  # type: ignore[arg-type]
    return only


@pytest.mark.parametrize(("place", "value", "sign"), [(0, 4, 1), (1, 4, -1), (0, 1, -1), (1, 1, 1)])
def test_with_two_systems_too_the_pair_is_tested_and_bounded(place: int, value: int, sign: int) -> None:
    only = compare(make_ratings(2, {place: value}))
    (pair,) = only.pairs
    assert pair.difference == sign * np.inf
    assert pair.p < 0.01
    near, far = (pair.low, pair.high) if sign > 0 else (pair.high, pair.low)
    assert far == sign * np.inf
    assert 0 < sign * near < 6
    assert any("at least as much" in note for note in only.notes)
    assert not any("unknown amount" in note for note in only.notes)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_other_pairs_are_tested_as_without_it(place: int) -> None:
    frame = make_ratings(3, {place: 4})
    only = compare(frame)
    assert all(np.isfinite(pair.p_adjusted) for pair in only.pairs)
    name = f"s{place}"
    (pair,) = [pair for pair in only.pairs if name not in (pair.a, pair.b)]
    (alone,) = compare(frame[frame["system"] != name].reset_index(drop=True)).pairs
    assert pair.difference == pytest.approx(alone.difference, abs=0.25)
    assert pair.se == pytest.approx(alone.se, rel=0.35)
    assert all(pair.p_adjusted < 0.05 for pair in only.pairs if name in (pair.a, pair.b))


def test_two_systems_at_the_same_end_do_not_differ_and_at_opposite_ends_they_do() -> None:
    same = {(pair.a, pair.b): pair for pair in compare(make_ratings(3, {0: 4, 1: 4})).pairs}
    assert same["s0", "s1"].p > 0.5
    assert same["s0", "s1"].low < 0 < same["s0", "s1"].high
    apart = {(pair.a, pair.b): pair for pair in compare(make_ratings(3, {0: 1, 1: 4})).pairs}
    assert apart["s0", "s1"].difference == -np.inf
    assert apart["s0", "s1"].p_adjusted < 0.01


def test_the_order_of_the_rows_does_not_matter() -> None:
    frame = make_ratings(2, {1: 4})
    (pair,) = compare(frame).pairs
    (shuffled,) = compare(frame.sample(frac=1, random_state=3).reset_index(drop=True)).pairs
    assert shuffled.p == pytest.approx(pair.p, rel=1e-3)
    assert shuffled.high == pytest.approx(pair.high, rel=1e-3)


def test_one_rating_is_moved_to_where_the_others_are() -> None:
    system = np.repeat([0, 1], 4)
    codes = np.array([0, 1, 2, 1, 3, 3, 3, 3])
    ends = find_ends(codes, system, 2)
    assert ends == {1: 1.0}
    moved = pull_in(codes, system, ends, np.arange(8)[::-1])
    assert moved.tolist() == [0, 1, 2, 1, 3, 3, 3, 1]  # one point below the highest of the others
    split = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    both = find_ends(split, system, 2)
    assert both == {0: -1.0, 1: 1.0}
    assert pull_in(split, system, both, np.arange(8)).tolist() == [1, 0, 0, 0, 0, 1, 1, 1]
