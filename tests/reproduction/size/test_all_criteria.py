"""How large a repeat must be: every value of the tables, the limits, and simulation from a model."""

from math import inf

import numpy as np
import pytest
from scipy import stats

from panelist.core.errors import BadReproduction
from panelist.power.run import Run
from panelist.reproduction.measures.telescopes import find_effect, find_power, point_telescope
from panelist.reproduction.size.replication import simulate_repeats, size_original, size_repeat
from panelist.reproduction.size.shrunk_power import Mixture, shrink_power
from panelist.reproduction.sources import read_source
from tests.reproduction.small_studies import make_ratings

# Simonsohn (2015), recomputed: n, d33, power at 2.5 n, factors for 80, 90, 95 %, d33 if paired
TELESCOPES = [
    (10, 0.7220, 0.815, 2.391, 3.328, 4.222, 0.5405),
    (15, 0.5779, 0.803, 2.480, 3.447, 4.366, 0.4236),
    (20, 0.4959, 0.797, 2.523, 3.503, 4.435, 0.3599),
    (25, 0.4412, 0.793, 2.549, 3.537, 4.476, 0.3184),
    (30, 0.4013, 0.791, 2.565, 3.559, 4.503, 0.2886),
    (50, 0.3087, 0.787, 2.598, 3.602, 4.555, 0.2205),
    (100, 0.2172, 0.783, 2.622, 3.634, 4.594, 0.1544),
    (200, 0.1532, 0.782, 2.634, 3.650, 4.613, 0.1086),
]
# van Zwet & Goodman (2022), recomputed: p, z, power same direction, either, sign, factors for 80 % and 90 %
SHRUNK = [
    (0.20, 1.282, 0.170, 0.186, 0.822, 54.6, 1290, 226, inf),
    (0.10, 1.645, 0.230, 0.240, 0.885, 30.2, 64.3, 122, inf),
    (0.05, 1.960, 0.294, 0.301, 0.927, 16.6, 21.1, 62.7, 274),
    (0.04, 2.054, 0.315, 0.321, 0.937, 13.7, 16.3, 50.5, 131),
    (0.03, 2.170, 0.343, 0.348, 0.948, 10.9, 12.2, 38.2, 67.5),
    (0.02, 2.326, 0.383, 0.387, 0.961, 8.04, 8.55, 26.1, 34.8),
    (0.01, 2.576, 0.450, 0.452, 0.976, 5.08, 5.21, 14.3, 15.8),
    (0.005, 2.807, 0.514, 0.516, 0.985, 3.48, 3.51, 8.60, 8.90),
    (0.002, 3.090, 0.593, 0.595, 0.993, 2.33, 2.34, 4.98, 5.03),
    (0.001, 3.291, 0.648, 0.649, 0.996, 1.83, 1.84, 3.59, 3.61),
    (0.0001, 3.891, 0.791, 0.791, 0.999, 1.04, 1.04, 1.73, 1.73),
]


@pytest.mark.parametrize("row", TELESCOPES, ids=lambda row: f"n={row[0]}")
def test_small_telescopes(row: tuple[float, ...]) -> None:
    n, d33, power, *factors, paired = row
    found = point_telescope(int(n))
    assert (found.d33, point_telescope(int(n), "paired").d33) == pytest.approx((d33, paired), abs=5.1e-5)
    assert found.power_at_rule == pytest.approx(power, abs=5.1e-4)
    assert [factor for _, factor in found.factors] == pytest.approx(factors, abs=5.1e-4)


def test_telescopes_tend_to_the_normal_approximation() -> None:
    n = 100_000
    found = point_telescope(n)
    assert found.d33 * np.sqrt(n / 2) == pytest.approx(1.5286, abs=5e-5)
    assert found.power_at_rule == pytest.approx(0.780, abs=5e-4)
    assert [factor for _, factor in found.factors] == pytest.approx([2.646, 3.665, 4.632], abs=1e-3)
    z = np.array([stats.norm.ppf(level) for level in (0.95, 0.8, 0.9, 0.95)])
    assert [factor for _, factor in found.factors] == pytest.approx(
        (((z[0] + z[1:]) / 1.5286) ** 2).tolist(), abs=2e-3
    )


