"""Pairs of a comparison: adjusted as suits them, tested for equivalence, over criteria, and in letters."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.analysis.compare import compare_systems
from panelist.analysis.spec import AnalysisSpec
from panelist.analysis.systems.across import spread_bonferroni, spread_holm
from panelist.analysis.systems.equivalence import find_one_sided
from panelist.analysis.systems.letters import find_letters, make_matrix
from panelist.analysis.systems.margins import Equivalence, _say, tell_equivalence
from panelist.core.errors import BadModel, UnknownName
from panelist.core.margin import Margin
from panelist.models.formulas.response import choose_family
from panelist.models.inference.adjust import adjust_holm
from panelist.study.sections.analysis_plan import AnalysisPlan
from tests.examples import examples

INTERCEPTS = "rating ~ system + (1 | rater) + (1 | item)"


def make_ratings(
    means: dict[str, float],
    *,
    raters: int = 8,
    items: int = 12,
    seed: int = 1,
    criteria: tuple[str, ...] = ("fluency",),
    slider: bool = False,
) -> pd.DataFrame:
    """Return crossed ratings with raters and items that differ, on five points or a line from 0 to 100."""
    rng = np.random.default_rng(seed)
    tables = []
    for criterion in criteria:
        rows = [(f"r{r}", f"i{i:02d}", s) for r in range(raters) for i in range(items) for s in means]
        frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
        latent = 3 + frame["system"].map(means).to_numpy(float) + rng.normal(size=len(frame))
        for column in ("rater", "item"):
            effect = {name: rng.normal(0, 0.5) for name in frame[column].unique()}
            latent += frame[column].map(effect).to_numpy(float)
        frame["rating"] = np.clip(20 * latent, 0, 100).round(1) if slider else np.clip(latent.round(), 1, 5)
        tables.append(frame.assign(criterion=criterion))
    return pd.concat(tables, ignore_index=True)


# -- which adjustment


def test_equal_standard_errors_keep_tukey_and_unequal_ones_take_the_multivariate_t() -> None:
    frame = make_ratings({"a": 0, "b": 0.3, "c": 0.6}, slider=True)
    formula = INTERCEPTS
    whole = compare_systems(frame, formula=formula).criteria[0]
    assert whole.adjust == "tukey"
    thin = frame[(frame["system"] != "c") | (frame["item"] < "i02")]
    found = compare_systems(thin, formula=formula).criteria[0]
    assert found.adjust == "mvt"
    assert "single-step adjusted (multivariate t)" in found.sentence()
    assert any("standard errors of the pairs differ" in note for note in found.notes)
    holm = compare_systems(thin, formula=formula, adjust="holm").criteria[0]
    assert holm.adjust == "holm"


def test_a_reference_gets_dunnetts_test_which_is_less_strict_than_tukeys() -> None:
    frame = make_ratings({"a": 0, "b": 0.3, "c": 0.4, "d": 0.2}, slider=True)
    formula = INTERCEPTS
    all_pairs = {(p.a, p.b): p for p in compare_systems(frame, formula=formula).criteria[0].pairs}
    found = compare_systems(frame, formula=formula, reference="a").criteria[0]
    assert found.adjust == "dunnett"
    assert "Dunnett-adjusted" in found.sentence()
    for pair in found.pairs:
        tukey = all_pairs[pair.b, pair.a]
        assert pair.p <= pair.p_adjusted < tukey.p_adjusted
        assert pair.high - pair.low < tukey.high - tukey.low
    with pytest.raises(BadModel, match="name it as the reference"):
        compare_systems(frame, formula=formula, adjust="dunnett")


def test_two_systems_are_one_test_whatever_the_adjustment() -> None:
    frame = make_ratings({"a": 0, "b": 0.3}, slider=True)
    for options in ({}, {"reference": "a"}, {"adjust": "mvt"}):
        pair = compare_systems(frame, **options).criteria[0].pairs[0]  # type: ignore[arg-type]
        assert pair.p_adjusted == pytest.approx(pair.p, rel=1e-9)


# -- equivalence


def test_two_one_sided_tests_are_the_90_percent_interval_within_the_margin() -> None:
    frame = make_ratings({"a": 0, "b": 0.02, "c": 0.8}, raters=10, items=30, slider=True)
    found = compare_systems(frame, formula=INTERCEPTS, margin=5.0).criteria[0]
    by_pair = {(one.a, one.b): one for one in found.equivalence}
    for pair in found.pairs:
        one = by_pair[pair.a, pair.b]
        assert one.difference == pytest.approx(pair.difference)
        inside = one.low90 > -5.0 and one.high90 < 5.0
        assert inside == (one.p < 0.05)
        assert one.p_adjusted >= one.p
    assert by_pair["a", "b"].outcome == "equivalent"
    assert by_pair["a", "c"].outcome == "different"
    record = json.loads(found.to_json())["pairs"][0]["equivalence"]
    assert set(record) >= {"margin", "unit", "points", "low90", "high90", "p", "outcome", "non_inferior"}
    assert "a – b is equivalent" in str(found).replace("\n", " ")


def test_an_ordinal_model_is_tested_in_points_of_the_scale() -> None:
    frame = make_ratings({"a": 0, "b": 0.05}, raters=10, items=30)
    found = compare_systems(frame, formula=INTERCEPTS, margin=0.5).criteria[0]
    (one,) = found.equivalence
    means = {row.system: row.mean for row in found.systems}
    assert one.difference == pytest.approx(means["a"] - means["b"], abs=0.03)
    assert one.outcome == "equivalent"
    assert "the two systems are equivalent" in tell_equivalence(found.equivalence)


def test_a_small_but_certain_difference_is_different_and_equivalent() -> None:
    frame = make_ratings({"a": 0, "b": 0.3}, raters=20, items=60, slider=True)
    found = compare_systems(frame, formula=INTERCEPTS, margin=15).criteria[0]
    assert found.equivalence[0].outcome == "different and equivalent"


def test_no_sentence_takes_an_undecided_pair_for_equivalent() -> None:
    undecided = Equivalence("a", "b", 0.5, 0.2, -0.4, 0.8, 0.2, 0.2, "undecided")
    said = tell_equivalence([undecided])
    assert "does not mean that there is none" in said
    both = [undecided, Equivalence("a", "c", 0.5, 0.0, -0.1, 0.1, 0.001, 0.002, "equivalent")]
    assert tell_equivalence(both) == "Within ±0.50 points, a – c is equivalent; a – b is undecided."
    assert tell_equivalence([]) == ""


def test_a_margin_is_a_length() -> None:
    for margin in (0.0, -1.0, float("nan")):
        with pytest.raises(BadModel, match="number above 0"):
            compare_systems(make_ratings({"a": 0, "b": 1}), margin=margin)


def test_one_sided_p_is_half_at_the_margin_and_unknown_without_a_standard_error() -> None:
    assert find_one_sided(0.5, 0.2, 7.0, 0.5)[1] == pytest.approx(0.5)
    assert find_one_sided(-0.5, 0.2, np.inf, 0.5)[0] == pytest.approx(0.5)
    assert np.isnan(find_one_sided(0.1, 0.0, 7.0, 0.5)).all()


def test_a_system_that_is_better_but_not_surely_is_not_inferior_whichever_end_is_better() -> None:
    frame = make_ratings({"a": 0, "b": 0.35}, raters=6, items=12, slider=True)
    for better, good, bad in (("higher", "b", "a"), ("lower", "a", "b")):
        found = compare_systems(frame, formula=INTERCEPTS, margin=4.0, confidence=0.999, better=better)  # type: ignore[arg-type]
        claims = {one.system: one for one in found.criteria[0].equivalence[0].non_inferior}
        assert claims[good].p < 0.001 < 0.05 < claims[bad].p
        assert (claims[good].to, claims[good].p_adjusted) == (bad, claims[good].p)
    (one,) = compare_systems(frame, formula=INTERCEPTS, margin=4.0, confidence=0.999).criteria[0].equivalence
    assert one.outcome == "non-inferior"
    assert "b is not inferior to a" in tell_equivalence([one], 0.001)
    assert _say(one) == "b non-inferior"


def test_claims_about_a_reference_leave_the_reference_itself_out() -> None:
    frame = make_ratings({"a": 0, "b": 0.1, "c": 0.2}, slider=True)
    found = compare_systems(frame, formula=INTERCEPTS, margin=10, reference="a").criteria[0]
    claims = [one for pair in found.equivalence for one in pair.non_inferior]
    assert {(one.system, one.to) for one in claims} == {("b", "a"), ("c", "a")}
    by_holm = adjust_holm(np.array([one.p for one in claims]))
    assert [one.p_adjusted for one in claims] == pytest.approx(by_holm.tolist())


def test_all_pairs_equivalent_is_one_claim_that_needs_no_adjustment() -> None:
    near = [
        Equivalence("a", "b", 0.5, 0.1, -0.2, 0.4, 0.04, 0.12, "undecided"),
        Equivalence("a", "c", 0.5, 0.1, -0.2, 0.4, 0.045, 0.12, "undecided"),
        Equivalence("b", "c", 0.5, 0.0, -0.1, 0.1, 0.03, 0.09, "undecided"),
    ]
    assert "all pairs of systems are equivalent, taken as one claim" in tell_equivalence(near)
    assert "one claim" not in tell_equivalence(near, 0.04)


def test_a_margin_in_latent_units_needs_an_ordinal_model() -> None:
    frame = make_ratings({"a": 0, "b": 0.05}, raters=10, items=30)
    found = compare_systems(frame, formula=INTERCEPTS, margin="0.4 latent").criteria[0]
    (one,), (pair,) = found.equivalence, found.pairs
    assert (one.unit, one.difference, one.se) == ("latent", pair.difference, pair.se)
    logit = compare_systems(frame, formula=INTERCEPTS, link="logit", margin="0.4 latent").criteria[0]
    assert logit.equivalence[0].se == pytest.approx(logit.pairs[0].se * np.sqrt(3) / np.pi)
    linear = compare_systems(frame, model="lmm", formula=INTERCEPTS, margin="0.4 latent").criteria[0]
    assert not linear.equivalence
    assert any("no latent scale; give the margin in points" in note for note in linear.notes)
    with pytest.raises(BadModel, match=r"'0\.3 latent'"):
        compare_systems(frame, margin="a little")


def test_a_claim_without_a_margin_is_refused() -> None:
    with pytest.raises(BadModel, match="chosen before the data"):
        AnalysisSpec(claim="equivalence")
    with pytest.raises(ValueError, match="needs the largest difference"):
        AnalysisPlan(claim="non-inferiority")
    with pytest.raises(UnknownName, match="equivalence"):
        AnalysisSpec(claim="equal", margin=Margin(0.5))


def test_points_and_a_bare_number_are_the_same_margin_of_a_study() -> None:
    plans = [AnalysisPlan(margin=margin) for margin in (0.5, "0.5", "0.5 points")]
    assert {plan.margin for plan in plans} == {0.5}
    assert AnalysisPlan(margin=" 0.30  Latent").margin == "0.3 latent"
    for wrong in ("0.3 percent", "-1", "half", 0):
        with pytest.raises(ValueError, match="margin"):
            AnalysisPlan(margin=wrong)


# -- several criteria


def test_several_criteria_are_said_to_hold_their_level_separately_or_are_adjusted_together() -> None:
    frame = make_ratings({"a": 0, "b": 0.4, "c": 0.5}, criteria=("fluency", "adequacy"), slider=True)
    apart = compare_systems(frame)
    assert any("hold their level separately" in note for note in apart.notes)
    assert apart.to_dict()["criteria"][0]["across_criteria"] == "none"
    together = compare_systems(frame, across_criteria="bonferroni")
    for one, two in zip(apart.criteria, together.criteria, strict=True):
        for first, second in zip(one.pairs, two.pairs, strict=True):
            assert second.p_adjusted == pytest.approx(min(2 * first.p_adjusted, 1.0))
        assert "Bonferroni across criteria" in two.sentence()
        for row in two.systems:
            same = next(other for other in one.systems if other.system == row.system)
            assert row.rank_low <= same.rank_low
            assert row.rank_high >= same.rank_high
    assert not any("separately" in note for note in compare_systems(frame, criteria="fluency").notes)
    with pytest.raises(UnknownName, match="holm"):
        compare_systems(frame, across_criteria="hulm")


def test_holm_over_criteria_of_one_pair_is_holms_method() -> None:
    assert spread_holm([[0.01], [0.04], [0.03]]) == [[0.03], [0.06], [0.06]]


def test_a_criterion_passes_its_share_on_only_when_every_pair_is_rejected() -> None:
    half = spread_holm([[0.001, 0.9], [0.03]])
    assert half == [[0.002, 0.9], [0.06]]  # 0.9 is not rejected, so the other criterion keeps its half
    whole = spread_holm([[0.001, 0.02], [0.03]])
    assert whole == [[0.002, 0.04], [0.04]]


@examples(200)
@given(
    st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=4), st.floats(0.001, 0.3)
)
def test_holm_over_criteria_is_the_step_down_procedure(families: list[list[float]], alpha: float) -> None:
    adjusted = spread_holm(families)
    share, rejected = 0, [[False] * len(family) for family in families]
    for _ in range(len(families) + 1):  # pass on the level of what is wholly rejected, until nothing changes
        left = max(len(families) - share, 1)
        rejected = [
            [was or left * p <= alpha for was, p in zip(row, family, strict=True)]
            for row, family in zip(rejected, families, strict=True)
        ]
        share = sum(all(row) for row in rejected)
    mine = [[p <= alpha for p in family] for family in adjusted]
    near = any(abs(p - alpha) < 1e-9 for family in adjusted for p in family)
    assert near or mine == rejected
    for one, two in zip(adjusted, spread_bonferroni(families), strict=True):
        assert all(a <= b + 1e-12 for a, b in zip(one, two, strict=True))


def test_an_unknown_p_stays_unknown_and_its_criterion_keeps_its_share() -> None:
    found = spread_holm([[0.001, float("nan")], [0.03]])
    assert found[0][0] == 0.002
    assert np.isnan(found[0][1])
    assert found[1] == [0.06]


# -- which end is the good one


def test_lower_is_better_turns_ranks_and_words() -> None:
    frame = make_ratings({"a": -1, "b": 1.0, "c": 0.9}, slider=True)
    up, down = (compare_systems(frame, better=end).criteria[0] for end in ("higher", "lower"))
    assert [one.system for one in down.systems] == [one.system for one in up.systems][::-1]
    assert down.systems[0].system == "a"
    assert (down.systems[0].rank_low, down.systems[0].rank_high) == (1, 1)
    assert "a is rated better (lower) than c and b" in down.sentence()
    assert "rated above a" in up.sentence()
    assert [p.difference for p in up.pairs] == [p.difference for p in down.pairs]
    with pytest.raises(UnknownName, match="higher or lower"):
        compare_systems(frame, better="smaller")  # type: ignore[arg-type]


# -- many systems


def test_means_stand_beside_estimates() -> None:
    frame = make_ratings({"a": 0, "b": 1})
    found = compare_systems(frame).criteria[0]
    for row in found.systems:
        assert row.mean == pytest.approx(frame.loc[frame["system"] == row.system, "rating"].mean())
    assert "mean rating" in str(found)


def test_ten_systems_get_letters_and_a_matrix_and_keep_their_rows_in_json() -> None:
    frame = make_ratings({f"s{k}": k / 5 for k in range(10)}, raters=6, items=8, slider=True)
    found = compare_systems(frame).criteria[0]
    text = " ".join(str(found).split())
    assert "Systems that share a letter cannot be told apart" in text
    assert "Above the diagonal" in text
    assert " − " not in text
    assert len(found.to_dict()["pairs"]) == 45
    few = compare_systems(frame, reference="s0").criteria[0]
    assert str(few).count(" − ") == 9


@examples(100)
@given(st.integers(2, 9), st.data())
def test_systems_share_a_letter_exactly_where_no_difference_was_shown(k: int, data: st.DataObject) -> None:
    names = [f"s{i}" for i in range(k)]
    pairs = list(combinations(names, 2))
    different = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    letters = find_letters(names, different)
    for a, b in pairs:
        assert bool(set(letters[a]) & set(letters[b])) == ((a, b) not in different)


def test_the_matrix_turns_pairs_as_rows_and_columns_need() -> None:
    table = make_matrix("pairs", ["b", "a"], {("a", "b"): (-0.5, 0.01)}, 0.05, "points")
    assert table.rows == [("1 b", "", "0.50*"), ("2 a", ".010", "")]


def test_half_points_are_ordered_categories_in_a_comparison() -> None:
    frame = make_ratings({"a": 0, "b": 0.5})
    frame["rating"] = (frame["rating"] + np.arange(len(frame)) % 2 / 2).clip(1, 5)
    assert choose_family(frame["rating"].to_numpy())[0]
    found = compare_systems(frame, formula=INTERCEPTS).criteria[0]
    assert found.model == "clmm"
    assert any("steps of 0.5" in note for note in found.notes)
