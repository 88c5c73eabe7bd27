"""A simulated set gets the analysis that ``panelist compare`` gives it: the same model, the same p-values."""

from typing import Any

import numpy as np
import pytest

from panelist.analysis.compare import compare_systems
from panelist.core.seeds import stream
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import Choices, PairTests
from panelist.power.cuts import FixedCuts
from panelist.power.layouts import Layout, lay_out_lists
from panelist.power.simulate import simulate_responses
from panelist.power.spread import Spread
from panelist.power.truth import Truth

FIVE = FixedCuts((-1.2, -0.4, 0.3, 1.1))
YES_OR_NO = FixedCuts((0.2,))
CEILING = FixedCuts((-3.2, -2.6, -2.0))


def cross(raters: int, items: int, systems: int) -> Layout:
    """Every rater rates every output."""
    rater, item, system = (
        index.reshape(-1).astype(np.int32) for index in np.indices((raters, items, systems))
    )
    return Layout(rater, item, system, raters, items, tuple("ABCDEF"[:systems]), raters)


def simulate(layout: Layout, cuts: FixedCuts, sets: int, effect: float = 0.2, seed: int = 1) -> Any:
    truth = Truth("small", Spread(0.5, 0.3), Spread(0.6, 0.3), cuts)
    effects = tuple(effect * place for place in range(layout.n_systems))
    return simulate_responses(truth, layout, effects, stream(seed, "as compared"), sets)


DESIGNS = {
    "8 raters, 12 items, 3 systems": (cross(8, 12, 3), FIVE, 0.2),
    "3 raters, 20 items": (cross(3, 20, 2), FIVE, 0.2),
    "6 raters, yes or no": (cross(6, 10, 2), YES_OR_NO, 0.2),
    "lists": (lay_out_lists(20, 3), FIVE, 0.2),
    "lists, 3 systems": (lay_out_lists(18, 3, systems=3, outputs_per_rater=9), FIVE, 0.2),
    "near the ceiling": (cross(5, 8, 2), CEILING, 0.2),
    "near the ceiling, 3 systems": (cross(5, 6, 3), CEILING, 0.2),
}


def check_against_compare(model: str, layout: Layout, responses: Any, tests: PairTests) -> int:
    """Compare every set with what compare says of it; return how many took a smaller model."""
    smaller = 0
    assert tests.smaller is not None
    largest = ANALYSES[model].prepare(layout, Choices(as_compared=False))
    del largest
    for at, codes in enumerate(responses):
        frame = layout.make_frame(codes + 1.0)
        (only,) = compare_systems(frame, model=model, adjust="none").criteria
        if not only.fit.converged:
            assert tests.failed[at]
            continue
        expected = np.array([pair.p for pair in only.pairs])
        np.testing.assert_allclose(tests.p[at], expected, atol=2e-4, err_msg=f"set {at}: {only.formula}")
        differences = np.array([-pair.difference for pair in only.pairs])
        np.testing.assert_allclose(tests.estimate[at], differences, rtol=2e-3, atol=2e-3)
        taken = any("The next smaller model was taken" in note for note in only.notes)
        assert tests.smaller[at] == taken
        smaller += taken
    return smaller


@pytest.mark.parametrize("model", ["clmm", "lmm"])
@pytest.mark.parametrize("name", DESIGNS)
def test_every_set_is_analysed_as_compare_would(name: str, model: str) -> None:
    layout, cuts, effect = DESIGNS[name]
    responses = simulate(layout, cuts, 8, effect)
    tests = ANALYSES[model].prepare(layout, Choices())(responses)
    check_against_compare(model, layout, responses, tests)
