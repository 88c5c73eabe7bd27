"""Simulated ratings: an answer for every row of the plan, that the truth behind it can be found in again."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import panelist
from panelist.core.errors import PanelistError, UnknownName
from panelist.design.simulate import SPREADS, simulate_ratings
from panelist.study.model import StudyFile
from panelist.study.study import Study
from tests.design.small_studies import make_plan, make_sequence, make_study

SYSTEMS = ("a", "b", "c")
VAS = {"type": "vas", "low": "bad", "high": "good"}
VERBAL = {"type": "verbal", "points": ["bad", "so-so", "good"]}
ALL = {"a": -0.8, "b": 0.0, "c": 0.8}


def make_rows(raters: int = 12, items: int = 12, **same: Any) -> list[dict[str, Any]]:
    rows = []
    for rater in range(raters):
        pages = [f"i{item + 1} {SYSTEMS[(item + rater) % 3]}" for item in range(items)]
        rows += make_sequence(*pages, rater=f"r{rater + 1:03d}", **same)
    return rows


def test_every_trial_and_check_is_answered_and_practice_is_not() -> None:
    checks = {"items": [{"kind": "instructed", "text": "Take 2.", "answers": {"fluency": "2"}}]}
    rows = make_rows(2)
    rows.insert(0, {"rater": "r001", "order": 20, "phase": "practice", "item": "practice-1", "system": ""})
    rows.append(
        {
            "rater": "r002",
            "order": 13,
            "phase": "check",
            "item": "check-1",
            "system": "",
            "check": "instructed-1",
        }
    )
    ratings = simulate_ratings(make_study(12, SYSTEMS, checks=checks), make_plan(rows), careless=0.0)
    assert len(ratings) == 25
    assert ratings["rating"].notna().all()
    assert list(ratings.columns) == [
        "rater", "item", "system", "criterion", "rating", "occasion", "order", "position", "seconds", "check",
        "simulated",
    ]  # fmt: skip
    assert set(ratings["simulated"]) == {"yes"}
    asked = ratings[ratings["check"] == "instructed-1"]
    assert list(asked["rating"]) == [2]
    assert len(panelist.load_ratings(ratings)) == 24  # checks are set aside


def test_same_seed_same_ratings_and_another_seed_others() -> None:
    study, plan = make_study(12, SYSTEMS), make_plan(make_rows())
    first, again, other = (simulate_ratings(study, plan, seed=seed) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(first, again)
    assert (first["rating"] != other["rating"]).any()


def test_more_raters_leave_the_truth_about_the_others_alone() -> None:
    study = make_study(12, SYSTEMS, scales={"fluency": VAS})
    few, many = (simulate_ratings(study, make_plan(make_rows(n)), seed=2, careless=0.0) for n in (6, 60))
    first, second = (frame.groupby("rater", observed=True)["rating"].mean()[:6] for frame in (few, many))
    assert np.corrcoef(first, second)[0, 1] > 0.5


@pytest.mark.parametrize(
    "scale",
    [{"type": "likert", "points": 5}, VERBAL, VAS,
     {"type": "binary"}, {"type": "magnitude"}],
)  # fmt: skip
def test_every_rating_scale_gives_better_systems_better_ratings(scale: dict[str, Any]) -> None:
    study, plan = make_study(30, SYSTEMS, {"fluency": scale}), make_plan(make_rows(30, 30))
    ratings = simulate_ratings(study, plan, seed=1, effects=ALL)
    means = (
        ratings.assign(rating=np.log1p(ratings["rating"])).groupby("system", observed=True)["rating"].mean()
    )
    assert means["a"] < means["b"] < means["c"]


def test_spreads_are_those_of_the_general_preset() -> None:
    study = make_study(150, SYSTEMS, {"fluency": {"type": "magnitude"}})
    plan = make_plan(make_rows(60, 150))
    ratings = simulate_ratings(study, plan, seed=11, effects=dict.fromkeys(SYSTEMS, 0.0), careless=0.0)
    ratings["rating"] = np.log10(ratings["rating"])  # a magnitude has no ends that would cut the spread
    fitted = panelist.fit("rating ~ system + (system | rater) + (system | item)", ratings, model="lmm")
    for group, (one, difference) in SPREADS.items():
        found = fitted.random.query("group == @group")["sd"].to_numpy() / fitted.sigma
        assert found[0] == pytest.approx(one, rel=0.3), group  # of the reference system
        assert found[1:] == pytest.approx(difference, rel=0.3), group  # of differences from it


def test_second_sitting_has_the_same_people_and_new_noise() -> None:
    study = make_study(12, SYSTEMS, {"fluency": VAS}, design={"occasions": 2})
    ratings = simulate_ratings(
        study, make_plan(make_rows(40) + make_rows(40, occasion=2)), seed=4, careless=0.0
    )
    first, second = (
        ratings[ratings["occasion"] == number].set_index(["rater", "item"])["rating"] for number in (1, 2)
    )
    assert (first != second).mean() > 0.9
    assert 0.3 < np.corrcoef(first, second)[0, 1] < 0.95


def test_human_texts_come_out_on_top() -> None:
    study = make_study(30, SYSTEMS)
    people = [{"name": "a"}, {"name": "b", "human": True}, {"name": "c"}]
    file = StudyFile.model_validate({**study.file.model_dump(), "systems": people})
    study = Study(file, study.outputs)
    for seed in range(5):
        ratings = simulate_ratings(study, make_plan(make_rows(40, 30)), seed=seed)
        assert ratings.groupby("system", observed=True)["rating"].mean().idxmax() == "b"


def test_degraded_copies_are_rated_lower_by_those_who_read() -> None:
    rows = make_rows(40)
    copies = [
        {**row, "phase": "check", "check": "degraded-1", "order": 13} for row in rows if row["order"] == 1
    ]
    study = make_study(12, SYSTEMS, checks={"items": [{"kind": "degraded"}]})
    ratings = simulate_ratings(study, make_plan(rows + copies), careless=0.0)
    whole, spoilt = (
        ratings[ratings["check"] == name].set_index("rater")["rating"] for name in ("", "degraded-1")
    )
    first = ratings[ratings["order"] == 1].set_index("rater")["rating"]
    assert len(spoilt) == 40
    assert (spoilt < first)[first > 2].mean() > 0.8  # below the lowest point there is nothing
    assert spoilt.mean() < whole.mean() - 1


def test_careless_raters_are_fast_and_miss_instructions() -> None:
    checks = {"items": [{"kind": "instructed", "text": "Take 6.", "answers": {"fluency": "6"}}]}
    rows = make_rows(60)
    rows += [
        {
            "rater": f"r{n:03d}",
            "order": 13,
            "phase": "check",
            "item": "check-1",
            "system": "",
            "check": "instructed-1",
        }
        for n in range(1, 61)
    ]
    study, plan = make_study(12, SYSTEMS, checks=checks), make_plan(rows)
    reading, lazy = (simulate_ratings(study, plan, careless=share) for share in (0.0, 1.0))
    passed = [(frame[frame["check"] != ""]["rating"] == 6).mean() for frame in (reading, lazy)]
    assert passed[0] == 1
    assert passed[1] < 0.3
    assert lazy["seconds"].median() < reading["seconds"].median() / 2


def test_pages_have_one_time_and_it_follows_the_study() -> None:
    study = make_study(12, SYSTEMS, {"fluency": {"type": "likert"}, "clarity": {"type": "likert"}},
                       pay={"minutes_per_trial": 2})  # fmt: skip
    rows = make_rows(40) + make_rows(40, criterion="clarity")
    ratings = simulate_ratings(study, make_plan(rows))
    assert len(ratings[["rater", "order", "seconds"]].drop_duplicates()) == 40 * 12
    assert 80 < ratings["seconds"].median() < 160
    early, late = (ratings[ratings["order"] == order]["seconds"].median() for order in (1, 12))
    assert early > late


def test_text_has_a_column_of_its_own_so_that_numbers_stay_numbers() -> None:
    study = make_study(12, SYSTEMS, {"fluency": {"type": "likert"}, "why": {"type": "text"}})
    ratings = simulate_ratings(study, make_plan(make_rows() + make_rows(criterion="why")))
    words = ratings[ratings["criterion"] == "why"]
    assert words["rating"].isna().all()
    assert (words["text"].str.len() > 0).all()
    read = panelist.load_ratings(ratings)
    assert pd.api.types.is_numeric_dtype(read.frame["rating"])
    assert [one.criterion for one in panelist.compare_systems(read, model="lm").criteria] == ["fluency"]


def make_pages(shown: int, raters: int = 20) -> list[dict[str, Any]]:
    rows = []
    for rater in range(raters):
        pages = []
        for item in range(12):
            order = [SYSTEMS[(item + rater + at) % 3] for at in range(shown)]
            pages.append(f"i{item + 1} {' '.join(order)}")
        rows += make_sequence(*pages, rater=f"r{rater + 1:03d}")
    return rows


@pytest.mark.parametrize(("kind", "shown"), [("pairs", 2), ("best-worst", 3), ("choose-one", 3)])
def test_comparisons_have_a_row_for_each_option_and_the_best_system_wins(kind: str, shown: int) -> None:
    study = make_study(
        12, SYSTEMS, {"fluency": {"type": kind}}, design={"type": "best-worst" if shown > 2 else "pairs"}
    )
    ratings = simulate_ratings(study, make_plan(make_pages(shown)), effects=ALL, careless=0.0)
    assert list(ratings.columns)[:6] == ["rater", "item", "criterion", "trial", "system", "choice"]
    assert ratings["trial"].nunique() == 240
    best = ratings[ratings["choice"] == "best"]
    assert (best.groupby("trial", observed=True).size() == 1).all()
    assert len(best) == 240
    wins = best["system"].value_counts()
    assert wins["c"] > wins["b"] > wins["a"]
    if kind != "choose-one":
        assert (ratings["choice"] == "worst").sum() == 240


def test_ties_are_answers_of_the_whole_trial() -> None:
    study = make_study(12, SYSTEMS, {"fluency": {"type": "pairs", "ties": True}}, design={"type": "pairs"})
    ratings = simulate_ratings(study, make_plan(make_pages(2)))
    ties = ratings[ratings["answer"] == "tie"]
    assert len(ties) > 0
    assert (ties["choice"] == "").all()
    assert (ties.groupby("trial", observed=True).size() == 2).all()


def test_rankings_are_ranks_as_ratings() -> None:
    study = make_study(12, SYSTEMS, {"fluency": {"type": "ranking"}}, design={"type": "best-worst"})
    ratings = simulate_ratings(study, make_plan(make_pages(3)), effects=ALL)
    assert "choice" not in ratings
    for _, ranks in ratings.groupby("trial", observed=True)["rating"]:
        assert sorted(ranks) == [1, 2, 3]
    assert ratings.groupby("system", observed=True)["rating"].mean().idxmin() == "c"


@pytest.mark.parametrize(("kind", "shown", "asked"), [("pairs", 2, "2"), ("ranking", 3, "3,1,2")])
def test_instructed_comparison_has_the_answer_of_the_form(kind: str, shown: int, asked: str) -> None:
    checks = {"items": [{"kind": "instructed", "text": "A check.", "answers": {"fluency": asked}}]}
    study = make_study(12, SYSTEMS, {"fluency": {"type": kind}}, checks=checks)
    rows = make_pages(shown, 30)
    for rater in range(1, 31):
        rows.append(
            {"rater": f"r{rater:03d}", "order": 13, "phase": "check", "item": "check-1", "system": "",
             "check": "instructed-1"}
        )  # fmt: skip
    for share, answers in ((0.0, {asked}), (1.0, None)):
        ratings = simulate_ratings(study, make_plan(rows), careless=share)
        told = ratings[ratings["check"] == "instructed-1"]
        assert len(told) == 30
        assert set(told["answer"]) == answers if answers else len(set(told["answer"])) > 1
    assert (ratings[ratings["check"] == ""]["answer"] == "").all()


def test_effects_can_be_given_for_each_criterion() -> None:
    study = make_study(30, SYSTEMS, {"fluency": {"type": "likert"}, "clarity": {"type": "likert"}})
    plan = make_plan(make_rows(30, 30) + make_rows(30, 30, criterion="clarity"))
    effects = {"fluency": ALL, "clarity": {"a": 2.0, "b": 0.0, "c": -2.0}}
    ratings = simulate_ratings(study, plan, effects=effects)
    means = ratings.groupby(["criterion", "system"], observed=True)["rating"].mean()
    assert means["fluency"].idxmax() == "c"
    assert means["clarity"].idxmax() == "a"


@pytest.mark.parametrize(
    ("effects", "kind", "part"),
    [
        ({"a": 1, "b": 0, "d": 0}, UnknownName, "'d'"),
        ({"a": 1, "b": 0}, PanelistError, "'c' needs a number"),
        ({"a": 1, "b": 0, "c": float("nan")}, PanelistError, "Got nan"),
        ({"fluency": {"a": 1}}, PanelistError, "'b' needs a number"),
    ],
)
def test_effects_that_cannot_be_used_are_refused(effects: Any, kind: type[Exception], part: str) -> None:
    with pytest.raises(kind, match=part):
        simulate_ratings(make_study(12, SYSTEMS), make_plan(make_rows(2)), effects=effects)


def test_share_of_careless_raters_is_a_share() -> None:
    with pytest.raises(PanelistError, match="from 0 to 1"):
        simulate_ratings(make_study(12, SYSTEMS), make_plan(make_rows(2)), careless=4)
