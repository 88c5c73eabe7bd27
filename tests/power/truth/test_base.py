"""Spreads, thresholds and presets: what ratings are simulated from."""

import numpy as np
import pytest

from panelist.core.errors import PanelistError, UnknownName
from panelist.core.seeds import stream
from panelist.power.layouts.base import Sampling
from panelist.power.responses import simulate_responses
from panelist.power.truth.base import Truth, find_effects
from panelist.power.truth.cuts import DrawnCuts, FixedCuts, Slider
from panelist.power.truth.spread import PRESETS, Spread, find_root


def test_the_last_digits_of_estimates_do_not_choose_the_random_numbers() -> None:
    keys = {
        Truth("pilot", Spread(spread, 0.5), Spread(0.3, 0.2), FixedCuts((-1.0, cut))).key
        for spread in (0.4377241234567891, 0.4377241234567935)
        for cut in (1.0312345678912, 1.0312345678907)
    }
    assert len(keys) == 1
    other = Truth("pilot", Spread(0.4377242, 0.5), Spread(0.3, 0.2), FixedCuts((-1.0, 1.0312345678912))).key
    assert other not in keys


@pytest.mark.parametrize("n_systems", [2, 3, 5])
def test_every_two_systems_differ_by_the_same_spread(n_systems: int) -> None:
    C = Spread(0.5, 0.7, 0.3).covariance(n_systems)
    gaps = [C[i, i] + C[j, j] - 2 * C[i, j] for i in range(n_systems) for j in range(i)]
    np.testing.assert_allclose(gaps, 0.49)
    assert C[0, 0] == pytest.approx(0.25)
    assert C[0, 1] - C[0, 0] == pytest.approx(0.3 * 0.5 * 0.7)


def test_root_gives_the_covariance_back_also_where_it_is_singular() -> None:
    for C in (Spread(0.5, 0.7).covariance(4), np.zeros((2, 2)), np.ones((3, 3))):
        root = find_root(C)
        np.testing.assert_allclose(root @ root.T, C, atol=1e-12)
        assert (np.triu(root, 1) == 0).all()


def test_a_negative_variance_is_refused() -> None:
    with pytest.raises(PanelistError, match="negative variance"):
        find_root(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("bad", [(-0.1, 0.2), (0.1, -0.2), (float("nan"), 0.1)])
def test_a_negative_deviation_is_refused(bad: tuple[float, float]) -> None:
    with pytest.raises(PanelistError, match="0 or more"):
        Spread(*bad)


def test_thresholds_have_the_moments_of_the_paper_and_rise() -> None:
    cuts = DrawnCuts().draw(stream(1, "cuts"), 20_000)
    assert cuts.shape == (20_000, 5)
    assert (np.diff(cuts, axis=1) > 0).all()
    assert cuts[:, 0].mean() == pytest.approx(-1.78, abs=0.005)
    assert cuts[:, 0].std() == pytest.approx(0.19, abs=0.005)
    assert np.diff(cuts, axis=1).mean() == pytest.approx(0.62, abs=0.005)
    assert np.diff(cuts, axis=1).std() == pytest.approx(0.18, abs=0.005)


def test_scales_with_other_points_cover_the_same_stretch() -> None:
    six, nine, two = (DrawnCuts(points).draw(stream(1, "cuts"), 5_000).mean(axis=0) for points in (6, 9, 2))
    assert nine[-1] - nine[0] == pytest.approx(six[-1] - six[0], abs=0.02)
    assert two == pytest.approx([(six[0] + six[-1]) / 2], abs=0.02)


@pytest.mark.parametrize("values", [(0.0, 0.0), (1.0, 0.5), (), (0.0, float("inf"))])
def test_thresholds_out_of_order_are_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(PanelistError, match="Thresholds"):
        FixedCuts(values)


def test_a_preset_has_the_deviations_of_the_paper() -> None:
    general = Truth.preset("general")
    assert (general.raters, general.items) == (Spread(0.52, 0.43), Spread(0.57, 0.77))
    assert (len(PRESETS), general.residual, general.unit) == (5, 1.0, 0.62)
    with pytest.raises(UnknownName, match="extra-high"):
        Truth.preset("extrahigh")


def test_simulated_ratings_have_the_moments_of_the_truth() -> None:
    truth = Truth("given", Spread(0.6, 0.3), Spread(0.4, 0.8), FixedCuts((0.0,)))
    layout = Sampling(40, 2).lay_out(3)
    rng = stream(2, "moments")
    share = np.stack(
        [
            simulate_responses(truth, layout, (0.0, 0.5), rng, 100)[:, layout.system == s].mean()
            for s in (0, 1)
        ]
    )
    from scipy.special import ndtr

    spread = [np.sqrt(1 + 0.36 + 0.16), np.sqrt(1 + 0.36 + 0.09 + 0.16 + 0.64)]
    np.testing.assert_allclose(share, ndtr(np.array([0.0, 0.5]) / spread), atol=0.02)


def test_sliders_are_whole_numbers_from_0_to_100() -> None:
    truth = Truth.preset("general", Slider())
    values = simulate_responses(truth, Sampling(20, 2).lay_out(), (0.0, 0.31), stream(1, "s"), 10)
    assert values.min() >= 0
    assert values.max() <= 100
    assert (values == np.rint(values)).all()
    assert 40 < values.mean() < 80


def test_effects_follow_their_pattern() -> None:
    assert find_effects(1.0, 4, 0.5, "steps") == (0.0, 0.5, 1.0, 1.5)
    assert find_effects(-1.0, 3, 0.5, "one") == (0.0, 0.0, -0.5)
    with pytest.raises(PanelistError, match="steps or one"):
        find_effects(1.0, 2, 0.5, "stairs")
    with pytest.raises(PanelistError, match="number"):
        find_effects(float("nan"), 2, 0.5, "steps")
