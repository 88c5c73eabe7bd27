"""Generalizability: Brennan's worked example, textbook formulas, designs with gaps, refusals in words."""

import json

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.criterion_table import make_table
from panelist.agreement.statistics.components import weigh_errors
from panelist.agreement.studies.generalizability import Generalizability, study_generalizability
from panelist.core.errors import BadRatings, UnknownName
from tests.shared_cases import MISSING, SHARED
from tests.simulated import simulate_demo

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)


@pytest.fixture(scope="module")
def brennan() -> tuple[Generalizability, dict[str, float]]:
    cases = json.loads((SHARED / "agreement_cases.json").read_text("utf-8"))
    case = next(case for case in cases if case["id"] == "brennan2001_table3_2")
    frame = pd.DataFrame(case["data"]).rename(columns=str.lower).rename(columns={"score": "rating"})
    frame["rating"] = frame["rating"].astype(float)
    effects = ["person", "task", "person:task", "task:rater"]
    return study_generalizability(frame, object="person", effects=effects), case["expected"]["exact"]


@needs_shared
def test_components_are_those_of_brennan_table_3_2(
    brennan: tuple[Generalizability, dict[str, dict[str, float]]],
) -> None:
    study, expected = brennan
    ours = {"person": "p", "task": "t", "person:task": "pt", "task:rater": "rt", "residual": "prt"}
    for name, theirs in ours.items():
        assert study.variances[name] == pytest.approx(expected["variance"][theirs], abs=2e-6)


@needs_shared
def test_coefficients_of_brennan_come_out(brennan: tuple[Generalizability, dict[str, float]]) -> None:
    study, expected = brennan
    for decision in (study.decide(task=3, rater=4), study.decide()):
        assert decision.g == pytest.approx(expected["generalizability"], abs=1e-6)
        assert decision.phi == pytest.approx(expected["dependability"], abs=1e-6)
        assert decision.relative_error == pytest.approx(expected["relative_error"], abs=1e-6)
        assert decision.absolute_error == pytest.approx(expected["absolute_error"], abs=1e-6)


@needs_shared
def test_raters_nested_in_tasks_are_counted_within_them(
    brennan: tuple[Generalizability, dict[str, float]],
) -> None:
    assert brennan[0].observed == {"task": 3, "rater": 4}


def crossed(n: int = 30, raters: int = 4, seed: int = 5) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    item = random.normal(size=(n, 1)) * 1.2
    rating = item + 0.5 * random.normal(size=(1, raters)) + random.normal(size=(n, raters))
    rows = [(f"i{i:02}", f"r{j}", rating[i, j]) for i in range(n) for j in range(raters)]
    return pd.DataFrame(rows, columns=["item", "rater", "rating"])


def test_items_by_raters_gives_the_intraclass_correlations() -> None:
    """On a complete items × raters table G and phi of k raters are ICC(C,k) and ICC(A,k)."""
    frame = crossed()
    study = study_generalizability(frame)
    table = make_table(frame["item"].to_numpy(), frame["rater"].to_numpy(), frame["rating"].to_numpy())
    assert (study.object, study.observed) == ("item", {"rater": 4})
    for decision, g, phi in (
        (study.decide(), "icc_ck", "icc_ak"),
        (study.decide(rater=1), "icc_c1", "icc_a1"),
    ):
        assert decision.g == pytest.approx(COEFFICIENTS[g](table), abs=1e-5)
        assert decision.phi == pytest.approx(COEFFICIENTS[phi](table), abs=1e-5)


def by_hand(object: str, nested: bool = False) -> Generalizability:
    parts = {"system": 0.4, "item": 0.3, "rater": 0.5, "system:item": 0.2, "system:rater": 0.1}
    parts |= {"item:rater": 0.15, "residual": 0.8}
    facets = tuple(name for name in ("system", "item", "rater") if name != object)
    return Generalizability(
        criterion="x",
        object=object,
        facets=facets,
        variances=parts,
        observed=dict.fromkeys(facets, 2),
        n_ratings=100,
        formula="",
        raters_nested=nested,
    )


def test_error_variances_are_divided_by_what_they_are_averaged_over() -> None:
    decision = by_hand("system").decide(item=50, rater=6)
    relative = 0.2 / 50 + 0.1 / 6 + 0.8 / 300
    absolute = relative + 0.3 / 50 + 0.5 / 6 + 0.15 / 300
    assert decision.relative_error == pytest.approx(relative)
    assert decision.absolute_error == pytest.approx(absolute)
    assert (decision.g, decision.phi) == pytest.approx((0.4 / (0.4 + relative), 0.4 / (0.4 + absolute)))


