"""t in place of z: degrees of freedom and wider errors from the linear analogue, and what they are for."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import UnknownName
from panelist.core.tables.ratings import read_ratings
from panelist.models.batch import fit_batch, prepare_batch
from panelist.models.fit import fit
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.inference.contrasts import contrast_pairs, estimate_means
from panelist.models.inference.small_sample import SmallSample

CELLS = "rating ~ system + (1 | rater) + (1 | rater:system) + (1 | item) + (1 | item:system)"
SLOPES = "rating ~ system + (system | rater) + (system | item)"


@cache
def crossed(raters: int, items: int, systems: int) -> pd.DataFrame:
    """Everybody rates every output once."""
    rows = [
        (f"r{r}", f"i{i:03d}", f"s{s}") for r in range(raters) for i in range(items) for s in range(systems)
    ]
    return pd.DataFrame(rows, columns=["rater", "item", "system"])


def draw(frame: pd.DataFrame, sets: int, rater: float, item: float, seed: int) -> Any:
    """Return codes of sets without a difference between systems; the spreads are of the interactions."""
    rng = np.random.default_rng(seed)
    codes = {name: pd.factorize(frame[name])[0] for name in ("rater", "item", "system")}
    counts = {name: int(code.max()) + 1 for name, code in codes.items()}
    latent = rng.normal(size=(sets, len(frame)))
    for name, spread in (("rater", rater), ("item", item)):
        latent += 0.5 * rng.normal(size=(sets, counts[name]))[:, codes[name]]
        own = rng.normal(size=(sets, counts[name], counts["system"]))
        latent += spread * own[:, codes[name], codes["system"]]
    return np.searchsorted([-1.2, -0.4, 0.4, 1.2], latent)


@pytest.mark.parametrize("formula", [CELLS, SLOPES])
def test_degrees_and_ratio_are_those_of_the_linear_model_fitted_apart(formula: str) -> None:
    frame = crossed(6, 12, 3)
    frame = frame.assign(rating=draw(frame, 1, 0.5, 0.5, seed=4)[0] + 1.0)
    ordinal = fit(formula, frame, model="clmm")
    reml, ml = (fit(formula, frame, model="lmm", method=method) for method in ("REML", "ML"))
    found, by_reml, by_ml = (contrast_pairs(one) for one in (ordinal, reml, ml))
    np.testing.assert_allclose(found.df, by_reml.df, rtol=1e-6)
    plain = contrast_pairs(ordinal.with_degrees("z"))
    np.testing.assert_allclose(found.se / plain.se, by_reml.se / by_ml.se, rtol=1e-6)
    assert np.isinf(plain.df).all()
    assert (found.p_adjusted > plain.p_adjusted).all()


def test_coefficients_keep_the_standard_error_of_the_likelihood_and_are_tested_by_t() -> None:
    frame = crossed(4, 20, 2)
    frame = frame.assign(rating=draw(frame, 1, 0.5, 0.5, seed=1)[0] + 1.0)
    by_t, by_z = (fit(CELLS, frame, model="clmm", test=test).coefficients for test in ("t", "z"))
    np.testing.assert_allclose(by_t["se"], by_z["se"])
    assert (by_t["p"] > by_z["p"]).all()
    assert np.isfinite(by_t["df"]).all()
    assert np.isinf(by_z["df"]).all()


def test_means_have_wider_intervals_than_by_z() -> None:
    frame = crossed(4, 20, 2)
    frame = frame.assign(rating=draw(frame, 1, 0.5, 0.5, seed=2)[0] + 1.0)
    fitted = fit(CELLS, frame, model="clmm")
    by_t, by_z = estimate_means(fitted), estimate_means(fitted.with_degrees("z"))
    np.testing.assert_allclose(by_t.estimate, by_z.estimate)
    assert (by_t.high - by_t.low > by_z.high - by_z.low).all()


def test_a_term_of_one_column_has_the_p_of_its_coefficient() -> None:
    frame = crossed(4, 20, 2)
    frame = frame.assign(rating=draw(frame, 1, 0.5, 0.5, seed=3)[0] + 1.0)
    fitted = fit(CELLS, frame, model="clmm")
    (row,) = fitted.anova().table().to_dict("records")
    assert row["p"] == pytest.approx(fitted.coefficients["p"][0])
    assert row["den_df"] == pytest.approx(fitted.coefficients["df"][0])


def test_without_an_analogue_the_smallest_group_gives_the_degrees_of_freedom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = crossed(4, 20, 2)
    frame = frame.assign(rating=draw(frame, 1, 0.5, 0.5, seed=5)[0] + 1.0)
    fitted = fit(CELLS, frame, model="clmm")
    monkeypatch.setattr(SmallSample, "linear", None)
    found = contrast_pairs(fitted)
    assert found.df.tolist() == [3.0]
    np.testing.assert_allclose(found.se, contrast_pairs(fitted.with_degrees("z")).se)


def test_an_unknown_word_for_the_degrees_of_freedom_is_refused() -> None:
    frame = crossed(4, 20, 2)
    frame = frame.assign(rating=draw(frame, 1, 0.5, 0.5, seed=5)[0] + 1.0)
    with pytest.raises(UnknownName, match="No test is called 'kr'"):
        fit(CELLS, frame, model="clmm", test="kr")


@pytest.mark.slow
def test_three_raters_call_a_null_effect_far_too_often_by_z_and_not_by_t() -> None:
    frame = crossed(3, 60, 2)
    design = build_design(
        parse_formula(CELLS),
        read_ratings(frame.assign(rating=np.resize([1.0, 2.0], len(frame)))),
        ordinal=True,
    )
    codes = draw(frame, 240, 0.3, 0.5, seed=11)
    shares = {}
    for df in ("t", "z"):
        fits = fit_batch(prepare_batch(design, "clmm", test=df), codes)
        assert (fits.failed == 0).all()
        shares[df] = float((fits.p[:, 0] < 0.05).mean())
    assert shares["z"] > 0.11  # about 0.18 over many more sets
    assert shares["t"] < 0.10  # about 0.06
