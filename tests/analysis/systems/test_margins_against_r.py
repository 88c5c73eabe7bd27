"""Equivalence and non-inferiority against emmeans on lmerTest, and a TMB template with the delta method."""

import json
from typing import Any

import pandas as pd
import pytest

from panelist.analysis.compare import compare_systems
from panelist.analysis.systems.comparison import CriterionComparison
from tests.shared_cases import MISSING, SHARED

FOLDER = SHARED / "models2"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=MISSING)
CELLS = "rating ~ system + (1 | rater) + (1 | rater:system) + (1 | item)"
INTERCEPTS = "rating ~ system + (1 | rater) + (1 | item)"


def read_case(name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((FOLDER / "reference.json").read_text())["cases"][name]
    return case


def compare(**how: Any) -> CriterionComparison:
    return compare_systems(pd.read_csv(FOLDER / "crossed_scale.csv"), **how).criteria[0]


def turn(found: CriterionComparison) -> dict[str, dict[str, float]]:
    """Return the tests as R orders them, the later system minus the earlier."""
    rows = {}
    for one in found.equivalence:
        claim = next(own for own in one.non_inferior if own.system == one.b)
        rows[f"{one.b} - {one.a}"] = {
            "estimate": -one.difference, "se": one.se, "p": one.p, "p_ni": claim.p,
            "low": -one.high90, "high": -one.low90,
        }  # fmt: skip
    return rows


def test_a_linear_model_is_tested_as_emmeans_tests_it_with_satterthwaites_degrees() -> None:
    case = read_case("equivalence_lmm")
    rows = turn(compare(formula=CELLS, model="lmm", margin=case["model"]["margin"]))
    for both, one_sided, inside in zip(
        case["equivalence"], case["noninferiority"], case["interval_90"], strict=True
    ):
        row = rows[both["contrast"]]
        assert row["estimate"] == pytest.approx(both["estimate"], abs=1e-9)
        assert row["se"] == pytest.approx(both["SE"], rel=1e-5)
        assert row["p"] == pytest.approx(both["p.value"], rel=1e-4)
        assert row["p_ni"] == pytest.approx(one_sided["p.value"], rel=1e-4)
        assert (row["low"], row["high"]) == pytest.approx((inside["lower.CL"], inside["upper.CL"]), rel=1e-5)


@pytest.mark.parametrize(("unit", "margin"), [("latent", "0.4 latent"), ("points", 0.5)])
def test_an_ordinal_model_is_tested_in_latent_units_and_in_points(unit: str, margin: float | str) -> None:
    case = read_case(f"equivalence_clmm_{unit}")
    rows, tests = turn(compare(formula=INTERCEPTS, test="z", margin=margin)), case["tests"]
    for at, name in enumerate(case["pairs"]):
        row = rows[name]
        assert row["estimate"] == pytest.approx(case["estimate"][at], abs=1e-7)
        assert row["se"] == pytest.approx(case["se"][at], rel=2e-5)  # of a Hessian by differences
        assert row["p"] == pytest.approx(tests["equivalence_p"][at], rel=1e-4)
        assert row["p_ni"] == pytest.approx(tests["noninferiority_p"][at], rel=2e-3)  # far in the tail
        assert (row["low"], row["high"]) == pytest.approx(
            (tests["low_90"][at], tests["high_90"][at]), rel=1e-5
        )


def test_few_raters_widen_points_as_they_widen_the_latent_difference() -> None:
    case = read_case("few_raters_default")
    by_t, by_z = (compare(formula=CELLS, test=test, margin=0.5) for test in ("t", "z"))
    for at, (one, other) in enumerate(zip(by_t.equivalence, by_z.equivalence, strict=True)):
        assert one.se / other.se == pytest.approx(case["reml_over_ml"][at], rel=1e-6)
        inside = one.low90 > -0.5 and one.high90 < 0.5
        assert inside == (one.p < 0.05)
        assert by_t.pairs[at].df == pytest.approx(18, rel=1e-4)
