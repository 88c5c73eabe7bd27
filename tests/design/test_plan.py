import subprocess
import sys
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.design.make import plan_study
from panelist.design.plan import COLUMNS, NUMBERS
from tests.design.plan_counts import count_cells, pages, trials
from tests.design.small_studies import LIKERT, make_study
from tests.examples import examples

CHECKS: dict[str, Any] = {
    "items": [
        {"kind": "instructed", "text": "Choose 2.", "answers": {"fluency": "2"}},
        {"kind": "repeat", "count": 2, "distance": 4},
        {"kind": "degraded"},
    ]
}
PRACTICE = {"items": [{"output": "one"}, {"output": "two"}]}
TWO = {"fluency": LIKERT, "clarity": LIKERT}


def study(items: int = 12, systems: int = 4, scales: Any = None, **file: Any) -> Any:
    return make_study(items, [f"s{number}" for number in range(systems)], scales, **file)


def test_the_table_has_its_columns_and_types() -> None:
    table = plan_study(study(design={"type": "pairs"})).table
    assert tuple(table.columns) == COLUMNS
    for name in COLUMNS:
        kind = table[name].dtype
        assert kind == np.int32 if name in NUMBERS else isinstance(kind, pd.CategoricalDtype)


def test_rows_are_sorted_and_pages_numbered_from_1() -> None:
    plan = plan_study(
        study(scales=TWO, design={"type": "pairs", "occasions": 2}, checks=CHECKS, practice=PRACTICE)
    )
    codes = plan.table.copy()
    codes["criterion"] = plan.table["criterion"].map({"fluency": 0, "clarity": 1}).astype(int)
    codes["rater"] = plan.table["rater"].cat.codes
    keys = ["rater", "occasion", "order", "position", "criterion"]
    assert codes[keys].equals(codes.sort_values(keys, kind="stable")[keys])
    for _, one in plan.table.groupby(["rater", "occasion"], observed=True):
        assert sorted(one["order"].unique()) == list(range(1, one["order"].nunique() + 1))


