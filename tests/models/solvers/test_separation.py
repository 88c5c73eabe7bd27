"""Separated data: found exactly, named, and never with a standard error that looks like one."""

import numpy as np
import pandas as pd
import pytest

from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.fit import fit
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.results.fitted import Fit
from panelist.models.solvers.separation import scaled_condition, scaled_conditions

RATERS, ITEMS = 6, 8


def make_frame(seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    cells = [(f"r{r}", f"i{i}", s) for r in range(RATERS) for i in range(ITEMS) for s in "abc"]
    frame = pd.DataFrame(cells, columns=["rater", "item", "system"])
    frame["rating"] = rng.integers(1, 6, len(frame))
    frame["x"] = rng.normal(size=len(frame))
    return frame


def note(fitted: Fit, word: str) -> str:
    found = [text for text in fitted.notes if text.startswith(word)]
    assert len(found) == 1, fitted.notes
    return found[0]


def errors(fitted: Fit) -> dict[str, float]:
    return dict(zip(fitted.coefficients["term"], fitted.coefficients["se"], strict=True))


@pytest.mark.parametrize(("end", "model"), [(5, "clm"), (1, "clm"), (5, "clmm"), (1, "clmm")])
def test_a_system_with_every_rating_at_one_end_is_named(end: int, model: str) -> None:
    frame = make_frame()
    frame.loc[frame["system"] == "b", "rating"] = end
    fitted = fit(f"rating ~ system{' + (1 | rater)' * (model == 'clmm')}", frame, model=model)
    said = note(fitted, "separated")
    assert f"every rating of system b is {end}" in said
    assert "system[T.b]" in said
    assert "system[T.c]" not in said
    assert np.isnan(errors(fitted)["system[T.b]"])
    assert 0.0 < errors(fitted)["system[T.c]"] < 2.0
    assert list(np.isnan(fitted.coefficients["p"])) == [True, False]


def test_the_other_systems_are_estimated_as_without_the_separated_one() -> None:
    frame = make_frame()
    frame.loc[frame["system"] == "b", "rating"] = 5
    whole = fit("rating ~ system", frame, model="clm").coefficients.set_index("term")
    rest = fit("rating ~ system", frame[frame["system"] != "b"], model="clm").coefficients.set_index("term")
    for column in ("estimate", "se"):
        assert whole.loc["system[T.c]", column] == pytest.approx(rest.loc["system[T.c]", column], rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_no_slope_of_a_separated_system_reaches_the_errors_of_the_others(seed: int) -> None:
    """The likelihood is flat in those slopes, and what differences of its gradient find there is rounding."""
    rng = np.random.default_rng(seed)
    ends = {"c": 7, "d": 1, "e": 1}
    frame = pd.DataFrame(
        [(f"r{r}", f"i{i}", s) for r in range(5) for i in range(24) for s in "abcde"],
        columns=["rater", "item", "system"],
    )
    item = dict(zip(sorted(set(frame["item"] + frame["system"])), rng.normal(0.0, 0.6, 120), strict=True))
    latent = (frame["item"] + frame["system"]).map(item) + 2.0 * (frame["system"] == "b")
    cuts = np.linspace(-1.5, 1.5, 6)
    frame["rating"] = 1 + np.searchsorted(cuts, latent + rng.normal(size=len(frame)))
    for system, end in ends.items():
        frame.loc[frame["system"] == system, "rating"] = end
    formula = "rating ~ system + (1 | rater) + (system | item)"
    whole = fit(formula, frame, model="clmm")
    rest = fit(formula, frame[~frame["system"].isin(ends)], model="clmm")
    assert whole.loglik == pytest.approx(rest.loglik, abs=1e-3)
    assert errors(whole)["system[T.b]"] == pytest.approx(errors(rest)["system[T.b]"], rel=0.01)

    design = build_design(parse_formula(formula), read_ratings(frame), ordinal=True)
    batch = fit_batch(prepare_batch(design, "clmm"), frame["rating"].to_numpy()[None] - 1)
    assert batch.se[0] == pytest.approx(whole.coefficients["se"], rel=1e-3, nan_ok=True)


def test_a_reference_at_one_end_loses_every_contrast_with_it() -> None:
    frame = make_frame()
    frame.loc[frame["system"] == "a", "rating"] = 1
    said = note(fit("rating ~ system", frame, model="clm"), "separated")
    assert "system[T.b]" in said
    assert "system[T.c]" in said


def test_completely_separated_systems_are_found() -> None:
    frame = make_frame()
    frame["rating"] = np.where(frame["system"] == "a", 1, np.where(frame["system"] == "b", 2, 3))
    fitted = fit("rating ~ system", frame, model="clm")
    note(fitted, "separated")
    assert np.isnan(list(errors(fitted).values())).all()


def test_quasi_separation_by_a_number_is_found() -> None:
    """Two categories, one at or below the boundary, the other at or above: they only meet on it."""
    x = np.array([-2.0, -1.5, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0] * 3)
    rating = np.where(x < 0.0, 1, 2)
    rating[np.flatnonzero(x == 0.0)[::2]] = 1
    frame = pd.DataFrame({"x": x, "rating": rating})
    fitted = fit("rating ~ x", frame, model="clm", link="logit")
    assert "x" in note(fitted, "separated")
    assert np.isnan(errors(fitted)["x"])


def test_overlapping_numbers_are_not_separated_however_steep() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    frame = pd.DataFrame({"x": x, "rating": 1 + (12.0 * x + rng.normal(size=400) > 0.0)})
    fitted = fit("rating ~ x", frame, model="clm")
    assert not any(text.startswith("separated") for text in fitted.notes)
    assert fitted.converged
    assert abs(fitted.beta[0] - 12.0) < 4.0 * errors(fitted)["x"]


def test_an_interaction_cell_at_one_end_is_found() -> None:
    frame = make_frame()
    frame["group"] = np.where(frame["item"].isin(["i0", "i1", "i2"]), "g", "h")
    frame.loc[(frame["system"] == "c") & (frame["group"] == "h"), "rating"] = 5
    said = note(fit("rating ~ system * group", frame, model="clm"), "separated")
    assert "system[T.c]:group[T.h]" in said
    assert "system[T.b]" not in said.replace("system[T.b]:", "")


def test_ordinary_data_are_not_called_separated() -> None:
    for seed in range(5):
        fitted = fit("rating ~ system + x + (1 | rater) + (1 | item)", make_frame(seed), model="clmm")
        assert not any(text.startswith("separated") for text in fitted.notes)
        assert np.isfinite(fitted.vcov).all()


def test_a_condition_is_in_units_of_each_parameter() -> None:
    assert scaled_condition(np.diag([1e-8, 1.0, 1e8])) == pytest.approx(1.0)
    assert scaled_condition(np.array([[1.0, 0.6], [0.6, 1.0]])) == pytest.approx(4.0)
    assert scaled_condition(np.array([[1.0, 2.0], [2.0, 1.0]])) == np.inf
    assert scaled_condition(np.full((2, 2), np.nan)) == np.inf


def test_the_condition_of_each_of_a_stack_is_its_own() -> None:
    stack = np.array([np.eye(2), [[1.0, 0.6], [0.6, 1.0]], [[1.0, 2.0], [2.0, 1.0]], np.full((2, 2), np.nan)])
    assert scaled_conditions(stack).tolist() == [scaled_condition(hessian) for hessian in stack]
    assert scaled_conditions(stack).tolist() == pytest.approx([1.0, 4.0, np.inf, np.inf])
