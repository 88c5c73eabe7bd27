"""Groups of raters: each measured alone, shown side by side; groups that cannot be compared are named."""

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.measure import measure_agreement
from panelist.agreement.studies.groups import compare_groups
from panelist.core.errors import BadRatings


def ratings(sizes: dict[str, int], items: int = 30) -> pd.DataFrame:
    random = np.random.default_rng(6)
    quality = random.normal(size=items)
    rows = []
    for group, size in sizes.items():
        noise = 0.3 if group == "native" else 1.5
        for rater in range(size):
            given = np.clip(np.rint(3 + quality + noise * random.normal(size=items)), 1, 5)
            rows += [(f"{group}-{rater}", f"i{k}", group, "fluency", value) for k, value in enumerate(given)]
    return pd.DataFrame(rows, columns=["rater", "item", "group", "criterion", "rating"])


def test_each_group_is_measured_alone() -> None:
    frame = ratings({"native": 3, "other": 4})
    found = compare_groups(frame, interval="none")
    for group in ("native", "other"):
        alone = measure_agreement(frame[frame["group"] == group], interval="none")["fluency"]
        assert found[group]["fluency"].coefficients == alone.coefficients
    name = "krippendorff_alpha_ordinal"
    native, other = (found[group]["fluency"][name].estimate for group in ("native", "other"))
    assert native > other


def test_groups_stand_side_by_side_with_their_sizes() -> None:
    text = str(compare_groups(ratings({"native": 3, "other": 4}), resamples=20))
    assert "native (3 raters)" in text
    assert "other (4 raters)" in text
    assert "Groups on fluency" in text


def test_a_group_of_one_and_rows_without_a_group_are_counted() -> None:
    frame = ratings({"native": 3, "other": 4, "guest": 1})
    frame.loc[frame["rater"] == "other-0", "group"] = None
    found = compare_groups(frame, interval="none")
    assert found.groups == ("native", "other")
    assert found.notes == ("30 of 240 rows belong to no group", "a single rater, so left out: guest")


def test_one_group_cannot_be_compared() -> None:
    with pytest.raises(BadRatings, match="only 'native' has"):
        compare_groups(ratings({"native": 3, "guest": 1}))