def test_raters_of_their_own_for_each_item_are_more_raters() -> None:
    decision = by_hand("system", nested=True).decide(item=50, rater=6)
    assert decision.relative_error == pytest.approx(0.2 / 50 + 0.1 / 300 + 0.8 / 300)


def test_reliability_grows_with_raters_and_with_items() -> None:
    study = by_hand("system")
    values = [[study.decide(item=i, rater=r).g for i in (10, 50)] for r in (1, 3, 9)]
    assert (np.diff(values, axis=0) > 0).all()
    assert (np.diff(values, axis=1) > 0).all()


def test_raters_needed_is_the_smallest_number_that_suffices() -> None:
    study = by_hand("item")
    needed = study.raters_needed(0.4)
    assert needed is not None
    assert study.decide(rater=needed).g >= 0.4 > study.decide(rater=needed - 1).g
    assert study.raters_needed(0.99) is None


def test_systems_items_raters_and_their_interactions_have_a_share() -> None:
    study = study_generalizability(simulate_demo(), criterion="fluency")
    assert list(study.variances) == ["system", "item", "rater", "system:item", "system:rater", "residual"]
    assert study.object == "system"
    assert any("item:rater cannot be separated from the residual" in note for note in study.notes)
    assert len(study.decisions) == 40
    assert 0 < study.decide().phi < study.decide().g < 1


def test_the_observed_design_counts_the_ratings_it_has_not_those_of_a_full_one() -> None:
    study = study_generalizability(simulate_demo(), criterion="fluency")
    assert study.n_each == pytest.approx(320)  # 960 ratings of three systems, not 40 items × 24 raters
    assert study.weights is not None
    assert study.weights.relative["residual"] == pytest.approx(1 / 320)
    assert study.decide().g < study.decide(item=40, rater=24).g


def test_outputs_may_be_what_is_told_apart() -> None:
    study = study_generalizability(simulate_demo(), criterion="fluency", object="output")
    assert (study.object, study.facets, study.observed) == ("output", ("rater",), {"rater": 8})


def test_the_result_shows_itself() -> None:
    study = study_generalizability(simulate_demo(), criterion="fluency")
    text = str(study)
    for part in ("Variance of fluency", "Decision study", "systems are told apart with G ="):
        assert part in text
    assert {"components", "observed", "decisions"} <= set(json.loads(study.to_json()))


def test_several_criteria_must_be_told_apart_first() -> None:
    with pytest.raises(BadRatings, match="adequacy, fluency"):
        study_generalizability(simulate_demo())


def test_words_have_no_variance() -> None:
    with pytest.raises(BadRatings, match="these ratings are words"):
        study_generalizability(crossed().assign(rating="good"))


def test_one_rater_shows_no_variance_between_raters() -> None:
    with pytest.raises(BadRatings, match="One rater only"):
        study_generalizability(crossed().query("rater == 'r1'"))


def test_unknown_facets_and_objects_are_answered_with_the_known() -> None:
    with pytest.raises(UnknownName, match="'rater'"):
        by_hand("item").decide(raters=3)
    with pytest.raises(UnknownName, match="'item'"):
        study_generalizability(crossed(), object="itme")
    with pytest.raises(BadRatings, match="at least one level"):
        by_hand("item").decide(rater=0)


def rate(rows: pd.DataFrame, seed: int, **variances: float) -> pd.DataFrame:
    """Return the rows with a rating: the sum of an effect for each named column, and noise of variance 1."""
    rng = np.random.default_rng(seed)
    rating = rng.normal(size=len(rows))
    for name, variance in variances.items():
        code = rows.groupby(name).ngroup().to_numpy()
        rating += np.sqrt(variance) * rng.normal(size=code.max() + 1)[code]
    return rows.astype(str).assign(rating=rating)


def nested_raters(systems: int, raters: int, items: int) -> pd.DataFrame:
    """Return rows in which each system has raters of its own, who rate all items."""
    rows = [(s, i, s * raters + r) for s in range(systems) for i in range(items) for r in range(raters)]
    return pd.DataFrame(rows, columns=["system", "item", "rater"])


def some_raters(outputs: int, raters: int, each: int, seed: int) -> pd.DataFrame:
    """Return rows in which each item has some of the raters, drawn at random."""
    rng = np.random.default_rng(seed)
    rows = [(i, r) for i in range(outputs) for r in rng.permutation(raters)[:each]]
    return pd.DataFrame(rows, columns=["item", "rater"])


