"""Truths in which systems or raters differ in spread, or a system gains more at some thresholds."""

import numpy as np
import pytest

from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import PanelistError
from panelist.core.margin import Margin
from panelist.core.seeds import stream
from panelist.power.claims import place_systems
from panelist.power.curve import make_cells, simulate_power
from panelist.power.responses import simulate_responses
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts, Slider
from panelist.power.truth.spread import Spread
from tests.power.grids import cross

NOTHING = Spread(0.0, 0.0)
CUTS = FixedCuts((-1.0, 0.0, 1.0))


def share_above(truth: Truth, effects: tuple[float, ...], sets: int = 200) -> np.ndarray:
    """Return P(y > k) of each system, (systems, thresholds)."""
    plan = cross(20, 20, len(effects))
    codes = simulate_responses(truth, plan, effects, stream(2, "spread"), sets)
    n = truth.cuts.points - 1
    return np.array(
        [[(codes[:, plan.system == s] > k).mean() for k in range(n)] for s in range(len(effects))]
    )


def test_a_system_with_more_spread_uses_the_ends_of_the_scale_more() -> None:
    from scipy.special import ndtr

    truth = Truth("spread", NOTHING, NOTHING, CUTS, system_scale=(1.0, 1.6))
    found = share_above(truth, (0.0, 0.0))
    cuts = np.array(CUTS.values)
    assert found == pytest.approx(np.array([1 - ndtr(cuts), 1 - ndtr(cuts / 1.6)]), abs=0.005)


def test_raters_who_differ_in_spread_differ_in_how_much_their_ratings_vary() -> None:
    layout = cross(40, 50, 2)
    for sd, wide in ((0.0, False), (0.5, True)):
        truth = Truth("raters", NOTHING, NOTHING, CUTS, rater_scale=sd)
        codes = simulate_responses(truth, layout, (0.0, 0.0), stream(3, "raters"), 20)
        ends = np.array([np.abs(codes[:, layout.rater == r] - 1.5).mean(axis=1) for r in range(40)])
        assert (ends.std(axis=0).mean() > 0.1) == wide


def test_category_effects_move_single_thresholds_of_the_last_system() -> None:
    from scipy.special import ndtr

    truth = Truth("categories", NOTHING, NOTHING, CUTS, category_effects=(0.0, 0.0, 0.5))
    found = share_above(truth, (0.0, 0.2, 0.2))
    cuts = np.array(CUTS.values)
    assert found[1] == pytest.approx(ndtr(0.2 - cuts), abs=0.005)
    assert found[2] == pytest.approx(ndtr(0.2 - cuts + [0, 0, 0.5]), abs=0.005)


def test_the_numbers_of_a_truth_without_them_stay_as_they_were() -> None:
    truth = Truth.preset("general")
    assert truth.key == "0c584eb46ac3ee22"
    plain = simulate_responses(truth, cross(3, 4, 2), (0.0, 0.2), stream(1, "same"), 2)
    even = Truth("even", truth.raters, truth.items, truth.cuts, system_scale=(1.0, 1.0))
    assert (plain == simulate_responses(even, cross(3, 4, 2), (0.0, 0.2), stream(1, "same"), 2)).all()
    assert even.key != truth.key


def test_what_is_given_for_each_system_or_threshold_must_fit_the_design() -> None:
    truth = Truth("wrong", NOTHING, NOTHING, CUTS, system_scale=(1.0, 1.3))
    with pytest.raises(PanelistError, match="3 systems, and --system-scale 2 numbers"):
        make_cells([truth], [cross(3, 4, 3)], [0.0])
    truth = Truth("wrong", NOTHING, NOTHING, CUTS, category_effects=(0.1,))
    with pytest.raises(PanelistError, match="has 1 numbers, and the scale has 3 thresholds"):
        simulate_power(truth=truth, effects=0.0, sims=1)
    truth = Truth("wrong", NOTHING, NOTHING, Slider(), category_effects=(0.1,))
    with pytest.raises(PanelistError, match="this scale has no thresholds"):
        make_cells([truth], [cross(3, 4, 2)], [0.0])
    for wrong in ({"system_scale": (1.0, 0.0)}, {"rater_scale": -0.1}):
        with pytest.raises(PanelistError, match="Got"):
            Truth("wrong", NOTHING, NOTHING, CUTS, **wrong)


def test_a_claim_in_points_is_placed_with_each_systems_own_spread() -> None:
    truth = Truth(
        "spread", Spread(0.4, 0.2), NOTHING, FixedCuts((-1.5, -1.0, 0.5)), system_scale=(1.0, 1.5),
        rater_scale=0.4, category_effects=(0.0, 0.0, 0.3),
    )  # fmt: skip
    spec = AnalysisSpec(margin=Margin(0.6), claim="equivalence")
    size, effects = place_systems(truth, 2, spec, 0.5)
    layout = cross(60, 20, 2)
    codes = simulate_responses(truth, layout, effects, stream(5, "placed"), 200)
    means = [codes[:, layout.system == s].mean() for s in range(2)]
    assert means[1] - means[0] == pytest.approx(size, abs=0.01)
