"""``compare --family``: sequential and adjacent categories, compared in points."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.checks.model_checks import check_model
from panelist.analysis.compare import compare_systems
from panelist.analysis.level_effects import estimate_levels
from panelist.analysis.missing import Missing
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.analysis.systems.effects import measure_effects
from panelist.analysis.systems.marginal import make_grid
from panelist.core.errors import BadModel, UnknownName
from panelist.models.fit import fit
from panelist.models.results.fitted import Fit

FORMULA = "rating ~ system + (1 | rater) + (1 | item)"
LINKS = {"sequential": "probit", "adjacent": "logit"}


def make_frame(systems: str = "ab", seed: int = 3) -> pd.DataFrame:
    """Return ratings in four points, every system better than the one before."""
    rng = np.random.default_rng(seed)
    raters, items = rng.normal(0.0, 0.4, 8), rng.normal(0.0, 0.4, 10)
    rows = [
        (f"r{r}", f"i{i}", name, 0.6 * s + raters[r] + items[i] + rng.normal())
        for r in range(8)
        for i in range(10)
        for s, name in enumerate(systems)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "latent"])
    return frame.assign(rating=np.searchsorted((-0.8, 0.1, 1.0), frame.pop("latent")) + 1)


def compare(family: str, **how: object) -> CriterionComparison:
    how = {"formula": FORMULA, "link": LINKS[family], **how}
    return compare_systems(make_frame(), family=family, **how).criteria[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("family", LINKS)
def test_systems_are_compared_by_expected_ratings_and_eta(family: str) -> None:
    found = compare(family, margin=0.5)
    (pair,) = found.pairs
    alone = fit(FORMULA, make_frame(), link=LINKS[family], family=family)
    points = np.array([1.0, 2.0, 3.0, 4.0])

    def gap(own: Fit) -> float:
        p = np.asarray(own.predict(effects="population")) @ points
        return float(p[make_frame()["system"] == "a"].mean() - p[make_frame()["system"] == "b"].mean())

    assert pair.difference == pytest.approx(gap(alone), abs=1e-6)
    assert pair.effect == pytest.approx(-float(alone.beta[0]), abs=1e-6)
    assert pair.df == pytest.approx(float(alone.coefficients["df"].iloc[0]), rel=1e-6)
    t = float(alone.coefficients["statistic"].iloc[0])  # the delta method keeps the size of t, nearly
    assert -pair.statistic == pytest.approx(t, rel=0.1)
    for row in found.systems:
        assert row.low < row.estimate == pytest.approx(row.mean, abs=0.05)
    assert f"of {family} categories" in found.sentence()
    assert "Points and P(higher)" in str(found)
    assert found.to_dict()["family"] == family
    assert found.units.startswith("points of the scale")
    assert found.equivalence[0].difference == pytest.approx(pair.difference)
    (effect,) = measure_effects(found).pairs
    assert np.isnan(effect.latent)
    assert effect.superiority_low < effect.superiority < effect.superiority_high < 0.5


def test_what_needs_one_latent_scale_says_that_there_is_none() -> None:
    found = compare("sequential", margin="0.3 latent")
    assert any("no one latent scale; give the margin in points" in note for note in found.notes)
    checks = check_model(found, Missing("none"))
    for one in (checks.spacing, checks.proportional_odds):
        assert isinstance(one, Missing)
        assert "Sequential categories have no thresholds on one latent scale" in one.reason
    raters = estimate_levels(found.fit, make_grid(found.fit, "system"), "x", "rater", "system", 0.95)
    assert "units of η" in raters.sentence()
    assert "of the variance" not in raters.sentence()


def test_spreads_and_thresholds_are_tested_within_the_family() -> None:
    remedy = compare("sequential", allow="scale,nominal").remedy
    assert isinstance(remedy.scale, Missing)
    plain, own = (
        fit(FORMULA, make_frame(), family="sequential", nominal=side) for side in (None, "~ system")
    )
    assert remedy.nominal.chisq == pytest.approx(2 * (own.loglik - plain.loglik), abs=1e-6)


def test_a_family_belongs_to_ordinal_models() -> None:
    with pytest.raises(UnknownName, match="family='adjacent', with link='logit'"):
        compare_systems(make_frame(), family="acat")
    with pytest.raises(BadModel, match="belongs to the ordinal models"):
        compare_systems(make_frame(), family="sequential", model="lmm")
    frame = make_frame()
    frame["rating"] = frame["rating"] + np.arange(len(frame)) / 997
    found = compare_systems(frame, family="sequential", formula=FORMULA).criteria[0]
    assert any("The family (sequential) belongs to ordinal models" in note for note in found.notes)
