"""The power to show equivalence or non-inferiority: what is simulated, and how it is counted."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panelist.analysis.compare import compare_systems
from panelist.analysis.spec import AnalysisSpec
from panelist.core.errors import BadModel, PanelistError
from panelist.core.margin import Margin, read_margin
from panelist.core.seeds import stream
from panelist.power.analyses import ANALYSES
from panelist.power.analyses.base import SimulatedPairTests
from panelist.power.claims import place_systems
from panelist.power.curve import simulate_power
from panelist.power.layouts.base import Layout, Sampling
from panelist.power.responses import simulate_responses
from panelist.power.search.size import find_sample_size
from panelist.power.tally import find_claimed
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import DrawnCuts, FixedCuts, Slider
from panelist.power.truth.spread import Spread
from tests.cli.commands import call
from tests.power.grids import cross

Capture = pytest.CaptureFixture[str]
FIVE = FixedCuts((-1.2, -0.4, 0.3, 1.1))


def simulate(layout: Layout, sets: int) -> Any:
    truth = Truth("small", Spread(0.5, 0.3), Spread(0.6, 0.3), FIVE)
    effects = tuple(0.2 * place for place in range(layout.n_systems))
    return simulate_responses(truth, layout, effects, stream(1, "claims"), sets)


def make_tests(estimate: list[list[float]], se: float) -> SimulatedPairTests:
    found = np.array(estimate)
    nobody = np.zeros(len(found), dtype=np.bool_)
    spread = np.full(found.shape, se)
    return SimulatedPairTests(
        found, spread, found / se, np.full(found.shape, np.inf), np.ones(found.shape), nobody, nobody
    )


@pytest.mark.parametrize("unit", ["0.5 points", "0.4 latent"])
def test_a_simulated_set_is_tested_within_the_margin_as_compare_tests_it(unit: str) -> None:
    layout = cross(8, 12, 3)
    spec = AnalysisSpec(margin=read_margin(unit), claim="equivalence")
    responses = simulate(layout, 4)
    tests = ANALYSES["clmm"].prepare(layout, spec)(responses)
    assert tests.claimed is not None
    for at, codes in enumerate(responses):
        (only,) = compare_systems(layout.make_frame(codes + 1.0), margin=unit).criteria
        estimates = [-one.difference for one in only.equivalence]
        errors = [one.se for one in only.equivalence]
        np.testing.assert_allclose(tests.claimed[0][at], estimates, atol=2e-3)
        np.testing.assert_allclose(tests.claimed[1][at], errors, rtol=2e-3)


def test_points_between_categories_that_occur_count_as_far_as_they_are_apart() -> None:
    layout = cross(8, 12, 2)
    codes = simulate(layout, 1)
    codes[codes == 3] = 4  # nobody uses the fourth of five points
    spec = AnalysisSpec(margin=Margin(0.5), claim="equivalence")
    tests = ANALYSES["clmm"].prepare(layout, spec)(codes)
    (only,) = compare_systems(layout.make_frame(codes[0] + 1.0), margin=0.5).criteria
    assert tests.claimed is not None
    assert tests.claimed[0][0, 0] == pytest.approx(-only.equivalence[0].difference, abs=2e-3)
    assert tests.claimed[1][0, 0] == pytest.approx(only.equivalence[0].se, rel=2e-3)


def test_all_pairs_are_one_claim_and_single_pairs_are_adjusted() -> None:
    spec = AnalysisSpec(margin=Margin(1.0), claim="equivalence")
    at_edge = 1 - 1.7 * 0.2  # p = .045 of each pair: together enough, alone three are too many
    tests = make_tests([[at_edge] * 3, [0.0, 0.0, at_edge], [0.0, 0.0, 1.0]], 0.2)
    found, whole, width = find_claimed(tests, spec)
    assert found.tolist() == [[False] * 3, [True] * 3, [True, True, False]]
    assert whole.tolist() == [True, True, False]
    assert width[0, 0] == pytest.approx(2 * 1.644854 * 0.2, rel=1e-5)


def test_non_inferiority_looks_at_one_side_at_half_the_level() -> None:
    tests = make_tests([[5.0], [-0.5], [-0.7]], 0.2)
    for claim, expected in (("non-inferiority", [True, True, False]), ("equivalence", [False, True, False])):
        _, whole, _ = find_claimed(tests, AnalysisSpec(margin=Margin(1.0), claim=claim))
        assert whole.tolist() == expected


@pytest.mark.parametrize("cuts", [FixedCuts((-1.5, -0.6, 0.2, 1.0)), DrawnCuts(), Slider()])
def test_systems_are_placed_so_that_their_expected_ratings_differ_by_what_is_asked(
    cuts: FixedCuts | DrawnCuts | Slider,
) -> None:
    truth = Truth.preset("general", cuts)
    margin = 9.0 if isinstance(cuts, Slider) else 0.9
    spec = AnalysisSpec(margin=Margin(margin), claim="non-inferiority")
    for share in (0.0, 1 / 3):
        size, effects = place_systems(truth, 3, spec, share)
        assert size == pytest.approx(-share * margin)
        layout = cross(30, 30, 3)
        drawn = simulate_responses(truth, layout, effects, stream(3, "placed"), 300)
        means = np.array([drawn[:, layout.system == s].mean() for s in range(3)])
        assert means - means[0] == pytest.approx([0.0, 0.0, size], abs=0.05 * margin)
    latent = AnalysisSpec(margin=Margin(0.3, "latent"), claim="equivalence")
    assert place_systems(truth, 3, latent, 1.0) == (0.3, (0.0, 0.0, 0.3))
    with pytest.raises(PanelistError, match="does not fit on a scale"):
        place_systems(truth, 2, AnalysisSpec(margin=Margin(300), claim="equivalence"), 1.0)


def test_a_claim_is_easier_the_smaller_the_true_difference_and_the_wider_the_margin() -> None:
    how = {"items": 40, "models": "lmm", "sims": 60, "claim": "equivalence", "seed": 3}
    none, third = (cell.power for cell in simulate_power(margin=0.8, **how).cells)  # type: ignore[arg-type]
    assert third < none
    narrow = simulate_power(margin=0.4, **how)  # type: ignore[arg-type]
    assert narrow.cells[0].power < none
    assert [cell.effect for cell in narrow.cells] == [0.0, 0.133]
    record = narrow.to_dict()
    assert (record["claim"], record["margin"], record["effect_unit"]) == ("equivalence", 0.4, "points")
    said = str(narrow)
    assert "Power to show equivalence within 0.4 points" in said
    assert "type S" not in said


def test_only_analyses_with_standard_errors_in_its_unit_can_show_a_claim() -> None:
    with pytest.raises(PanelistError, match="mann_whitney has no differences in points"):
        simulate_power(claim="equivalence", margin=0.5, models="mann_whitney", sims=1)
    with pytest.raises(PanelistError, match=r"lmm has no differences in latent.*These can: clm, clmm\."):
        simulate_power(claim="equivalence", margin="0.5 latent", sims=1)
    with pytest.raises(BadModel, match="chosen before the data"):
        simulate_power(claim="equivalence", sims=1)


def test_a_size_is_found_for_a_third_of_the_margin_and_for_no_difference() -> None:
    found = find_sample_size(
        model="item_means", claim="equivalence", margin=0.8, ratings_per_item=[3], sims=100, power=0.7
    )
    assert found.best is not None
    assert found.at_zero is not None
    assert found.at_zero.best is not None
    assert found.at_zero.best.items < found.best.items
    assert found.confirmed is not None
    assert found.confirmed.power >= 0.7
    said = str(found).replace("\n", " ")
    assert "to show equivalence within 0.8 points" in said
    assert "a third of the margin" in said
    assert "Were there no true difference at all" in said
    layout = Sampling(found.best.items, 3).lay_out(1)
    alone = simulate_power(
        layout=layout, models="item_means", claim="equivalence", margin=0.8, sims=200, seed=9
    ).cells[1]
    assert alone.power == pytest.approx(0.75, abs=0.12)


def test_a_study_declares_what_power_and_size_are_to_show(capsys: Capture, tmp_path: Path) -> None:
    assert call(capsys, "init", tmp_path / "study", "--template", "likert").code == 0
    path = tmp_path / "study" / "study.yaml"
    text = path.read_text()
    few = ("--study", tmp_path / "study", "--models", "item_means", "--sims", "10", "--json")
    assert "analysis:\n" in text
    path.write_text(text.replace("analysis:\n", "analysis:\n  margin: 0.5\n  claim: equivalence\n"))
    done = call(capsys, "power", *few)
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert (record["claim"], record["margin"]) == ("equivalence", 0.5)
    assert any("its claim (equivalence within 0.5 points)" in note for note in record["notes"])
    by_option = json.loads(call(capsys, "power", *few, "--claim", "non-inferiority").out)
    assert by_option["claim"] == "non-inferiority"
    path.write_text(text.replace("analysis:\n", "analysis:\n  margin: 0.5\n"))
    record = json.loads(call(capsys, "power", *few).out)
    assert record["claim"] is None
    assert any("--claim equivalence" in note for note in record["notes"])
    path.write_text(text.replace("analysis:\n", "analysis:\n  claim: equivalence\n"))
    refused = call(capsys, "power", *few)
    assert refused.code == 2
    assert "needs the largest difference" in refused.err
