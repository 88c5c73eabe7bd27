"""What a plan can estimate: against brute force over the covariance itself, and against real fits."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import panelist
from panelist.core.errors import BadModel
from panelist.design.assess.balance import measure_balance
from panelist.design.assess.estimable import MAXIMAL, find_estimable
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.models.identify import Shape, count_meetings, find_unidentified
from panelist.models.random_part import choose_random
from tests.design.small_studies import make_holes, make_plan, make_sequence, make_study
from tests.examples import examples

SYSTEMS = ("a", "b", "c")
tables = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from(SYSTEMS)), min_size=2, max_size=14
).map(lambda rows: pd.DataFrame(rows, columns=["rater", "item", "system"]).astype(str))
shapes = st.sampled_from(["slopes", "cells", "intercept"])


def find_lost(frame: pd.DataFrame, taken: dict[str, Shape]) -> dict[str, bool]:
    """Return whether some parameter of a group can be moved without moving the covariance of the ratings.

    The covariance is written out, rating by rating, with a residual variance of its own for each system.
    """
    systems = list(dict.fromkeys(frame["system"]))
    s = np.array([systems.index(name) for name in frame["system"]])
    parts: list[tuple[str, np.ndarray]] = [
        ("noise", np.diag((s == t).astype(float))) for t in range(len(systems))
    ]
    for group, shape in taken.items():
        level = frame[group].to_numpy()
        same = (level[:, None] == level).astype(float)
        if shape == "slopes":
            for t in range(len(systems)):
                for u in range(t, len(systems)):
                    met = np.outer(s == t, s == u)
                    parts.append((group, same * (met | met.T)))
        else:
            parts.append((group, same))
        if shape == "cells":
            parts.append((group, same * (s[:, None] == s)))
    A = np.column_stack([matrix.ravel() for _, matrix in parts])
    rank = np.linalg.matrix_rank(A)
    lost = [np.linalg.matrix_rank(np.delete(A, column, axis=1)) == rank for column in range(A.shape[1])]
    return {
        group: any(gone for (name, _), gone in zip(parts, lost, strict=True) if name == group)
        for group in taken
    }


@pytest.mark.slow
@examples(300)
@given(tables, shapes, shapes)
def test_identified_is_what_the_written_out_covariance_says(
    frame: pd.DataFrame, rater: Shape, item: Shape
) -> None:
    taken: dict[str, Shape] = {"rater": rater, "item": item}
    lost = {group for group, gone in find_lost(frame, taken).items() if gone}
    assert find_unidentified(taken, count_meetings(frame)) == lost


@examples(200)
@given(tables)
def test_known_entries_are_those_of_the_maximal_model(frame: pd.DataFrame) -> None:
    meetings = count_meetings(frame)
    known = {group for group, entries in meetings.known.items() if entries.all()}
    lost = find_lost(frame, {"rater": "slopes", "item": "slopes"})
    assert known == {group for group, gone in lost.items() if not gone}


@pytest.mark.slow
@examples(200)
@given(tables)
def test_random_part_is_never_larger_than_what_is_identified(frame: pd.DataFrame) -> None:
    part = choose_random(frame)
    larger = {
        group
        for group, gone in find_lost(frame, part.shapes).items()
        if gone and part.shapes[group] != "intercept"
    }
    assert not larger


def make_lists(raters: int, items: int, systems: Sequence[str], shift: int = 1) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for rater in range(raters):
        pages = [f"i{item + 1} {systems[(item + rater * shift) % len(systems)]}" for item in range(items)]
        rows += make_sequence(*pages, rater=f"r{rater + 1:03d}")
    return rows


def test_latin_square_bears_the_maximal_model() -> None:
    study = make_study(12, SYSTEMS)
    (found,) = find_estimable(make_plan(make_lists(9, 12, SYSTEMS)).table, study.criteria, study.systems)
    assert (found.identified, found.maximal, found.formula) == (True, True, MAXIMAL)


def test_outputs_judged_once_leave_items_an_intercept() -> None:
    study = make_study(12, SYSTEMS)
    table = make_plan(make_lists(3, 12, SYSTEMS)).table
    (found,) = find_estimable(table, study.criteria, study.systems)
    assert not found.identified
    assert "(1 | item)" in found.formula
    assert "No output is judged by two raters" in found.sentence()


def test_raters_of_one_system_each_leave_raters_an_intercept() -> None:
    study = make_study(8)
    rows = []
    for rater in range(8):
        rows += make_sequence(*(f"i{item + 1} {'ab'[rater % 2]}" for item in range(8)), rater=f"r{rater}")
    (found,) = find_estimable(make_plan(rows).table, study.criteria, study.systems)
    assert (found.identified, found.formula) == (False, "rating ~ system + (1 | rater) + (system | item)")
    assert "No rater meets two systems" in found.sentence()


def test_pair_of_systems_that_never_meets_is_named() -> None:
    study = make_study(12, SYSTEMS)
    rows = []
    for rater in range(12):  # nobody judges both a and c
        pair = "ab" if rater % 2 else "bc"
        rows += make_sequence(
            *(f"i{item + 1} {pair[(item + rater // 2) % 2]}" for item in range(12)), rater=f"r{rater:02d}"
        )
    (found,) = find_estimable(make_plan(rows).table, study.criteria, study.systems)
    assert not found.identified
    assert "1 of 3 pairs of systems never meet within one rater, such as" in found.sentence()
    assert "(system | rater)" not in found.formula


def test_too_few_raters_are_the_reason_where_the_maximal_model_is_identified() -> None:
    study = make_study(12, SYSTEMS)
    (found,) = find_estimable(make_plan(make_lists(5, 12, SYSTEMS)).table, study.criteria, study.systems)
    assert (found.identified, found.maximal) == (True, False)
    assert "starts from a smaller one" in found.sentence()
    assert "5 raters are too few for 6 variances and correlations" in found.sentence()


def test_second_sitting_does_not_make_a_single_rating_two() -> None:
    study = make_study(12, SYSTEMS, design={"occasions": 2})
    rows = make_lists(3, 12, SYSTEMS)
    once = find_estimable(make_plan(rows).table, study.criteria, study.systems)
    twice = find_estimable(
        make_plan([*rows, *({**row, "occasion": 2} for row in rows)]).table, study.criteria, study.systems
    )
    assert once == twice


@pytest.mark.parametrize(("raters", "shift"), [(9, 1), (12, 1), (6, 1), (9, 0), (3, 1)])
def test_model_that_the_plan_can_bear_is_fitted_without_rank_problems(raters: int, shift: int) -> None:
    study = make_study(24, SYSTEMS)
    plan = make_plan(make_lists(raters, 24, SYSTEMS, shift))
    (found,) = find_estimable(plan.table, study.criteria, study.systems)
    ratings = simulate_ratings(study, plan, seed=3, careless=0.0)
    fitted = panelist.fit(found.formula, ratings, model="lmm")
    notes = " ".join(fitted.notes)
    assert fitted.converged
    assert not any(
        word in notes for word in ("not identified", "not determined", "cannot be told", "unidentifiable")
    )


def test_model_that_the_plan_cannot_bear_fails_in_the_fitter_too() -> None:
    study = make_study(24, SYSTEMS)
    plan = make_plan(make_lists(3, 24, SYSTEMS))
    (found,) = find_estimable(plan.table, study.criteria, study.systems)
    ratings = simulate_ratings(study, plan, seed=3, careless=0.0)
    assert not found.identified
    with pytest.raises(BadModel):
        panelist.fit(MAXIMAL, ratings, model="lmm")


@pytest.mark.slow
@examples(100)
@given(st.lists(st.permutations("abcde").map(lambda order: tuple(order[:2])), min_size=1, max_size=8))
def test_comparisons_are_estimable_if_a_path_leads_from_every_system_to_every_other(
    pairs: list[tuple[str, str]],
) -> None:
    study = make_study(8, "abcde", {"fluency": {"type": "pairs"}}, design={"type": "pairs"})
    rows = make_sequence(*(f"i{at + 1} {a} {b}" for at, (a, b) in enumerate(pairs)))
    (found,) = find_estimable(make_plan(rows).table, study.criteria, study.systems)
    reached, before = {"a"}, 0
    while before != len(reached):
        before = len(reached)
        reached |= {system for pair in pairs if reached & set(pair) for system in pair}
    assert found.identified == (reached == set("abcde"))


def test_system_that_nobody_judges_is_named() -> None:
    study = make_study(12, (*SYSTEMS, "d"))
    (found,) = find_estimable(make_plan(make_lists(9, 12, SYSTEMS)).table, study.criteria, study.systems)
    assert (found.identified, found.maximal) == (False, False)
    assert "Nobody judges d." in found.sentence()


def test_free_text_is_nothing_to_estimate() -> None:
    study = make_study(scales={"fluency": {"type": "text"}})
    assert find_estimable(make_plan(make_sequence("i1 a", "i2 b")).table, study.criteria, study.systems) == ()


def test_systems_that_share_no_item_are_said_to_be_confounded_with_items() -> None:
    there = [[True, True, False, False]] * 4 + [[False, False, True, True]] * 4
    study = make_holes(there, design={"type": "lists", "ratings_per_output": 3})
    (found,) = measure_balance(plan_study(study), study).estimable
    assert "fall into 2 sets that share no item (s0 and s1; s2 and s3)" in found.sentence()
    assert not found.identified


def test_the_balance_of_a_plan_with_holes_is_relative_to_what_exists() -> None:
    there = [[True, True, place % 2 == 0] for place in range(12)]
    study = make_holes(there, design={"type": "lists", "ratings_per_output": 2, "trials_per_rater": 10})
    balance = measure_balance(plan_study(study), study)
    lines = {one.line.name: one.line for one in balance.lines}
    assert (lines["outputs per system"].low, lines["outputs per system"].high) == (6, 12)
    assert (lines["outputs per item"].low, lines["outputs per item"].high) == (2, 3)
    assert "6 of 36 outputs missing" in lines["outputs per item"].verdict
    assert (lines["raters per output"].low, lines["raters per output"].high) == (2, 2)
    assert lines["each system, per rater"].met
    assert balance.met
