"""Many responses to one design: each as if it had been fitted alone, whatever the threads and the order."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel, BadRatings, UnknownName
from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import Batch, fit_batch, prepare_batch
from panelist.models.fit import fit
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.results.batch_results import FAILURES, BatchFits
from panelist.models.solvers.fitters import LOST, ONE_VALUE, SEPARATED
from tests.models.small_tables import CASES, ONE_FACTOR, SLOPES, draw, make_table

FIXED = "rating ~ system"
SETS = 6


def prepare(frame: pd.DataFrame, formula: str, model: str, **options: Any) -> Batch:
    ordinal = model in ("clmm", "clm")
    return prepare_batch(
        build_design(parse_formula(formula), read_ratings(frame), ordinal=ordinal), model, **options
    )


def compare(
    frame: pd.DataFrame, formula: str, model: str, fits: BatchFits, codes: Any, **options: Any
) -> None:
    """Compare every set with its own fit."""
    for at, response in enumerate(codes):
        alone = fit(formula, frame.assign(rating=response + 1.0), model=model, **options)
        table = alone.coefficients
        level = 0.0 if alone.ordinal else 1.0  # the ratings above count from 1, the codes from 0
        shift = np.array([level if name == "Intercept" else 0.0 for name in fits.names])
        np.testing.assert_allclose(fits.beta[at] + shift, table["estimate"], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(fits.se[at], table["se"], rtol=1e-6)
        keep = shift == 0.0
        np.testing.assert_allclose(fits.p[at][keep], table["p"][keep], atol=1e-5)
        np.testing.assert_allclose(fits.df[at][keep], table["df"][keep], rtol=1e-5)
        assert fits.loglik[at] == pytest.approx(alone.loglik, rel=1e-8)
        assert fits.converged[at] == alone.converged
        assert fits.singular[at] == alone.singular
        np.testing.assert_allclose(
            fits.random_sds[at], alone.random["sd"].astype(float), rtol=1e-5, atol=1e-5
        )
        found = fits.thresholds[at]
        np.testing.assert_allclose(found[np.isfinite(found)], alone.threshold_values, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", ["clmm", "lmm"])
@pytest.mark.parametrize("case", CASES)
def test_every_set_gets_the_numbers_of_its_own_fit(case: str, model: str) -> None:
    systems, share, formula = CASES[case]
    frame = make_table(systems, share)
    codes = draw(frame, SETS)
    fits = fit_batch(prepare(frame, formula, model), codes)
    assert not fits.failed.any()
    compare(frame, formula, model, fits, codes)


@pytest.mark.parametrize("model", ["clm", "lm"])
def test_models_without_random_effects_too(model: str) -> None:
    frame = make_table(3, 0.9)
    codes = draw(frame, SETS)
    compare(frame, FIXED, model, fit_batch(prepare(frame, FIXED, model), codes), codes)


def test_the_method_and_the_link_are_those_asked_for() -> None:
    frame = make_table()
    codes = draw(frame, 2)
    compare(
        frame, SLOPES, "lmm", fit_batch(prepare(frame, SLOPES, "lmm", method="ML"), codes), codes, method="ML"
    )
    logit = fit_batch(prepare(frame, SLOPES, "clmm", link="logit"), codes)
    compare(frame, SLOPES, "clmm", logit, codes, link="logit")


@pytest.mark.parametrize("model", ["clmm", "clm"])
def test_a_category_that_nobody_used_loses_its_threshold(model: str) -> None:
    formula = SLOPES if model == "clmm" else FIXED
    frame = make_table()
    codes = draw(frame, 4, points=6)
    codes[1][codes[1] == 5] = 4
    codes[2][codes[2] == 2] = 3
    fits = fit_batch(prepare(frame, formula, model), codes)
    missing = np.isnan(fits.thresholds)
    np.testing.assert_array_equal(missing[1], [False] * 4 + [True])
    np.testing.assert_array_equal(missing[2], [False, False, True, False, False])
    compare(frame, formula, model, fits, codes)


@pytest.mark.parametrize("model", ["clmm", "lmm", "clm", "lm"])
def test_a_set_of_equal_ratings_fails_and_the_others_do_not(model: str) -> None:
    formula = SLOPES if model.endswith("mm") else FIXED
    frame = make_table()
    codes = draw(frame, 3)
    codes[1] = 2
    fits = fit_batch(prepare(frame, formula, model), codes)
    assert fits.failed.tolist() == [0, ONE_VALUE, 0]
    assert FAILURES[int(fits.failed[1])] == "every rating is the same"
    assert np.isnan(fits.p[1]).all()
    assert np.isnan(fits.loglik[1])
    assert np.isfinite(fits.p[[0, 2]]).all()


@pytest.mark.parametrize("model", ["clmm", "clm"])
def test_a_separated_set_has_no_standard_error_and_says_so(model: str) -> None:
    formula = ONE_FACTOR if model == "clmm" else FIXED
    frame = make_table()
    codes = draw(frame, 2)
    codes[1] = np.where(frame["system"] == "a", 0, 1 + codes[1] % 3)
    fits = fit_batch(prepare(frame, formula, model), codes)
    assert fits.failed.tolist() == [0, SEPARATED]
    assert np.isnan(fits.se[1]).all()
    alone = fit(formula, frame.assign(rating=codes[1]), model=model)
    assert np.isnan(alone.coefficients["se"]).all()


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_the_bits_depend_neither_on_threads_nor_on_order(model: str) -> None:
    frame = make_table()
    codes = draw(frame, 25, points=6)
    codes[3][codes[3] == 0] = 1  # another number of thresholds in between
    batch = prepare(frame, SLOPES, model)
    one = fit_batch(batch, codes, threads=1)
    three = fit_batch(batch, codes, threads=3)
    backwards = fit_batch(batch, codes[::-1], threads=2)
    single = fit_batch(batch, codes[7:8])
    for name in ("beta", "se", "df", "p", "loglik", "thresholds", "random_sds", "sigma", "vcov", "A"):
        expected = getattr(one, name)
        np.testing.assert_array_equal(getattr(three, name), expected)
        np.testing.assert_array_equal(getattr(backwards, name)[::-1], expected)
        np.testing.assert_array_equal(getattr(single, name)[0], expected[7])


def test_contrasts_have_the_tests_of_the_relevelled_model() -> None:
    frame = make_table(3)
    codes = draw(frame, 3)
    found = fit_batch(prepare(frame, SLOPES, "lmm"), codes).contrast(np.array([[0.0, -1.0, 1.0]]))
    other = "rating ~ C(system, Treatment('b')) + (system | rater) + (system | item)"
    for at, response in enumerate(codes):
        row = fit(other, frame.assign(rating=response), model="lmm").coefficients.iloc[2]
        for name in ("estimate", "se", "df", "p"):
            assert getattr(found, name)[at, 0] == pytest.approx(row[name], rel=1e-5), name


def test_no_sets_give_empty_arrays() -> None:
    frame = make_table()
    fits = fit_batch(prepare(frame, SLOPES, "clmm"), np.empty((0, len(frame)), dtype=int))
    assert fits.beta.shape == (0, 1)
    assert fits.p.shape == (0, 1)


def test_what_does_not_fit_the_design_is_refused() -> None:
    frame = make_table()
    ordinal = build_design(parse_formula(SLOPES), read_ratings(frame), ordinal=True)
    fixed = build_design(parse_formula(FIXED), read_ratings(frame), ordinal=True)
    batch = prepare_batch(ordinal, "clmm")
    with pytest.raises(UnknownName, match="clmm"):
        prepare_batch(ordinal, "clmn")
    with pytest.raises(BadModel, match="ordinal=False"):
        prepare_batch(ordinal, "lmm")
    with pytest.raises(BadModel, match="needs a random term"):
        prepare_batch(fixed, "clmm")
    with pytest.raises(BadModel, match="takes no random term"):
        prepare_batch(ordinal, "clm")
    with pytest.raises(BadRatings, match="rows"):
        fit_batch(batch, draw(frame, 2)[:, 1:])
    with pytest.raises(BadRatings, match="whole numbers"):
        fit_batch(batch, draw(frame, 2) + 0.5)
    with pytest.raises(BadRatings, match="whole numbers"):
        fit_batch(batch, draw(frame, 2) - 1)
    with pytest.raises(BadModel, match="threads"):
        fit_batch(batch, draw(frame, 2), threads=0)
    with pytest.raises(BadModel, match="contrast"):
        fit_batch(batch, draw(frame, 2)).contrast(np.ones((1, 3)))
    with pytest.raises(BadRatings, match="finite"):
        fit_batch(prepare(frame, SLOPES, "lmm"), np.full((1, len(frame)), np.nan))


def test_a_set_without_residuals_fails_and_the_others_do_not() -> None:
    frame = make_table()
    sets = draw(frame, 3).astype(float)
    places = {name: place for place, name in enumerate(sorted(set(frame["rater"])))}
    sets[1] = frame["rater"].map(places) + 2.0 * (frame["system"] == frame["system"].max())
    fits = fit_batch(prepare(frame, SLOPES, "lmm"), sets)
    assert fits.failed.tolist() == [0, LOST, 0]
    assert np.isfinite(fits.p[[0, 2]]).all()
