"""Systems that join a plan in use: a wave of new raters who judge old and new systems."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.analysis.compare import compare_systems
from panelist.core.errors import BadDesign, BadPlan
from panelist.core.seeds import stream
from panelist.design.grow import add_systems, grow_plan, replace_rater
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.design.plan_files import read_plan, write_plan
from panelist.design.plan_summary import summarise_plan
from panelist.design.simulate import simulate_ratings
from panelist.design.update import fits_study
from panelist.power.truth.base import Truth
from panelist.study.file_names import PLAN_TABLE
from tests.design.plan_counts import trials
from tests.design.small_studies import LIKERT, make_study
from tests.examples import examples

DESIGNS = ["latin-square", "williams", "lists", "full", "pages", "pairs", "best-worst"]
SHORT = {"trials_per_rater": 3}
OLD, NEW = ("a", "b", "c"), ("a", "b", "c", "d", "e")


def study(design: str = "lists", systems: tuple[str, ...] = OLD, **file: Any) -> Any:
    scales = {"pairs": {"type": "pairs"}, "best-worst": {"type": "best-worst"}}
    scale = {"taste": scales.get(design, LIKERT)}
    return make_study(9, systems, scale, design={"type": design, **file.pop("choice", {})}, **file)


def waves_of(plan: Plan) -> dict[int, set[str]]:
    """Return the systems that are judged in each wave."""
    rows = trials(plan)
    wave = rows["rater"].astype(str).map(plan.waves)
    return {number: set(part.astype(str)) for number, part in rows.groupby(wave)["system"]}


@pytest.mark.slow
@examples(50)
@given(st.sampled_from(DESIGNS), st.integers(2, 9), st.integers(5, 12), st.integers(1, 5), st.integers(0, 99))
def test_systems_join_and_nobody_moves(
    tmp_path_factory: pytest.TempPathFactory, design: str, few: int, more: int, then: int, seed: int
) -> None:
    old, new = (study(design, systems, choice={"seed": seed}) for systems in (OLD, NEW))
    before = plan_study(old, few)
    made = add_systems(before, new, more)
    folder = tmp_path_factory.mktemp("plan")
    write_plan(before, folder / "old")
    write_plan(made, folder / "new")
    assert (folder / "new" / PLAN_TABLE).read_bytes().startswith((folder / "old" / PLAN_TABLE).read_bytes())
    assert read_plan(folder / "new").waves == made.waves
    assert waves_of(made) == {1: set(OLD), 2: set(NEW)}
    assert fits_study(made, replace(new, file=new.file.model_copy(update={"title": "Other words"})))
    grown = grow_plan(made, new, few + more + then)
    assert grown.table.iloc[: len(made)].astype(object).equals(made.table.astype(object))
    assert list(grown.waves.values()) == [1] * few + [2] * (more + then)
    assert grown.table.astype(object).equals(add_systems(before, new, more + then).table.astype(object))
    summarise_plan(made, new)


def test_a_third_wave_a_replacement_and_the_record() -> None:
    first = plan_study(study(systems=OLD), 4)
    second = add_systems(first, study(systems=(*OLD, "d")), 5)
    third = add_systems(replace_rater(second, "r006"), study(systems=NEW), 6)
    assert waves_of(third) == {1: set(OLD), 2: {*OLD, "d"}, 3: set(NEW)}
    assert third.waves["r010"] == 2  # in place of r006
    assert third.waves["r011"] == 3
    assert len(third.places) == 15
    step = third.history[-1]
    assert (step["step"], step["wave"], step["systems"], step["places"]) == ("systems", 3, ["e"], [9, 15])
    assert fits_study(third, study(systems=NEW, title="Other words"))
    assert not fits_study(third, study(systems=(*NEW, "f")))


def test_as_many_join_as_every_output_needs() -> None:
    choice = {"ratings_per_output": 3}
    made = add_systems(plan_study(study(choice=choice)), study(systems=NEW, choice=choice))
    rows = trials(made)
    late = rows[rows["rater"].astype(str).map(made.waves) == 2]
    assert late.groupby(["item", "system"], observed=True).size().tolist() == [3] * 9 * 5


def test_what_cannot_be_added_is_refused() -> None:
    old = study()
    plan = plan_study(old, 6)
    with pytest.raises(BadPlan, match="no system to add"):
        add_systems(plan, old)
    with pytest.raises(BadPlan, match="--add-systems"):
        grow_plan(plan, study(systems=NEW), 8)
    with pytest.raises(BadPlan, match="has changed since"):
        add_systems(plan, study(systems=("a", "b", "d")), 6)
    with pytest.raises(BadPlan, match="design lists"):
        add_systems(plan, study("full", NEW), 6)
    with pytest.raises(BadDesign, match="would not judge"):
        add_systems(plan_study(study(choice=SHORT), 6), study(systems=NEW, choice=SHORT), 1)


def test_simulated_ratings_carry_the_wave() -> None:
    new = study(systems=NEW)
    made = add_systems(plan_study(study(), 6), new, 6)
    table = simulate_ratings(new, made)
    assert (table["wave"] == table["rater"].astype(str).map(made.waves)).all()
    assert "wave" not in simulate_ratings(new, plan_study(new, 6))


def rate(plan: Plan, seed: int, shift: float) -> pd.DataFrame:
    """Return ratings of a plan: systems half a point apart, the second wave milder by ``shift``."""
    rows = trials(plan)[["rater", "item", "system"]].astype(str).reset_index(drop=True)
    wave = rows["rater"].map(plan.waves)
    rng = stream(seed, "waves")
    people = {name: rng.normal(0, 0.3) for name in plan.raters}
    things = {name: rng.normal(0, 0.3) for name in sorted(set(rows["item"]))}
    rating = 50 + 0.5 * rows["system"].map("abcde".index) + shift * (wave == 2)
    rating += rows["rater"].map(people) + rows["item"].map(things) + rng.normal(0, 0.5, len(rows))
    return rows.assign(wave=wave, rating=rating.round(4))


@pytest.mark.slow
def test_the_wave_is_estimated_and_the_difference_of_old_and_new_recovered() -> None:
    made = add_systems(plan_study(make_study(30, OLD, design={"type": "lists"}), 24),
                       make_study(30, NEW, design={"type": "lists"}), 24)  # fmt: skip
    estimates, plain = [], []
    for seed in range(4):
        table = rate(made, seed, 2.0)
        (one,) = compare_systems(table, model="lmm").criteria
        assert one.formula.startswith("rating ~ system + wave + ")
        assert any("wave is a fixed effect" in note for note in one.notes)
        assert one.fit.coefficients.set_index("term").loc["wave[T.2]", "estimate"] == pytest.approx(
            2.0, abs=0.5
        )
        found = {row.system: row.estimate for row in one.systems}
        estimates.append(found["d"] - found["a"])
        means = table.groupby("system")["rating"].mean()
        plain.append(means["d"] - means["a"])
    assert np.mean(estimates) == pytest.approx(1.5, abs=0.15)
    assert np.mean(plain) > 2.0  # the plain means give the new system what its raters give to all


@pytest.mark.slow
def test_waves_without_a_common_system_are_confounded_and_shared_raters_need_no_wave() -> None:
    made = add_systems(plan_study(study(), 8), study(systems=NEW), 10)
    table = rate(made, 1, 2.0)
    apart = table[(table["wave"] == 1) | table["system"].isin(["d", "e"])]
    (one,) = compare_systems(apart, model="lmm").criteria
    assert "wave" not in one.formula
    assert any("wave and system are confounded" in note for note in one.notes)
    same = table.assign(wave=1 + np.arange(len(table)) % 2)
    (one,) = compare_systems(same, model="lmm").criteria
    assert "wave" not in one.formula


def test_the_record_of_a_plan_says_which_wave_began_where(tmp_path: Path) -> None:
    made = add_systems(plan_study(study(), 6), study(systems=NEW), 5)
    write_plan(made, tmp_path)
    step = read_plan(tmp_path).history[-1]
    assert step["wave"] == 2
    assert step["systems"] == ["d", "e"]
    assert step["places"] == [6, 11]


@pytest.mark.slow
def test_a_pilot_with_waves_has_effects_of_its_systems_alone() -> None:
    made = add_systems(plan_study(make_study(20, OLD), 12), make_study(20, NEW), 12)
    table = rate(made, 3, 1.0)
    table["rating"] = (table["rating"] - 48).round().clip(1, 6).astype(int)
    truth = Truth.from_pilot(table, uncertain=True)
    assert truth.effects is not None
    assert truth.uncertainty is not None
    assert len(truth.effects) == len(truth.systems) == len(NEW)
    assert len(truth.uncertainty.estimates) == truth.cuts.points - 1 + len(NEW) - 1
    assert truth.effects[3] > truth.effects[1]
