"""The ratings table: what its columns and cells mean, and what can be asked of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from panelist.core.errors import BadRatings, PanelistError
from panelist.core.tables.ratings import Ratings, read_ratings

SHARED = Path(__file__).parents[3].parent / "shared" / "data"


def _frame(**columns: Any) -> pd.DataFrame:
    n = max((len(values) for values in columns.values()), default=4)
    base = {
        "rater": ["P1", "P1", "P2", "P2"][:n],
        "item": [1, 2, 1, 2][:n],
        "system": ["a", "b", "b", "a"][:n],
        "criterion": ["fluency", "fluency", "clarity", "clarity"][:n],
        "rating": [1, 2, 3, 4][:n],
    }
    return pd.DataFrame(base | columns)


def test_identifiers_become_text_and_ratings_numbers() -> None:
    frame = read_ratings(_frame()).frame
    assert frame["item"].tolist() == ["1", "2", "1", "2"]
    assert frame["rating"].dtype == np.int64


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0, 4.0, None, 2.5], ["3", "4", None, "2.5"]),
        ([3, "3", 3.0, None], ["3", "3", "3", None]),
        (["NA", "null", "None", "nan"], ["NA", "null", "None", "nan"]),
        (["007", "1.0", "", " x "], ["007", "1.0", None, " x "]),
        (pd.array([1, None, 3, 12345678901234567], dtype="Int64"), ["1", None, "3", "12345678901234567"]),
        (pd.Categorical(["b", "a", None, "b"], categories=["b", "a"]), ["b", "a", None, "b"]),
        ([True, False, True, False], ["True", "False", "True", "False"]),
        (
            pd.to_datetime(["2024-05-01"] * 3 + ["2024-05-01 12:30"], format="ISO8601"),
            ["2024-05-01"] * 3 + ["2024-05-01T12:30:00"],
        ),
        ([None, None, None, None], [None, None, None, None]),
    ],
)
def test_an_identifier_is_the_text_a_person_would_write(values: Any, expected: list[str | None]) -> None:
    column = read_ratings(_frame(item=values)).frame["item"]
    assert [None if value is np.nan else value for value in column] == expected
    assert isinstance(column.dtype, pd.StringDtype)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", " 2 ", "3.0", "+4"], [1, 2, 3, 4]),
        ([1, "2", 3.5, None], [1, 2, 3.5, None]),
        (["1", "NA", "null", "None"], [1, None, None, None]),
        (["1", "nan", "", "  "], [1, None, None, None]),
        ([True, False, True, True], [1, 0, 1, 1]),
        (pd.array([1, None, 3, 4], dtype="Int64"), [1, None, 3, 4]),
        (pd.Categorical(["1", "2", "10", "2"]), [1, 2, 10, 2]),
        (pd.Categorical([1, 2, 10, 2], ordered=True), [1, 2, 10, 2]),
        (["1e2", ".5", "-2.", "05"], [100, 0.5, -2, 5]),
        ([None, None, None, None], [None, None, None, None]),
        (np.array([1, 2, 3, 250], dtype=np.uint8), [1, 2, 3, 250]),
    ],
)
def test_ratings_that_say_numbers_are_numbers(values: Any, expected: list[float | None]) -> None:
    column = read_ratings(_frame(rating=values)).frame["rating"]
    assert [None if np.isnan(value) else value for value in column] == expected
    whole = all(value is not None and value == int(value) for value in expected)
    assert column.dtype == (np.int64 if whole else np.float64)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["good", "poor", "NA", ""], ["good", "poor", None, None]),
        (["1", "2", "1_000", "x"], ["1", "2", "1_000", "x"]),
        (["A", "B", "tie", "B"], ["A", "B", "tie", "B"]),
        ([1, 2.0, "x", None], ["1", "2", "x", None]),
        (["1,5", "2,5", "3", "4"], ["1,5", "2,5", "3", "4"]),
    ],
)
def test_ratings_that_are_not_all_numbers_stay_text(values: Any, expected: list[str | None]) -> None:
    column = read_ratings(_frame(rating=values)).frame["rating"]
    assert [None if value is np.nan else value for value in column] == expected


@pytest.mark.parametrize("word", ["good", "0x10", "4/5", "-"])
def test_a_word_among_numbers_is_refused_with_its_row_and_what_to_do(word: str) -> None:
    frame = _frame(rating=[1, 2, word, 4], criterion=["fluency"] * 4).rename(columns={"rating": "Score"})
    with pytest.raises(BadRatings) as caught:
        read_ratings(frame)
    assert f"Column 'Score' holds numbers, but one cell is not: {word!r} in row 3" in str(caught.value)
    assert "--drop invalid" in str(caught.value)


def test_a_word_among_numbers_is_left_out_when_asked() -> None:
    ratings = read_ratings(_frame(rating=["1", "2", "good", "4"], criterion=["fluency"] * 4), drop="invalid")
    assert ratings.frame["rating"].tolist()[:2] == [1, 2]
    assert np.isnan(ratings.frame["rating"][2])
    assert "1 of 4 cells of rating is not a number and was left out: 'good' in row 3" in ratings.notes


def test_numbers_among_labels_are_labels_and_said_to_be() -> None:
    ratings = read_ratings(_frame(rating=["A", "B", "3", "B"]).drop(columns="criterion"))
    assert (
        "rating holds labels; the numbers in 1 of 4 cells are labels as well: '3' in row 3" in ratings.notes
    )


def test_one_criterion_may_have_numbers_and_another_labels() -> None:
    ratings = read_ratings(_frame(rating=["1", "2", "yes", "no"]))
    assert ratings.frame["rating"].tolist() == ["1", "2", "yes", "no"]


def _texts(n: int = 24) -> list[str]:
    return [f"The system says something about place number {k} in so many words." for k in range(n)]


def _long(n: int = 24, **columns: Any) -> pd.DataFrame:
    base = {"rater": [f"P{k % 3}" for k in range(n)], "item": [k // 3 for k in range(n)]}
    return pd.DataFrame(base | {"system": ["a", "b"] * (n // 2)} | columns)


def test_texts_called_response_are_not_taken_for_ratings() -> None:
    ratings = read_ratings(_long(response=_texts()))
    assert "rating" not in ratings.frame
    assert "column response holds texts, so it is not read as the rating" in ratings.notes
    beside = read_ratings(_long(response=_texts(), score=[1, 2, 3] * 8))
    assert beside.frame["rating"].tolist() == [1, 2, 3] * 8
    assert beside.frame["response"].tolist() == _texts()


@pytest.mark.parametrize(
    "cells", [_texts(), [f"W{k}" for k in range(24)], [_texts()[0], _texts()[1]] * 12], ids=lambda c: c[0][:5]
)
def test_texts_and_ids_are_refused_as_ratings_with_the_column_named(cells: list[str]) -> None:
    with pytest.raises(BadRatings, match=r"Column 'rating' holds texts or ids.*in row 1.*--columns rating="):
        read_ratings(_long(rating=cells))
    with pytest.raises(BadRatings, match="Column 'said' holds texts or ids"):
        read_ratings(_long(said=cells), columns={"rating": "said"})


@pytest.mark.parametrize(
    "labels", [["yes", "no"], ["strongly agree", "neither agree nor disagree", "agree"], list("abcdefgh")]
)
def test_a_few_labels_are_ratings(labels: list[str]) -> None:
    cells = [labels[k % len(labels)] for k in range(24)]
    assert read_ratings(_long(response=cells)).frame["rating"].tolist() == cells


@pytest.mark.parametrize("categories", [["poor", "fair", "good"], ["3", "2", "1"]])
def test_an_ordered_categorical_keeps_its_order(categories: list[str]) -> None:
    order = pd.CategoricalDtype(categories, ordered=True)
    frame = _frame(rating=pd.Series([categories[0], categories[2], None, categories[0]], dtype=order))
    column = read_ratings(frame).frame["rating"]
    assert column.dtype == order
    assert column.cat.codes.tolist() == [0, 2, -1, 0]


@pytest.mark.parametrize("values", [[1, 2, np.inf, 4], ["1", "2", "-inf", "4"], ["1", "2", "Infinity", "4"]])
def test_an_infinite_rating_is_refused_with_its_row(values: list[Any]) -> None:
    with pytest.raises(BadRatings, match="rating in row 3 is infinite"):
        read_ratings(_frame(rating=values))


def test_the_row_of_an_infinite_rating_counts_the_rows_set_aside() -> None:
    with pytest.raises(BadRatings, match="rating in row 4 is infinite"):
        read_ratings(_frame(rating=[1, np.inf, 3, np.inf], excluded=[None, "broken", None, None]))


@pytest.mark.parametrize("name", ["excluded", "check"])
@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([True, False, True, False], [2, 4]),
        ([1, 0, 0, np.nan], [2, 3, 4]),
        (["yes", "no", "No", ""], [2, 3, 4]),
        (["too fast", "0", "false", None], [2, 3, 4]),
        (["TRUE", "FALSE", "1", "0.0"], [2, 4]),
        (["NA", "left early", "NA", "NA"], [1, 3, 4]),
        ([None, None, None, None], [1, 2, 3, 4]),
    ],
)
def test_excluded_rows_and_checks_are_set_aside_and_counted(
    name: str, values: list[Any], kept: list[int]
) -> None:
    ratings = read_ratings(_frame(**{name: values}))
    assert ratings.frame["rating"].tolist() == kept
    assert ratings.frame.index.tolist() == list(range(len(kept)))
    counted = [note for note in ratings.notes if "set aside" in note]
    assert len(counted) == (len(kept) < 4)
    assert all(
        note.startswith(f"{4 - len(kept)} of 4 rows set aside by their column {name}") for note in counted
    )


def test_the_reasons_for_setting_rows_aside_are_listed() -> None:
    ratings = read_ratings(_frame(excluded=["too fast", "too fast", "left", ""]))
    assert "3 of 4 rows set aside by their column excluded ('too fast' 2, 'left' 1)" in ratings.notes


def test_a_table_with_every_row_set_aside_is_refused() -> None:
    with pytest.raises(BadRatings, match="nothing is left, 4 of 4 rows set aside"):
        read_ratings(_frame(check=[1, 1, 1, 1]))


def test_what_is_missing_is_counted() -> None:
    notes = read_ratings(_frame(rating=[1, None, 3, 4], rater=["P1", None, None, "P2"])).notes
    assert "rating is missing in 1 of 4 rows" in notes
    assert "rater is missing in 2 of 4 rows" in notes


def test_names_lead_from_the_source_to_ours() -> None:
    ratings = read_ratings(_frame().rename(columns={"rater": "Participant", "system": "model"}))
    assert ratings.names == {"Participant": "rater", "model": "system"}
    assert "column Participant is read as rater" in ratings.notes
    assert ratings.find("Participant") == ratings.find("rater") == ratings.find("judge") == "rater"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_wine_keeps_its_rating_beside_its_response() -> None:
    wine = read_ratings(SHARED / "wine" / "wine.csv")
    assert wine.names == {"judge": "rater"}
    assert wine.frame["rating"].max() == 5
    assert wine.frame["response"].max() > 5
    turned = read_ratings(SHARED / "wine" / "wine.csv", columns={"rating": "response"})
    assert turned.frame["rating"].tolist() == wine.frame["response"].tolist()
    assert turned.frame["rating_original"].tolist() == wine.frame["rating"].tolist()
    assert turned.names == {"judge": "rater", "response": "rating"}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_families_of_systems_keep_the_model_beside_the_system() -> None:
    ratings = read_ratings(SHARED / "reprohum_def_fluency_family.csv")
    assert len(ratings.systems) == 3
    assert ratings.frame["model"].nunique() == 6


def test_a_frame_is_never_modified() -> None:
    frame = _frame(rating=["1", " 2", "NA", "4"], item=[1.0, 2.0, None, 4.0], excluded=["", "yes", "", ""])
    before = frame.copy(deep=True)
    ratings = read_ratings(frame, columns={"group": "criterion"})
    ratings.frame.loc[:, "rater"] = "changed"
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pa.table])
def test_frames_of_other_libraries_give_the_same_table(make: Any) -> None:
    columns = {
        "participant": ["P1", "P2", None],
        "item": [12345678901234567, None, 3],
        "rating": [1, 2, None],
        "seconds": [0.5, None, 2.5],
        "position": [1, None, 3],
        "text": ["x", "", None],
    }
    ours = read_ratings(make(columns))
    theirs = read_ratings(
        pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    )
    pd.testing.assert_frame_equal(ours.frame, theirs.frame)
    assert ours.frame["item"][0] == "12345678901234567"
    assert ours.names == {"participant": "rater"}


def test_an_enum_of_polars_is_an_ordered_categorical() -> None:
    order = ["poor", "fair", "good"]
    frame = pl.DataFrame({"rating": pl.Series(["good", "poor"], dtype=pl.Enum(order))})
    assert read_ratings(frame).frame["rating"].dtype == pd.CategoricalDtype(order, ordered=True)


def test_a_named_index_is_a_column() -> None:
    frame = read_ratings(_frame().set_index(["rater", "item"])).frame
    assert frame["rater"].tolist() == ["P1", "P1", "P2", "P2"]
    assert frame["item"].tolist() == ["1", "2", "1", "2"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([1, 2], "An object of type list is not a ratings table"),
        (None, "An object of type NoneType is not a ratings table"),
        (np.zeros((2, 2)), "An object of type ndarray is not a ratings table"),
        (pd.Series([1, 2]), "An object of type Series is not a ratings table"),
        (pd.DataFrame(), "0 rows and 0 columns"),
        (pd.DataFrame({"rating": []}), "0 rows and 1 columns"),
        (pd.DataFrame([[1, 2]], columns=["item", "item"]), "several columns called 'item'"),
        (pd.DataFrame([[1, 2]], columns=[["a", "a"], ["b", "c"]]), "several levels"),
        (pd.DataFrame({"item": [[1], [2]]}), "'item' holds lists"),
    ],
)
def test_what_is_no_ratings_table_is_refused(source: Any, message: str) -> None:
    with pytest.raises(BadRatings, match=message):
        read_ratings(source)


def test_ratings_pass_through_and_can_be_mapped_again() -> None:
    ratings = read_ratings(_frame(text=list("wxyz")).rename(columns={"rater": "judge"}))
    assert read_ratings(ratings) is ratings
    again = read_ratings(ratings, columns={"item": "text", "group": "judge"})
    assert again.frame["item"].tolist() == list("wxyz")
    assert again.frame["group"].tolist() == ["P1", "P1", "P2", "P2"]
    assert again.names["judge"] == "group"
    assert "rater" not in again.frame


def test_where_keeps_the_rows_that_have_the_value() -> None:
    ratings = read_ratings(_frame())
    kept = ratings.where(system="a", item=1)
    assert kept.frame["rating"].tolist() == [1]
    assert kept.frame.index.tolist() == [0]
    assert kept.notes[-1] == "1 of 4 rows kept, where system is a and item is 1"
    assert len(ratings) == 4
    assert ratings.where(rating="3.0").frame["rating"].tolist() == [3]
    assert ratings.where(participant=("P2",)).frame["rating"].tolist() == [3, 4]
    assert ratings.where(system=("a", "b")) is ratings


def test_only_keeps_one_criterion() -> None:
    assert read_ratings(_frame()).only("clarity").criteria == ("clarity",)


def test_where_never_takes_a_missing_cell() -> None:
    ratings = read_ratings(_frame(system=["a", None, "nan", "a"]))
    assert ratings.where(system="nan").frame["rating"].tolist() == [3]


def test_where_explains_what_is_not_there() -> None:
    ratings = read_ratings(_frame())
    with pytest.raises(BadRatings, match=r"has criterion 'fluecny'\. Did you mean 'fluency'\?"):
        ratings.only("fluecny")
    with pytest.raises(BadRatings, match=r"no column 'sistem'.*Did you mean 'system'"):
        ratings.where(sistem="a")
    with pytest.raises(BadRatings, match="has rater is P1 and criterion is clarity together"):
        ratings.where(rater="P1", criterion="clarity")


def test_require_names_what_is_missing_what_is_there_and_what_to_do() -> None:
    ratings = read_ratings(_frame().rename(columns={"item": "itme"}))
    ratings.require("rater", "participant", "rating")
    with pytest.raises(BadRatings) as caught:
        ratings.require("rater", "item", "occasion")
    message = str(caught.value)
    assert "no columns 'item' and 'occasion'" in message
    assert "'rater', 'itme', 'system', 'criterion', 'rating'" in message
    assert "Did you mean 'itme'" in message
    assert "--columns item=NAME" in message


def test_systems_and_criteria_are_sorted_and_may_be_absent() -> None:
    ratings = read_ratings(_frame())
    assert ratings.systems == ("a", "b")
    assert ratings.criteria == ("clarity", "fluency")
    assert read_ratings(pd.DataFrame({"rating": [1]})).systems == ()


def test_ratings_print_themselves() -> None:
    ratings = read_ratings(_frame().rename(columns={"rater": "judge"}))
    lines = [line.split(maxsplit=1) for line in str(ratings).splitlines()]
    assert lines == [
        ["Ratings", "from a pandas frame"],
        ["rows", "4"],
        ["raters", "2"],
        ["items", "2"],
        ["systems", "2: a, b"],
        ["criteria", "2: clarity, fluency"],
        ["ratings", "numbers from 1 to 4"],
        ["columns", "rater, item, system, criterion, rating"],
        ["note", "column judge is read as rater"],
    ]
    assert json.loads(ratings.to_json())["n_raters"] == 2
    assert "<th scope=" in ratings._repr_html_()


def test_two_ratings_are_equal_only_if_they_are_one() -> None:
    a, b = read_ratings(_frame()), read_ratings(_frame())
    assert isinstance(a, Ratings)
    assert a != b
    assert len({a, b}) == 2


def test_unknown_columns_are_listed_shortly_with_the_nearest_first() -> None:
    frame = pd.DataFrame({**{f"field_{place:02}": ["x"] for place in range(40)}, "languages": ["en"]})
    ratings = read_ratings(frame.assign(rater="a", item="i", system="s", rating=1.0))
    with pytest.raises(BadRatings) as refused:
        ratings.where(language="en")
    text = str(refused.value)
    assert "its columns are 'languages', 'field_00'" in text
    assert "and 37 more" in text
    assert "Did you mean 'languages'?" in text
    assert len(text) < 400


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("wide.csv", "rater,item,system,fluency,coherence\na,1,x,3,4\n"),
        ("columns.csv", "item,system,criterion,annotator1,annotator2\n1,x,flu,3,4\n"),
        ("nested.json", '{"doc1": {"a": 3}}'),
        ("lists.jsonl", '{"item": "1", "system": "x", "rater": "a", "rating": [3, 4]}\n'),
    ],
)
def test_a_table_that_is_not_one_row_per_rating_names_import(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PanelistError, match="panelist import FILE makes the ratings table"):
        read_ratings(path).require("rating")


def test_a_column_of_lists_that_should_be_raters_is_refused_with_its_name() -> None:
    with pytest.raises(BadRatings, match="Column 'rater' holds lists or objects"):
        read_ratings(_frame(rater=[["human", "A1"], ["human", "A2"], ["human", "A1"], ["human", "A3"]]))
