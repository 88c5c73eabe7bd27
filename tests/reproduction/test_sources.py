"""What can be given about a study, and what is said about tables that hold nothing to compare."""

from pathlib import Path

import pandas as pd
import pytest

from panelist.core.errors import BadFile, BadReproduction, PanelistError
from panelist.reproduction.sources import read_source, share_columns
from tests.reproduction.small_studies import make_ratings, needs_shared, scores_table, write
from tests.shared_cases import SHARED


def test_raw_ratings_are_told_from_scores(tmp_path: Path) -> None:
    raw = read_source(write(make_ratings(1), tmp_path / "raw.csv"), "original")
    scores = read_source(
        write(scores_table("fluency", {"a": 4.5, "b": 3}), tmp_path / "scores.csv"), "repeat"
    )
    assert (raw.kind, raw.raw, raw.given[0].systems) == ("ratings", True, ("human", "rules", "tuned"))
    assert (scores.kind, scores.given[0].scores) == ("scores", {"a": 4.5, "b": 3.0})
    assert raw.sentence().startswith("original: raw ratings, from ")


def test_a_printed_table_may_stand_either_way_round() -> None:
    across = pd.DataFrame({"model": ["a", "b"], "fluency": [4.5, 3.0], "adequacy": [4.0, 2.0]})
    down = pd.DataFrame({"criterion": ["fluency", "adequacy"], "a": [4.5, 4.0], "b": [3.0, 2.0]})
    for frame in (across, down):
        found = read_source(frame, "original")
        assert found.kind == "printed table"
        assert {one.name: one.scores for one in found.given} == {
            "fluency": {"a": 4.5, "b": 3.0},
            "adequacy": {"a": 4.0, "b": 2.0},
        }


def test_printed_cells_lose_their_dress() -> None:
    frame = pd.DataFrame(
        {
            "method": ["a", "b", "c"],
            "x": ["**4.5**", "76 %", "−3.1 ± 0.2"],
            "by": ["us", "them", "us"],
            "y": ["1", "-", "2*"],
        }
    )
    found = read_source(frame, "original")
    assert {one.name: one.scores for one in found.given} == {
        "x": {"a": 4.5, "b": 76.0, "c": -3.1},
        "y": {"a": 1.0, "c": 2.0},
    }
    said = " ".join(found.notes)
    assert "method is read as system" in said
    assert "without numbers left out: by" in said
    assert "hold more than a number" in said


def test_choices_and_studies_are_read(tmp_path: Path) -> None:
    from panelist.study.reading.load import load_study
    from panelist.study.start import init_study

    choices = pd.DataFrame(
        {"rater": ["r"], "item": ["i"], "system_a": ["x"], "system_b": ["y"], "winner": ["x"]}
    )
    assert read_source(choices, "original").kind == "choices"
    folder = tmp_path / "study"
    init_study(folder, "likert")
    study = load_study(folder)
    with pytest.raises(BadFile, match="has no ratings"):
        read_source(folder, "original")
    outputs = study.outputs.frame
    rows = outputs.assign(rater="r1", criterion=study.criteria[0].name, rating=3)
    rows[["rater", "item", "system", "criterion", "rating"]].to_csv(folder / "ratings.csv", index=False)
    found = read_source(folder, "original")
    scale = study.criteria[0].scale
    assert (found.kind, found.study is not None) == ("ratings", True)
    assert (found.given[0].low, found.given[0].high) == (scale.lowest, scale.highest)


@needs_shared
def test_shared_files_are_what_they_are() -> None:
    kinds = {name: read_source(SHARED / f"{name}.csv", "original").kind for name in
             ("fig_narrative_idiom_individual", "reprohum_d2t_coherence", "qg_stec")}  # fmt: skip
    assert kinds == {
        "fig_narrative_idiom_individual": "ratings",
        "reprohum_d2t_coherence": "choices",
        "qg_stec": "ratings",
    }


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), "none of the tables"),
        (pd.DataFrame({"system": ["a", "a"], "score": [1, 2]}), "two scores of 'a'"),
        (pd.DataFrame({"system": ["a", "b"], "fluency": ["good", "bad"]}), "no column of numbers"),
        (pd.DataFrame({"system": ["a", "a"], "fluency": [1, 2]}), "in two rows"),
        (pd.DataFrame({"system": ["a", "b"], "score": ["good", "bad"]}), "not all numbers"),
        (pd.DataFrame({"system": ["a"], "rater": ["r"], "item": ["i"]}), "no column 'rating'"),
        ({"fluency": "high"}, "Scores in Python"),
        ({}, "Scores in Python"),
    ],
)
def test_other_tables_are_refused_with_a_sentence(frame: object, part: str) -> None:
    with pytest.raises(PanelistError, match=part):
        read_source(frame, "original")


def test_a_mapping_of_columns_goes_to_the_tables_that_have_them() -> None:
    raw = make_ratings(1).rename(columns={"rater": "WorkerId"})
    scores = scores_table("fluency", {"a": 1})
    assert share_columns([raw, scores], {"rater": "WorkerId"}) == [{"rater": "WorkerId"}, None]
    with pytest.raises(BadReproduction, match="Did you mean 'WorkerId'"):
        share_columns([raw, scores], {"rater": "WorkrId"})


def test_chosen_rows_are_of_ratings_and_scores_stay_what_they_are(tmp_path: Path) -> None:
    """A printed table has no languages: what is asked of ratings is not asked of it."""
    where = {"language": ("en",), "criterion": ("fluency",)}
    raw = make_ratings(1).assign(language=["en", "de"] * 135)
    found = read_source(write(raw, tmp_path / "raw.csv"), "repeat", None, where)
    assert found.given[0].rows is not None
    assert len(found.given[0].rows) == 135
    across = pd.DataFrame({"model": ["a", "b"], "fluency": [4.5, 3.0], "adequacy": [4.0, 2.0]})
    long = pd.concat(
        [scores_table("fluency", {"a": 4.5, "b": 3}), scores_table("adequacy", {"a": 4, "b": 2})]
    )
    for table in (across, long):
        printed = read_source(table, "original", None, where)
        assert {one.name: one.scores for one in printed.given} == {"fluency": {"a": 4.5, "b": 3.0}}
        assert any("holds scores, not ratings" in note for note in printed.notes)
        one = read_source(table, "original", None, {"system": "a", "criterion": "adequacy"})
        assert {one.name: one.scores for one in one.given} == {"adequacy": {"a": 4.0}}
    with pytest.raises(BadReproduction, match=r"no criterion 'fluancy'\. Did you mean 'fluency'"):
        read_source(across, "original", None, {"criterion": "fluancy"})
    with pytest.raises(PanelistError, match="language"):
        read_source(make_ratings(1), "repeat", None, where)
