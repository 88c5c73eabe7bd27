"""Effect sizes against predictions, closed forms and draws from the estimates' covariance."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from panelist.analysis.analysis_result import _tell_size
from panelist.analysis.compare import compare_systems
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.effects import Effect, Effects, measure_effects
from panelist.analysis.systems.marginal import estimate_marginal, make_grid
from panelist.core.seeds import stream
from panelist.models.predictions.categories import category_probabilities
from tests.simulated import simulate_demo


def demo() -> pd.DataFrame:
    frame = simulate_demo()
    return frame[frame["criterion"] == "fluency"].reset_index(drop=True)


@pytest.fixture(scope="module")
def ordinal() -> CriterionComparison:
    return compare_systems(demo()).criteria[0]


def test_expected_ratings_are_the_predictions_for_new_raters_and_items(ordinal: CriterionComparison) -> None:
    effects = measure_effects(ordinal)
    names = [one.system for one in effects.systems]
    predicted = ordinal.fit.predict(pd.DataFrame({"system": names}), effects="population", kind="mean")
    assert [one.estimate for one in effects.systems] == pytest.approx(list(predicted))


def test_differences_in_points_are_those_of_expected_ratings(ordinal: CriterionComparison) -> None:
    effects = measure_effects(ordinal)
    expected = {one.system: one.estimate for one in effects.systems}
    for pair in effects.pairs:
        assert pair.points == pytest.approx(expected[pair.a] - expected[pair.b])


def test_latent_effects_are_the_differences_of_the_comparison(ordinal: CriterionComparison) -> None:
    for pair, effect in zip(ordinal.pairs, measure_effects(ordinal).pairs, strict=True):
        assert (effect.latent, effect.p_adjusted) == (pair.difference, pair.p_adjusted)
        assert (effect.latent_low, effect.latent_high) == (pair.low, pair.high)


def test_superiority_is_the_chance_that_a_drawn_rating_is_higher(ordinal: CriterionComparison) -> None:
    grid = make_grid(ordinal.fit)
    shares = estimate_marginal(ordinal.fit, grid)
    rng = stream(5, "superiority")
    n = 200_000
    drawn = {
        name: rng.choice(shares.shape[1], size=n, p=p / p.sum())
        for name, p in zip(grid.systems, shares, strict=True)
    }
    for pair in measure_effects(ordinal).pairs:
        a, b = drawn[pair.a], drawn[pair.b]
        share = (a > b).mean() + 0.5 * (a == b).mean()
        assert pair.superiority == pytest.approx(share, abs=0.005)


def test_intervals_are_as_wide_as_draws_from_the_covariance_say(ordinal: CriterionComparison) -> None:
    fit, n = ordinal.fit, 4000
    grid = make_grid(fit)
    draws = stream(9, "draws").multivariate_normal(fit.params, fit.cov_params, size=n)
    k = len(fit.threshold_values)
    points = np.arange(1.0, k + 2)
    means = np.array(
        [category_probabilities("probit", one[:k], grid.X @ one[k:], grid.variance) @ points for one in draws]
    )
    effects = measure_effects(ordinal)
    for one, pair in zip(effects.pairs, ordinal.pairs, strict=True):
        a, b = grid.systems.index(one.a), grid.systems.index(one.b)
        reach = (pair.high - pair.low) / (2 * pair.se)
        half = reach * (means[:, a] - means[:, b]).std()
        assert (one.points_high - one.points_low) / 2 == pytest.approx(half, rel=0.06)


def test_with_two_categories_superiority_is_half_the_difference_of_shares() -> None:
    frame = demo().assign(rating=lambda rows: (rows["rating"] > 3).astype(int))
    compared = compare_systems(frame).criteria[0]
    for pair in measure_effects(compared).pairs:
        assert pair.superiority == pytest.approx(0.5 + pair.points / 2)


def test_a_linear_model_has_points_as_they_are_and_normal_superiority() -> None:
    compared = compare_systems(demo(), model="lm").criteria[0]
    effects = measure_effects(compared)
    for pair, effect in zip(compared.pairs, effects.pairs, strict=True):
        assert (effect.points, effect.points_low) == (pair.difference, pair.low)
        chance = ndtr(pair.difference / (compared.fit.sigma * np.sqrt(2)))
        assert effect.superiority == pytest.approx(chance)
        assert effect.latent == pytest.approx(pair.effect)


def test_words_have_superiority_and_no_points() -> None:
    words = ["bad", "poor", "fair", "good", "fine", "best"]
    frame = demo()
    frame["rating"] = pd.Categorical([words[x - 1] for x in frame["rating"]], words, ordered=True)
    effects = measure_effects(compare_systems(frame).criteria[0])
    assert all(np.isnan(pair.points) and 0 < pair.superiority < 1 for pair in effects.pairs)


def test_a_covariate_is_averaged_over_as_it_occurs() -> None:
    frame = demo().assign(length=["long" if k % 3 else "short" for k in range(960)])
    formula = "rating ~ system + length + (1 | rater) + (1 | item)"
    compared = compare_systems(frame, formula=formula).criteria[0]
    effects = measure_effects(compared)
    for one in effects.systems:
        rows = frame[["length"]].assign(system=one.system)
        predicted = compared.fit.predict(rows, effects="population", kind="mean")
        assert one.estimate == pytest.approx(float(predicted.mean()))


def two_points() -> pd.DataFrame:
    """Return answers 4 and 5 of three raters to two systems, 30 items."""
    rng = stream(5, "two points")
    rater, item, system = (grid.ravel() for grid in np.indices((3, 30, 2)))
    rating = 4 + (rng.random(len(rater)) < np.array([0.9, 0.6])[system])
    frame = {"rater": rater, "item": item, "system": np.array(["high", "low"])[system], "rating": rating}
    return pd.DataFrame(frame).astype({"rater": str, "item": str})


def test_superiority_of_two_points_is_that_of_the_ratings_counted_out() -> None:
    frame = two_points()
    (pair,) = measure_effects(compare_systems(frame, model="lmm").criteria[0]).pairs
    high, low = (frame.loc[frame["system"] == name, "rating"].to_numpy() for name in (pair.a, pair.b))
    above = high[:, None] - low[None, :]
    counted = (above > 0).mean() + 0.5 * (above == 0).mean()
    assert pair.superiority == pytest.approx(counted, abs=1e-6)
    assert pair.superiority_low == pytest.approx(0.5 + pair.points_low / 2)


def test_a_pair_turned_upward_says_the_same(ordinal: CriterionComparison) -> None:
    for pair in measure_effects(ordinal).pairs:
        up = pair.upward()
        assert up.points > 0
        assert up.points_low <= up.points <= up.points_high
        assert up.superiority_low <= up.superiority <= up.superiority_high
        assert up.upward() == up
        assert {up.a, up.b} == {pair.a, pair.b}


def make_pair(latent: float, points: tuple[float, float, float], p: float = 0.4) -> Effect:
    sizes: dict[str, Any] = {"latent": latent, "latent_low": latent - 1, "latent_high": latent + 1}
    named: dict[str, Any] = dict(zip(("points", "points_low", "points_high"), points, strict=True))
    chance: dict[str, Any] = {"superiority": 0.5, "superiority_low": 0.4, "superiority_high": 0.6}
    return Effect(a="a", b="b", **sizes, **named, **chance, p_adjusted=p)


def make_effects(pair: Effect) -> Effects:
    return Effects(criterion="fluency", confidence=0.95, latent_units="units", systems=(), pairs=(pair,))


def test_a_difference_whose_sign_depends_on_the_unit_is_explained() -> None:
    opposed = make_effects(make_pair(0.15, (-0.13, -0.4, 0.1)))
    assert opposed.tell_opposed().startswith("The two signs of a − b differ")
    assert opposed.tell_opposed() in str(opposed.table().note)
    for pair in (make_pair(0.15, (0.13, -0.1, 0.4)), make_pair(0.15, (-0.001, -0.1, 0.1))):
        assert not make_effects(pair).tell_opposed()


def test_what_points_show_and_p_does_not_is_said_to_be_open() -> None:
    def tell(points: tuple[float, float, float], better: str = "higher", adjust: str = "mvt") -> str:
        effects = make_effects(make_pair(-0.4, points))
        fit = SimpleNamespace(ordinal=True)
        told = SimpleNamespace(confidence=0.95, better=better, fit=fit, adjust=adjust)
        return _tell_size(told, effects)  # type: ignore[arg-type]

    open_still = "; in points of the scale the 95 % interval of {} (0.04 to 0.64) leaves out 0, though, so"
    assert tell((-0.35, -0.64, -0.04)).startswith(open_still.format("b over a"))
    assert tell((-0.35, -0.64, -0.04), "lower").startswith(open_still.format("a below b"))
    assert "the unadjusted 95 % interval of b over a" in tell((-0.35, -0.64, -0.04), adjust="holm")
    assert (
        tell((-0.1, -0.3, 0.2))
        == "; if there is a difference, it is below 0.30 points of the scale (95 % interval)"
    )
