"""Ratings of unknown raters: only what does not depend on who gave which rating is measured."""

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.measure import measure_agreement
from panelist.core.errors import PanelistError
from panelist.core.tables.ratings import read_ratings, write_ratings

UNNAMED = {
    *("percent_agreement", "fleiss_kappa", "gwet_ac1", "gwet_ac2", "icc_1", "icc_k"),
    *("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal"),
    *("krippendorff_alpha_interval", "krippendorff_alpha_ratio"),
}


def make_ratings(seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"i{i}", s, f"r{r}", int(np.clip(3 + rng.normal(0, 1) + (s == "b") + 0.6 * r, 1, 5)))
        for i in range(20)
        for s in "ab"
        for r in range(3)
    ]
    return pd.DataFrame(rows, columns=["item", "system", "rater", "rating"])


def shuffle_raters(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings of each output handed out to its raters anew."""
    rng = np.random.default_rng(9)
    parts = [
        part.assign(rater=rng.permutation(part["rater"])) for _, part in frame.groupby(["item", "system"])
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval", "ratio"])
def test_only_what_does_not_tell_raters_apart_is_given(measurement: str) -> None:
    frame = make_ratings()
    whole, other, unknown = (
        measure_agreement(one, measurement, "all", interval="none").criteria[0]
        for one in (frame, shuffle_raters(frame), frame.assign(rater=""))
    )
    assert {one.name for one in unknown.coefficients} == UNNAMED
    for name in sorted(UNNAMED):
        assert unknown[name].estimate == pytest.approx(whole[name].estimate, nan_ok=True, abs=1e-12)
        assert other[name].estimate == pytest.approx(whole[name].estimate, nan_ok=True, abs=1e-12)
    apart = [name for name in COEFFICIENTS if name not in UNNAMED and np.isfinite(whole[name].estimate)]
    assert [name for name in apart if abs(whole[name].estimate - other[name].estimate) < 1e-9] == []
    assert (unknown.raters_known, unknown.suspicions) == (False, ())
    assert "120 ratings by unknown raters of 40 outputs" in unknown.sentence()


def test_what_tells_raters_apart_is_refused_by_name() -> None:
    frame = make_ratings().assign(rater=None)
    with pytest.raises(PanelistError, match="spearman distinguishes raters"):
        measure_agreement(frame, coefficients="spearman")
    with pytest.raises(PanelistError, match="Intervals for other raters need to know who rated what"):
        measure_agreement(frame, interval="both")
    found = measure_agreement(frame, interval="auto", resamples=20).criteria[0]
    assert found.interval == "for other items, bootstrap over items"


def test_an_empty_column_of_raters_is_kept_in_files_and_makes_them_unknown(tmp_path: object) -> None:
    ratings = read_ratings(make_ratings().assign(rater=" "))
    assert ratings.absent == {"rater"}
    assert "rater" not in ratings.frame
    path = f"{tmp_path}/r.csv"
    write_ratings(ratings, path)
    assert read_ratings(path).absent == {"rater"}
    assert read_ratings(make_ratings()).absent == frozenset()
