"""A simulated set gets the analysis that ``panelist compare`` gives it: the same model, the same p-values."""

from typing import Any

import numpy as np
import pytest

from panelist.analysis.compare import compare_systems
from panelist.analysis.spec import AnalysisSpec
from panelist.core.seeds import stream
from panelist.models.fit import fit
from panelist.power.analyses import ANALYSES, batch_models
from panelist.power.analyses.base import SimulatedPairTests
from panelist.power.layouts.base import Layout, Sampling
from panelist.power.responses import simulate_responses
from panelist.power.tally import adjust_tests, count_tests
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.spread import Spread
from tests.power.grids import cross

FIVE = FixedCuts((-1.2, -0.4, 0.3, 1.1))
YES_OR_NO = FixedCuts((0.2,))
CEILING = FixedCuts((-3.2, -2.6, -2.0))


def simulate(layout: Layout, cuts: FixedCuts, sets: int, effect: float = 0.2, seed: int = 1) -> Any:
    truth = Truth("small", Spread(0.5, 0.3), Spread(0.6, 0.3), cuts)
    effects = tuple(effect * place for place in range(layout.n_systems))
    return simulate_responses(truth, layout, effects, stream(seed, "as compared"), sets)


DESIGNS = {
    "8 raters, 12 items, 3 systems": (cross(8, 12, 3), FIVE, 0.2),
    "3 raters, 20 items": (cross(3, 20, 2), FIVE, 0.2),
    "6 raters, yes or no": (cross(6, 10, 2), YES_OR_NO, 0.2),
    "lists": (Sampling(20, 3).lay_out(), FIVE, 0.2),
    "lists, 3 systems": (Sampling(18, 3, systems=3, outputs_per_rater=9).lay_out(), FIVE, 0.2),
    "near the ceiling": (cross(5, 8, 2), CEILING, 0.2),
    "near the ceiling, 3 systems": (cross(5, 6, 3), CEILING, 0.2),
}


def check_against_compare(model: str, layout: Layout, responses: Any, tests: SimulatedPairTests) -> int:
    """Compare every set with what compare says of it; return how many took a smaller model."""
    smaller = 0
    assert tests.smaller is not None
    for at, codes in enumerate(responses):
        frame = layout.make_frame(codes + 1.0)
        (only,) = compare_systems(frame, model="auto" if model == "clmm" else model, adjust="none").criteria
        if not only.fit.converged:
            assert tests.failed[at]
            continue
        expected = np.array([pair.p for pair in only.pairs])
        np.testing.assert_allclose(tests.p[at], expected, atol=2e-4, err_msg=f"set {at}: {only.formula}")
        differences = np.array([-pair.difference for pair in only.pairs])
        np.testing.assert_allclose(tests.estimate[at], differences, rtol=2e-3, atol=2e-3)
        if model == "clmm":
            assert tests.linear is not None
            assert tests.linear[at] == (only.model == "lmm")
        taken = any("The next smaller model was taken" in note for note in only.notes)
        assert tests.smaller[at] == taken
        smaller += taken
    return smaller


@pytest.mark.parametrize("model", ["clmm", "lmm"])
@pytest.mark.parametrize("name", DESIGNS)
def test_every_set_is_analysed_as_compare_would(name: str, model: str) -> None:
    layout, cuts, effect = DESIGNS[name]
    responses = simulate(layout, cuts, 8, effect)
    tests = ANALYSES[model].prepare(layout, AnalysisSpec())(responses)
    smaller = check_against_compare(model, layout, responses, tests)
    assert smaller == tests.smaller.sum()  # type: ignore[union-attr]
    assert smaller > 0
    if model == "clmm" and "ceiling" in name:
        assert tests.separated is not None
        assert tests.separated.any()
        assert tests.linear is not None
        assert tests.linear.any()


def test_no_set_depends_on_what_is_analysed_with_it() -> None:
    layout, cuts, effect = DESIGNS["8 raters, 12 items, 3 systems"]
    responses = simulate(layout, cuts, 6, effect)
    run = ANALYSES["clmm"].prepare(layout, AnalysisSpec())
    together = run(responses)
    for at in (0, 3, 5):
        alone = run(responses[at : at + 1])
        np.testing.assert_array_equal(alone.p[0], together.p[at])


def test_a_formula_is_fitted_as_it_is() -> None:
    layout, cuts, effect = DESIGNS["8 raters, 12 items, 3 systems"]
    formula = "rating ~ system + (system | rater) + (1 | item)"
    responses = simulate(layout, cuts, 6, effect)
    tests = ANALYSES["clmm"].prepare(layout, AnalysisSpec(formula=formula))(responses)
    assert tests.smaller is not None
    assert tests.singular.any()
    assert not tests.smaller.any()
    for at, codes in enumerate(responses):
        (only,) = compare_systems(layout.make_frame(codes + 1.0), formula=formula, adjust="none").criteria
        np.testing.assert_allclose(tests.p[at], [pair.p for pair in only.pairs], atol=2e-4)


