"""Systems and criteria are matched by name; a permutation that fits far better is pointed out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadReproduction, UnknownName
from panelist.reproduction.match import find_permutation, match_sources
from panelist.reproduction.reproduce import reproduce
from panelist.reproduction.sources import read_source
from tests.examples import examples
from tests.reproduction.published import LI

LUX_ORIGINAL = {"first": {"A": 31, "B": 11}, "second": {"A": 25, "B": 52}, "third": {"A": 43, "B": 37}}
LUX_REPEAT = {"first": {"A": 12, "B": 29}, "second": {"A": 50, "B": 29}, "third": {"A": 38, "B": 41}}


def sources(*scores: dict[str, dict[str, float]]) -> list:  # type: ignore[type-arg]
    labels = ["original", *(f"repeat {place}" for place in range(1, len(scores)))]
    return [read_source(one, label) for one, label in zip(scores, labels, strict=True)]


def test_rows_are_paired_by_name_and_not_by_order() -> None:
    one = reproduce({"a": 1, "b": 2, "c": 3}, {"c": 6, "a": 2, "b": 4}, scale_min=0)
    assert one["rating"].correlations.pearson == pytest.approx(1)
    assert one["rating"]["c"].scores == (3, 6)


def test_swapped_labels_are_pointed_out() -> None:
    found = reproduce(LUX_ORIGINAL, LUX_REPEAT, scale_min=0)
    assert "scores match a permutation of the system names" in found.warnings[0]
    mended = reproduce(LUX_ORIGINAL, LUX_REPEAT, scale_min=0, systems={"A": "B", "B": "A"})
    assert mended.warnings == ()
    assert mended.upheld == 1
    assert mended.cv_star == pytest.approx(
        np.mean([6.646702, 14.770449, 4.747644, 8.669611, 3.909825, 2.658681])
    )


def test_counts_of_different_size_are_compared_by_their_pattern() -> None:
    original = np.array([[63, 22], [51, 106], [88, 76]], dtype=float)
    repeat = np.array([[113, 274], [471, 271], [358, 391]], dtype=float)
    found = find_permutation(original, repeat, ["A", "B"], "repeat")
    assert found is not None
    assert found.names == (("A", "B"), ("B", "A"))
    assert (found.r_as_named, found.r_permuted) == pytest.approx((0.0019781710, 0.9908988181), abs=1e-9)


def test_a_failed_repeat_of_one_criterion_is_no_permutation() -> None:
    for task in LI.values():
        original, again = task.original, task.again
        assert (
            find_permutation(np.array([original], float), np.array([again], float), list("abcd"), "r") is None
        )


def test_a_permutation_of_many_exact_scores_is_found() -> None:
    original = np.array([[1.25, 2.5, 3.125, 4.75, 4.0]])
    repeat = original[:, [1, 2, 0, 3, 4]] + 0.001
    found = find_permutation(original, repeat, list("abcde"), "repeat")
    assert found is not None
    assert dict(found.names) == {"a": "c", "b": "a", "c": "b"}


def test_unrelated_scores_seldom_look_permuted() -> None:
    rng = np.random.default_rng(5)
    flagged = sum(
        find_permutation(rng.normal(size=(2, 4)), rng.normal(size=(2, 4)), list("abcd"), "r") is not None
        for _ in range(40)
    )
    assert flagged <= 3


@examples(20)
@given(st.lists(st.floats(0, 100), min_size=3, max_size=6))
def test_scores_that_come_out_again_are_never_permuted(scores: list[float]) -> None:
    row = np.array([scores])
    if np.ptp(row) > 1e-6:
        assert find_permutation(row, row * 1.01, list("abcdef"[: len(scores)]), "r") is None


def test_names_that_differ_in_form_only_are_the_same_and_said_so() -> None:
    [one], notes = match_sources(
        sources({"Fluency": {"Ed+CC": 1, "GPT 2": 2}}, {"fluency": {"ed+cc": 3, "gpt-2": 4}}), {}, {}
    )
    assert one.systems == ("Ed+CC", "GPT 2")
    assert one.given[1].scores == {"Ed+CC": 3, "GPT 2": 4}
    assert any("'fluency' of repeat 1 is taken as 'Fluency'" in note for note in notes)
    assert any("'gpt-2' of repeat 1, on Fluency is taken as 'GPT 2'" in note for note in one.notes)


def test_what_one_study_has_alone_is_named() -> None:
    [one], notes = match_sources(
        sources({"x": {"a": 1, "b": 2}, "y": {"a": 1}}, {"x": {"a": 3, "c": 4}, "z": {"a": 1}}), {}, {}
    )
    assert one.systems == ("a",)
    assert "Criterion 'y' is only in the original: left out." in notes
    assert "Criterion 'z' is only in repeat 1: left out." in notes
    assert "On x, b of original is not in every study: left out." in one.notes
    assert "On x, c of repeat 1 is not in every study: left out." in one.notes


def test_a_criterion_without_common_systems_is_left_out_where_others_have_some() -> None:
    found = reproduce(
        {"x": {"a": 1, "b": 2}, "y": {"a": 1}}, {"x": {"a": 1, "b": 3}, "y": {"c": 1}}, scale_min=0
    )
    assert [one.criterion for one in found.criteria] == ["x"]
    assert any("'y' is left out. The studies have no system in common" in note for note in found.notes)


def test_renaming_is_understood_either_way_round() -> None:
    given = sources({"x": {"a": 1, "b": 2}}, {"x": {"n1": 3, "n2": 4}})
    for names in ({"a": "n1", "b": "n2"}, {"n1": "a", "n2": "b"}):
        [one], _ = match_sources(given, names, {})
        assert one.given[1].scores == {"a": 3, "b": 4}


@pytest.mark.parametrize(
    ("repeat", "systems", "error", "part"),
    [
        ({"x": {"c": 1}}, {}, BadReproduction, "no system in common on 'x'"),
        ({"fluensy": {"a": 1}}, {}, BadReproduction, "no criterion in common"),
        ({"x": {"a": 1}}, {"q": "a"}, UnknownName, "no system of the original is called 'q'"),
        ({"x": {"a": 1, "c": 2}}, {"a": "c"}, BadReproduction, "two systems the name 'a'"),
    ],
)
def test_studies_without_anything_in_common_are_refused(
    repeat: dict[str, dict[str, float]], systems: dict[str, str], error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        match_sources(sources({"x": {"a": 1, "b": 2}}, repeat), systems, {})


def test_a_table_without_criteria_is_paired_with_the_only_one() -> None:
    [one], notes = match_sources(sources({"fluency": {"a": 1, "b": 2}}, {"rating": {"a": 3, "b": 4}}), {}, {})
    assert one.criterion == "fluency"
    assert "taken as the original's 'fluency'" in notes[0]
