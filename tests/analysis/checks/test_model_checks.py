"""Checks of the model: against separate fits, against simulated truth, and by counting."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.checks.linear_checks import LinearChecks
from panelist.analysis.checks.model_checks import check_model
from panelist.analysis.checks.predicted_shares import predict_shares
from panelist.analysis.checks.proportional_odds import check_proportional_odds
from panelist.analysis.checks.threshold_spacing import measure_spacing
from panelist.analysis.compare import compare_systems
from panelist.analysis.missing import Missing
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.errors import BadModel
from panelist.core.seeds import stream
from panelist.models.fit import fit
from tests.simulated import simulate_demo


def demo() -> pd.DataFrame:
    frame = simulate_demo()
    return frame[frame["criterion"] == "fluency"].reset_index(drop=True)


@pytest.fixture(scope="module")
def compared() -> CriterionComparison:
    return compare_systems(demo()).criteria[0]


@pytest.mark.parametrize("link", ["probit", "logit", "cloglog", "loglog"])
def test_without_random_effects_the_test_is_that_of_separate_fits(link: str) -> None:
    frame = demo()
    whole = fit("rating ~ system", frame, model="clm", link=link)
    found = check_proportional_odds(whole, "fluency")
    alone = 0.0
    for _, part in frame.groupby("system"):
        shares = part["rating"].value_counts(normalize=True)
        alone += float((part["rating"].value_counts() * np.log(shares)).sum())
    assert found.chisq == pytest.approx(2 * (alone - whole.loglik), abs=1e-5)
    assert found.df == 2 * 4


def test_effects_at_each_threshold_are_those_of_binary_splits() -> None:
    frame = demo()
    found = check_proportional_odds(fit("rating ~ system", frame, model="clm"), "fluency")
    for one in found.effects:
        cut = int(one.threshold.split("|")[0])
        split = frame.assign(rating=(frame["rating"] > cut).astype(int))
        binary = fit("rating ~ system", split, model="clm").coefficients.set_index("term")
        row = binary.loc[f"system[T.{one.system}]"]
        assert one.effect == pytest.approx(row["estimate"], abs=1e-4)
        assert one.se == pytest.approx(row["se"], rel=0.02)


def test_data_from_the_model_pass_the_check() -> None:
    frame = demo()
    model = fit("rating ~ system + (1 | rater) + (1 | item)", frame, model="clmm")
    values = []
    for ratings in model.simulate(12, seed=4):
        again = fit(model.formula, frame.assign(rating=ratings.astype(int)), model="clmm")
        values.append(check_proportional_odds(again, "fluency").chisq)
    assert 5 < np.mean(values) < 11.5  # 8 degrees of freedom; the mean of twelve has a deviation of 1.2


def test_a_system_that_stretches_the_scale_is_found() -> None:
    rng = stream(3, "stretched")
    latent = np.concatenate([rng.normal(0, 1, 500), rng.normal(0, 2.2, 500)])
    frame = pd.DataFrame({"system": ["a"] * 500 + ["b"] * 500, "rating": np.digitize(latent, [-1, 0, 1]) + 1})
    found = check_proportional_odds(fit("rating ~ system", frame, model="clm"), "fluency")
    assert found.p < 0.001
    assert "do not shift all thresholds alike" in found.sentence()
    assert found.largest() is not None


def test_a_category_that_one_system_never_got_is_no_obstacle() -> None:
    frame = demo()
    frame = frame[~((frame["system"] == "rules") & (frame["rating"] == 6))]
    found = check_proportional_odds(fit("rating ~ system", frame, model="clm"), "fluency")
    assert found.df == 7
    last = [one for one in found.effects if one.system == "rules" and one.threshold == "5|6"]
    assert np.isnan(last[0].effect)


def test_two_categories_have_nothing_to_be_proportional() -> None:
    frame = demo().assign(rating=lambda rows: (rows["rating"] > 3).astype(int))
    with pytest.raises(BadModel, match="one threshold"):
        check_proportional_odds(fit("rating ~ system", frame, model="clm"), "fluency")


def test_spacing_has_the_gaps_of_the_thresholds(compared: CriterionComparison) -> None:
    spacing = measure_spacing(compared.fit, "fluency")
    t = compared.fit.threshold_values
    assert [one.gap for one in spacing.thresholds[1:]] == pytest.approx(list(np.diff(t)))
    V = compared.fit.cov_params
    assert spacing.thresholds[1].gap_se == pytest.approx(np.sqrt(V[0, 0] + V[1, 1] - 2 * V[0, 1]))
    assert spacing.df == 3
    assert spacing.p > 0.05  # the demo's thresholds are nearly equidistant


def test_uneven_thresholds_are_told_from_even_ones() -> None:
    latent = stream(8, "uneven").normal(0, 1, 3000)
    frame = pd.DataFrame(
        {"system": ["a", "b"] * 1500, "rating": np.digitize(latent, [-1.5, -1.2, 0.2, 1.8]) + 1}
    )
    spacing = measure_spacing(fit("rating ~ system", frame, model="clm"), "fluency")
    assert spacing.p < 0.001
    assert "not tenable" in spacing.sentence()


def test_shares_are_those_counted_and_those_predicted(compared: CriterionComparison) -> None:
    shares = predict_shares(compared.fit, "fluency", Missing("no interval model"))
    frame = demo()
    counted = pd.crosstab(frame["system"], frame["rating"], normalize="index")
    predicted = compared.fit.predict(
        pd.DataFrame({"system": ["prompted", "rules", "tuned"]}), effects="population"
    )
    for one in shares.shares:
        assert one.observed == pytest.approx(counted.loc[one.system, int(one.point)])
        place = ["prompted", "rules", "tuned"].index(one.system)
        assert one.ordinal == pytest.approx(predicted.iloc[place][one.point])
        assert np.isnan(one.interval)


def test_the_interval_model_gets_the_mass_near_each_point(compared: CriterionComparison) -> None:
    linear = compare_systems(demo(), model="lm").criteria[0].fit
    shares = predict_shares(compared.fit, "fluency", linear)
    mean = float(demo().query("system == 'tuned'")["rating"].mean())
    draws = stream(2, "normal").normal(mean, linear.sigma, 400_000)
    mine = {one.point: one.interval for one in shares.shares if one.system == "tuned"}
    for point, share in mine.items():
        assert share == pytest.approx((np.abs(draws - int(point)) <= 0.5).mean(), abs=0.004)
    assert shares.off_scale["tuned"] == pytest.approx((np.abs(draws - 3.5) > 3).mean(), abs=0.004)


def _slider(seed: int, *, top: bool = False, uneven: bool = False) -> pd.DataFrame:
    """Return ratings on a line: normal about 50, crowded below 100, or one system noisier."""
    rng = stream(seed, "slider")
    rows = [(f"r{r}", f"i{i}", s) for r in range(8) for i in range(30) for s in "ab"]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    spread = np.where(frame["system"] == "b", 30.0 if uneven else 10.0, 10.0)
    rating = (97 if top else 50) + spread * rng.normal(size=len(frame))
    return frame.assign(rating=rating.clip(max=100).round(1))


def _check_slider(**options: bool) -> LinearChecks:
    compared = compare_systems(_slider(3, **options), formula="rating ~ system + (1 | rater)").criteria[0]
    checks = check_model(compared, Missing("none"))
    assert isinstance(checks.linear, LinearChecks)
    assert "linear" in checks.to_dict()
    assert checks.parts()
    return checks.linear


def test_normal_residuals_pass_the_checks_of_a_linear_model() -> None:
    found = _check_slider()
    assert found.straightness > 0.99
    assert abs(found.slant) < 0.2
    assert all(one.off_scale < 0.02 for one in found.systems)
    assert all(one.observed == pytest.approx(one.normal, abs=0.35) for one in found.quantiles)
    assert "close to normal" in found.sentences()[0]
    assert "about alike" in found.sentences()[1]


def test_a_crowded_slider_is_predicted_off_the_scale() -> None:
    found = _check_slider(top=True)
    worst = max(one.off_scale for one in found.systems)
    assert 0.2 < worst < 0.6
    assert any("off the scale" in text for text in found.sentences())
    assert found.skewness < -0.5


def test_unequal_spreads_are_named() -> None:
    found = _check_slider(uneven=True)
    assert "most for b" in found.sentences()[1]
    spread = {one.system: one.sd for one in found.systems}
    assert spread["b"] / spread["a"] == pytest.approx(3.0, rel=0.2)
