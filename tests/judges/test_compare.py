"""Corrected comparisons on simulated ratings whose answers are known (the checks of docs/judges.md)."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panelist
from bench.judges_coverage import PAIRS, World, run, run_pairs, simulate
from panelist.core.errors import BadModel, BadRatings
from panelist.judges.compare import compare_systems
from panelist.judges.correct.corrected import CorrectedCriterion
from panelist.judges.correct.regression import Corrected, correct_means
from panelist.judges.correct.weights import leave_out, weigh_means
from panelist.judges.match import JudgedRatings
from panelist.numerics.arrays import Floats
from tests.judges.simulated_tables import tables

SMALL = World("good", 12, 20, items=60)


def make(world: World = SMALL, seed: int = 3) -> JudgedRatings:
    return simulate(world, np.random.default_rng(seed))[0]


def balanced(seed: int = 1) -> JudgedRatings:
    """Return a balanced design in which every judged item was rated, by everybody."""
    rng = np.random.default_rng(seed)
    item, system, rater = (grid.ravel() for grid in np.meshgrid(range(9), range(3), range(4), indexing="ij"))
    truth = rng.normal(size=(9, 3))
    y = 3 + truth[item, system] + rng.normal(size=len(item))
    return JudgedRatings(
        criterion="quality",
        items=tuple(f"i{k}" for k in range(9)),
        systems=("A", "B", "C"),
        raters=tuple("abcd"),
        item=item,
        system=system,
        rater=rater,
        y=y,
        scores={"judge": truth + rng.normal(size=(9, 3))},
    )


def test_where_all_is_rated_and_balanced_means_are_peoples_plain_means() -> None:
    beside = balanced()
    assert correct_means(beside).estimate == pytest.approx(beside.means.mean(axis=0), abs=1e-10)


def numbers(found: Corrected) -> Floats:
    variance, df = found.measure(PAIRS)
    return np.concatenate([found.estimate, np.sqrt(variance), df])


def test_the_judges_units_and_a_constant_for_one_system_change_nothing() -> None:
    beside = make()
    grid = beside.scores["judge"]
    first = numbers(correct_means(beside))
    for changed in (7 - 3 * grid, grid + np.array([0.0, 0.0, 5.0])):
        assert numbers(correct_means(beside, {"judge": changed})) == pytest.approx(first, rel=1e-6, abs=1e-8)


def test_a_judge_constant_within_items_changes_no_difference_in_balanced_designs() -> None:
    beside = balanced()
    flat = np.repeat(beside.scores["judge"][:, :1], 3, axis=1)
    with_judge, alone = correct_means(beside, {"judge": flat}), correct_means(beside, {})
    assert PAIRS @ with_judge.estimate == pytest.approx(PAIRS @ alone.estimate, abs=1e-9)


def test_a_permuted_judge_neither_gains_nor_costs() -> None:
    rng = np.random.default_rng(5)
    beside = make(World("good", 12, 40), 8)
    alone = np.sqrt(correct_means(beside, {}).measure(PAIRS)[0])
    ratios = []
    for _ in range(200):
        mixed = beside.scores["judge"][rng.permutation(len(beside.items))]
        ratios.append(np.mean(np.sqrt(correct_means(beside, {"judge": mixed}).measure(PAIRS)[0]) / alone))
    assert 0.99 < np.mean(ratios) < 1.02


def test_names_and_order_do_not_matter() -> None:
    ratings, judges = tables(make())
    first = compare_systems(ratings, judge=judges).criteria[0]
    new = {"A": "zeta", "B": "eta", "C": "alpha"}
    turned = ratings.sample(frac=1, random_state=1).assign(
        system=lambda f: f["system"].map(new),
        item=lambda f: "x" + f["item"],
        rater=lambda f: f["rater"] + "!",
    )
    moved = judges.sample(frac=1, random_state=2).assign(
        system=lambda f: f["system"].map(new), item=lambda f: "x" + f["item"]
    )
    second = compare_systems(turned, judge=moved).criteria[0]
    before = {new[one.system]: (one.estimate, one.se) for one in first.systems}
    after = {one.system: (one.estimate, one.se) for one in second.systems}
    for name, values in before.items():
        assert after[name] == pytest.approx(values, rel=1e-6)


def test_the_covariance_is_that_of_generalised_least_squares() -> None:
    """Brute force: β̂ and its covariance from the whole covariance matrix of the ratings."""
    beside = make()
    found = correct_means(beside)
    fit = found.fit
    sd = dict(zip(fit.random["group"], fit.random["sd"], strict=True))
    codes = {
        "rater": beside.rater,
        "rater:system": beside.rater * 3 + beside.system,
        "item": beside.item,
        "item:system": beside.item * 3 + beside.system,
    }
    V = fit.sigma**2 * np.eye(len(beside.y))
    for name, code in codes.items():
        V += sd[name] ** 2 * (code[:, None] == code)
    grid = beside.scores["judge"]
    w, b = grid - grid.mean(axis=1, keepdims=True), grid.mean(axis=1) - grid.mean()
    X = np.column_stack([np.eye(3)[beside.system], w[beside.item, beside.system], b[beside.item]])
    C = np.linalg.inv(X.T @ np.linalg.solve(V, X))
    beta = C @ X.T @ np.linalg.solve(V, beside.y)
    rows = np.column_stack([np.eye(3), w.mean(axis=0), np.zeros(3)])
    predicted = beta[3] * w + beta[4] * b[:, None]
    covariance = rows @ C @ rows.T + np.cov(predicted.T) / len(grid)
    assert found.estimate == pytest.approx(rows @ beta, abs=1e-6)
    assert found.covariance == pytest.approx(covariance, abs=1e-6)


def test_equal_weights_are_least_squares() -> None:
    beside = make()
    found = weigh_means(beside, np.full(60, 1 / 3))
    grid = beside.scores["judge"]
    w, b = grid - grid.mean(axis=1, keepdims=True), grid.mean(axis=1) - grid.mean()
    X = np.column_stack([np.eye(3)[beside.system], w[beside.item, beside.system], b[beside.item]])
    beta = np.linalg.lstsq(X, beside.y, rcond=None)[0]
    assert found.estimate == pytest.approx(beta[:3] + beta[3] * w.mean(axis=0))


def test_residuals_without_a_rater_or_item_are_those_of_the_fit_without_it() -> None:
    beside, rng = make(), np.random.default_rng(2)
    X = np.column_stack([np.eye(3)[beside.system], beside.scores["judge"][beside.item, beside.system]])
    w = rng.uniform(1, 5, len(X))
    root = np.sqrt(w)[:, None]

    def fit(rows: Any) -> Floats:
        found = np.linalg.lstsq(X[rows] * root[rows], (beside.y[:, None] * root)[rows, 0], rcond=None)[0]
        return np.asarray(found)

    residual = beside.y - X @ fit(slice(None))
    for code in (beside.rater, beside.item):
        found = leave_out(X, w, residual, code)
        for one in np.unique(code)[:4]:
            own = code == one
            assert found[own] == pytest.approx(beside.y[own] - X[own] @ fit(~own))
    assert leave_out(X, w, residual, beside.system) == pytest.approx(residual)  # no fit without a system


@pytest.mark.slow
def test_intervals_hold_where_naive_ones_do_not() -> None:
    """Six raters: 2.1 covers, PPI++ does not (the tables of docs/judges.md have 1,000 sets a row)."""
    found = {one.way: one for one in run(World("biased", 6, 40), 150, seed=11)}
    assert 0.91 < found["2.1"].coverage < 0.99
    assert found["naive PPI++"].coverage < 0.90
    assert abs(found["2.1"].bias) < 0.1 < abs(found["judge alone"].bias)


@pytest.mark.slow
def test_strengths_hold_too() -> None:
    found = {one.way: one for one in run_pairs(World("good", 24, 40), 150, seed=4)}
    assert 0.91 < found["2.3"].coverage < 0.99
    assert found["2.3"].width < found["people alone"].width


def test_the_result_has_people_beside_it_and_counts_no_judged_item_as_rated() -> None:
    ratings, judges = tables(make())
    one = compare_systems(ratings, judge=judges, adjust="none").criteria[0]
    assert isinstance(one, CorrectedCriterion)
    assert (one.n_items, one.n_judged, one.n_raters, one.n) == (20, 60, 12, len(ratings))
    said = one.to_dict()
    assert len(said["people"]["pairs"]) == 3
    assert "20 items rated by 12 raters, 60 scored by judge" in one.sentence()
    assert "times as wide" in one.sentence() or "added nothing" in one.sentence()


def test_a_useless_judge_is_said_to_add_nothing() -> None:
    ratings, judges = tables(make(World("useless", 12, 40), 6))
    one = compare_systems(ratings, judge=judges).criteria[0]
    assert isinstance(one, CorrectedCriterion)
    assert 0.95 < one.width_ratio < 1.05
    constant = compare_systems(ratings, judge=judges.assign(rating=3)).criteria[0]
    assert isinstance(constant, CorrectedCriterion)
    assert constant.width_ratio == pytest.approx(1.0, abs=0.05)
    assert "added nothing (width ratio 1.00); the estimates are people's." in constant.sentence()
    # the same width, but other numbers than people's
    moved = replace(constant, pairs=tuple(replace(p, difference=p.difference + 0.1) for p in constant.pairs))
    assert "added nothing (width ratio 1.00); people alone say as much." in moved.sentence()


def test_one_rater_is_no_unknown_rater() -> None:
    ratings, judges = tables(make())
    one = compare_systems(ratings.assign(rater="r1"), judge=judges).criteria[0]
    assert "rated by 1 rater, 60 scored" in one.sentence()
    assert "who are unknown" not in one.sentence()
    assert any("There is one rater only" in note for note in one.notes)


def test_strata_and_probabilities_of_the_sample_are_used() -> None:
    world = World("good", 24, 40, draw="strata")
    beside, probability, stratum, _ = simulate(world, np.random.default_rng(3))
    ratings, judges = tables(beside)
    sample = pd.DataFrame({"item": beside.items, "probability": probability, "stratum": stratum})
    one = compare_systems(ratings, judge=judges, sample=sample).criteria[0]
    assert isinstance(one, CorrectedCriterion)
    assert (one.method, one.strata) == ("regression", ("sure", "unsure"))
    nameless = sample.drop(columns="stratum")
    parted = compare_systems(ratings, judge=judges, sample=nameless).criteria[0]
    assert isinstance(parted, CorrectedCriterion)
    assert (parted.method, parted.strata) == (
        "regression",
        ("part 1", "part 2"),
    )  # by their two probabilities
    assert [pair.se for pair in parted.pairs] == pytest.approx([pair.se for pair in one.pairs], rel=1e-9)
    found = compare_systems(ratings, judge=judges, sample=nameless, judge_method="weights")
    weighed = found.criteria[0]
    assert isinstance(weighed, CorrectedCriterion)
    assert weighed.method == "weights"
    with pytest.raises(BadModel, match="no probability for"):
        compare_systems(ratings, judge=judges, sample=sample.iloc[:30])


def test_probabilities_that_ratings_carry_are_said_and_unequal_ones_need_the_sample() -> None:
    ratings, judges = tables(make())
    (one,) = compare_systems(ratings.assign(probability=0.25), judge=judges).criteria
    assert any("each drawn with probability 0.25" in note for note in one.notes)
    assert not any("convenience sample" in note for note in one.notes)
    items = ratings["item"].astype("category").cat.codes
    uneven = ratings.assign(probability=np.where(items % 2, 0.25, 0.5))
    with pytest.raises(BadModel, match=r"2 probabilities .*--sample sample\.csv"):
        compare_systems(uneven, judge=judges)
    for other in (1.5, np.arange(len(ratings)) / len(ratings)):  # another thing of the same name
        (one,) = compare_systems(ratings.assign(probability=other), judge=judges).criteria
        assert any("convenience sample" in note for note in one.notes)


def test_missing_answers_and_dropped_items_are_counted() -> None:
    ratings, judges = tables(make())
    rated = sorted(ratings["item"].unique())
    judges.loc[(judges["item"] == rated[1]).to_numpy(), "rating"] = np.nan
    found = compare_systems(ratings, judge=judges[judges["item"] != rated[0]])
    notes = " ".join((*found.notes, *found.criteria[0].notes))
    assert f"1 rated item has no judge's row and is left out: {rated[0]!r}" in notes
    assert "judge gave no answer 3 times: 3 missing" in notes
    assert "no answer" in {one.term for one in found.criteria[0].slopes}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r, j: (r, j.assign(item="x" + j["item"])), "no rated output has a judge's score"),
        (lambda r, j: (r.assign(rater="judge"), j), "A judge is never a rater"),
        (lambda r, j: (r[r["system"] == "A"], j), "only one system"),
        (lambda r, j: (r[r["item"] == r["item"].iloc[0]], j), "1 item was rated"),
        (lambda r, j: (r, j.assign(rating=np.nan)), "no score at all"),
        (lambda r, j: (r, j.assign(criterion="fluency")), "no scores on 'rating'"),
    ],
)
def test_what_cannot_be_corrected_is_refused_with_the_reason(change: Any, said: str) -> None:
    ratings, judges = change(*tables(make()))
    with pytest.raises((BadModel, BadRatings), match=said):
        compare_systems(ratings, judge=judges)


def test_options_of_comparisons_without_a_judge_are_refused_not_ignored() -> None:
    ratings, judges = tables(make())
    with pytest.raises(BadModel, match="formula belongs to"):
        compare_systems(ratings, judge=judges, formula="rating ~ system")
    with pytest.raises(BadModel, match="linear mixed model"):
        compare_systems(ratings, judge=judges, model="clmm")
    with pytest.raises(BadModel, match="go with a judge"):
        compare_systems(ratings, sample=pd.DataFrame({"item": ["1"], "probability": [1.0]}))


def test_without_a_judge_nothing_changes() -> None:
    from panelist.analysis.compare import compare_systems as compare_people

    ratings, _ = tables(make())
    one, two = panelist.compare_systems(ratings, model="lmm"), compare_people(ratings, model="lmm")
    assert one.to_dict() == two.to_dict()


def test_several_judges_enter_together() -> None:
    beside = make(World("good", 12, 40))
    rng = np.random.default_rng(1)
    second = beside.scores["judge"] + rng.normal(0, 1, beside.scores["judge"].shape)
    ratings, judges = tables(replace(beside, scores={"one": beside.scores["judge"], "two": second}))
    found = compare_systems(ratings, judge=judges).criteria[0]
    assert isinstance(found, CorrectedCriterion)
    assert {(one.judge, one.term) for one in found.slopes} == {
        (name, term) for name in ("one", "two") for term in ("within", "between")
    }
    assert len(list(combinations(found.systems, 2))) == len(found.pairs)