def test_multipliers_are_the_mean_squared_error_of_a_difference_over_all_pairs_of_objects() -> None:
    rows = some_raters(7, 5, 3, seed=1).sample(16, random_state=1)  # unequal numbers of ratings
    found = weigh_errors(rows, "item", ["item", "rater"])
    share = pd.crosstab(rows["item"], rows["rater"], normalize="index").to_numpy()
    n = len(share)
    pairs = [(a, b) for a in range(n) for b in range(a)]
    by_hand = np.mean([((share[a] - share[b]) ** 2).sum() / 2 for a, b in pairs])
    each = rows.groupby("item").size().to_numpy()
    assert found.relative["rater"] == pytest.approx(by_hand)
    assert found.absolute["rater"] == pytest.approx((share**2).sum(axis=1).mean())
    assert found.relative["residual"] == found.absolute["residual"] == pytest.approx((1 / each).mean())


def test_raters_of_their_own_for_each_system_are_error_of_the_order() -> None:
    """Their level does not cancel from differences: G is 0.59, and with crossed raters 0.86."""
    frame = rate(nested_raters(60, 5, 8), seed=3, system=0.15, rater=0.4)
    study = study_generalizability(frame)
    assert study.nested == ("rater",)
    truth = 0.15 / (0.15 + 0.4 / 5 + 1 / 40)
    assert study.decide().g == pytest.approx(truth, abs=0.08)
    crossed = 0.15 / (0.15 + 1 / 40)
    assert study.decide().g < crossed - 0.15
    assert study.limits is not None
    assert study.limits.g_low < truth < study.limits.g_high
    projected = study.decide(rater=10).relative_error
    assert projected > study.variances["rater"] / 10
    assert "for each system" in study.sentence()


def test_some_of_many_raters_for_each_output_are_error_of_the_order() -> None:
    frame = rate(some_raters(150, 24, 4, seed=2), seed=4, item=1.0, rater=0.8)
    study = study_generalizability(frame)
    cancels = study.variances["item"] / (study.variances["item"] + study.variances["residual"] / 4)
    overlap = 4 / 24
    truth = 1 / (1 + (0.8 * (1 - overlap) + 1) / 4)
    assert study.decide().g == pytest.approx(truth, abs=0.05)
    assert study.decide().g < cancels - 0.08
    assert study.decide(rater=4).g == pytest.approx(cancels)  # in a design where all four rate everything


def test_raters_who_gave_one_rating_each_are_in_the_residual() -> None:
    frame = crossed()
    frame["rater"] = [f"r{k}" for k in range(len(frame))]
    study = study_generalizability(frame)
    assert list(study.variances) == ["item", "residual"]
    assert any("rater cannot be separated from the residual" in note for note in study.notes)


def test_a_system_with_one_rater_of_its_own_cannot_be_told_from_the_rater() -> None:
    with pytest.raises(BadRatings, match="Each system has one rater of its own"):
        study_generalizability(rate(nested_raters(4, 1, 10), seed=1, system=1.0))


def test_objects_with_one_rating_each_cannot_be_told_from_error() -> None:
    with pytest.raises(BadRatings, match="Each output has one rating"):
        study_generalizability(rate(some_raters(30, 5, 1, seed=1), seed=1), object="output")


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Six systems with four raters of their own each: 60 studies, nominal 95 %."""
    truth = 0.5 / (0.5 + 0.4 / 4 + 1 / 24)
    held = 0
    for seed in range(60):
        frame = rate(nested_raters(6, 4, 6), seed=seed, system=0.5, rater=0.4)
        limits = study_generalizability(frame, raters=(), items=()).limits
        assert limits is not None
        held += limits.g_low <= truth <= limits.g_high
    assert held >= 51


def test_the_interval_of_a_complete_table_is_that_of_the_f_distribution() -> None:
    from panelist.agreement.coefficients.icc import icc_interval
    from panelist.agreement.statistics.moments import Moments

    frame = crossed()
    table = make_table(frame["item"].to_numpy(), frame["rater"].to_numpy(), frame["rating"].to_numpy())
    low, high = icc_interval("icc_ck", Moments.prepare(table, "interval").weigh(), 0.95)
    limits = study_generalizability(frame).limits
    assert limits is not None
    assert (limits.g_low, limits.g_high) == pytest.approx((low, high), abs=0.01)
