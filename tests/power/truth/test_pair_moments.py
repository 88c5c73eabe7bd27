"""Spreads from pairs of ratings: the truth comes back, also where raters nearly always agree."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from panelist.core.errors import BadRatings
from panelist.core.seeds import stream
from panelist.models.fit import fit
from panelist.power.curve import simulate_power
from panelist.power.layouts.base import Layout
from panelist.power.responses import simulate_responses
from panelist.power.truth import pilot as pilots
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.pair_moments import estimate_components, find_rectangles
from panelist.power.truth.pilot import NEAR_UNANIMOUS
from panelist.power.truth.spread import Spread
from tests.power.grids import cross
from tests.shared_cases import MISSING, SHARED

XSUM = SHARED / "xsum_factuality.csv"
CASES = {
    "yes or no, nearly unanimous": (cross(3, 250, 2), (2.0,), (0.3, 0.2, 8.0, 12.0)),
    "five points, nearly unanimous": (cross(3, 80, 3), (-3.0, -1.0, 1.0, 3.0), (0.2, 0.2, 5.0, 8.0)),
    "as usual": (cross(12, 60, 3), (-1.0, -0.3, 0.3, 1.0), (0.25, 0.15, 0.3, 0.4)),
}


def make_spread(main: float, crossed: float, systems: int) -> Spread:
    covariance = main * np.ones((systems, systems)) + crossed * np.eye(systems)
    return Spread(1.0, 1.0, 0.0, tuple(map(tuple, covariance.tolist())))


def simulate(name: str, sets: int) -> tuple[Layout, np.ndarray]:
    layout, cuts, (rater, rater_system, item, item_system) = CASES[name]
    k = layout.n_systems
    raters, items = make_spread(rater, rater_system, k), make_spread(item, item_system, k)
    truth = Truth("given", raters, items, FixedCuts(cuts))
    effects = tuple(0.8 * place for place in range(k))
    return layout, simulate_responses(truth, layout, effects, stream(3, "pairs"), sets)


@pytest.mark.parametrize("r", [-0.9, 0.0, 0.5, 0.95, 0.995])
def test_rectangles_are_those_of_scipy(r: float) -> None:
    h, k = np.array([-1.4, -0.3, 0.6]), np.array([-0.8, 0.4])
    ends = [np.array([-np.inf, *one, np.inf]) for one in (h, k)]
    found = find_rectangles(h, k, r)
    assert found.sum() == pytest.approx(1.0)
    both = multivariate_normal(cov=[[1.0, r], [r, 1.0]])
    for i in range(4):
        for j in range(3):
            low, high = [ends[0][i], ends[1][j]], [ends[0][i + 1], ends[1][j + 1]]
            assert found[i, j] == pytest.approx(both.cdf(high, lower_limit=low), abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_truth_comes_back(name: str) -> None:
    layout, responses = simulate(name, 16)
    found = []
    for codes in responses:
        margins = fit("rating ~ system", layout.make_frame(codes + 1), model="clm", link="probit")
        table = pd.DataFrame(
            {"rater": layout.rater, "item": layout.item, "system": layout.system, "code": codes}
        )
        one = estimate_components(table, margins.threshold_values, np.array([0.0, *margins.beta]))
        found.append([one.effects[-1], one.rater + one.rater_system, one.item, one.item_system, *one.cuts])
    _, cuts, (rater, rater_system, item, item_system) = CASES[name]
    truth = np.array([0.8 * (layout.n_systems - 1), rater + rater_system, item, item_system, *cuts])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(mean - truth) < 4 * error + 0.1 * np.abs(truth)).all(), (mean, truth)


def test_a_pilot_whose_model_is_not_trusted_is_read_from_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, responses = simulate("yes or no, nearly unanimous", 1)
    frame = layout.make_frame(responses[0] + 1)
    monkeypatch.setattr(pilots, "find_faults", lambda fitted, term: ["nearly unanimous"])
    truth = Truth.from_pilot(frame)
    systems = truth.systems
    assert len(systems) == 2
    assert truth.notes == (NEAR_UNANIMOUS,)
    covariance = truth.items.covariance(2)
    assert 2.0 < covariance[0, 1] < 20.0
    assert 8.0 < covariance[0, 0] < 45.0
    curve = simulate_power(20, 3, truth=truth, sims=4, models="lmm")
    assert NEAR_UNANIMOUS in curve.notes
    with pytest.raises(BadRatings, match="--uncertain"):
        Truth.from_pilot(frame, uncertain=True)


def test_simulated_ratings_agree_as_often_as_those_of_the_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, responses = simulate("yes or no, nearly unanimous", 1)
    monkeypatch.setattr(pilots, "find_faults", lambda fitted, term: ["nearly unanimous"])
    truth = Truth.from_pilot(layout.make_frame(responses[0] + 1))
    assert truth.effects is not None
    again = simulate_responses(truth, layout, truth.effects, stream(5, "again"), 40)

    def share_unanimous(codes: np.ndarray) -> float:
        by_output = codes.reshape(layout.n_raters, -1)
        return float((by_output == by_output[0]).all(axis=0).mean())

    shares = [share_unanimous(codes) for codes in again]
    assert share_unanimous(responses[0]) == pytest.approx(np.mean(shares), abs=0.05)


def test_a_pilot_with_a_system_at_one_end_is_refused() -> None:
    layout, responses = simulate("as usual", 1)
    codes = np.where(layout.system == 1, 4, responses[0])
    with pytest.raises(BadRatings, match=r"s000001 \(highest\)"):
        Truth.from_pilot(layout.make_frame(codes + 1))


@pytest.mark.skipif(not XSUM.exists(), reason=MISSING)
def test_nearly_unanimous_ratings_give_what_exact_integration_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense integration with one effect of outputs gives an SD of 4.6 and −2.14 for the largest gap."""
    monkeypatch.setattr(pilots, "find_faults", lambda fitted, term: ["nearly unanimous"])
    truth = Truth.from_pilot(XSUM)
    systems = truth.systems
    assert truth.effects is not None
    gaps = dict(zip(systems, truth.effects, strict=True))
    assert gaps["PtGen"] == pytest.approx(-2.14, abs=0.66)  # two standard errors
    assert np.sqrt(truth.items.covariance(4)[0, 0]) == pytest.approx(4.6, abs=0.5)
