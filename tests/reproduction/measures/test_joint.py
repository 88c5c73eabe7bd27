"""The joint model of all studies: against the model fitted by hand, and what it finds where the truth is
known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from panelist.core.errors import BadReproduction
from panelist.models.fit import fit
from panelist.reproduction.measures.joint import JointModel, _find_contradiction, fit_jointly
from panelist.reproduction.sources import read_source
from tests.reproduction.small_studies import make_ratings, needs_shared
from tests.shared_cases import SHARED

TWO = {"rules": 0.0, "tuned": 0.8}


def join(
    *frames: pd.DataFrame, systems: tuple[str, ...] = ("rules", "tuned"), **options: float
) -> JointModel:
    labels = ["original", *(f"repeat {place}" for place in range(1, len(frames)))]
    givens = [read_source(frame, label).given[0] for frame, label in zip(frames, labels, strict=True)]
    return fit_jointly(givens, labels, systems, **options)  # type: ignore[arg-type]


def test_the_change_is_the_interaction_of_the_model_fitted_by_hand() -> None:
    first, second = make_ratings(1, effects=TWO), make_ratings(2, effects=TWO)
    found = join(first, second)
    whole = pd.concat([
        first.assign(study="original", rater="a" + first["rater"]),
        second.assign(study="repeat 1", rater="b" + second["rater"]),
    ])  # fmt: skip
    by_hand = fit(found.formula, whole, model="clmm")
    linear = {how: fit(found.formula, whole, model="lmm", method=how) for how in ("REML", "ML")}
    place = next(k for k, name in enumerate(by_hand.names) if ":" in name)
    ratio = np.sqrt(linear["REML"].vcov[place + 1, place + 1] / linear["ML"].vcov[place + 1, place + 1])
    df = linear["REML"].coefficients["df"][place + 1]
    [change] = found.changes
    estimate, se = by_hand.beta[place], np.sqrt(by_hand.vcov[place, place])
    assert abs(change.change) == pytest.approx(abs(estimate), abs=1e-5)
    assert ratio >= 1
    assert change.se == pytest.approx(se * ratio, rel=1e-4)
    assert change.df == pytest.approx(df, rel=1e-3)
    p = 2 * stats.t.sf(abs(estimate) / (se * ratio), df)
    assert (change.p, found.p) == pytest.approx((p, p), abs=1e-4)
    assert (found.df, found.den_df) == pytest.approx((1, df), rel=1e-3)
    assert found.n == len(whole)


def test_two_one_sided_tests_and_their_interval_agree() -> None:
    frames = make_ratings(1, effects=TWO), make_ratings(2, effects=TWO)
    found = join(*frames, margin=0.6)
    [one] = found.changes
    assert found.margin_points == 0.6
    margin = found.margin
    assert 0.6 / margin == pytest.approx(0.8, abs=0.2)  # points a residual SD
    upper, lower = (margin - one.change) / one.se, (margin + one.change) / one.se
    assert one.p_equivalent == pytest.approx(stats.t.sf(min(upper, lower), one.df), abs=1e-9)
    assert (one.high - one.low) / 2 == pytest.approx(stats.t.ppf(0.95, one.df) * one.se)
    assert one.equivalent == (one.low > -margin and one.high < margin)
    assert join(*frames).margin == 0.31


@pytest.mark.parametrize("mapped", [False, True])
def test_ratings_that_leave_nothing_to_chance_are_not_tested(mapped: bool) -> None:
    frame = make_ratings(1, effects=TWO)
    frame["rating"] = np.where(frame["system"] == "tuned", 4, 2)
    found = join(frame, frame, mapped=mapped)
    assert np.isnan(found.p)
    assert [one.tested or one.equivalent for one in found.changes] == [False]
    assert "could not be tested" in found.sentence()


def test_effects_that_are_the_same_are_equivalent_and_others_differ() -> None:
    same = [make_ratings(seed, effects=TWO, raters=12, items=30) for seed in (1, 2)]
    found = join(*same, margin=0.4)
    assert found.n_equivalent == 1
    other = make_ratings(3, effects={"rules": 0.8, "tuned": 0.0}, raters=12, items=30)
    turned = join(same[0], other, margin=0.4)
    assert turned.p < 0.001
    assert turned.n_equivalent == 0
    assert "differ between studies" in turned.sentence()


def test_several_repeats_have_their_own_changes() -> None:
    frames = [make_ratings(seed) for seed in (1, 2, 3)]
    found = join(*frames, systems=("human", "rules", "tuned"))
    assert [one.repeat for one in found.changes] == ["repeat 1"] * 3 + ["repeat 2"] * 3
    assert found.df == 4
    for one in found.changes:
        assert one.change == pytest.approx(one.again - one.original, abs=1e-9)


def test_ratings_carried_over_get_a_linear_model() -> None:
    found = join(make_ratings(1, effects=TWO), make_ratings(2, effects=TWO), mapped=True)
    assert found.model == "lmm"
    assert np.isfinite(found.den_df)
    assert "F(1, " in found.sentence()


@needs_shared
def test_a_real_re_evaluation_steps_down_to_a_model_that_the_data_bear() -> None:
    frames = [pd.read_csv(SHARED / f"qg_stec{name}.csv") for name in ("", "_reeval")]
    kept = [frame[frame["criterion"] == "Variety"] for frame in frames]
    found = join(*kept, systems=("a", "b", "c", "d"))
    assert found.n == sum(map(len, kept))
    assert np.isfinite(found.p)
    assert any("179 items of the same name" in note for note in found.notes)


def test_what_cannot_be_joined_is_refused() -> None:
    first = make_ratings(1, effects=TWO)
    with pytest.raises(BadReproduction, match="single ratings of every study"):
        join(first, pd.DataFrame({"criterion": "fluency", "system": ["rules", "tuned"], "score": [1, 2]}))


@needs_shared
def test_the_joint_model_does_not_turn_what_nearly_unanimous_ratings_show() -> None:
    frames = [pd.read_csv(SHARED / f"qg_stec{name}.csv") for name in ("", "_reeval")]
    kept = [frame[frame["criterion"] == "QuestionType"] for frame in frames]
    found = join(*kept, systems=("a", "b", "c", "d"))
    for one in found.changes:  # a is above all others in both studies, by means and by linear models
        if one.a == "a":
            assert one.original > 0
            assert one.again > 0


def test_an_ordinal_model_that_turns_a_clear_difference_is_found_out() -> None:
    first, second = make_ratings(1, effects=TWO), make_ratings(2, effects=TWO)
    whole = pd.concat([first.assign(study="original"), second.assign(study="repeat")])
    linear = fit("rating ~ system * study", whole, model="lm")
    ordinal = fit("rating ~ system * study", whole, model="clm")
    labels = ["original", "repeat"]
    assert _find_contradiction(ordinal, linear, ["rules", "tuned"], labels) is None
    turned = replace(ordinal, solution=replace(ordinal.solution, beta=-ordinal.beta))
    assert _find_contradiction(turned, linear, ["rules", "tuned"], labels) == "rules and tuned (original)"
