"""What judges are worth, on small tables computed by hand and on simulated ones."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr

import panelist
from bench.judges_coverage import World, simulate
from panelist.core.errors import BadModel, UnknownName
from panelist.judges.match import JudgedRatings
from panelist.judges.units import make_units
from panelist.judges.worth.accuracy import (
    accuracy_of_outputs,
    pairs_of_outputs,
    resample_soft_accuracy,
    soft_accuracy,
)
from panelist.judges.worth.alt_test import PooledTest, run_alt_test
from panelist.judges.worth.bias import Favour
from panelist.judges.worth.ceiling import Draws, measure_ceiling
from panelist.judges.worth.levels import (
    ItemSums,
    draw_weights,
    measure_levels,
    paired_correlation,
    percentile,
    resample_items,
)
from panelist.judges.worth.measure import measure_judges
from panelist.numerics.arrays import Floats
from tests.judges.simulated_tables import tables


@pytest.fixture(scope="module")
def beside() -> JudgedRatings:
    return simulate(World("good", 6, 30, items=60), np.random.default_rng(4))[0]


def test_levels_agree_with_scipy(beside: JudgedRatings) -> None:
    y, f = beside.means[beside.labelled], beside.scores["judge"][beside.labelled]
    found = measure_levels(y, f, beside.systems)
    assert found.output.pearson == pytest.approx(pearsonr(y.ravel(), f.ravel()).statistic)
    assert found.system.pearson == pytest.approx(pearsonr(y.mean(axis=0), f.mean(axis=0)).statistic)
    single = [
        kendalltau(a, b).statistic for a, b in zip(y, f, strict=True) if np.ptp(a) > 0 and np.ptp(b) > 0
    ]
    assert found.by_item_kendall == pytest.approx(np.mean(single))


def test_with_gaps_the_paired_r_is_that_of_the_additive_fit(beside: JudgedRatings) -> None:
    y, f = beside.means.copy(), beside.scores["judge"].copy()
    f[np.flatnonzero(beside.labelled)[:5], 1] = np.nan
    there = np.isfinite(y) & np.isfinite(f)
    item, system = np.nonzero(there)
    X = np.column_stack([np.eye(len(y))[item], np.eye(3)[system]])
    left = [v[there] - X @ np.linalg.lstsq(X, v[there], rcond=None)[0] for v in (y, f)]
    assert paired_correlation(y, f) == pytest.approx(
        left[0] @ left[1] / np.sqrt(left[0] @ left[0] * (left[1] @ left[1]))
    )


def test_a_resample_of_items_is_the_table_of_the_drawn_items(beside: JudgedRatings) -> None:
    y, f = beside.means[beside.labelled], beside.scores["judge"][beside.labelled].copy()
    for gaps in (False, True):
        if gaps:
            f[0, 0] = f[3, 2] = np.nan
        sums, drawn = ItemSums.prepare(y, f), np.random.default_rng(1).integers(len(y), size=len(y))
        weights = np.bincount(drawn, minlength=len(y)).astype(float)
        output, system, paired = (float(r[0]) for r in sums.correlations((weights @ sums.columns)[None]))
        found = measure_levels(y[drawn], f[drawn], beside.systems)
        assert paired == pytest.approx(paired_correlation(y[drawn], f[drawn]))
        assert output == pytest.approx(found.output.pearson)
        assert system == pytest.approx(found.system.pearson)
    assert len(resample_items([sums], 100)[0][2]) == 100


def test_accuracy_with_ties_is_that_of_trying_every_epsilon() -> None:
    rng = np.random.default_rng(3)
    y, f = rng.integers(1, 4, (12, 4)).astype(float), rng.normal(size=(12, 4))

    def accuracy(epsilon: float) -> float:
        shares = []
        for a, b in zip(y, f, strict=True):
            right = [
                (a[i] == a[j]) if abs(b[i] - b[j]) <= epsilon else (a[i] - a[j]) * (b[i] - b[j]) > 0
                for i, j in combinations(range(4), 2)
            ]
            shares.append(np.mean(right))
        return float(np.mean(shares))

    sizes = [0.0, *(abs(b[i] - b[j]) + 1e-10 for b in f for i, j in combinations(range(4), 2))]
    found = accuracy_of_outputs(y, f)
    assert found.best == pytest.approx(max(map(accuracy, sizes)))
    assert found.at_zero == pytest.approx(accuracy(0.0))
    assert found.ties_only == pytest.approx(accuracy(np.inf))


def test_intervals_of_accuracy_are_those_of_items_drawn_again_one_by_one() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(1, 6, (15, 4)) + np.array([0.0, 0, 1, 1])
    f = 0.5 * y + rng.normal(size=y.shape)
    y[3, 1] = f[7, 2] = np.nan
    draws = Draws(200, 0, 0.9)
    weights = np.concatenate(list(draw_weights(15, 200, 0)))
    drawn = [np.repeat(np.arange(15), one.astype(int)) for one in weights]

    soft = [soft_accuracy(y[rows], f[rows], flips=None) for rows in drawn]
    assert resample_soft_accuracy(y, f, draws) == pytest.approx(tuple(np.quantile(soft, [0.05, 0.95])))

    first, second = (accuracy_of_outputs(y[half::2], f[half::2]).epsilon for half in (0, 1))
    halves = []
    for rows in drawn:
        parts = []
        for half, epsilon in ((0, second), (1, first)):
            own = rows[rows % 2 == half]
            pairs = pairs_of_outputs(y[own], f[own])
            parts.append(pairs.at(epsilon))
        halves.append(np.mean(parts))
    found = accuracy_of_outputs(y, f, draws)
    assert (found.low, found.high) == pytest.approx(percentile(np.array(halves), 0.9, 15))
    assert found.low < found.split_half < found.high

    assert np.isnan(resample_soft_accuracy(y[:, :2], f[:, :2], draws)).all()  # with two systems none covers
    assert np.isnan(accuracy_of_outputs(y[:1], f[:1], draws).low)


def test_the_alt_test_scores_are_distances_to_the_others() -> None:
    rng = np.random.default_rng(7)
    y, f = rng.integers(1, 6, (40, 4)).astype(float), rng.integers(1, 6, 40).astype(float)
    unit, rater = (grid.ravel() for grid in np.meshgrid(range(40), range(4), indexing="ij"))
    found = run_alt_test(make_units(unit, rater, y.ravel(), f, tuple("abcd")), 0.1)
    assert found is not None
    for j, one in enumerate(found.raters):
        d = []
        for i in range(40):
            others = np.delete(y[i], j)
            person, judge = (-np.sqrt(np.mean((value - others) ** 2)) for value in (y[i, j], f[i]))
            d.append(float(person >= judge) - float(judge >= person))
        assert one.d == pytest.approx(np.mean(d))


def test_a_person_is_compared_with_the_others_and_the_judge_with_the_same(beside: JudgedRatings) -> None:
    output = next(one for one in measure_ceiling(beside, "judge") if one.level == "output")
    people, judge = [], []
    frame = beside.frame().assign(f=beside.scores["judge"][beside.item, beside.system])
    for rater, own in frame.groupby("rater"):
        rest = frame[frame["rater"] != rater].groupby(["item", "system"])["rating"].mean().rename("others")
        both = own.merge(rest, on=["item", "system"])
        people.append(both["rating"].corr(both["others"]))
        judge.append(both["f"].corr(both["others"]))
    assert (output.people, output.judge) == pytest.approx((np.mean(people), np.mean(judge)))


def test_agreement_of_a_person_stands_beside_the_judges_against_the_same_others() -> None:
    rng = np.random.default_rng(11)
    true = rng.normal(3, 1, (30, 3))
    ratings = pd.DataFrame(
        [
            (f"r{r}", f"i{i:02}", "ABC"[s], round(float(np.clip(true[i, s] + rng.normal(0, 0.7), 1, 5))))
            for r in range(4)
            for i in range(30)
            for s in range(3)
            if (i + r) % 4
        ],
        columns=["rater", "item", "system", "rating"],
    )
    scores = np.clip(true + rng.normal(0, 0.5, true.shape), 1, 5)
    judges = pd.DataFrame(
        [("J", f"i{i:02}", "ABC"[s], scores[i, s]) for i in range(30) for s in range(3)],
        columns=["judge", "item", "system", "rating"],
    )
    found = {one.level: one for one in panelist.measure_judges(ratings, judges, resamples=300)["J"].against}
    assert set(found) == {"pair", "output", "system", "alpha", "equal"}
    person, judge = [], []
    for rater in ratings["rater"].unique():
        rows = []
        for key, cell in ratings.groupby(["item", "system"]):
            own = cell["rater"] == rater
            if not own.any():
                continue
            mine, others = float(cell.loc[own, "rating"].iloc[0]), cell.loc[~own, "rating"]
            score = float(scores[int(str(key[0])[1:]), "ABC".index(str(key[1]))])
            rows.append((mine, score, others.mean(), (others == mine).mean(), round(score) == mine))
        y, f, rest, alike, hit = np.array(rows, dtype=float).T
        person.append((_alpha(y, rest), alike.mean()))
        judge.append((_alpha(f, rest), hit.mean()))
    for level, people, machine in zip(("alpha", "equal"), np.mean(person, 0), np.mean(judge, 0), strict=True):
        assert (found[level].people, found[level].judge) == pytest.approx((people, machine))
    assert np.isnan(found.pop("system").people_low)
    for one in found.values():
        assert one.people_low < one.people < one.people_high
        assert one.judge_low < one.judge < one.judge_high
        assert one.lead_low < one.lead < one.lead_high


def _alpha(a: Floats, b: Floats) -> float:
    """Return Krippendorff's alpha of two columns by its definition: over all pairs of values."""
    both = np.concatenate([a, b])
    expected = ((both[:, None] - both) ** 2).sum() / (len(both) * (len(both) - 1))
    return float(1 - ((a - b) ** 2).mean() / expected)


