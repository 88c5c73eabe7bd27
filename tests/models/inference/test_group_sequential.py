"""Boundaries of looks against rpact's, and against tables."""

import json

import pytest

from panelist.core.errors import PanelistError, UnknownName
from panelist.models.inference.group_sequential import find_critical, find_crossing, find_variance
from tests.shared_cases import MISSING, SHARED

REFERENCE = SHARED / "models2" / "reference.json"
TABLE = {  # of looks at equal steps, two-sided .05: O'Brien & Fleming's, Pocock's (Jennison & Turnbull 2000)
    2: ((2.797, 1.977), 2.178),
    3: ((3.471, 2.454, 2.004), 2.289),
    4: ((4.049, 2.863, 2.337, 2.024), 2.361),
    5: ((4.562, 3.226, 2.634, 2.281, 2.040), 2.413),
}


@pytest.mark.skipif(not REFERENCE.exists(), reason=MISSING)
def test_boundaries_are_rpacts() -> None:
    looks = json.loads(REFERENCE.read_text())["cases"]["group_sequential"]["looks"]
    spent = 0
    for one in looks:
        crossed = find_crossing(one["rates"], one["critical"])
        assert crossed == pytest.approx(0.025, abs=1e-6)
        name = {"spending, O'Brien-Fleming type": "obrien-fleming", "spending, Pocock type": "pocock"}
        if one["rule"] in name:
            found = find_critical(one["rates"], name[one["rule"]])
            assert found == pytest.approx(one["critical"], abs=1e-4)
            spent += 1
    assert spent == 18


@pytest.mark.parametrize("looks", TABLE)
def test_the_classical_boundaries_cross_with_the_probability_that_they_are_tabled_for(looks: int) -> None:
    rates = [(at + 1) / looks for at in range(looks)]
    falling, constant = TABLE[looks]
    for critical in (falling, (constant,) * looks):
        assert find_crossing(rates, critical) == pytest.approx(0.025, abs=4e-5)  # of three digits


def test_one_look_at_the_end_is_the_usual_test() -> None:
    for spending in ("obrien-fleming", "pocock"):
        assert find_critical((1.0,), spending)[0] == pytest.approx(1.959964, abs=1e-6)
        assert find_critical((1.0,), spending, 0.01)[0] == pytest.approx(2.575829, abs=1e-6)


def test_looks_must_rise_to_the_whole_and_spending_has_a_name() -> None:
    for wrong in ((), (0.5, 0.5), (0.8, 0.3), (0.5, 1.2), (0.0, 1.0)):
        with pytest.raises(PanelistError, match="rising shares"):
            find_critical(wrong, "pocock")
    with pytest.raises(UnknownName, match="pocock"):
        find_critical((0.5, 1.0), "pocok")


def test_half_of_the_raters_on_the_same_items_have_more_than_half_of_the_information() -> None:
    slopes = (0.43, 0.77)
    final = find_variance(24, 20, 480, slopes)  # simulated studies have .76 and .55
    assert final / find_variance(12, 20, 240, slopes) == pytest.approx(0.77, abs=0.005)
    assert final / find_variance(24, 10, 240, slopes) == pytest.approx(0.55, abs=0.005)
