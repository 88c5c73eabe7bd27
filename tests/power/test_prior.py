"""Simulated sets with a prior are analysed as ``compare --prior weak`` analyses one."""

import numpy as np
import pytest

from bench.type_one import cross
from panelist.analysis.compare import compare_systems
from panelist.analysis.spec import AnalysisSpec
from panelist.power.analyses.base import ANALYSES
from panelist.power.tally import adjust_tests
from tests.analysis.systems.end_ratings import make_ratings


def test_p_values_are_those_of_compare_with_a_prior() -> None:
    layout = cross(6, 12, 3)
    frames = [make_ratings(3, end) for end in ({}, {1: 4})]
    responses = np.array([frame["rating"].to_numpy() - 1 for frame in frames])
    spec = AnalysisSpec(model="clmm", prior="weak")
    tests = ANALYSES["clmm"].prepare(layout, spec)(responses)
    adjusted, _ = adjust_tests(tests, spec, 3)
    for row, frame in enumerate(frames):
        (only,) = compare_systems(frame, model="clmm", prior="weak").criteria
        assert tests.estimate[row, 0] == pytest.approx(-only.pairs[0].difference, abs=1e-6)
        np.testing.assert_allclose(tests.p[row], [pair.p for pair in only.pairs], atol=1e-6)
        if not row:  # a separated system leaves power with Tukey's test, which is a little stricter
            np.testing.assert_allclose(adjusted[row], [pair.p_adjusted for pair in only.pairs], atol=2e-3)
