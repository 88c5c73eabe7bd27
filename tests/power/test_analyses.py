"""The analyses: against scipy and closed forms, and as tests at their own null."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench.choices_clustered import draw_pairs, draw_winners, lay_out, make_trials
from panelist.analysis.choices.compare_choices import contrast_strengths
from panelist.analysis.choices.models.bradley_terry import fit_bradley_terry
from panelist.analysis.choices.models.mixed import fit_mixed
from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadDesign
from panelist.core.seeds import stream
from panelist.design.make import plan_study
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import SimulatedPairTests
from panelist.power.cells import find_interval
from panelist.power.layouts.base import Layout, Sampling
from panelist.power.layouts.from_plan import lay_out_plan
from panelist.power.responses import simulate_responses
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts, Slider
from panelist.power.truth.spread import Spread
from tests.design.small_studies import make_study

CHOICES = AnalysisSpec()
CUTS = FixedCuts((-1.5, -0.6, 0.0, 0.5, 1.2))


def analyse(name: str, layout: Layout, responses: Any) -> SimulatedPairTests:
    return ANALYSES[name].prepare(layout, CHOICES)(responses)


def draw(layout: Layout, truth: Truth, effects: tuple[float, ...], sets: int, seed: int = 1) -> Any:
    return simulate_responses(truth, layout, effects, stream(seed, "analyses"), sets)


@pytest.fixture(scope="module")
def layout() -> Layout:
    return Sampling(20, 3, systems=3).lay_out()


@pytest.fixture(scope="module")
def responses(layout: Layout) -> Any:
    return draw(layout, Truth.preset("low"), (0.0, 0.3, 0.8), 4)


def test_t_test_is_that_of_scipy(layout: Layout, responses: Any) -> None:
    tests = analyse("t_test", layout, responses)
    for n, row in enumerate(responses):
        for pair, (a, b) in enumerate(layout.pairs):
            found = stats.ttest_ind(row[layout.system == b], row[layout.system == a], equal_var=False)
            assert tests.p[n, pair] == pytest.approx(found.pvalue)
            assert tests.statistic[n, pair] == pytest.approx(found.statistic)


def test_mann_whitney_is_that_of_scipy(layout: Layout, responses: Any) -> None:
    tests = analyse("mann_whitney", layout, responses)
    for n, row in enumerate(responses):
        for pair, (a, b) in enumerate(layout.pairs):
            found = stats.mannwhitneyu(row[layout.system == b], row[layout.system == a], method="asymptotic")
            assert tests.p[n, pair] == pytest.approx(found.pvalue)


def test_chi_square_is_that_of_scipy(layout: Layout, responses: Any) -> None:
    tests = analyse("chi_square", layout, responses)
    for n, row in enumerate(responses):
        top = row == row.max()
        for pair, (a, b) in enumerate(layout.pairs):
            table = [
                [(top & (layout.system == s)).sum(), (~top & (layout.system == s)).sum()] for s in (a, b)
            ]
            assert tests.p[n, pair] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_item_means_and_signs_are_those_of_scipy(layout: Layout, responses: Any) -> None:
    paired, signs = analyse("item_means", layout, responses), analyse("sign_test", layout, responses)
    for n, row in enumerate(responses):
        means = np.array(
            [[row[(layout.item == i) & (layout.system == s)].mean() for s in range(3)] for i in range(20)]
        )
        for pair, (a, b) in enumerate(layout.pairs):
            assert paired.p[n, pair] == pytest.approx(stats.ttest_rel(means[:, b], means[:, a]).pvalue)
            gap = np.round(means[:, b] - means[:, a], 9)
            more, less = int((gap > 0).sum()), int((gap < 0).sum())
            assert signs.p[n, pair] == pytest.approx(stats.binomtest(more, more + less).pvalue)


def test_linear_model_with_two_systems_is_the_pooled_t_test() -> None:
    layout = Sampling(15, 2).lay_out()
    responses = draw(layout, Truth.preset("low"), (0.0, 0.4), 3)
    tests = analyse("lm", layout, responses)
    for n, row in enumerate(responses):
        found = stats.ttest_ind(row[layout.system == 1], row[layout.system == 0])
        assert tests.p[n, 0] == pytest.approx(found.pvalue, rel=1e-6)


def test_power_of_the_paired_t_test_is_that_of_the_formula() -> None:
    """One rating a cell and no raters' differences: items' differences are normal with variance s² + 2."""
    n, effect, slope = 40, 0.55, 0.8
    truth = Truth("given", Spread(0.0, 0.0), Spread(0.5, slope), Slider())
    layout = Sampling(n, 1).lay_out()
    sets = 4000
    # The slider's ends would cut normal judgements off; a tenth of everything stays inside.
    small = Truth("small", Spread(0.0, 0.0), Spread(0.05, slope / 10), Slider(), residual=0.1)
    latent = draw(layout, small, (0.0, effect / 10), sets)
    found = int((analyse("item_means", layout, latent).p[:, 0] < 0.05).sum())
    ncp = effect / np.sqrt(slope**2 + 2 * truth.residual**2) * np.sqrt(n)
    t = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(t, n - 1, ncp) + stats.nct.cdf(-t, n - 1, ncp)
    low, high = find_interval(found, sets, 0.999)
    assert low < power < high


@pytest.mark.parametrize("name", ["clmm", "lmm"])
def test_mixed_models_hold_their_level_where_systems_are_exchangeable(name: str) -> None:
    """With these correlations both systems have the same distribution, so that every null holds."""
    truth = Truth("equal", Spread(0.5, 0.4, -0.4), Spread(0.6, 0.6, -0.5), CUTS)
    layout = Sampling(30, 4, outputs_per_rater=6).lay_out()
    sets = 250
    tests = analyse(name, layout, draw(layout, truth, (0.0, 0.0), sets, seed=4))
    assert tests.failed.sum() == 0
    low, high = find_interval(int((tests.p[:, 0] < 0.05).sum()), sets, 0.999)
    assert low < 0.05 < high


def test_tests_that_ignore_raters_are_no_tests() -> None:
    truth = Truth("given", Spread(0.2, 1.0, -0.5), Spread(0.2, 0.2), CUTS)
    layout = Sampling(24, 4, outputs_per_rater=24).lay_out()
    responses = draw(layout, truth, (0.0, 0.0), 200)
    for name in ("t_test", "mann_whitney", "lm", "clm"):
        assert "raters" in ANALYSES[name].ignores
        assert (analyse(name, layout, responses).p[:, 0] < 0.05).mean() > 0.2


@pytest.mark.parametrize("name", list(ANALYSES))
def test_every_analysis_finds_a_large_effect_and_its_direction(name: str) -> None:
    kind = ANALYSES[name].reads[0]
    if kind == "choices":
        shown = "pairs" if name.startswith("pairs_") else "best-worst"
        study = make_study(20, ("x", "y", "z"), {"best": {"type": shown}}, design={"type": shown})
        layout = lay_out_plan(plan_study(study, raters=12), study)
    else:
        layout = Sampling(30, 4, systems=3).lay_out()
    tests = analyse(name, layout, draw(layout, Truth.preset("extra-low"), (-1.8, -0.6, 0.6), 3))
    assert tests.p.shape == (3, 3)
    assert (tests.p < 0.05).all()
    assert (tests.estimate > 0).all()
    assert not tests.failed.any()


@pytest.mark.parametrize("name", [name for name in ANALYSES if "points" in ANALYSES[name].reads])
def test_equal_ratings_fail_and_are_not_found(name: str) -> None:
    layout = Sampling(12, 2).lay_out()
    responses = draw(layout, Truth.preset("low"), (0.0, 0.5), 2)
    responses[1] = 3
    tests = analyse(name, layout, responses)
    assert tests.failed.tolist() == [False, True]
    assert np.isnan(tests.p[1]).all()


def test_binary_answers_go_through_the_mixed_models() -> None:
    truth = Truth("given", Spread(0.4, 0.2), Spread(0.4, 0.2), FixedCuts((0.2,)))
    layout = Sampling(30, 4).lay_out()
    tests = analyse("clmm", layout, draw(layout, truth, (0.0, 1.5), 3))
    assert (tests.p < 0.05).all()


def test_bradley_terry_of_one_pair_is_its_log_odds() -> None:
    page = np.repeat(np.arange(30), 2).astype(np.int32)
    layout = Layout(
        rater=(page // 5).astype(np.int32),
        item=page,
        system=np.tile([0, 1], 30).astype(np.int32),
        n_raters=6,
        n_items=30,
        systems=("a", "b"),
        ratings_per_item=1,
        page=page,
    )
    latent = np.zeros((1, 60))
    latent[0, 1::2] = np.where(np.arange(30) % 3 == 0, -1.0, 1.0)  # b wins 20 of 30
    tests = analyse("bradley_terry", layout, latent)
    assert tests.estimate[0, 0] == pytest.approx(np.log(2), rel=1e-6)
    won = (latent[0, 1::2] > 0) - 2 / 3
    scores = won.reshape(6, 5).sum(axis=1)
    rater, cell = (n / (n - 1) * (s**2).sum() / (30 * 2 / 9) ** 2 for n, s in ((6, scores), (30, won)))
    assert rater < cell  # raters differ less than chance would have them: items alone count
    assert tests.se[0, 0] == pytest.approx(np.sqrt(cell), rel=1e-6)
    assert tests.df[0, 0] == 29


def test_bradley_terry_tests_as_the_comparison_of_choices_does() -> None:
    rng = np.random.default_rng(2)
    shown = draw_pairs(rng, 12, 15, 3)
    won = draw_winners(rng, shown, 12, 15, 0.8, 0.8, lead=0.6)
    latent = np.stack([won, ~won], axis=1).reshape(1, -1).astype(float)
    tests = analyse("bradley_terry", lay_out(shown, 12, 15, 3), latent)
    pairs = contrast_strengths(fit_bradley_terry(make_trials(shown, won, 15)), "none")
    assert -tests.estimate[0] == pytest.approx(pairs.estimate, abs=1e-6)
    assert tests.se[0] == pytest.approx(pairs.se, rel=1e-5)
    assert tests.df[0] == pytest.approx(pairs.df, rel=1e-4)


def test_mixed_pairs_are_tested_as_the_comparison_of_choices_does() -> None:
    rng = np.random.default_rng(2)
    shown = draw_pairs(rng, 8, 10, 3)
    won = draw_winners(rng, shown, 8, 10, 0.8, 0.8, lead=0.6)
    latent = np.stack([won, ~won], axis=1).reshape(1, -1).astype(float)
    layout = lay_out(shown, 8, 10, 3)
    tests = analyse("pairs_mixed", layout, latent)
    trials = make_trials(shown, won, 10)
    strengths = fit_mixed(trials, fit_bradley_terry(trials), {})
    pairs = contrast_strengths(strengths, "none")
    assert -tests.estimate[0] == pytest.approx(pairs.estimate, abs=1e-6)
    assert tests.se[0] == pytest.approx(pairs.se, rel=1e-6)
    assert tests.df[0] == pytest.approx(pairs.df, rel=1e-6)
    graded = analyse("pairs_graded", layout, latent + rng.normal(0.0, 0.5, latent.shape))
    assert np.isfinite(graded.p).all()
    assert not graded.failed.any()


@pytest.mark.parametrize("name", ["bradley_terry", "pairs_mixed"])
def test_a_system_that_never_lost_is_found_as_the_comparison_of_choices_finds_it(name: str) -> None:
    rng = np.random.default_rng(2)
    shown = draw_pairs(rng, 12, 15, 3)
    won = np.where(shown == 0, 1, 0)[:, 0] == 1  # the first system won all of its comparisons
    won |= (shown[:, 1] != 0) & (rng.random(len(shown)) < 0.5)
    latent = np.stack([won, ~won], axis=1).reshape(1, -1).astype(float)
    tests = analyse(name, lay_out(shown, 12, 15, 3), np.concatenate([latent, latent]))
    pairs = contrast_strengths(fit_bradley_terry(make_trials(shown, won, 15)), "none")
    assert not tests.failed.any()
    assert tests.separated is not None
    assert tests.separated.all()
    for found in tests.p:
        assert found == pytest.approx(pairs.p, rel=1e-6)
    assert (tests.p[0, :2] < 0.001).all()  # no standard error, but a sign test
    assert np.isnan(tests.se[0, :2]).all()


@pytest.mark.parametrize("told", ["best", "best-worst", "ranking"])
def test_one_sided_sets_are_read_from_any_kind_of_page(told: str) -> None:
    page = np.repeat(np.arange(36), 3).astype(np.int32)
    layout = Layout(
        rater=(page % 6).astype(np.int32),
        item=page // 3,
        system=np.tile([0, 1, 2], 36).astype(np.int32),
        n_raters=6,
        n_items=12,
        systems=("a", "b", "c"),
        ratings_per_item=1,
        page=page,
        told=told,
    )
    rng = np.random.default_rng(1)
    latent = np.where(layout.system == 2, 9.0, rng.normal(size=len(page)))[None]
    tests = analyse("bradley_terry", layout, latent)
    assert not tests.failed.any()
    assert (tests.p[0, 1:] < 0.05).all()
    assert (tests.estimate[0, 1:] > 0).all()  # the second of a pair above the first


def test_mixed_pairs_need_two_outputs_on_a_page() -> None:
    page = np.repeat(np.arange(10), 3).astype(np.int32)
    layout = Layout(
        rater=(page % 5).astype(np.int32),
        item=page,
        system=np.tile([0, 1, 2], 10).astype(np.int32),
        n_raters=5,
        n_items=10,
        systems=("a", "b", "c"),
        ratings_per_item=1,
        page=page,
    )
    with pytest.raises(BadDesign, match="two outputs on each page"):
        analyse("pairs_mixed", layout, np.zeros((1, 30)))
