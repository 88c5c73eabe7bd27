"""Numbers from Python are refused by name, whatever they are instead."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panelist
from panelist.core.errors import BadModel, PanelistError
from panelist.core.numbers import check_confidence, check_count

RATINGS = pd.DataFrame(
    {
        "rater": np.tile(list("abc"), 8),
        "item": np.repeat(list("ijklmnop"), 3),
        "system": np.tile(["x", "y", "y", "x"], 6),
        "rating": np.arange(24) * 7 % 5 + 1,
    }
)
FORMULA = "rating ~ system + (1 | rater)"

ANYTHING: Any = panelist  # from Python, anything may come

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "points": (lambda: ANYTHING.fit(FORMULA, RATINGS, quadrature="x"), "quadrature points must be a whole"),
    "scale": (lambda: ANYTHING.fit(FORMULA, RATINGS, scale=5), "scale effects are a text"),
    "items": (lambda: ANYTHING.simulate_power(items="ten"), "items must be a whole number, 2 or more"),
    "effects": (lambda: ANYTHING.simulate_power(effects="big"), "must be a number of threshold distances"),
    "sims": (lambda: ANYTHING.simulate_power(sims="many"), "data sets must be a whole number, 1 or more"),
    "level": (lambda: ANYTHING.compare_systems(RATINGS, confidence="x"), "confidence level lies between"),
    "resamples": (lambda: ANYTHING.measure_agreement(RATINGS, resamples=1.5), "resamples must be a whole"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_such_number_is_refused_by_name(name: str) -> None:
    ask, said = WRONG[name]
    with pytest.raises(PanelistError, match=said):
        ask()


def test_quadrature_is_for_random_effects() -> None:
    with pytest.raises(BadModel, match="this is a clm"):
        panelist.fit("rating ~ system", RATINGS, quadrature=7)


@pytest.mark.parametrize("given", [0, -1, 2.0, True, None, "3"])
def test_counts_are_whole_numbers(given: object) -> None:
    with pytest.raises(BadModel, match="1 or more"):
        check_count("threads", given)
    assert check_count("threads", np.int64(3)) == 3


@pytest.mark.parametrize("given", [0, 1, -0.5, 95, float("nan"), "x", None])
def test_confidence_is_a_share(given: object) -> None:
    with pytest.raises(BadModel, match="between 0 and 1"):
        check_confidence(given)
