"""Which answers are correlated: two ways at once, few clusters, and pairs that one system always won."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from bench.choices_clustered import draw_pairs, draw_winners, make_trials
from panelist.analysis.choices.compare_choices import compare_choices, contrast_strengths
from panelist.analysis.choices.models.bradley_terry import fit_bradley_terry
from panelist.analysis.choices.models.clusters import combine_ways, moderate
from panelist.core.tables.ratings import read_ratings
from tests.analysis.choices.choices import make_pairs, make_sets, needs_shared, trials_of
from tests.shared_cases import SHARED


def make_wins(raters: int, items: int, winner: str = "a") -> pd.DataFrame:
    """Return the pairs of a and b that each rater saw of each item, all won by one."""
    rows = [(f"r{r}", f"i{i}", "a", "b", winner) for r in range(raters) for i in range(items)]
    return pd.DataFrame(rows, columns=["rater", "item", "system_a", "system_b", "winner"])


def test_two_ways_add_up_where_both_add_to_the_spread() -> None:
    variance, df = combine_ways([np.array([5.0]), np.array([3.0]), np.array([1.0])], [4.0, 9.0, 99.0])
    assert variance == pytest.approx(5 + 3 - 1)
    assert df == pytest.approx(7**2 / (5**2 / 4 + 3**2 / 9))


def test_a_side_can_only_add_to_the_spread() -> None:
    variance, df = combine_ways([np.array([0.1]), np.array([3.0]), np.array([1.0])], [2.0, 9.0, 99.0])
    assert (variance[0], df[0]) == pytest.approx((3.0, 9.0))
    variance, df = combine_ways([np.array([0.1]), np.array([0.2]), np.array([1.0])], [2.0, 9.0, 99.0])
    assert (variance[0], df[0]) == pytest.approx((1.0, 99.0))


def test_few_clusters_borrow_from_all_systems_and_many_keep_their_own() -> None:
    centre = np.eye(3) - 1 / 3
    own = centre @ np.diag([9.0, 1.0, 1.0]) @ centre
    few, many = (moderate(own, centre, centre, n) for n in (3, 10_001))
    assert many.covariance == pytest.approx(own, abs=0.01)
    assert many.df == pytest.approx(10_000, rel=0.01)
    ratio = np.trace(own) / np.trace(centre)
    assert few.covariance == pytest.approx((2 * own + 4 * ratio * centre) / 6)
    assert 2 < few.df <= 4  # two systems' worth of two degrees of freedom
    two = moderate(own[:2, :2], centre[:2, :2], centre[:2, :2], 3)
    assert two.covariance == pytest.approx(own[:2, :2])  # one difference has nobody to borrow from
    assert two.df == 2


def test_two_ways_of_clustering_are_those_of_each_side() -> None:
    frame = make_sets({"a": 0.5, "b": 0.0}, 2, raters=12, items=15, kind="pairs", taste=0.8)
    trials = trials_of(frame)
    single = trials_of(frame.assign(rater=frame["trial"]))  # each comparison a cluster of its own
    pair = np.array([[1.0, -1.0]])
    rater, item, cell = (
        fit_bradley_terry(one, cluster).spread.measure(pair)[0][0]  # type: ignore[arg-type]
        for one, cluster in ((trials, "rater"), (trials, "item"), (single, "rater"))
    )
    assert rater > cell
    found = fit_bradley_terry(trials)
    assert (found.cluster, found.n_clusters) == ("both", 12)
    variance, _ = found.spread.measure(pair)
    assert variance[0] == pytest.approx(cell + (rater - cell) + max(item - cell, 0.0))


@pytest.mark.parametrize(
    ("raters", "items", "systems", "tastes"), [(40, 20, 3, (0, 0.7)), (3, 60, 3, (0.5, 0))]
)
def test_equal_systems_are_seldom_told_apart(
    raters: int, items: int, systems: int, tastes: tuple[float, float]
) -> None:
    rng = np.random.default_rng(7)
    found = {"both": 0, "rater": 0, "item": 0}
    sets = 60
    for _ in range(sets):
        shown = draw_pairs(rng, raters, items, systems)
        trials = make_trials(shown, draw_winners(rng, shown, raters, items, *tastes), items)
        for cluster in found:
            pairs = contrast_strengths(fit_bradley_terry(trials, cluster), adjust="holm")  # type: ignore[arg-type]
            found[cluster] += bool((pairs.p_adjusted < 0.05).any())
    wrong = "rater" if tastes[1] else "item"
    assert found["both"] / sets < 0.16
    assert found[wrong] / sets > 0.3  # what taking one side alone would do


def test_two_raters_are_not_taken_for_raters_in_general() -> None:
    found = compare_choices(make_sets({"a": 0.6, "b": 0.0}, 2, raters=2, items=40, kind="pairs"))["choice"]
    assert found.cluster == "item"
    assert "this holds for these 2 raters alone" in found.sentence()
    assert found.to_dict()["holds_for"] == ["rater"]


def test_a_missing_column_is_said_and_the_other_side_is_used() -> None:
    frame = make_sets({"a": 0.6, "b": 0.0}, 2, raters=8, items=10, kind="pairs").drop(columns="item")
    found = compare_choices(frame)["choice"]
    assert found.cluster == "rater"
    assert any("There is no column item" in note for note in found.notes)
    assert found.beside is not None
    assert found.beside.pairs[0].df == 7


def test_eight_of_eight_is_told_with_the_exact_test() -> None:
    frame = make_pairs([(f"r{n}", "a", "b", "a") for n in range(8)])
    found = compare_choices(frame)["choice"]
    assert found.pairs[0].p == pytest.approx(binomtest(8, 8).pvalue)
    low = binomtest(8, 8).proportion_ci(0.95).low
    assert found.pairs[0].low == pytest.approx(np.log(low / (1 - low)))
    assert found.pairs[0].high == np.inf
    assert "a is preferred to b; a won all 8 comparisons with b" in found.sentence()
    turned = compare_choices(frame.assign(winner="b"))["choice"].pairs[0]
    assert (turned.low, turned.high) == pytest.approx((-np.inf, -found.pairs[0].low))
    assert '"high": null' in found.to_json()


def test_units_of_the_exact_test_are_clusters() -> None:
    found = compare_choices(make_wins(raters=8, items=30))["choice"]
    assert found.pairs[0].p == pytest.approx(2.0**-7)  # eight raters, not 240 comparisons
    few = compare_choices(make_wins(raters=3, items=30))["choice"]
    assert few.pairs[0].p == pytest.approx(2.0**-29)
    assert "for these 3 raters" in few.sentence()
    fewer = compare_choices(make_wins(raters=3, items=4))["choice"]
    assert fewer.pairs[0].p == pytest.approx(2.0**-3)
    assert (
        "a and b cannot be told apart; a won all 12 comparisons with b, too few for a test"
        in fewer.sentence()
    )


def test_a_system_that_always_wins_does_not_wipe_out_the_other_tests() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"r{n % 10}", "x", loser, "x") for n in range(40) for loser in "yz"]
    rows += [(f"r{n % 10}", "y", "z", "y" if rng.random() < 0.8 else "z") for n in range(120)]
    found = compare_choices(make_pairs(rows))["choice"]
    assert found.strengths.prior == 2.5
    told = {(pair.a, pair.b): pair.p_adjusted for pair in found.pairs}
    assert told["x", "y"] < 0.05
    assert told["y", "z"] < 0.05
    assert [one.rank_high for one in found.systems] == [1, 2, 3]


@needs_shared
def test_three_annotators_of_many_items_have_the_spread_of_the_items() -> None:
    frame = pd.read_csv(SHARED / "judges" / "pandalm_pairs.csv")
    people = read_ratings(frame[frame["kind"] == "person"])
    both, item, rater = (compare_choices(people, cluster=one)["choice"] for one in ("both", "item", "rater"))
    for pair, of_items, of_raters in zip(both.pairs, item.pairs, rater.pairs, strict=True):
        assert pair.se >= of_items.se * 0.98
        assert pair.se > of_raters.se
    assert min(pair.se for pair in both.pairs) > 0.1