def test_the_paper_takes_the_largest_model_and_z_in_every_set() -> None:
    layout, cuts, effect = DESIGNS["3 raters, 20 items"]
    responses = simulate(layout, cuts, 4, effect)
    released = ANALYSES["clmm"].prepare(layout, AnalysisSpec(method="ML", test="z", as_compared=False))(
        responses
    )
    assert np.isinf(released.df).all()
    for at, codes in enumerate(responses):
        formula = "rating ~ system + (system | rater) + (system | item)"
        alone = fit(formula, layout.make_frame(codes + 1.0), model="clmm", test="z").coefficients
        assert released.p[at, 0] == pytest.approx(alone["p"][0], abs=1e-6)


def test_the_linear_model_leads_in_sets_that_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, cuts, effect = DESIGNS["lists"]
    responses = simulate(layout, cuts, 6, effect)
    usual = ANALYSES["clmm"].prepare(layout, AnalysisSpec())(responses)
    linear = ANALYSES["lmm"].prepare(layout, AnalysisSpec())(responses)
    marks = np.array([True, False, False, True, False, False])
    monkeypatch.setattr(batch_models, "find_untrusted", lambda kept, L, n_sets: marks)
    tests = ANALYSES["clmm"].prepare(layout, AnalysisSpec())(responses)
    np.testing.assert_array_equal(tests.p, np.where(marks[:, None], linear.p, usual.p))
    np.testing.assert_array_equal(tests.linear, marks)
    tally = count_tests(tests, AnalysisSpec(), (0.2,), 0.0)
    assert tally.linear == 2
    assert tally.estimated == (4,)  # the linear model's estimates are in other units
    assert tally.sum_estimate[0] == pytest.approx(usual.estimate[~marks].sum())


def test_infinite_estimates_are_found_and_not_averaged() -> None:
    layout, cuts, effect = DESIGNS["3 raters, 20 items"]
    responses = simulate(layout, cuts, 3, effect)
    responses[0] = np.where(layout.system == 1, responses.max(), np.minimum(responses[0], 2))
    tests = ANALYSES["clmm"].prepare(layout, AnalysisSpec())(responses)
    assert np.isposinf(tests.estimate[0, 0])
    assert tests.p[0, 0] < 0.05
    tally = count_tests(tests, AnalysisSpec(), (0.2,), 0.0)
    assert (tally.separated, tally.failed) == (1, 0)
    assert tally.found[0] >= 1
    assert np.isfinite([*tally.sum_estimate, *tally.sum_size, *tally.sum_width]).all()


@pytest.mark.parametrize("model", ["clmm", "lmm"])
@pytest.mark.parametrize("name", ["8 raters, 12 items, 3 systems", "lists, 3 systems"])
def test_pairs_are_adjusted_as_compare_adjusts_them(name: str, model: str) -> None:
    """Tukey where the standard errors are alike, the multivariate t where they differ."""
    layout, cuts, effect = DESIGNS[name]
    responses = simulate(layout, cuts, 8, effect)
    tests = ANALYSES[model].prepare(layout, AnalysisSpec())(responses)
    adjusted, critical = adjust_tests(tests, AnalysisSpec(), layout.n_systems)
    by_mvt = 0
    for at, codes in enumerate(responses):
        frame = layout.make_frame(codes + 1.0)
        (only,) = compare_systems(frame, model="auto" if model == "clmm" else model).criteria
        if not only.fit.converged:
            continue
        by_mvt += only.adjust == "mvt"
        np.testing.assert_allclose(adjusted[at], [pair.p_adjusted for pair in only.pairs], atol=1e-3)
        for place, pair in enumerate(only.pairs):
            assert critical[at, place] * pair.se == pytest.approx((pair.high - pair.low) / 2, rel=2e-2)
    assert by_mvt > 0


def test_sets_whose_systems_hardly_overlap_are_analysed_by_the_linear_model() -> None:
    layout = cross(5, 8, 2)
    codes = simulate(layout, FIVE, 3)
    apart = np.where(layout.system == 0, np.minimum(codes, 2), 2 + codes % 3)
    tests = ANALYSES["clmm"].prepare(layout, AnalysisSpec())(apart)
    check_against_compare("clmm", layout, apart, tests)
    assert tests.linear is not None
    assert tests.linear.all()
    assert not tests.failed.any()
