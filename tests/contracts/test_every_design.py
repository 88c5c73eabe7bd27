"""What holds for every design that is registered, at sizes drawn at random."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadDesign
from panelist.design.assess.balance import measure_balance
from panelist.design.base import Task, find_design
from panelist.design.grow import grow_plan
from panelist.design.make import plan_study
from panelist.study.sections.design_choice import DESIGNS, DesignChoice
from panelist.study.study import Study
from tests.design.plan_counts import pages, rows_of, spread, trials
from tests.design.small_studies import make_holes, make_study
from tests.examples import examples

NAMES = list(DESIGNS)


@st.composite
def studies(draw: st.DrawFn, name: str) -> Study:
    """Return a small study of this design; what it asks for can be had."""
    n, s = draw(st.integers(1, 14)), draw(st.integers(2, 6))
    choice: dict[str, Any] = {"type": name, "seed": draw(st.integers(0, 2**31))}
    if name != "full" and draw(st.booleans()):
        choice["trials_per_rater"] = draw(st.integers(1, n))
    if draw(st.booleans()):
        choice["ratings_per_output"] = draw(st.integers(1, 3))
    choice["occasions"] = draw(st.integers(1, 2))
    return make_study(n, [f"s{number}" for number in range(s)], design=choice)


def test_the_names_are_those_that_studies_use() -> None:
    assert {"best-worst", "full", "latin-square", "lists", "pages", "pairs", "williams"} <= set(NAMES)
    schema = DesignChoice.model_json_schema()["properties"]["type"]
    assert schema["enum"] == NAMES
    assert all(f"``{name}``: {DESIGNS[name].summary}" in schema["description"] for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_systems", [3, 5])
def test_its_facts_are_those_of_its_plan(name: str, n_systems: int) -> None:
    choice, design = DesignChoice(type=name), find_design(name)
    kinds = design.make_kinds(Task(6, n_systems, choice, 1))
    assert design.count_shown(n_systems, choice) == kinds.shown.shape[-1]
    assert design.count_pages(n_systems, choice) == kinds.pages_per_item
    assert (design.unit == "output") == (kinds.shown.shape[-1] == 1)
    showings = design.count_showings(n_systems)
    if showings is not None:
        assert showings * n_systems == kinds.pages_per_item * kinds.shown.shape[-1]


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is_and_what_it_counts(name: str) -> None:
    design = DESIGNS[name]
    assert all(len(text) > 10 for text in (design.title, design.summary, design.assigned))
    assert design.unit in ("output", "pair", "tuple", "page")
    assert len(type(design).__doc__ or "") > 20


@pytest.mark.parametrize("name", NAMES)
def test_its_kinds_are_systems_of_the_study_and_none_twice_on_a_page(name: str) -> None:
    kinds = find_design(name).make_kinds(Task(6, 5, DesignChoice(type=name), 1))
    assert kinds.shown.min() == 0
    assert kinds.shown.max() == 4
    assert (np.diff(np.sort(kinds.shown, axis=-1), axis=-1) > 0).all()


@pytest.mark.parametrize("name", NAMES)
@examples(30)
@given(data=st.data())
def test_no_rater_meets_an_item_twice_in_a_sitting(name: str, data: st.DataObject) -> None:
    plan = plan_study(data.draw(studies(name)))
    keys = ["rater", "item", "system"] if name == "full" else ["rater", "item", "position"]
    assert not trials(plan).duplicated(keys).any()
    assert trials(plan).groupby("rater")["order"].nunique().eq(plan.trials).all()


@pytest.mark.parametrize("name", NAMES)
@examples(30)
@given(data=st.data())
def test_every_page_is_shown_to_as_many_raters_as_asked_for(name: str, data: st.DataObject) -> None:
    study = data.draw(studies(name))
    plan = plan_study(study)
    shown = pages(plan)
    kinds = shown["system"].map(lambda one: "|".join(sorted(one)))
    times = shown.groupby([shown["item"], kinds]).size()
    wanted = study.file.design.ratings_per_output or 1
    assert times.min() >= wanted
    if name != "best-worst":  # a tuple may be one of an item's tuples twice
        assert spread(times) <= 1
    assert spread(shown.groupby("item").size()) <= 1


@pytest.mark.parametrize("name", ["latin-square", "williams", "lists", "full", "pages"])
@examples(30)
@given(data=st.data())
def test_a_rater_meets_all_systems_equally_often(name: str, data: st.DataObject) -> None:
    study = data.draw(studies(name))
    shown = trials(plan_study(study))
    counts = shown.groupby(["rater", "system"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(study.systems), fill_value=0)
    assert (counts.max(axis=1) - counts.min(axis=1)).max() <= 1


@pytest.mark.parametrize("name", NAMES)
@examples(15)
@given(data=st.data())
def test_growing_moves_nobody(name: str, data: st.DataObject) -> None:
    study = data.draw(studies(name))
    plan = plan_study(study)
    grown = grow_plan(plan, study, len(plan.raters) + data.draw(st.integers(1, 5)))
    for rater in plan.raters[:3] + plan.raters[-1:]:
        assert rows_of(plan, rater).equals(rows_of(grown, rater))


@pytest.mark.parametrize("name", NAMES)
def test_its_balance_can_be_measured(name: str) -> None:
    study = make_study(6, ("a", "b", "c"), design={"type": name})
    assert "raters" in str(measure_balance(plan_study(study), study))


DO_WITHOUT = [name for name, one in DESIGNS.items() if one.does_without]
COMPARES = {
    "pairs": {"type": "pairs"},
    "best-worst": {"type": "best-worst", "best": "Best", "worst": "Worst"},
}


@st.composite
def studies_with_holes(draw: st.DrawFn, name: str) -> Study:
    """Return a small study of this design that lacks outputs; the first item has them all."""
    n, s = draw(st.integers(2, 10)), draw(st.integers(3, 5))
    there = draw(st.lists(st.lists(st.booleans(), min_size=s, max_size=s), min_size=n, max_size=n))
    there = [[True] * s, [True, *[False] * (s - 1)], *([*row[:-1], row[-1] or not any(row)] for row in there)]
    choice: dict[str, Any] = {"type": name, "seed": draw(st.integers(0, 2**31))}
    choice["ratings_per_output"] = draw(st.integers(1, 3))
    scales = {name: COMPARES[name]} if name in COMPARES else None
    return make_holes(there, design=choice, scales=scales)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DO_WITHOUT])
def test_a_design_that_wants_every_output_refuses_holes_and_says_what_would_do(name: str) -> None:
    study = make_holes([[True, True], [True, False]], design={"type": name})
    with pytest.raises(BadDesign, match=r"1 of 4 are missing\. What would do: lists"):
        plan_study(study)


@pytest.mark.parametrize("name", DO_WITHOUT)
@examples(20)
@given(data=st.data())
def test_a_plan_with_holes_shows_what_exists_and_all_of_it_equally_often(
    name: str, data: st.DataObject
) -> None:
    study = data.draw(studies_with_holes(name))
    plan = plan_study(study)
    frame = study.outputs.frame
    exists = set(zip(frame["item"], frame["system"], strict=True))
    shown = trials(plan)
    cells = set(zip(shown["item"].astype(str), shown["system"].astype(str), strict=True))
    assert cells <= exists
    owned = frame.groupby("item")["system"].size()
    least = {"pairs": 2, "best-worst": 3}.get(name, 1)
    assert cells == {(item, system) for item, system in exists if owned[item] >= least}
    on_page = pages(plan)
    times = on_page.groupby(
        [on_page["item"], on_page["system"].map(lambda one: "|".join(sorted(one)))]
    ).size()
    assert times.min() >= (study.file.design.ratings_per_output or 1)
    assert spread(times) <= 1
    assert not shown.duplicated(["rater", "item", "position"]).any()
    assert measure_balance(plan, study).n_pages == len(on_page)


@pytest.mark.parametrize("name", DO_WITHOUT)
@examples(8)
@given(data=st.data())
def test_a_plan_with_holes_grows_without_moving_anybody(name: str, data: st.DataObject) -> None:
    study = data.draw(studies_with_holes(name))
    plan = plan_study(study)
    grown = grow_plan(plan, study, len(plan.raters) + 2)
    for rater in plan.raters[:2] + plan.raters[-1:]:
        assert rows_of(plan, rater).equals(rows_of(grown, rater))
