"""One analysis for each stratum: as of its rows alone, named for it, and its multiplicity stated."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.compare import compare_systems
from panelist.analysis.missing import Missing
from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import read_ratings
from tests.simulated import simulate_demo

FORMULA = "rating ~ system + (1 | rater)"


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    parts = [simulate_demo(seed).assign(language=language) for seed, language in ((1, "de"), (2, "en"))]
    whole = pd.concat(parts, ignore_index=True)
    return whole[whole["criterion"] == "fluency"].reset_index(drop=True)


def test_every_stratum_is_analysed_as_if_alone(ratings: pd.DataFrame) -> None:
    whole = compare_systems(ratings, by="language", formula=FORMULA, model="lmm")
    assert [(one.by, one.stratum) for one in whole.criteria] == [("language", "de"), ("language", "en")]
    for one in whole.criteria:
        rows = ratings[ratings["language"] == one.stratum].reset_index(drop=True)
        alone = compare_systems(rows, formula=FORMULA, model="lmm").criteria[0]
        assert one.criterion == f"{alone.criterion} (language: {one.stratum})"
        assert replace(one, criterion=alone.criterion, by=None, stratum=None).pairs == alone.pairs


def test_the_strata_and_their_multiplicity_are_said(ratings: pd.DataFrame) -> None:
    half = len(ratings) // 2
    whole = compare_systems(ratings, by="language", formula=FORMULA, model="lmm")
    assert f"One analysis for each language: de ({half:,} rows), en ({half:,} rows)." in whole.notes
    assert any("not over the 2 of them" in note for note in whole.notes)
    found = json.loads(whole.to_json())
    assert found["by"] == "language"
    assert [one["stratum"] for one in found["criteria"]] == ["de", "en"]


def test_a_stratum_that_cannot_be_compared_is_named(ratings: pd.DataFrame) -> None:
    lame = ratings["language"].eq("en") & ratings["system"].ne(ratings["system"][0])
    whole = compare_systems(ratings[~lame], by="language", formula=FORMULA, model="lmm")
    assert [one.stratum for one in whole.criteria] == ["de"]
    assert any("cannot be compared: language en." in note for note in whole.notes)
    assert not any("not over the" in note for note in whole.notes)


def test_rows_without_a_stratum_are_counted(ratings: pd.DataFrame) -> None:
    gaps = ratings.assign(language=ratings["language"].mask(ratings.index < 3))
    whole = compare_systems(gaps, by="language", formula=FORMULA, model="lmm")
    assert "3 rows without language are left out." in whole.notes


@pytest.mark.parametrize("column", ["system", "rating"])
def test_what_is_compared_is_no_stratum(ratings: pd.DataFrame, column: str) -> None:
    with pytest.raises(BadRatings, match=f"cannot be split by '{column}'"):
        compare_systems(ratings, by=column)


def test_a_column_of_numbers_without_end_is_no_stratum(ratings: pd.DataFrame) -> None:
    table = read_ratings(ratings.assign(seconds=range(len(ratings))))
    with pytest.raises(BadRatings, match="different values, and each would be a separate analysis"):
        compare_systems(table, by="seconds")


def test_a_report_of_a_table_may_be_split_too(ratings: pd.DataFrame) -> None:
    analysis = analyse(None, ratings, by="language", resamples=2)
    assert [one.criterion for one in analysis.criteria] == [
        "fluency (language: de)",
        "fluency (language: en)",
    ]
    rows = ratings[ratings["language"] == "en"].reset_index(drop=True)
    alone = analyse(None, rows, resamples=2).criteria[0]
    assert not isinstance(alone.comparison, Missing)
    other = analysis.criteria[1].comparison
    assert not isinstance(other, Missing)
    assert [(pair.a, pair.b) for pair in other.pairs] == [(pair.a, pair.b) for pair in alone.comparison.pairs]
    gaps = [
        one.difference - two.difference for one, two in zip(other.pairs, alone.comparison.pairs, strict=True)
    ]
    assert max(map(abs, gaps)) < 1e-8
    assert any("not over the 2 of them" in note for note in analysis.data.notes)
