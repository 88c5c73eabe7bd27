"""Power by models in which systems have a spread or thresholds of their own, and pilots that show spreads."""

import numpy as np
import pytest

from panelist.analysis.spec import AnalysisSpec
from panelist.core.seeds import stream
from panelist.models.fit import fit
from panelist.power.analyses import ANALYSES
from panelist.power.curve import simulate_power
from panelist.power.responses import simulate_responses
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.spread import Spread
from tests.power.grids import cross

FIVE = FixedCuts((-1.2, -0.4, 0.3, 1.1))
LAYOUT = cross(6, 10, 2)


def make_truth(**more: object) -> Truth:
    return Truth("small", Spread(0.5, 0.0), Spread(0.5, 0.0), FIVE, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["clmm_scale", "clmm_nominal", "clmm_sequential"])
def test_a_model_with_effects_beside_the_location_tests_every_set(name: str) -> None:
    truth = make_truth(system_scale=(1.0, 1.5))
    drawn = simulate_responses(truth, LAYOUT, (0.0, 0.6), stream(1, "sides"), 4)
    formula = "rating ~ system + (1 | rater) + (1 | item)"
    spec = AnalysisSpec(formula=formula)
    found = ANALYSES[name].prepare(LAYOUT, spec)(drawn)
    plain = ANALYSES["clmm"].prepare(LAYOUT, spec)(drawn)
    assert found.p.shape == (4, 1)
    assert not found.failed.any()
    assert np.sign(found.estimate).tolist() == np.sign(plain.estimate).tolist()
    if name == "clmm_nominal":
        means = [[row[LAYOUT.system == s].mean() for s in (0, 1)] for row in drawn]
        assert found.estimate[:, 0] == pytest.approx([b - a for a, b in means], abs=0.15)


def test_what_was_singular_or_made_smaller_is_counted() -> None:
    drawn = simulate_responses(make_truth(), LAYOUT, (0.0, 0.6), stream(4, "sides"), 3)
    spec = AnalysisSpec()
    found, plain = (ANALYSES[name].prepare(LAYOUT, spec)(drawn) for name in ("clmm_nominal", "clmm"))
    assert found.smaller is not None
    assert plain.smaller is not None
    assert found.smaller.tolist() == plain.smaller.tolist()
    assert found.smaller.any()


def test_raters_may_have_a_random_spread() -> None:
    small = cross(6, 6, 2)
    drawn = simulate_responses(make_truth(rater_scale=0.5), small, (0.0, 0.6), stream(6, "sides"), 1)
    formula = "rating ~ system + (1 | rater) + (1 | item)"
    found = ANALYSES["clmm_rater_scale"].prepare(small, AnalysisSpec(formula=formula))(drawn)
    own = fit(formula, small.make_frame(drawn[0] + 1.0), "clmm", scale="~ (1 | rater)")
    assert own.solution.omega > 0.1
    assert found.p[0, 0] == pytest.approx(float(own.coefficients["p"].iloc[0]), abs=1e-6)


def test_power_takes_them_by_name() -> None:
    curve = simulate_power(
        layout=LAYOUT, truth=make_truth(), effects=1.0, models=["clmm_scale"], sims=4,
        formula="rating ~ system + (1 | rater) + (1 | item)",
    )  # fmt: skip
    assert curve.cells[0].sims == 4


def test_a_pilot_whose_systems_differ_in_spread_is_simulated_so() -> None:
    layout = cross(12, 20, 2)
    for scale, differs in (((1.0, 2.0), True), ((1.0, 1.0), False)):
        drawn = simulate_responses(make_truth(system_scale=scale), layout, (0.0, 0.3), stream(2, "pilot"), 1)
        truth = Truth.from_pilot(layout.make_frame(drawn[0] + 1.0))
        assert bool(truth.system_scale) == differs
        if differs:
            assert truth.system_scale[1] == pytest.approx(2.0, abs=0.7)
            assert "simulated with these spreads" in truth.notes[0]
