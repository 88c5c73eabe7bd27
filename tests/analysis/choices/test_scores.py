"""Scores, wins, votes and skills: counted again by hand, and their limits."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.analysis.choices.item_anova import analyse_variance
from panelist.analysis.choices.models.bradley_terry import fit_bradley_terry
from panelist.analysis.choices.models.trueskill import play, rate_trueskill
from panelist.analysis.choices.position import measure_position
from panelist.analysis.choices.scores import score_trials
from panelist.analysis.choices.wins import count_wins
from panelist.core.errors import BadModel, BadRatings, UnknownName
from panelist.reproduction.measures.percentages import summarise_binary
from tests.analysis.choices.choices import make_pairs, make_sets, trials_of
from tests.examples import examples

STRENGTHS = {"a": 0.7, "b": 0.2, "c": -0.1, "d": -0.8}


@pytest.mark.parametrize("kind", ["pairs", "choose-one", "best-worst", "ranking"])
def test_scores_are_wins_less_losses_counted_one_by_one(kind: str) -> None:
    shown = 2 if kind == "pairs" else 3
    frame = make_sets(STRENGTHS, shown, raters=5, items=6, kind=kind)
    told: dict[tuple[str, str], list[float]] = {}
    for _, page in frame.groupby("trial"):
        places = [
            {"best": 0, "": 1, "worst": 2}.get(c, 0) if kind != "ranking" else int(c) for c in page["choice"]
        ]
        if kind == "choose-one":
            places = [0 if c == "best" else 1 for c in page["choice"]]
        for at, (system, item) in enumerate(zip(page["system"], page["item"], strict=True)):
            others = [p for n, p in enumerate(places) if n != at]
            score = sum((places[at] < p) - (places[at] > p) for p in others) / (shown - 1)
            told.setdefault((system, item), []).append(score)
    found = score_trials(trials_of(frame))
    items = found.items.set_index(["system", "item"])["score"]
    assert len(items) == len(told)
    for key, parts in told.items():
        assert items[key] == pytest.approx(100 * np.mean(parts))
    for one in found.systems:
        mine = [100 * np.mean(parts) for (system, _), parts in told.items() if system == one.system]
        assert one.score == pytest.approx(np.mean(mine))


def test_best_worst_scores_are_the_share_of_best_less_worst() -> None:
    frame = make_sets(STRENGTHS, 4, raters=4, items=5, kind="best-worst").assign(item="one")
    table, found = count_wins(trials_of(frame)), score_trials(trials_of(frame))
    for at, name in enumerate(table.systems):
        share = 100 * (table.best[at] - table.worst[at]) / table.shown[at]
        assert found[name].score == pytest.approx(share)
        assert np.isnan(found[name].low)  # one item has no spread


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1)
)
@examples(30)
def test_scores_stay_on_their_scale_and_balance(pairs: list[tuple[str, str, str]]) -> None:
    rows = [("r", a, b, a if said == "x" else b if said == "y" else "tie") for a, b, said in pairs if a != b]
    if not rows:
        return
    trials = trials_of(make_pairs(rows))
    items = score_trials(trials).items
    assert items["score"].between(-100, 100).all()
    assert items["wins"].sum() == items["losses"].sum() == sum(said != "tie" for *_, said in rows)
    assert count_wins(trials).ties.sum() == 2 * sum(said == "tie" for *_, said in rows)


def test_an_undecided_trial_counts_as_nought() -> None:
    trials = trials_of(
        make_pairs([("r", "a", "b", "a"), ("r", "a", "b", "tie"), ("r", "a", "b", "")]).assign(item="i")
    )
    assert score_trials(trials)["a"].score == pytest.approx(100 / 3)


def test_variance_with_unequal_groups_is_scipys() -> None:
    from scipy.stats import f_oneway, tukey_hsd

    rng = np.random.default_rng(4)
    groups = [rng.normal(mean, 1.0, n) for mean, n in ((0.0, 7), (0.5, 12), (1.5, 9))]
    labels = np.repeat(["a", "b", "c"], [7, 12, 9])
    found = analyse_variance(np.concatenate(groups), labels)
    theirs, tukey = f_oneway(*groups), tukey_hsd(*groups)
    assert (found.F, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    interval = tukey.confidence_interval(0.95)
    for pair, (i, j) in zip(found.pairs, combinations(range(3), 2), strict=True):
        assert pair.p_adjusted == pytest.approx(np.asarray(tukey.pvalue)[i, j], abs=1e-6)
        ends = (np.asarray(interval.low)[i, j], np.asarray(interval.high)[i, j])
        assert (pair.low, pair.high) == pytest.approx(ends, abs=1e-5)


@pytest.mark.parametrize(("values", "groups"), [([1, 2], ["a", "b"]), ([1, 2, 3], ["a", "a", "a"])])
def test_variance_needs_groups_with_several_values(values: list[float], groups: list[str]) -> None:
    with pytest.raises(BadModel, match="needs two groups or more"):
        analyse_variance(values, groups)


def test_variance_of_constant_values_is_not_defined() -> None:
    found = analyse_variance([2, 2, 2, 2], ["a", "a", "b", "b"])
    assert np.isnan(found.F)
    assert found.significant == 0


def test_place_on_the_page_is_not_asked_where_it_is_unknown_or_fixed() -> None:
    frame = make_sets(STRENGTHS, 2, raters=4, items=6, kind="pairs")
    assert measure_position(trials_of(frame.drop(columns="position"))) is None
    assert measure_position(trials_of(make_pairs([("r", "a", "b", "a"), ("r", "a", "b", "b")]))) is None
    both = make_pairs([("r", "a", "b", "a"), ("r", "b", "a", "b"), ("r", "a", "b", "b")])
    assert measure_position(trials_of(both)) is None  # a is a name, not a place
    found = measure_position(trials_of(both.assign(first="system_a")))
    assert found is not None
    assert found.n == 3
    assert found.share == pytest.approx(2 / 3)


def test_half_of_the_votes_is_no_majority() -> None:
    frame = pd.DataFrame(
        {"rater": ["1", "2"] * 2, "item": ["i", "i", "j", "j"], "system": "a", "rating": [1, 0, 1, 1]}
    )
    found = summarise_binary(frame)
    assert (found["a"].passed, found["a"].majority, found["a"].votes) == (1, 50, 75)
    assert "1 of 2 outputs have as many yes as no: they do not pass." in found.notes


def test_five_steps_round_up_once_and_only_for_several_outputs_an_item() -> None:
    frame = pd.DataFrame(
        [
            {
                "rater": "v",
                "item": f"i{i}",
                "system": "human",
                "text": f"{i}-{k}",
                "rating": int(3 * i + k < 4),
            }
            for i in range(3)
            for k in range(3)
        ]
    )
    found = summarise_binary(frame)["human"]
    assert found.passed == 4
    assert found.percent("five-step") == pytest.approx(100 * 2 / 3)  # 4 / 3 = 1.33, up to 2, of 3 items
    uneven = summarise_binary(frame.iloc[:-1])
    assert np.isnan(uneven["human"].five_step)
    assert "does not have the same number of outputs for every item" in uneven.notes[0]


def test_votes_say_what_they_lack() -> None:
    frame = pd.DataFrame({"rater": ["1"], "item": ["i"], "system": ["a"], "rating": [7]})
    with pytest.raises(BadRatings, match=r"positive=\(…\)"):
        summarise_binary(frame)
    with pytest.raises(BadRatings, match="several criteria"):
        summarise_binary(pd.concat([frame.assign(criterion="x"), frame.assign(criterion="y")]))
    with pytest.raises(UnknownName, match="five-step"):
        summarise_binary(frame.assign(rating=1))["a"].percent("five-steps")


def test_skills_are_those_of_the_trueskill_package() -> None:
    trueskill = pytest.importorskip("trueskill")
    from panelist.analysis.choices.models.trueskill import _draw_margin

    rng = np.random.default_rng(1)
    games = [[*map(int, rng.choice(4, 2, replace=False)), int(rng.random() < 0.2)] for _ in range(200)]
    world = trueskill.TrueSkill(tau=0, draw_probability=0.2)
    theirs = [world.create_rating() for _ in range(4)]
    for i, j, draw in games:
        theirs[i], theirs[j] = trueskill.rate_1vs1(theirs[i], theirs[j], drawn=bool(draw), env=world)
    mu, variance = play(games, 4, _draw_margin(0.2))
    assert mu == pytest.approx([one.mu for one in theirs], abs=1e-5)
    assert np.sqrt(variance) == pytest.approx([one.sigma for one in theirs], abs=1e-5)


def test_skills_order_the_systems_as_strengths_do() -> None:
    trials = trials_of(make_sets(STRENGTHS, 2, raters=20, items=30, kind="pairs"))
    strengths = dict(zip(trials.systems, fit_bradley_terry(trials).theta, strict=True))
    skills = rate_trueskill(trials, orders=10)
    assert [one.system for one in skills] == sorted(strengths, key=lambda name: -strengths[name])
    assert all(one.order_sd > 0 for one in skills)
    assert skills == rate_trueskill(trials, orders=10)
