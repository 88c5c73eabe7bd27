"""Raters and items: what is said about their spread agrees with the table that the model prints."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from panelist.analysis.level_effects import LevelEffect, LevelEffects, _weights, estimate_levels
from panelist.analysis.systems.marginal import make_grid
from panelist.models.fit import fit


def ratings(own: float, by_system: float, seed: int = 1) -> pd.DataFrame:
    """Return ratings of three systems and eight items by ten raters; raters' level and taste as given."""
    rng = np.random.default_rng(seed)
    rater, item, system = (grid.ravel() for grid in np.indices((10, 8, 3)))
    taste = rng.normal(size=(10, 3))
    taste -= taste.mean(axis=1, keepdims=True)  # so that nothing is left of it in the rater's average
    latent = own * rng.normal(size=10)[rater] + by_system * taste[rater, system] + 0.5 * rng.normal(size=240)
    return pd.DataFrame(
        {
            "rater": [f"r{k}" for k in rater],
            "item": [f"i{k}" for k in item],
            "system": [f"s{k}" for k in system],
            "rating": latent,
        }
    )


def test_a_spread_over_systems_is_not_shown_as_one_of_level() -> None:
    """The rater's own standard deviation is zero: the sentence says where the spread comes from."""
    fitted = fit(
        "rating ~ system + (1 | rater) + (1 | rater:system) + (1 | item)", ratings(0.0, 1.0), model="lmm"
    )
    sds = dict(zip(fitted.random["group"], fitted.random["sd"], strict=True))
    assert sds["rater"] < 1e-3
    levels = estimate_levels(fitted, make_grid(fitted, "system"), "x", "rater", "system", 0.95)
    assert levels.averaged
    assert levels.own == pytest.approx(sds["rater"], abs=1e-9)
    assert levels.by_system == pytest.approx(sds["rater:system"])
    assert levels.sd == pytest.approx(np.sqrt(sds["rater"] ** 2 + sds["rater:system"] ** 2 / 3))
    assert "the raters' averages over the systems differ with a standard deviation of" in levels.sentence()
    assert f"(0.00 in level, {sds['rater:system']:.2f} from system to system)" in levels.sentence()


def test_raters_alone_have_the_spread_of_the_models_table() -> None:
    fitted = fit("rating ~ system + (1 | rater) + (1 | item)", ratings(1.0, 0.0), model="lmm")
    sds = dict(zip(fitted.random["group"], fitted.random["sd"], strict=True))
    levels = estimate_levels(fitted, make_grid(fitted, "system"), "x", "rater", "system", 0.95)
    assert not levels.averaged
    assert f"the raters differ with a standard deviation of {sds['rater']:.2f} points" in levels.sentence()


def test_a_spread_of_zero_is_no_difference_that_the_data_show() -> None:
    levels = LevelEffects(
        criterion="x",
        group="rater",
        units="points of the scale",
        confidence=0.95,
        sd=0.0,
        share=0.0,
        levels=(LevelEffect("a", 3, 0.0, 0.0, 0.0),),
    )
    assert "the data show no difference between raters" in levels.sentence()
    assert "differ with" not in levels.sentence()


def levels_of(*effects: LevelEffect, sd: float) -> LevelEffects:
    return LevelEffects(
        criterion="x", group="item", units="latent units", confidence=0.95, sd=sd, share=0.1, levels=effects
    )


def test_a_table_of_noughts_is_not_shown() -> None:
    alike = levels_of(LevelEffect("a", 3, 0.0, 0.0, 0.0), LevelEffect("b", 3, 0.0, 0.0, 0.0), sd=0.0)
    assert alike.alike
    assert len(alike.parts()) == 1
    apart = levels_of(LevelEffect("a", 3, -0.5, -1.0, 0.0), LevelEffect("b", 3, 0.5, 0.1, 1.0), sd=0.4)
    assert len(apart.parts()) == 2


def test_one_stands_out_and_two_stand_out() -> None:
    low, high = LevelEffect("a", 3, -0.9, -1.4, -0.4), LevelEffect("b", 3, 0.9, 0.4, 1.4)
    even = LevelEffect("c", 3, 0.0, -0.5, 0.5)
    assert "1 of 2 stands out from the average" in levels_of(low, even, sd=0.4).sentence()
    assert "2 of 3 stand out from the average" in levels_of(low, even, high, sd=0.4).sentence()


@pytest.mark.parametrize("side", ["scale", "nominal"])
def test_what_ratings_say_of_a_level_follows_from_the_spread_and_the_thresholds_of_their_system(
    side: str,
) -> None:
    frame = ratings(0.5, 0.2)
    wider = frame["rating"] * np.where(frame["system"] == "s1", 2.0, 1.0)
    frame["rating"] = np.searchsorted((-0.8, 0.0, 0.8), wider) + 1
    fitted = fit("rating ~ system + (1 | rater)", frame, model="clmm", test="z", **{side: "~ system"})  # type: ignore[arg-type]
    sigma = np.ones(240)
    if side == "scale":
        ratios = [1.0, *fitted.scale["ratio"]]
        cells = np.tile(fitted.threshold_values, (240, 1))
        sigma = np.array([ratios[int(name[1])] for name in frame["system"]])
    else:
        cells = fitted.cell_thresholds.loc[[f"system {s}" for s in frame["system"]]].to_numpy()
    place = fitted.design.factors[0].index
    eta = fitted.design.X @ fitted.beta + fitted.solution.modes[0][place, 0]
    edges = np.column_stack([np.full(240, -np.inf), cells, np.full(240, np.inf)])
    codes, rows = np.asarray(fitted.design.codes), np.arange(240)

    def minus_log(shift: float) -> Any:
        p = ndtr((edges - (eta + shift)[:, None]) / sigma[:, None])
        return -np.log(p[rows, codes + 1] - p[rows, codes])

    h = 1e-3
    curvature = (minus_log(h) - 2 * minus_log(0.0) + minus_log(-h)) / h**2
    np.testing.assert_allclose(_weights(fitted), curvature, rtol=1e-3, atol=1e-4)