def test_power_is_that_of_simulated_t_tests() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0.6, 1, (20_000, 20)), rng.normal(0, 1, (20_000, 20))
    found = float((stats.ttest_ind(a, b, axis=1).pvalue < 0.05).mean())
    assert find_power(0.6, 20) == pytest.approx(found, abs=0.015)
    assert find_power(find_effect(20, 0.8), 20) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("row", SHRUNK, ids=lambda row: f"p={row[0]}")
def test_van_zwet_and_goodman(row: tuple[float, ...]) -> None:
    p, z, same, either, sign, *factors = row
    found = shrink_power(p)
    assert (found.z, found.power_same, found.power, found.sign) == pytest.approx(
        (z, same, either, sign), abs=5.1e-4
    )
    given = (found.factor_80, found.factor_80_same, found.factor_90, found.factor_90_same)
    assert given == pytest.approx(factors, rel=5.1e-3)  # printed with three digits


def test_the_six_figures_of_the_paper() -> None:
    at_05, at_005 = shrink_power(0.05), shrink_power(0.005)
    assert at_05.power == pytest.approx(0.30, abs=0.005)
    assert (round(at_05.sign, 2), round(at_005.sign, 2)) == (0.93, 0.99)
    assert at_05.factor_80 > 16
    assert at_005.power >= 0.5
    assert at_005.factor_80 == pytest.approx(3.5, abs=0.05)


def test_the_predictive_power_is_that_of_simulated_studies() -> None:
    mixture = Mixture((0.5, 0.5), (1.0, 3.0))
    rng = np.random.default_rng(6)
    snr = rng.normal(0, np.where(rng.random(2_000_000) < 0.5, 1.0, 3.0))
    z = snr + rng.normal(size=snr.size)
    near = np.abs(np.abs(z) - 2) < 0.05
    again = snr[near] + rng.normal(size=int(near.sum()))
    found = shrink_power(float(2 * stats.norm.sf(2)), mixture)
    assert found.power == pytest.approx(float((np.abs(again) > 1.96).mean()), abs=0.01)
    assert found.sign == pytest.approx(float((np.sign(snr[near]) == np.sign(z[near])).mean()), abs=0.01)


def test_a_repeat_of_the_same_design_is_simulated_from_the_original() -> None:
    original = read_source(make_ratings(1), "original").given[0]
    found = simulate_repeats(original, (1, 2), Run(20, workers=1))
    assert [(one.factor, one.items, one.raters) for one in found[::3]] == [(1, 15, 6), (2, 30, 12)]
    power = {(one.factor, one.a, one.b): one.power for one in found}
    assert power[1, "human", "rules"] > 0.8  # 1.6 residual standard deviations apart
    assert all(power[2, a, b] >= power[1, a, b] - 0.2 for _, a, b in power)


def test_sizes_of_an_original_read_its_counts_and_tests() -> None:
    found = size_original(make_ratings(1), sims=5).sizes[0]
    assert (found.n, found.unit, found.telescope is not None) == (15, "items", True)
    assert len(found.by_p) == 3
    assert found.telescope is not None
    assert found.telescope.design == "paired"
    assert "15 items" in found.sentence()
    assert "6 raters and 15 items" in found.notes[0]
    assert found.to_dict()["small_telescopes"]["rule_of_thumb"] == 2.5


def test_what_is_printed_is_enough() -> None:
    found = size_repeat(n=20, p=0.04)
    assert "asks for 50" in found.sentence()
    assert "13.7 times" in found.sentence()
    assert "small telescopes" in str(found).lower()
    assert "∞" in str(size_repeat(p=0.2, mixture=Mixture((1.0,), (1e-6,))))


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({}, "something must be known about the original"),
        ({"n": 2}, "3 or more"),
        ({"n": 20, "design": "crossed"}, "two-sample or paired"),
        ({"p": 0.0}, "between 0 and 1"),
        ({"p": 1.5}, "between 0 and 1"),
    ],
)
def test_bad_numbers_are_refused(arguments: dict[str, float], part: str) -> None:
    with pytest.raises(BadReproduction, match=part):
        size_repeat(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("weights", "sds"), [((0.5, 0.4), (1, 2)), ((1.0,), (0.0,)), ((1.0,), (1.0, 2.0)), ((), ())]
)
def test_a_mixture_must_be_one(weights: tuple[float, ...], sds: tuple[float, ...]) -> None:
    with pytest.raises(BadReproduction, match="mixture"):
        Mixture(weights, sds)
