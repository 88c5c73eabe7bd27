import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadDesign, BadPlan
from panelist.design.grow import grow_plan, replace_rater
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.design.plan_files import read_plan, write_plan
from tests.design.plan_counts import rows_of, trials
from tests.design.small_studies import LIKERT, make_study
from tests.examples import examples

DESIGNS = ["latin-square", "williams", "lists", "full", "pages", "pairs", "best-worst"]
CHECKS = {
    "items": [
        {"kind": "repeat", "distance": 2},
        {"kind": "instructed", "text": "2", "answers": {"fluency": "2"}},
    ]
}


def study(design: str = "lists", **file: Any) -> Any:
    return make_study(9, ("a", "b", "c", "d", "e"), design={"type": design, **file.pop("choice", {})}, **file)


def cells(plan: Plan) -> pd.DataFrame:
    """Return the cells of all trials, in a fixed order, whoever they belong to."""
    columns = ["occasion", "item", "system", "criterion", "position", "list"]
    parts = [trials(plan, occasion) for occasion in range(1, int(plan.table["occasion"].max()) + 1)]
    return pd.concat(parts)[columns].sort_values(columns).reset_index(drop=True)


@pytest.mark.slow
@examples(60)
@given(st.sampled_from(DESIGNS), st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_growing_moves_nobody_and_gives_what_a_larger_plan_has(
    design: str, few: int, more: int, seed: int
) -> None:
    one = study(design, checks=CHECKS, choice={"seed": seed})
    before = plan_study(one, few)
    grown = grow_plan(before, one, few + more)
    for rater in before.raters:
        assert rows_of(before, rater).equals(rows_of(grown, rater))
    assert grown.hash == plan_study(one, few + more).hash
    assert grown.history[-1]["places"] == [few, few + more]


def test_groups_and_criteria_per_rater_grow_in_turn() -> None:
    groups = {"groups": [{"name": "x"}, {"name": "y"}]}
    scales = {"fluency": LIKERT, "clarity": LIKERT}
    one = make_study(
        6, ("a", "b"), scales, design={"type": "lists", "criteria": "one per rater"}, raters=groups
    )
    before = plan_study(one, 5)
    assert grow_plan(before, one, 11).hash == plan_study(one, 11).hash


def test_trials_a_rater_stay_when_ratings_per_output_would_change_them() -> None:
    one = make_study(20, ("a", "b"), design={"type": "lists", "ratings_per_output": 3}, raters={"count": 10})
    before = plan_study(one)
    grown = grow_plan(before, one, 15)
    assert before.trials == grown.trials == 12
    assert rows_of(before, "r010").equals(rows_of(grown, "r010"))


def test_growing_a_large_plan_costs_little_for_each_place_that_is_there() -> None:
    few, many = 100, 400
    asked = {}
    for count in (few, many):
        one = make_study(12, ("a", "b"), raters={"count": count}, checks=CHECKS)
        plan = plan_study(one)
        asked[count] = count_calls(partial(grow_plan, plan, one, len(plan.places) + 10))
    assert (asked[many] - asked[few]) / (many - few) < 150, "a plan of thousands grew in minutes"


def count_calls(act: Callable[[], object]) -> int:
    """Return how many functions of Python something calls: unlike seconds, the same on every machine."""
    called = 0

    def note(_frame: object, event: str, _value: object) -> None:
        nonlocal called
        called += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return called


def test_a_plan_does_not_shrink() -> None:
    one = study()
    with pytest.raises(BadDesign, match="8 places already"):
        grow_plan(plan_study(one, 8), one, 8)


@pytest.mark.parametrize("change", [{"choice": {"seed": 1, "order": "as listed"}}, {"checks": CHECKS}])
def test_a_study_that_would_deal_other_places_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadPlan, match="has changed since"):
        grow_plan(plan_study(study(), 4), study(**change), 8)


