"""A pilot as the truth, and presets found again by refitting what they made."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadRatings, PanelistError
from panelist.core.seeds import stream
from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.power.curve import make_cells, simulate_power
from panelist.power.layouts.base import Sampling
from panelist.power.responses import simulate_responses
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.spread import Spread

CUTS = FixedCuts((-1.78, -1.16, -0.54, 0.08, 0.70))
MAXIMAL = "rating ~ system + (system | rater) + (system | item)"


def make_pilot(systems: int = 2, seed: int = 1, items: int = 40) -> pd.DataFrame:
    layout = Sampling(items, 4, systems).lay_out()
    truth = Truth.preset("general", CUTS)
    effects = tuple(0.5 * place for place in range(systems))
    (codes,) = simulate_responses(truth, layout, effects, stream(seed, "pilot"), 1)
    return layout.make_frame(codes + 1)


@pytest.fixture(scope="module")
def pilot() -> pd.DataFrame:
    return make_pilot()


def test_simulated_data_give_the_preset_back() -> None:
    layout, truth = Sampling(80, 5).lay_out(), Truth.preset("general", CUTS)
    codes = simulate_responses(truth, layout, (0.0, 0.46), stream(3, "refit"), 24)
    frame = layout.make_frame(np.resize(np.arange(6), layout.n_rows))
    batch = prepare_batch(build_design(parse_formula(MAXIMAL), read_ratings(frame), ordinal=True), "clmm")
    fits = fit_batch(batch, codes)
    assert fits.beta.mean() == pytest.approx(0.46, abs=4 * fits.beta.std() / np.sqrt(24) + 0.02)
    np.testing.assert_allclose(fits.thresholds.mean(axis=0), CUTS.values, atol=0.12)
    found = dict(zip(fits.random_names, fits.random_sds.mean(axis=0), strict=True))
    for (group, term), sd in found.items():
        spread = truth.raters if group == "rater" else truth.items
        assert sd == pytest.approx(spread.intercept if term == "Intercept" else spread.slope, abs=0.09)


def test_a_pilot_becomes_the_truth_of_its_own_estimates(pilot: pd.DataFrame) -> None:
    truth = Truth.from_pilot(pilot)
    systems = truth.systems
    assert systems == ("s000000", "s000001")
    assert isinstance(truth.cuts, FixedCuts)
    assert truth.effects is not None
    assert truth.effects[1] == pytest.approx(0.5, abs=0.5)
    assert truth.unit == pytest.approx(np.diff(truth.cuts.values).mean())
    assert truth.items.slope > 0.3
    curve = simulate_power(20, 3, truth=truth, sims=20, models="item_means")
    (one,) = curve.cells
    assert one.preset == "pilot"
    assert one.effect == pytest.approx(truth.effects[1] / truth.unit, abs=1e-3)


def test_an_uncertain_pilot_draws_around_its_estimates(pilot: pd.DataFrame) -> None:
    truth = Truth.from_pilot(pilot, uncertain=True)
    assert truth.effects is not None
    draw = truth.draw(stream(1, "draw"), 4000, truth.effects)
    assert draw.effects[:, 1].mean() == pytest.approx(truth.effects[1], abs=0.05)
    assert draw.effects[:, 1].std() > 0.05
    assert (np.diff(draw.cuts, axis=1) >= 0).all()
    variance = np.einsum("nij,nkj->nik", draw.item_root, draw.item_root).mean(axis=0)
    np.testing.assert_allclose(variance, truth.items.covariance(2), atol=0.05)
    fixed = truth.draw(stream(1, "draw"), 10, (0.0, 0.3))
    assert (fixed.effects == [0.0, 0.3]).all()


def test_a_pilot_of_several_systems_keeps_them_all() -> None:
    truth = Truth.from_pilot(make_pilot(3))
    systems = truth.systems
    assert len(systems) == 3
    assert truth.effects is not None
    assert len(truth.effects) == 3
    with pytest.raises(PanelistError, match="--systems 3"):
        simulate_power(20, 3, truth=truth, sims=5, models="item_means")
    curve = simulate_power(20, 3, truth=truth, systems=3, sims=5, models="item_means")
    assert len(curve.cells[0].pairs) == 3


@pytest.mark.parametrize("column", ["system", "rater"])
def test_a_pilot_with_one_system_or_rater_is_refused(pilot: pd.DataFrame, column: str) -> None:
    with pytest.raises(BadRatings, match=f"at least 2 {column}s"):
        Truth.from_pilot(pilot.assign(**{column: "only"}))


def test_several_criteria_need_a_choice(pilot: pd.DataFrame) -> None:
    both: Any = pd.concat([pilot.assign(criterion="a"), pilot.assign(criterion="b")])
    with pytest.raises(BadRatings, match="--criterion"):
        Truth.from_pilot(both)
    assert Truth.from_pilot(both, "a").effects == pytest.approx(Truth.from_pilot(pilot).effects)


def test_a_pilot_shows_thresholds_that_differ_by_system() -> None:
    """The shares of every category are simulated as they were, as one shift or spread cannot have them."""
    layout = Sampling(60, 6).lay_out()
    nothing = Spread(0.3, 0.0)
    made = Truth("own", nothing, nothing, FixedCuts((-1.0, 0.0, 1.0)), category_effects=(0.9, 0.0, 0.9))
    (codes,) = simulate_responses(made, layout, (0.0, 0.0), stream(2, "nominal"), 1)
    truth = Truth.from_pilot(layout.make_frame(codes + 1))
    assert truth.system_gains
    assert truth.gains(2) == pytest.approx(np.array([[0, 0, 0], [0.3, -0.6, 0.3]]), abs=0.25)
    assert any("each system's own thresholds" in note for note in truth.notes)
    assert truth.effects is not None
    again = simulate_responses(truth, layout, truth.effects, stream(3, "nominal"), 40)
    for system in (0, 1):
        own = layout.system == system
        for k in range(4):
            assert (again[:, own] == k).mean() == pytest.approx((codes[own] == k).mean(), abs=0.03)
    with pytest.raises(PanelistError, match="estimated for 2 systems, and the design has 3"):
        make_cells([truth], [Sampling(10, 3, 3).lay_out()], [0.1])
    assert not Truth.from_pilot(layout.make_frame(codes + 1), uncertain=True).system_gains


def test_a_pilot_shows_how_much_raters_differ_in_spread() -> None:
    layout = Sampling(40, 6).lay_out()
    nothing, made = Spread(0.4, 0.0), FixedCuts((-1.2, -0.4, 0.4, 1.2))
    for rater_scale, systems in ((0.6, (1.0, 1.8)), (0.0, ())):
        truth = Truth("own", nothing, nothing, made, rater_scale=rater_scale, system_scale=systems)
        (codes,) = simulate_responses(truth, layout, (0.0, 0.3), stream(6, "spreads"), 1)
        found = Truth.from_pilot(layout.make_frame(codes + 1))
        assert found.rater_scale == pytest.approx(rater_scale, abs=0.2)
        assert any("raters differ in spread" in note for note in found.notes) == (rater_scale > 0.0)
        assert len(found.system_scale) == len(systems)
    assert Truth.from_pilot(layout.make_frame(codes + 1), uncertain=True).rater_scale == 0.0
