"""What a table tells before any analysis: simulated rows, copies, repeats, raters who are nobody."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadRatings, UnknownName
from panelist.core.tables.ratings import read_ratings

SHAPES = Path(__file__).parents[3].parent / "shared" / "data" / "shapes"


def _crossed(raters: list[str], n_items: int = 30, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    rows = [(rater, f"i{item}", system) for item in range(n_items) for system in "ab" for rater in raters]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    return frame.assign(criterion="fluency", rating=rng.integers(1, 6, len(frame)), **columns)


def _said(frame: pd.DataFrame, word: str, **options: Any) -> list[str]:
    return [note for note in read_ratings(frame, **options).notes if word in note]


def test_an_ordinary_table_gets_no_notes() -> None:
    assert read_ratings(_crossed(["Ann", "Bo", "Cy"])).notes == ()


@pytest.mark.parametrize("name", ["na", "N/A", "unknown", "-1", "nan", "None", "Anonymous", "test"])
def test_a_placeholder_is_named_and_kept_or_left_out_as_asked(name: str) -> None:
    frame = _crossed(["Ann", "Bo", name])
    (note,) = _said(frame, "placeholder")
    assert f"rater {name!r} looks like a placeholder, not a person (60 of 180 rows, kept" in note
    ratings = read_ratings(frame, drop="placeholders")
    assert name not in set(ratings.frame["rater"])
    assert len(ratings) == 120
    assert "60 of 180 rows, left out, as asked" in ratings.notes[0]


@pytest.mark.parametrize("name", ["0", "Nadia", "Noname", "tester 4"])
def test_a_name_that_could_be_somebody_is_no_placeholder(name: str) -> None:
    assert _said(_crossed(["Ann", "Bo", name]), "placeholder") == []


def test_one_value_throughout_on_outputs_that_nobody_else_rated_is_suspected() -> None:
    frame = _crossed(["Ann", "Bo"])
    alone = frame.iloc[:12].assign(rater="X9", item=[f"z{k}" for k in range(12)], rating=3)
    (note,) = _said(pd.concat([frame, alone], ignore_index=True), "nobody else rated")
    assert "rater 'X9'" in note
    varied = alone.assign(rating=[3, 4] * 6)
    assert _said(pd.concat([frame, varied], ignore_index=True), "nobody else rated") == []
    shared = alone.assign(item=[f"i{k}" for k in range(12)])
    assert _said(pd.concat([frame, shared], ignore_index=True), "nobody else rated") == []


def test_where_everybody_rates_alone_nobody_is_suspected() -> None:
    frame = _crossed(["Ann", "Bo", "Cy"])
    frame["item"] = frame["item"] + frame["rater"]
    frame.loc[frame["rater"] == "Cy", "rating"] = 3
    assert _said(frame, "nobody else rated") == []


@pytest.mark.parametrize("names", [["A1", "A2", "A3"], ["1", "2", "3"], ["annotator_0", "annotator_1"]])
def test_complete_columns_with_numbers_for_names_may_be_positions(names: list[str]) -> None:
    (note,) = _said(_crossed(names), "positions")
    assert f"the raters {', '.join(names)} each gave all 60 ratings" in note


@pytest.mark.parametrize(
    "frame",
    [
        _crossed(["Ann", "Bo", "Cy"]),
        _crossed(["P1", "P2", "P3"]),
        _crossed(["A1", "A2", "A7"]),
        _crossed(["A1", "A2", "A3"], n_items=10),
        _crossed(["A1", "A2", "A3"]).iloc[:-1],
        _crossed([f"A{k}" for k in range(1, 10)]),
    ],
    ids=["names", "participants", "gaps", "few", "incomplete", "many"],
)
def test_without_good_evidence_raters_are_people(frame: pd.DataFrame) -> None:
    assert _said(frame, "positions") == []


def test_copies_and_repeated_ratings_are_counted_apart() -> None:
    frame = _crossed(["Ann", "Bo"])
    again = frame.iloc[[0, 1, 2]].assign(rating=lambda rows: 6 - rows["rating"])
    again = again[again["rating"].to_numpy() != frame["rating"].iloc[:3].to_numpy()]
    whole = pd.concat([frame, frame.iloc[[4, 5]], again], ignore_index=True)
    notes = read_ratings(whole).notes
    assert notes[0].startswith("2 rows are exact copies of another row (agreement counts each once")
    assert f"{len(again)} row" in notes[1]
    assert "again what the same rater had rated" in notes[1]
    dropped = read_ratings(whole, drop="duplicates")
    assert len(dropped) == len(frame) + len(again)
    assert "left out, as asked" in dropped.notes[0]


def test_a_second_occasion_or_another_output_of_the_system_is_no_repeat() -> None:
    frame = _crossed(["Ann", "Bo"])
    for column in ("occasion", "text"):
        twice = pd.concat([frame.assign(**{column: "1"}), frame.assign(**{column: "2"})], ignore_index=True)
        assert read_ratings(twice).notes == ()


def test_pairs_of_other_systems_are_no_repeats() -> None:
    frame = _crossed(["Ann", "Bo"]).drop(columns="system").drop_duplicates(["rater", "item"])
    pairs = [frame.assign(system_a="a", system_b=other) for other in "bc"]
    assert read_ratings(pd.concat(pairs, ignore_index=True)).notes == ()


def test_rows_without_raters_may_be_alike() -> None:
    assert read_ratings(pd.DataFrame({"item": ["a", "a"], "rating": [1, 1]})).notes == ()


def test_simulated_rows_are_counted_and_said_first() -> None:
    frame = _crossed(["Ann", "na"])
    all_of_them = read_ratings(frame.assign(simulated="yes"))
    assert all_of_them.n_simulated == len(frame)
    assert all_of_them.notes[0].startswith("Simulated ratings: not data from people (all 120 rows")
    mixed = read_ratings(frame.assign(simulated=np.where(frame["rater"] == "na", "yes", "")))
    assert mixed.notes[0] == "Simulated ratings among the data: 60 of 120 rows are simulated, 60 are not"
    assert read_ratings(frame.assign(simulated="no")).n_simulated == 0


def test_what_can_be_left_out_has_a_name() -> None:
    with pytest.raises(UnknownName, match=r"Nothing called 'duplicate' can be left out\. Did you mean 'dup"):
        read_ratings(_crossed(["Ann", "Bo"]), drop="duplicate")
    with pytest.raises(BadRatings, match="nothing is left"):
        read_ratings(_crossed(["na", "unknown"]), drop=["placeholders"])


@pytest.mark.skipif(not SHAPES.is_dir(), reason="the shared data are not here")
def test_a_published_table_with_a_placeholder_and_a_stray_word_is_read_only_when_told_how() -> None:
    path = SHAPES / "placeholder_and_stray.csv"
    with pytest.raises(BadRatings, match="'good' in row 18"):
        read_ratings(path)
    ratings = read_ratings(path, drop=["invalid", "placeholders"])
    assert "na" not in set(ratings.frame["rater"])
    assert "rater 'na' looks like a placeholder" in ratings.notes[0]


@pytest.mark.skipif(not SHAPES.is_dir(), reason="the shared data are not here")
def test_published_column_names_are_known() -> None:
    names = read_ratings(SHAPES / "criteria_columns.csv").names
    assert names == {"worker_id": "rater", "doc_id": "item", "model_name": "system"}
    flat = read_ratings(SHAPES / "flat.jsonl")
    assert {"rater", "item", "system", "criterion", "rating"} <= set(flat.frame.columns)
