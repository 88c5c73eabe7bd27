"""Studies that compare outputs and rate each of them: planned on one page, or with pages for each output."""

from itertools import combinations
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadDesign
from panelist.design.assess.balance import measure_balance
from panelist.design.grow import grow_plan, replace_rater
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.study.study import Study
from tests.design.plan_counts import rows_of, spread, trials
from tests.design.small_studies import LIKERT, make_holes, make_study
from tests.examples import examples

SCALES: dict[str, dict[str, Any]] = {
    "fluency": LIKERT,
    "correct": {"type": "binary"},
    "preference": {"type": "pairs", "ties": True},
}
ORDERS = ("together", "in turn", "in blocks")


def mixed(systems: int = 3, scales: Any = None, items: int = 6, **design: Any) -> Study:
    checks = design.pop("checks", None)
    practice = design.pop("practice", None)
    more = {name: value for name, value in (("checks", checks), ("practice", practice)) if value}
    names = [f"s{number}" for number in range(systems)]
    return make_study(items, names, scales or SCALES, design={"type": "pairs", **design}, **more)


def list_pages(rows: pd.DataFrame) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return for each page of a rater its item, the systems as shown, and the criteria."""
    found = []
    for _, page in rows.groupby("order", sort=True):
        shown = page.drop_duplicates("position").sort_values("position")
        found.append((page["item"].iloc[0], tuple(shown["system"]), tuple(dict.fromkeys(page["criterion"]))))
    return found


def test_on_one_page_both_outputs_are_rated_and_compared() -> None:
    first = list_pages(rows_of(plan_study(mixed(ratings_per_output=2)), "r001"))
    assert len(first) == 6
    assert all(len(shown) == 2 and criteria == tuple(SCALES) for _, shown, criteria in first)


def test_outputs_rated_alone_have_a_page_each_before_or_after_the_pair_as_criteria_are_listed() -> None:
    (one, two, pair) = list_pages(rows_of(plan_study(mixed(rated="alone")), "r001"))[:3]
    assert one[2] == two[2] == ("fluency", "correct")
    assert pair[2] == ("preference",)
    assert one[0] == two[0] == pair[0]
    assert one[1] + two[1] == pair[1]  # the one that stands left is rated first
    turned = {name: SCALES[name] for name in ("preference", "fluency")}
    kinds = [page[2] for page in list_pages(rows_of(plan_study(mixed(scales=turned, rated="alone")), "r001"))]
    assert kinds[:3] == [("preference",), ("fluency",), ("fluency",)]


def test_in_turn_each_criterion_has_its_pages() -> None:
    found = list_pages(rows_of(plan_study(mixed(rated="alone", criteria="in turn")), "r001"))
    assert [page[2][0] for page in found[:5]] == ["fluency", "fluency", "correct", "correct", "preference"]
    beside = list_pages(rows_of(plan_study(mixed(criteria="in turn")), "r001"))
    assert [(page[2][0], len(page[1])) for page in beside[:3]] == [
        ("fluency", 2),
        ("correct", 2),
        ("preference", 2),
    ]


def test_in_blocks_outputs_of_one_item_do_not_follow_each_other_by_rule() -> None:
    plan = plan_study(mixed(rated="alone", criteria="in blocks", items=12, trials_per_rater=12))
    found = list_pages(rows_of(plan, "r001"))
    blocks = [page[2][0] for page in found]
    assert blocks == ["fluency"] * 24 + ["correct"] * 24 + ["preference"] * 12
    items = [page[0] for page in found[:24]]
    assert sum(a == b for a, b in zip(items[::2], items[1::2], strict=True)) < 6
    other = [page[2][0] for page in list_pages(rows_of(plan, "r002"))]
    assert other[0] == "correct"  # each criterion comes first in turn


@pytest.mark.slow
@examples(40)
@given(
    st.integers(2, 4), st.integers(1, 3), st.sampled_from(ORDERS), st.sampled_from(["side by side", "alone"])
)
def test_every_output_is_rated_as_often_as_its_pairs_ask_for(
    systems: int, ratings: int, criteria: str, rated: str
) -> None:
    study = mixed(systems, criteria=criteria, rated=rated, ratings_per_output=ratings)
    plan = plan_study(study)
    rows = trials(plan)
    for name in ("fluency", "correct"):
        mine = rows[rows["criterion"] == name]
        counts = mine.groupby(["item", "system"]).size()
        assert len(counts) == 6 * systems
        assert (counts == ratings * (systems - 1)).all()
        assert not mine.duplicated(["rater", "item", "system"]).any()
    compared = rows[rows["criterion"] == "preference"]
    sets = compared.groupby(["rater", "order", "item"])["system"].agg(lambda shown: " ".join(sorted(shown)))
    counts = sets.groupby([sets.index.get_level_values("item"), sets]).size()
    assert len(counts) == 6 * len(list(combinations(range(systems), 2)))
    assert (counts == ratings).all()
    sides = compared.groupby(["rater", "system"])["position"].agg(
        lambda at: abs(at.eq(1).sum() - at.eq(2).sum())
    )
    assert sides.max() <= 1
    assert measure_balance(plan, study).met


def test_the_balance_counts_raters_of_pairs_and_of_outputs() -> None:
    study = mixed(ratings_per_output=2, trials_per_rater=6)
    lines = {one.line.name: one.line for one in measure_balance(plan_study(study), study).lines}
    assert (lines["raters per pair of outputs"].wanted, lines["raters per pair of outputs"].verdict) == (
        "2 each",
        "exact",
    )
    assert (lines["raters per output"].wanted, lines["raters per output"].verdict) == ("4 each", "exact")
    assert lines["trials per rater"].wanted == "6 each"


@pytest.mark.parametrize("rated", ["side by side", "alone"])
def test_tuples_and_pages_take_ratings_too(rated: str) -> None:
    for kind, scale in (("best-worst", "best-worst"), ("pages", "ranking")):
        scales = {"fluency": LIKERT, "best": {"type": scale}}
        study = mixed(4, scales, type=kind, rated=rated, ratings_per_output=2)
        rows = trials(plan_study(study))
        counts = rows[rows["criterion"] == "fluency"].groupby(["item", "system"]).size()
        assert len(counts) == 24
        assert spread(counts) == 0


def test_one_criterion_per_rater_keeps_each_kind_to_its_raters() -> None:
    plan = plan_study(mixed(criteria="one per rater", rated="alone", ratings_per_output=2))
    rows = trials(plan)
    assert rows.groupby("rater")["criterion"].nunique().max() == 1
    shown = rows.groupby(["rater", "order", "criterion"]).size().groupby("criterion").unique()
    assert {name: sorted(sizes) for name, sizes in shown.items()} == {
        "fluency": [1],
        "correct": [1],
        "preference": [2],
    }


CHECKS: dict[str, Any] = {
    "items": [
        {
            "kind": "instructed",
            "text": "2",
            "answers": {"fluency": "2", "correct": "no", "preference": "tie"},
        },
        {"kind": "repeat", "count": 2, "distance": 3},
    ]
}
PRACTICE = {"items": [{"output": "one"}, {"outputs": ["one", "two"]}]}


def test_checks_and_practice_ask_what_their_pages_can_show() -> None:
    plan = plan_study(mixed(rated="alone", ratings_per_output=4, checks=CHECKS, practice=PRACTICE))
    kinds = {("fluency", "correct"), ("preference",)}
    asked = set()
    for rater in plan.raters:
        rows = rows_of(plan, rater)
        pages = list_pages(rows)
        assert [page[2] for page in pages[:2]] == [("fluency", "correct"), ("preference",)]
        for name in ("instructed-1", "repeat-1", "repeat-2"):
            (page,) = list_pages(rows[rows["check"] == name])
            asked.add((name, page[2]))
            if name != "instructed-1":
                assert page in list_pages(rows[rows["phase"] == "trial"])
    assert {criteria for name, criteria in asked if name == "instructed-1"} == kinds
    assert {criteria for _, criteria in asked} == kinds


def test_a_mixed_plan_grows_and_replaces_without_moving_anyone() -> None:
    study = mixed(rated="alone", checks=CHECKS)
    plan = plan_study(study, raters=6)
    grown = grow_plan(plan, study, 9)
    before = grown.table[grown.table["rater"].isin(plan.raters)]
    assert before.astype(object).reset_index(drop=True).equals(plan.table.astype(object))
    other = replace_rater(plan, "r002", done=[(1, order) for order in range(1, 6)])
    assert len(other.raters) == 7


def test_simulated_ratings_have_no_trial_and_comparisons_no_rating() -> None:
    study = mixed(checks=CHECKS, ratings_per_output=2)
    table = simulate_ratings(study, plan_study(study), careless=0)
    compared = (table["criterion"] == "preference").to_numpy()
    assert (table["trial"] == "").to_numpy()[~compared].all()
    assert (table["trial"] != "").to_numpy()[compared].all()
    assert table["rating"].isna().to_numpy()[compared].all()
    assert table["rating"].notna().to_numpy()[~compared].all()
    told = table[(table["check"] == "instructed-1").to_numpy()]
    assert set(told.loc[told["criterion"] == "correct", "rating"]) == {0}  # the study file says no, a label
    assert set(told.loc[told["criterion"] == "preference", "answer"]) == {"tie"}


def test_ratings_and_comparisons_are_planned_on_the_pairs_that_exist() -> None:
    there = [[True, True, place % 3 > 0] for place in range(12)]
    scales = {"better": {"type": "pairs"}, "fluency": {"type": "likert", "points": 5}}
    study = make_holes(
        there, scales=scales, design={"type": "pairs", "rated": "alone", "ratings_per_output": 2}
    )
    plan = plan_study(study)
    frame, trials = study.outputs.frame, plan.table[plan.table["phase"] == "trial"]
    exists = set(zip(frame["item"], frame["system"], strict=True))
    assert set(zip(trials["item"].astype(str), trials["system"].astype(str), strict=True)) == exists
    assert measure_balance(plan, study).met


def test_pages_of_unequal_size_cannot_be_rated_alone() -> None:
    scales = {"order": {"type": "ranking"}, "fluency": {"type": "likert", "points": 5}}
    study = make_holes(
        [[True] * 3, [True, True, False]], scales=scales, design={"type": "pages", "rated": "alone"}
    )
    with pytest.raises(BadDesign, match="equally many outputs"):
        plan_study(study)