def test_the_ceiling_has_intervals_about_other_items_raters_or_both() -> None:
    world = simulate(World("good", 6, 100), np.random.default_rng(5))[0]
    ratings, judges = tables(world)
    narrow: dict[str, float] = {}
    for over in ("items", "raters", "both"):
        one = panelist.measure_judges(ratings, judges, judge_scale="as-is", interval=over, resamples=200)
        wide = {
            top.level: top.people_high - top.people_low
            for top in one.judges[0].against
            if top.level != "system"
        }
        assert all(np.isfinite(list(wide.values())))
        if over == "items":
            narrow = wide
    assert all(wide[level] > narrow[level] for level in wide)


def test_the_json_has_the_keys_of_the_contract(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    worth = panelist.measure_judges(ratings, judges, judge_scale="as-is", resamples=200)
    one = worth.to_dict()["judges"][0]
    assert f" ({one['spa_low']:.2f} to {one['spa_high']:.2f})" in str(worth.judges[0])
    assert {"judge", "criterion", "n_outputs", "missing", "spa", "accuracy_ties", "epsilon"} <= set(one)
    assert one["spa_low"] < one["spa_normal"] < one["spa_high"]
    assert one["accuracy"]["low"] < one["accuracy"]["split_half"] < one["accuracy"]["high"]
    assert {"ratings_replaced", "ratings_replaced_low", "ratings_replaced_high"} <= set(one)
    assert {"level", "pearson", "spearman", "kendall", "low", "high", "people"} <= set(one["levels"][0])
    assert {level["level"] for level in one["levels"]} == {"output", "system", "pair"}
    assert {"epsilon", "winning_rate", "advantage", "passed"} <= set(one["alt_test"])
    assert {"system", "estimate", "low", "high"} <= set(one["bias"][0])


def test_a_good_judge_is_worth_ratings_and_a_useless_one_is_not() -> None:
    worth = {}
    for judge in ("good", "useless"):
        ratings, judges = tables(simulate(World(judge, 24, 100), np.random.default_rng(2))[0])
        one = measure_judges(ratings, judges, judge_scale="as-is", resamples=300).judges[0]
        worth[judge] = one
    good, useless = worth["good"], worth["useless"]
    assert good.level("pair").low > 0 > useless.level("pair").low
    assert good.replaced.equivalent > 1 > useless.replaced.equivalent
    assert good.replaced.low < good.replaced.equivalent < good.replaced.high
    assert good.replaced.r_true == pytest.approx(0.85, abs=0.15)
    assert "orders differences as the mean of" in good.sentence()


def test_a_judge_turned_round_is_not_said_to_order_as_raters_do() -> None:
    ratings, judges = tables(simulate(World("good", 24, 100), np.random.default_rng(2))[0])
    judges["rating"] = -judges["rating"]
    one = measure_judges(ratings, judges, judge_scale="as-is", resamples=300).judges[0]
    assert "turned round: it orders against people" in one.sentence()
    assert "Turned round, it orders differences as the mean of" in one.sentence()
    noise = judges.assign(rating=np.random.default_rng(0).normal(size=len(judges)))
    one = measure_judges(ratings, noise, judge_scale="as-is", resamples=300).judges[0]
    assert one.level("pair").low < 0 < one.level("pair").high
    assert "or nothing, as the interval holds 0" in one.sentence()
    assert "against people" not in one.sentence()


def test_outputs_without_a_row_are_no_answers(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    rated = ratings[ratings["system"] == "A"].drop_duplicates(["item", "system"])
    part = judges[judges["system"] != "A"]
    found = measure_judges(ratings, part, judge_scale="as-is", resamples=100)
    one = found.judges[0]
    assert one.missing == {"no line": len(rated)}
    assert [(s.n, s.silent) for s in one.silence] == [(len(rated), len(rated)), (60, 0), (60, 0)]
    assert any(note.startswith("whom it favours") for note in one.notes)
    noise = part.assign(judge="other")
    two = measure_judges(ratings, pd.concat([judges, noise]), judge_scale="as-is", resamples=100)
    assert [two[name].missing for name in ("judge", "other")] == [{}, {"no line": 60}]
    compared = panelist.compare_systems(ratings, judge=part, judge_scale="as-is").criteria[0]
    assert f"judge has no row for {len(rated)} outputs: counted as no answers" in compared.notes


def test_a_rating_without_its_rater_is_nobodys_and_counted(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    gaps = ratings.assign(rater=ratings["rater"].where(ratings.index >= 5))
    lost, part = (
        measure_judges(table, judges, judge_scale="as-is", resamples=100).judges[0]
        for table in (gaps, ratings[5:])
    )
    assert "5 ratings without a rater left out" in lost.notes
    assert lost.n_raters == part.n_raters
    assert lost.level("pair") == part.level("pair")


def test_several_ratings_of_a_rater_and_an_output_count_as_their_mean(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    turns = pd.concat([ratings.assign(rating=ratings["rating"] + step) for step in (-1, 1)])
    once, twice = (
        panelist.compare_systems(table, judge=judges, judge_scale="as-is").criteria[0]
        for table in (ratings, turns)
    )
    assert twice.n == once.n == len(ratings)
    assert [one.se for one in twice.pairs] == pytest.approx([one.se for one in once.pairs])
    assert any(note.startswith(f"{2 * len(ratings):,} ratings are {len(ratings):,}") for note in twice.notes)


def test_an_output_that_does_not_exist_is_no_silence(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    gone = judges["item"].isin(judges["item"].unique()[:20]) & (judges["system"] == "A")
    there = ratings.merge(judges[~gone][["item", "system"]])
    one = measure_judges(there, judges[~gone], judge_scale="as-is", resamples=100).judges[0]
    assert (one.missing, one.silence) == ({}, ())


def test_unknown_raters_have_no_ceiling_and_no_alt_test(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    frame = panelist.load_ratings(ratings.drop(columns="rater"), columns={"rater": None})
    one = measure_judges(frame, judges, judge_scale="as-is", resamples=100).judges[0]
    assert one.alt_test is None
    assert np.isnan(one.level("output").people)
    assert "raters are unknown" in one.say_replaced()
    with pytest.raises(BadModel, match="Raters are unknown"):
        measure_judges(frame, judges, interval="both")


def test_too_little_is_said_in_its_own_words(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    own = ratings[ratings["rater"] == ratings["rater"].iloc[0]].drop_duplicates("item")
    one = measure_judges(own, judges, judge_scale="as-is", resamples=100).judges[0]
    assert "no item has ratings and scores of several systems" in one.sentence()
    assert any(note.startswith("one rater only") for note in one.notes)
    single = judges[judges["system"] == "A"]
    one = measure_judges(ratings, single, judge_scale="as-is", resamples=100).judges[0]
    assert "r of systems rests on 1 point and says next to nothing" in one.notes
    two = judges[judges["item"].isin(ratings["item"].unique()[:2])]
    with pytest.raises(BadModel, match=r"people rated 2 judged items: .* needs at least 3"):
        measure_judges(ratings, two, judge_scale="as-is")


def test_no_sentence_claims_that_people_can_be_replaced(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    text = str(measure_judges(ratings, judges, judge_scale="as-is", resamples=100))
    for claim in ("replace people", "human-level", "unbiased", "near-perfect", "as good as"):
        assert claim not in text
    assert "constant judge" in text


def test_several_judges_are_compared_and_combined(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    noise = judges.assign(judge="noise", rating=np.random.default_rng(1).normal(3, 1, len(judges)))
    found = measure_judges(ratings, pd.concat([judges, noise]), judge_scale="as-is", resamples=200)
    assert [one.judge for one in found.judges] == ["judge", "noise", "mean of 2 judges"]
    assert "raters' worth" in str(found)
    nobody = panelist.load_ratings(ratings.drop(columns="rater"), columns={"rater": None})
    metric = noise.assign(judge="metric", rating=noise["rating"] * 30)
    known = measure_judges(nobody, pd.concat([judges, metric]), resamples=100)
    assert "raters' worth" not in str(known)
    own = [[note for note in one.notes if "taken as another scale" in note] for one in known.judges]
    assert [len(notes) for notes in own[1:]] == [1, 0]  # each judge's scale is said once, beside it
    assert found.judges[2].combined
    one = found.differences[0]
    assert (one.a, one.b) == ("judge", "noise")
    assert one.difference == pytest.approx(
        found["judge"].level("pair").pearson - found["noise"].level("pair").pearson
    )


def test_more_judges_than_a_reader_follows_are_printed_at_a_glance(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    rng = np.random.default_rng(1)
    more = [judges.assign(judge=name, rating=rng.normal(3, 1, len(judges))) for name in ("b", "c")]
    found = measure_judges(ratings, pd.concat([judges, *more]), judge_scale="as-is", resamples=100)
    brief, full = str(found), str(replace(found, detailed=True))
    assert all(one.judge in brief for one in found.judges)
    assert "--details" in brief
    assert "Correlation with people" not in brief
    assert full.count("Correlation with people") == len(found.judges) == 4
    assert "Judges compared" in full
    said = " ".join(brief.split())
    assert all(" ".join(note.split()) in said for one in found.judges for note in one.notes)
    assert str(replace(found, judges=found.judges[:3])).count("Correlation with people") == 3


def test_a_constant_judge_is_no_error(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    one = measure_judges(ratings, judges.assign(rating=3), resamples=100).judges[0]
    assert np.isnan(one.level("pair").pearson)
    assert "cannot be said" in one.sentence()


def test_words_that_are_not_known_are_refused(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    with pytest.raises(UnknownName, match="items"):
        measure_judges(ratings, judges, interval="item")
    with pytest.raises(UnknownName, match="same"):
        measure_judges(ratings, judges, judge_scale="sme")
    with pytest.raises(BadModel, match="Epsilon"):
        measure_judges(ratings, judges, epsilon=2)


def test_words_say_no_more_than_the_alt_test_and_the_wider_interval(beside: JudgedRatings) -> None:
    ratings, judges = tables(beside)
    one = measure_judges(ratings, judges, judge_scale="as-is", resamples=100).judges[0]
    assert one.alt_test is not None
    pooled = PooledTest(0.1, 0.1, 10.0, 0.4, 0.5, 0.4, 0.6, 50)
    for passed, control, said in (
        (False, True, "; a constant judge passes)"),
        (False, False, "; a constant judge does not either)"),
        (True, True, "; a constant judge passes too)"),
        (True, False, "; a constant judge does not)"),
    ):
        own = replace(one.alt_test, passed=passed, pooled=pooled)
        own = replace(own, constant=replace(own, passed=control, constant=None))
        assert said in replace(one, alt_test=own).say_alt_test()
    shown = Favour("A", 0.4, 0.1, 0.2, 0.6, 0.01, 30)
    assert shown.shows(0.05)
    assert replace(shown, wide_low=0.1, wide_high=0.7).ends == (0.1, 0.7)
    assert not replace(shown, wide_low=-0.1, wide_high=0.9).shows(0.05)  # other raters might not bear it out
    assert not replace(shown, p_adjusted=0.06).shows(0.05)