def test_another_design_is_refused() -> None:
    with pytest.raises(BadPlan, match="design lists"):
        grow_plan(plan_study(study(), 4), study("full"), 8)


def test_a_new_instruction_does_not_hinder_growing() -> None:
    plan = plan_study(study(), 4)
    changed = study(instructions="Read slowly.")
    grown = grow_plan(plan, changed, 6)
    assert grown.study_hash == changed.hash != plan.study_hash


@pytest.mark.slow
@examples(80)
@given(st.sampled_from(DESIGNS), st.integers(1, 3), st.sets(st.integers(1, 9)), st.integers(1, 2))
def test_a_replacement_gets_exactly_the_missing_cells(
    design: str, place: int, pages: set[int], occasions: int
) -> None:
    one = study(design, choice={"occasions": occasions, "ratings_per_output": 1})
    plan = plan_study(one, 3)
    rater = f"r{place:03d}"
    done = {(1, page) for page in pages}
    if design != "full" and occasions == 1 and len(pages) == 9:
        with pytest.raises(BadPlan, match="nothing left for another rater"):
            replace_rater(plan, rater, done)
        return
    replaced = replace_rater(plan, rater, done)
    assert cells(replaced).equals(cells(plan))  # nothing lost, nothing doubled
    for other in set(plan.raters) - {rater}:
        assert rows_of(plan, other).equals(rows_of(replaced, other))
    old = rows_of(plan, rater)
    missing = [(o, p) not in done for o, p in zip(old["occasion"], old["order"], strict=True)]
    new = rows_of(replaced, "r004")
    same = ["item", "system", "criterion", "position", "occasion", "list", "group"]
    assert new[same].equals(old.loc[missing, same].reset_index(drop=True))
    for _, own in new.groupby("occasion"):
        assert sorted(own["order"].unique()) == list(range(1, own["order"].nunique() + 1))


def test_a_replacement_practises_too_and_gets_no_copy_of_what_only_the_other_saw() -> None:
    one = study(practice={"items": [{"output": "x"}]}, checks=CHECKS)
    plan = plan_study(one, 4)
    own = rows_of(plan, "r002")
    copy = own[own["check"] == "repeat-1"].iloc[0]
    original = own[(own["phase"] == "trial") & (own["item"] == copy["item"])].iloc[0]
    done = [(1, order) for order in range(1, int(original["order"]) + 1)]
    replaced = replace_rater(plan, "r002", done)
    new = rows_of(replaced, "r005")
    assert new["phase"].iloc[0] == "practice"
    assert not (new["check"] == "repeat-1").any()
    assert (new["check"] == "instructed-1").sum() == 1
    assert replaced.history[-1]["checks_left_out"] == 1
    assert rows_of(replaced, "r002")["order"].max() == original["order"]


def test_bad_replacements_are_refused() -> None:
    plan = plan_study(study(), 4)
    with pytest.raises(BadPlan, match="no rater 'r009'"):
        replace_rater(plan, "r009")
    with pytest.raises(BadPlan, match="no page 40 in occasion 1"):
        replace_rater(plan, "r001", [(1, 40)])


def test_a_plan_grows_and_is_read_back_after_replacements(tmp_path: Any) -> None:
    one = study()
    plan = replace_rater(plan_study(one, 4), "r003", [(1, 1), (1, 2)])
    grown = grow_plan(plan, one, 6)
    assert grown.raters == ("r001", "r002", "r003", "r004", "r005", "r006", "r007")
    assert grown.places == ("r001", "r002", "r003", "r004", "r006", "r007")
    whole = plan_study(one, 6)
    assert rows_of(grown, "r007")["item"].tolist() == rows_of(whole, "r006")["item"].tolist()
    again = replace_rater(grown, "r006")
    assert "r006" not in again.raters
    write_plan(again, tmp_path)
    read = read_plan(tmp_path)
    assert read.hash == again.hash
    assert grow_plan(read, one, 7).raters[-1] == "r009"
