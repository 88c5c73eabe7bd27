"""Variants of the correction (slopes by system, random slopes, fixed items, ordinal check), and families."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bench.judges_coverage import PAIRS, World, simulate
from panelist.core.errors import BadModel, UnknownName
from panelist.judges.compare import compare_systems
from panelist.judges.correct.corrected import CorrectedCriterion
from panelist.judges.correct.regression import correct_means
from panelist.judges.correct.variants import BY_SYSTEM, RANDOM_SLOPES, THESE_ITEMS
from panelist.judges.match import JudgedRatings
from panelist.judges.worth.measure import measure_judges
from panelist.models.fit import fit
from tests.judges.simulated_tables import make_beside, tables


def vary(beside: JudgedRatings, *variants: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = correct_means(beside, variants=frozenset(variants))
    return (PAIRS @ found.estimate, *found.measure(PAIRS))


def test_a_slope_for_each_system_finds_an_inverted_judge() -> None:
    beside = make_beside(60, 120, raters=6, ratings=3, seed=1)
    turned = beside.scores["judge"].copy()
    turned[:, 2] *= -1
    odd = replace(beside, scores={"judge": turned})
    found = correct_means(odd, variants=frozenset({BY_SYSTEM}))
    slopes = {one.term: one.estimate for one in found.slopes}
    assert slopes["within, A"] > 0 > slopes["within, C"]
    assert set(slopes) == {f"{part}, {s}" for part in ("within", "between") for s in "ABC"}
    shifted = turned + np.array([0.0, 5.0, 0.0])  # a constant for one system changes nothing
    again = correct_means(replace(beside, scores={"judge": shifted}), variants=frozenset({BY_SYSTEM}))
    np.testing.assert_allclose(again.estimate, found.estimate, atol=1e-7)


def test_random_slopes_are_those_of_the_formula() -> None:
    beside = simulate(World("good", 24, 40, items=80), np.random.default_rng(2))[0]
    found = correct_means(beside, variants=frozenset({RANDOM_SLOPES}))
    frame = beside.frame()
    for at, name in enumerate(found.fit.names[3:], 3):
        frame[name] = found.fit.design.X[:, at]
    own = fit("rating ~ 0 + system + w0 + b0 + (system | rater) + (system | item)", frame, model="lmm")
    np.testing.assert_allclose(found.fit.beta, own.beta, atol=1e-8)


def test_of_these_items_nothing_but_noise_and_raters_is_uncertain_once_all_are_rated() -> None:
    beside = make_beside(80, 80, raters=6, ratings=6, seed=3)
    found = correct_means(beside, {}, variants=frozenset({THESE_ITEMS}))
    sd = dict(zip(found.fit.random["group"], found.fit.random["sd"], strict=True))
    expected = 2 * (sd["rater:system"] ** 2 / 6 + found.fit.sigma**2 / (80 * 6))
    variance, df = found.measure(PAIRS)
    np.testing.assert_allclose(variance, expected, rtol=1e-6)
    usual, _ = correct_means(beside, {}).measure(PAIRS)
    assert (variance < usual).all()
    assert (df > 1).all()
    np.testing.assert_allclose(np.diag(PAIRS @ found.covariance @ PAIRS.T), variance, rtol=1e-9)


def test_degrees_of_a_fixed_test_set_follow_from_the_slopes_of_its_variance() -> None:
    beside = make_beside(50, 90, raters=6, ratings=3, seed=4)
    found = correct_means(beside, variants=frozenset({THESE_ITEMS}))
    plain = replace(found, these_items=False)
    far = replace(found, n_items=10**9)  # nothing to subtract: Satterthwaite's own
    np.testing.assert_allclose(far.measure(PAIRS)[1], plain.fit.degrees(PAIRS @ found.X), rtol=1e-6)


@pytest.mark.parametrize(
    ("variants", "words"),
    [
        (("by-system",), "needs 30 rated items"),
        (("random-slopes",), "24 raters or more"),
        (("random-slopes", "these-items"), "leave out"),
    ],
)
def test_a_table_too_small_for_a_variant_is_refused(variants: tuple[str, ...], words: str) -> None:
    ratings, judges = tables(make_beside(20, 40, raters=6, ratings=3, seed=5))
    with pytest.raises(BadModel, match=words):
        compare_systems(ratings, judge=judges, judge_variants=variants, judge_scale="as-is")


def test_variants_are_named_and_go_with_a_judge() -> None:
    ratings, judges = tables(make_beside(20, 40, raters=6, ratings=3, seed=5))
    with pytest.raises(UnknownName, match="by-system"):
        compare_systems(ratings, judge=judges, judge_variants=["by-sytem"])
    with pytest.raises(BadModel, match="name a judges table"):
        compare_systems(ratings, judge_variants=["ordinal"])
    with pytest.raises(BadModel, match="goes with regression"):
        compare_systems(ratings, judge=judges, judge_variants=["ordinal"], judge_method="weights")


@pytest.mark.slow
def test_the_ordinal_check_has_the_direction_of_the_correction_and_says_what_it_is() -> None:
    ratings, judges = tables(make_beside(30, 60, raters=6, ratings=3, seed=6))
    one = compare_systems(
        ratings, judge=judges, judge_variants=["ordinal", "these-items"], judge_scale="as-is"
    ).criteria[0]
    assert isinstance(one, CorrectedCriterion)
    by = {(pair.a, pair.b): pair.difference for pair in one.latent}
    assert {pair: np.sign(d) for pair, d in by.items()} == {
        (pair.a, pair.b): np.sign(pair.difference) for pair in one.pairs
    }
    text = str(one)
    assert "at each system" in text
    assert "about these items only" in " ".join(text.split())
    assert one.to_dict()["variants"] == ["ordinal", "these-items"]


def test_a_judge_of_a_systems_family_is_flagged() -> None:
    ratings, judges = tables(make_beside(20, 40, raters=6, ratings=3, seed=7))
    judges = judges.assign(family="Heron")
    found = measure_judges(ratings, judges, families={"B": "heron"}, judge_scale="as-is", resamples=100)
    one = found.judges[0]
    assert one.kin == ("B",)
    assert "of the same family as 'B'" in " ".join(one.notes)
    assert one.to_dict()["same_family"] == ["B"]
    assert "B *" in str(one)
    other = measure_judges(ratings, judges, families={"B": "owl"}, judge_scale="as-is", resamples=100)
    assert other.judges[0].kin == ()
    with pytest.raises(UnknownName, match="No system is called 'Z'"):
        measure_judges(ratings, judges, families={"Z": "owl"})
    assert isinstance(judges, pd.DataFrame)
