"""``compare --allow``: spreads and thresholds of systems, tested, explained, and used in what is compared."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.checks.remedies import Remedy, SideTest, SystemSpread, choose_side, tell_spread
from panelist.analysis.compare import compare_systems
from panelist.analysis.missing import Missing
from panelist.analysis.sensitivity.side_by_side import compare_kinds
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.effects import measure_effects
from panelist.core.errors import UnknownName
from panelist.core.tables.ratings import read_ratings
from panelist.reports.figures.style import _estimate_label
from panelist.reports.report.page import _make_pairs
from tests.shared_cases import MISSING, SHARED

FOLDER = SHARED / "models2"
needs_data = pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING)
FORMULA = "rating ~ system + (1 | rater) + (1 | item)"


def compare(name: str, allow: str, **how: Any) -> CriterionComparison:
    data = pd.read_csv(FOLDER / f"{name}.csv")
    return compare_systems(data, formula=FORMULA, allow=allow, **how).criteria[0]


@needs_data
def test_a_spread_of_its_own_is_tested_named_and_used() -> None:
    found = compare("crossed_scale", "scale,nominal")
    remedy = found.remedy
    assert remedy.choice == "scale"
    assert (round(remedy.scale.chisq, 1), remedy.scale.df) == (16.5, 2)  # a TMB template has the same
    birch = remedy.spreads[0]
    assert birch.ratio == pytest.approx(1.40, abs=0.005)
    assert birch.low > 1
    said = " ".join(str(found).split())
    assert "raters agree less about birch than about amber: its spread is 1.40 times as large" in said
    assert found.effect_units == "residual SDs of amber"
    plain = compare("crossed_scale", "")
    assert plain.remedy is None
    assert found.fit.loglik - plain.fit.loglik == pytest.approx(remedy.scale.chisq / 2)
    record = found.to_dict()["allowed"]
    assert record["choice"] == "scale"
    assert {one["system"] for one in record["spreads"]} == {"birch", "cedar"}


@needs_data
def test_thresholds_of_their_own_are_compared_in_points_without_a_latent_difference() -> None:
    found = compare("crossed_nominal", "scale,nominal")
    assert found.remedy.choice == "nominal"
    assert (round(found.remedy.nominal.chisq, 1), found.remedy.nominal.df) == (41.2, 6)
    assert found.units.startswith("points of the scale")
    assert "beyond a shift. Spreads explain part of it (" in found.remedy.sentence()
    for row in found.systems:
        assert row.estimate == pytest.approx(row.mean, abs=0.05)
    effects = measure_effects(found)
    for pair, one in zip(found.pairs, effects.pairs, strict=True):
        assert np.isnan(one.latent)
        assert (one.points, one.points_low) == (pair.difference, pair.low)
        assert one.superiority_low < one.superiority < one.superiority_high
        assert (one.superiority > 0.5) == (one.points > 0)
    assert len(set(found.notes)) == len(found.notes)
    assert "Points and P(higher) on rating" in str(found)
    shown = _make_pairs(effects, alpha=1.1)  # every pair is told, the higher first or second
    for words, one in zip(shown.rows, effects.pairs, strict=True):
        assert words[-1] == f"{one.a if one.points > 0 else one.b} higher"
    assert _estimate_label(found) == "Expected rating, 95 % interval"
    beside = compare_kinds(read_ratings(FOLDER / "crossed_nominal.csv"), found, FORMULA)
    assert "clmm: points of the scale; lmm: points of the scale" in str(beside)
    latent = compare("crossed_nominal", "nominal", margin="0.3 latent")
    assert any("give the margin in points" in note for note in latent.notes)
    # spreads were not tested
    assert (
        "beyond a shift. Thresholds for each system explain it (" in latent.remedy.sentence()
    )  # spreads were not tested


@needs_data
def test_points_and_superiority_use_each_systems_spread() -> None:
    found = compare("crossed_scale", "scale")
    effects = measure_effects(found)
    data = pd.read_csv(FOLDER / "crossed_scale.csv")
    means = data.groupby("system")["rating"].mean()
    for one in effects.systems:
        assert one.estimate == pytest.approx(means[one.system], abs=0.05)
    fit, (t0, t1) = found.fit, (1.0, float(np.exp(found.fit.solution.zeta[0])))
    variance = sum(float(v[0, 0]) for v in fit.variance_components.values())
    from scipy.special import ndtr

    def shares(mean: float, sd: float) -> Any:
        up = ndtr((fit.threshold_values - mean) / np.sqrt(sd**2 + variance))
        return np.diff(np.concatenate([[0.0], up, [1.0]]))

    amber, birch = shares(0.0, t0), shares(float(fit.beta[0]), t1)
    wins = np.tri(5, k=-1) + 0.5 * np.eye(5)
    pair = effects["amber", "birch"]
    assert pair.superiority == pytest.approx(float(amber @ wins @ birch), abs=1e-9)
    assert pair.points == pytest.approx(float((amber - birch) @ np.arange(1, 6)), abs=1e-9)


@needs_data
def test_nothing_is_taken_that_tests_do_not_ask_for() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"r{r}", f"i{i}", s) for r in range(8) for i in range(12) for s in "ab"]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    frame["rating"] = np.clip(
        np.round(3 + 0.3 * (frame["system"] == "b") + rng.normal(size=len(frame))), 1, 5
    )
    found = compare_systems(frame, formula=FORMULA, allow="scale,nominal").criteria[0]
    assert found.remedy.choice == "location"
    assert "one shift for each system is enough" in found.remedy.sentence()
    plain = compare_systems(frame, formula=FORMULA).criteria[0]
    assert found.pairs == plain.pairs
    with pytest.raises(UnknownName, match="scale"):
        compare_systems(frame, allow="scal")


def test_what_could_not_be_tested_is_not_said_to_be_enough() -> None:
    """Every rating of c is 5: no spread of its own; thresholds of its own were not allowed."""
    rng = np.random.default_rng(5)
    rows = [(f"r{r}", f"i{i}", s) for r in range(8) for i in range(8) for s in "abc"]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    frame["rating"] = np.where(frame["system"] == "c", 5, rng.integers(1, 6, len(frame)))
    said = compare_systems(frame, formula=FORMULA, allow="scale").criteria[0].remedy.sentence()
    assert "is enough" not in said
    assert "The test of spreads could not be made: Every rating of system c is 5" in said
    assert "not allowed" not in said
    both = compare_systems(frame, formula=FORMULA, allow="scale,nominal").criteria[0].remedy.sentence()
    assert "one shift for each system is enough (thresholds: LRT" in both
    assert "The test of spreads could not be made" in both


def test_a_linear_model_says_that_nothing_was_allowed_for() -> None:
    rows = [(f"r{r}", f"i{i}", s, 10.0 * r + i * i) for r in range(4) for i in range(6) for s in "ab"]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    found = compare_systems(frame, formula="rating ~ system + (1 | item)", model="lmm", allow="scale")
    assert any("the linear model has none" in note for note in found.criteria[0].notes)


def test_a_fit_that_did_not_converge_is_not_taken() -> None:
    """Ratings of a are at both ends alone: its spread has no limit."""
    rng = np.random.default_rng(2)
    rows = [(f"r{r}", f"i{i}", s) for r in range(8) for i in range(12) for s in "ab"]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    ends, all_points = rng.choice([1, 5], len(frame)), rng.integers(1, 6, len(frame))
    frame["rating"] = np.where(frame["system"] == "a", ends, all_points)
    found = compare_systems(frame, formula=FORMULA, allow="scale").criteria[0]
    assert found.remedy.choice == "location"
    assert "did not converge" in found.remedy.sentence()


def test_spread_comes_before_thresholds_unless_thresholds_fit_better() -> None:
    def side(p: float, aic: float) -> SideTest:
        return SideTest("side", 1.0, 1, p, aic)

    nothing = Missing("It was not allowed.")
    assert choose_side(side(0.01, 100), side(0.01, 101), 0.05) == "scale"
    assert choose_side(side(0.01, 100), side(0.01, 90), 0.05) == "nominal"
    assert choose_side(side(0.2, 100), side(0.01, 99), 0.05) == "nominal"
    assert choose_side(side(0.2, 100), side(0.2, 90), 0.05) == "location"
    assert choose_side(nothing, side(0.01, 90), 0.05) == "nominal"
    assert choose_side(side(0.01, 100), nothing, 0.05) == "scale"


def test_words_about_spread_say_who_raters_agree_about() -> None:
    more = SystemSpread("b", "a", 0.7, 0.5, 0.9)
    unclear = SystemSpread("c", "a", 1.1, 0.8, 1.4)
    said = tell_spread((more, unclear), "fluency")
    assert "raters agree more about b than about a" in said
    assert " c " not in said


def test_a_latent_difference_against_the_means_is_told_with_a_spread_of_its_own() -> None:
    """Most ratings of b are the highest, and a quarter the lowest: the middle lies above, the mean below."""
    shares = {"a": {4: 20, 5: 70, 6: 90, 7: 20}, "b": {1: 50, 2: 6, 3: 6, 4: 6, 5: 6, 6: 6, 7: 120}}
    rows = []
    for system, counts in shares.items():
        points = np.repeat(list(counts), list(counts.values()))
        mixed = np.random.default_rng(1).permutation(points)
        rows += [(f"r{k % 10}", f"i{k // 10:02}", system, point) for k, point in enumerate(mixed)]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    found = compare_systems(frame, formula=FORMULA, allow="scale").criteria[0]
    assert found.remedy.choice == "scale"
    assert [one.code for one in found.contradictions] == ["analyses", "means"]
    assert "b comes out above a, and yet its mean rating is the lower one (5.05 and 5.55)" in found.sentence()


def test_spreads_that_are_tested_as_clear_are_not_said_to_explain_nothing() -> None:
    def advise(scale: SideTest | Missing, nominal: SideTest) -> str:
        found = Remedy("fluency", "a", 0.95, 100.0, scale, nominal, (), "nominal")
        assert found.sentence().startswith(
            "On fluency, systems differ in how they use the scale, beyond a shift"
        )
        return found.advice()

    nominal = SideTest("nominal", 19.9, 3, 0.0002, 90.0)
    clear = advise(SideTest("scale", 17.5, 2, 0.0002, 90.4), nominal)
    assert "Spreads explain part of it" in clear
    assert "AIC lower by 0.4" in clear
    assert "Spreads do not explain it" in advise(SideTest("scale", 5.7, 2, 0.057, 98.0), nominal)
    assert "pread" not in advise(Missing("It was not allowed."), nominal)