@examples(60)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 4), st.data())
def test_every_output_reaches_its_ratings(n: int, s: int, ratings: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n))
    design = {"type": "lists", "ratings_per_output": ratings, "trials_per_rater": k}
    one = study(n, s, design=design)
    plan = plan_study(one)
    cells = count_cells(plan, one.items, [(name,) for name in one.systems])
    assert cells.min() == ratings
    assert cells.max() - ratings == (n * s * ratings % k != 0)
    assert len(plan.raters) == -(-n * s * ratings // k)
    assert any("asked for" in note for note in plan.notes) == (cells.max() > ratings)


def test_all_pairs_of_five_systems_for_twenty_inputs_three_times() -> None:
    one = study(20, 5, design={"type": "pairs", "ratings_per_output": 3, "trials_per_rater": 20})
    plan = plan_study(one)
    cells = count_cells(plan, one.items, list(combinations(sorted(one.systems), 2)))
    assert cells.shape == (20, 10)
    assert (cells == 3).all()
    assert len(plan.raters) == 30
    left_right = Counter(pages(plan)["system"])
    for a, b in combinations(one.systems, 2):
        assert left_right[(a, b)] == left_right[(b, a)] == 30


def test_repeated_latin_squares_of_eleven_systems() -> None:
    one = study(22, 11, design={"type": "latin-square"}, raters={"count": 22})
    shown = trials(plan_study(one))
    assert (pd.crosstab(shown["rater"], shown["system"]) == 2).to_numpy().all()
    assert (pd.crosstab(shown["item"], shown["system"]) == 2).to_numpy().all()
    assert not shown.duplicated(["rater", "item"]).any()


def test_pages_hold_all_systems_in_balanced_places() -> None:
    one = study(12, 4, design={"type": "pages"}, raters={"count": 4})
    shown = trials(plan_study(one))
    assert (pd.crosstab(shown["system"], shown["position"]) == 12).to_numpy().all()
    per_output = shown.groupby(["item", "system"])["position"].nunique()
    assert (per_output == 4).all()


@pytest.mark.parametrize("positions", ["random", "as listed"])
@pytest.mark.parametrize("design", ["pairs", "best-worst", "pages"])
def test_positions_can_be_random_or_as_listed(design: str, positions: str) -> None:
    one = study(12, 5, design={"type": design, "positions": positions})
    tuples = pages(plan_study(one))["system"]
    listed = sum(tuple(sorted(shown)) == shown for shown in tuples)
    assert listed == len(tuples) if positions == "as listed" else 0 <= listed < len(tuples)


def test_order_is_drawn_anew_for_each_rater_or_as_listed() -> None:
    drawn = trials(plan_study(study(design={"type": "latin-square"})))
    orders = drawn.groupby("rater")["item"].agg(tuple)
    assert len(set(orders)) == len(orders)
    listed = trials(plan_study(study(design={"type": "latin-square", "order": "as listed"})))
    for items in listed.groupby("rater")["item"].agg(list):
        assert items == [f"i{number}" for number in range(1, 13)]


def test_criteria_together_share_a_page() -> None:
    shown = trials(plan_study(study(scales=TWO)))
    assert set(shown.groupby(["rater", "order"])["criterion"].agg(tuple)) == {("fluency", "clarity")}


def test_criteria_in_turn_have_a_page_each_one_after_the_other() -> None:
    shown = trials(plan_study(study(scales=TWO, design={"type": "lists", "criteria": "in turn"})))
    first = shown[shown["rater"] == "r001"]
    assert first["criterion"].tolist() == ["fluency", "clarity"] * 12
    assert first["item"].tolist()[::2] == first["item"].tolist()[1::2]


def test_criteria_in_blocks_come_one_block_after_the_other_each_first_for_half_the_raters() -> None:
    shown = trials(plan_study(study(scales=TWO, design={"type": "lists", "criteria": "in blocks"})))
    begins = shown.groupby("rater")["criterion"].first()
    assert begins.value_counts().to_dict() == {"fluency": 2, "clarity": 2}
    for _, one in shown.groupby("rater"):
        assert (one["criterion"] != one["criterion"].shift()).sum() == 2
        blocks = one.groupby("criterion")["item"].agg(list)
        assert sorted(blocks["fluency"]) == sorted(blocks["clarity"])
        assert blocks["fluency"] != blocks["clarity"]


def test_one_criterion_per_rater_is_a_balanced_plan_for_each_criterion() -> None:
    one = study(
        scales=TWO, design={"type": "latin-square", "criteria": "one per rater", "ratings_per_output": 2}
    )
    plan = plan_study(one)
    shown = trials(plan)
    assert len(plan.raters) == 16
    assert len(shown.drop_duplicates(["rater", "criterion"])) == 16
    assert (shown.groupby(["criterion", "item", "system"]).size() == 2).all()


def test_each_group_has_a_complete_balanced_plan_of_its_own() -> None:
    groups = [{"name": "native", "raters": 8}, {"name": "non-native", "raters": 4}]
    plan = plan_study(study(raters={"groups": groups}))
    shown = trials(plan)
    assert shown.groupby("group")["rater"].nunique().to_dict() == {"native": 8, "non-native": 4}
    sizes = shown.groupby(["group", "item", "system"]).size()
    assert (sizes.xs("native") == 2).all()
    assert (sizes.xs("non-native") == 1).all()
    assert shown.drop_duplicates("rater")["group"].tolist()[:3] == ["native", "non-native", "native"]


def test_a_retest_has_the_same_pages_in_a_new_order() -> None:
    plan = plan_study(study(design={"type": "lists", "occasions": 2}, raters={"count": 4}))
    first, second = trials(plan, 1), trials(plan, 2)
    for rater in plan.raters:
        one, two = (part[part["rater"] == rater] for part in (first, second))
        cells = [list(zip(part["item"], part["system"], strict=True)) for part in (one, two)]
        assert sorted(cells[0]) == sorted(cells[1])
        assert cells[0] != cells[1]


@pytest.mark.slow
@examples(40)
@given(st.integers(3, 20), st.integers(0, 999), st.sampled_from(["lists", "pairs"]))
def test_practice_comes_first_and_checks_never_before_a_trial(n: int, seed: int, design: str) -> None:
    one = study(n, 4, design={"type": design, "seed": seed}, checks=CHECKS, practice=PRACTICE)
    table = plan_study(one).table.astype({"phase": str, "check": str, "item": str, "system": str})
    for _, own in table.groupby("rater", observed=True):
        first = own.drop_duplicates("order")
        assert first["phase"].tolist()[:3] == ["practice", "practice", "trial"]
        assert first["item"].tolist()[:2] == ["practice-1", "practice-2"]
        names = first[first["phase"] == "check"]["check"]
        assert sorted(names) == ["degraded-1", "instructed-1", "repeat-1", "repeat-2"]
        instructed = first[first["check"] == "instructed-1"]
        assert instructed[["item", "system"]].to_numpy().tolist() == [["check-1", ""]]


@examples(60)
@given(st.integers(6, 30), st.integers(0, 999), st.integers(1, 4))
def test_a_repeat_copies_an_earlier_trial_at_its_distance(n: int, seed: int, distance: int) -> None:
    checks = {"items": [{"kind": "repeat", "count": 1, "distance": distance}]}
    one = study(n, 3, design={"type": "pairs", "seed": seed}, checks=checks)
    shown = plan_study(one).table.astype({"check": str, "phase": str, "rater": str})
    for _, own in shown.groupby("rater"):
        copy = own[own["check"] == "repeat-1"]
        trial = own[(own["phase"] == "trial") & (own["item"] == copy["item"].iloc[0])]
        assert (
            copy[["item", "system", "position"]].to_numpy().tolist()
            == trial[["item", "system", "position"]].to_numpy().tolist()
        )
        between = copy["order"].iloc[0] - trial["order"].iloc[0] - 1
        # One check stands near the middle of the list, with 40 % of the room before and after it to move in.
        assert between >= min(distance, int(0.3 * n) - 1)


def test_checks_are_spread_over_the_list() -> None:
    checks = {"items": [{"kind": "repeat", "count": 4, "distance": 3}]}
    plan = plan_study(study(100, 2, checks=checks), raters=200)
    found = plan.table[(plan.table["phase"] == "check").to_numpy()]
    places = found.groupby("rater", observed=True)["order"].agg(sorted)
    firsts, lasts = places.map(lambda one: one[0]), places.map(lambda one: one[-1])
    assert 10 < firsts.min() <= firsts.max() < 35
    assert 70 < lasts.min() <= lasts.max() < 96
    assert firsts.nunique() > 5  # with some play


def test_a_practice_item_of_several_outputs_has_a_row_for_each() -> None:
    practice = {"items": [{"outputs": ["left", "right"]}]}
    table = plan_study(study(design={"type": "pairs"}, practice=practice)).table
    rows = table[(table["phase"] == "practice").to_numpy() & (table["rater"] == "r001").to_numpy()]
    assert rows["position"].tolist() == [1, 2]
    assert rows["system"].tolist() == ["", ""]


@pytest.mark.parametrize("design", ["latin-square", "pairs", "best-worst", "williams"])
def test_the_same_seed_gives_the_same_hash_and_another_seed_another_plan(design: str) -> None:
    one = study(design={"type": design})
    assert plan_study(one).hash == plan_study(one).hash == plan_study(one, seed=1).hash
    assert plan_study(one).hash != plan_study(one, seed=2).hash


@pytest.mark.slow
def test_the_plan_is_the_same_in_another_process() -> None:
    code = (
        "from tests.design.test_plan import study, plan_study, CHECKS\n"
        "print(plan_study(study(design={'type': 'best-worst'}, checks=CHECKS), seed=5).hash)"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert other == plan_study(study(design={"type": "best-worst"}, checks=CHECKS), seed=5).hash


def test_williams_says_its_carry_over_in_numbers() -> None:
    assert any(
        "follows every other 12 times" in note
        for note in plan_study(study(4, 4, design={"type": "williams"}), raters=48).notes
    )
    assert any(
        "follows another" in note
        for note in plan_study(study(10, 4, design={"type": "williams"}), raters=5).notes
    )


def test_a_plan_shows_itself() -> None:
    text = str(plan_study(study(design={"type": "pairs", "trials_per_rater": 5})))
    assert "Plan: pairs" in text
    assert "pages per rater" in text


def test_each_rater_of_graded_pairs_sees_every_system_as_often_first_as_second() -> None:
    graded = {"better": {"type": "preference", "points": 7}}
    design = {"type": "pairs", "trials_per_rater": 12, "ratings_per_output": 5}
    table = plan_study(study(12, 3, graded, design=design)).table
    shown = table[table["phase"] == "trial"]
    counts = shown.groupby(["rater", "system", "position"], observed=True).size()
    assert len(counts) == 15 * 3 * 2
    assert set(counts) == {4}
    pairs = shown.groupby(["rater", "order"], observed=True)["system"].agg(tuple).value_counts()
    assert len(pairs) == 6
    assert set(pairs) == {30}
