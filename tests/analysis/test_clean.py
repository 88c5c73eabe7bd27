"""Exclusions: every rule alone, marks in the data, checks graded from the table, what cannot be applied."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from panelist.analysis.clean import Cleaned, clean_ratings
from panelist.analysis.everything import read_everything
from panelist.core.errors import BadRatings
from panelist.core.ratings import read_ratings
from panelist.study.load import load_study
from panelist.study.study import Study
from tests.study.studies import write_study

STUDY = """\
title: A study
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
checks:
  items:
    - {kind: instructed, text: Answer with 4., answers: {fluency: "4"}}
    - {kind: repeat, count: 1, tolerance: 1}
    - {kind: degraded, count: 1, margin: 1}
"""


def make_study(folder: Path, exclude: str = "") -> Study:
    text = STUDY + (f"analysis:\n  exclude: {{{exclude}}}\n" if exclude else "")
    return load_study(write_study(folder, text))


def make_rows(**changes: Any) -> pd.DataFrame:
    """Return the ratings of three raters of four outputs each; ``changes`` replaces columns."""
    rows = [
        (rater, f"i{item}", "ab"[item % 2], "fluency", 1 + (item + place) % 5, 10.0, item)
        for place, rater in enumerate(("ann", "bob", "cy"))
        for item in range(1, 5)
    ]
    frame = pd.DataFrame(
        rows, columns=["rater", "item", "system", "criterion", "rating", "seconds", "order"]
    ).assign(check="")
    return frame.assign(**changes)


def with_checks(frame: pd.DataFrame, rater: str, **given: int) -> pd.DataFrame:
    """Return the rows with a rater's answers to checks: on the study's item, or on the rater's first."""
    first = frame[frame["rater"] == rater].iloc[0]
    extra = [
        first.to_dict()
        | {"check": name.replace("_", "-"), "rating": rating, "order": 90}
        | ({"item": "check-1", "system": ""} if name.startswith("instructed") else {})
        for name, rating in given.items()
    ]
    return pd.concat([frame, pd.DataFrame(extra)], ignore_index=True)


def clean(frame: pd.DataFrame, study: Study | None = None) -> Cleaned:
    return clean_ratings(read_everything(frame), study)


def left(cleaned: Cleaned) -> set[str]:
    return set(cleaned.kept.frame["rater"])


def test_without_rules_and_marks_everything_is_kept() -> None:
    cleaned = clean(make_rows())
    assert len(cleaned.kept) == len(cleaned.trials) == 12
    assert "No rule asked" in cleaned.exclusions.sentence()


def test_marked_rows_are_excluded_reason_by_reason() -> None:
    marks = ["returned"] * 4 + ["", "too fast", "", "too fast"] + [""] * 4
    cleaned = clean(make_rows(excluded=marks))
    counts = {rule.text: (rule.n_raters, rule.n_ratings) for rule in cleaned.exclusions.rules}
    assert counts == {
        "marked as excluded in the data: returned": (1, 4),
        "marked as excluded in the data: too fast": (1, 2),
    }
    assert (len(cleaned.kept), len(cleaned.trials)) == (6, 12)
    assert "6 of 12 ratings (50.0%)" in cleaned.exclusions.sentence()
    assert "1 of 3 raters" in cleaned.exclusions.sentence()


def test_checks_are_no_ratings_and_are_counted() -> None:
    cleaned = clean(with_checks(make_rows(), "ann", instructed_1=4))
    assert cleaned.exclusions.n_checks == 1
    assert len(cleaned.trials) == 12


@pytest.mark.parametrize(
    ("given", "fails"),
    [
        ({"instructed_1": 4}, 0),
        ({"instructed_1": 5}, 1),
        ({"repeat_1": 2}, 0),
        ({"repeat_1": 4}, 1),
        ({"degraded_1": 1}, 0),
        ({"degraded_1": 2}, 1),
        ({"instructed_1": 1, "repeat_1": 5, "degraded_1": 5}, 3),
    ],
)
def test_checks_are_graded_from_the_table(tmp_path: Path, given: dict[str, int], fails: int) -> None:
    frame = with_checks(make_rows(), "ann", **given)  # ann's first rating is 2
    for allowed in range(3):
        cleaned = clean(frame, make_study(tmp_path, f"failed_checks: {allowed}"))
        assert left(cleaned) == ({"bob", "cy"} if fails > allowed else {"ann", "bob", "cy"})


def test_a_rule_about_checks_needs_their_answers(tmp_path: Path) -> None:
    cleaned = clean(make_rows(), make_study(tmp_path, "failed_checks: 0"))
    (rule,) = cleaned.exclusions.rules
    assert "no answers to the study's checks" in rule.missing
    assert len(cleaned.kept) == 12


def test_fast_raters_are_found_by_their_median_page(tmp_path: Path) -> None:
    fast = make_rows(seconds=[3.0, 3.0, 3.0, 99.0] + [10.0] * 8)
    twice = pd.concat([fast, fast[fast["order"] == 4].assign(criterion="clarity")])
    cleaned = clean(twice, make_study(tmp_path, "median_seconds_below: 5"))
    assert left(cleaned) == {"bob", "cy"}


def test_fast_ratings_go_and_their_raters_stay(tmp_path: Path) -> None:
    cleaned = clean(make_rows(seconds=[1.0] + [10.0] * 11), make_study(tmp_path, "seconds_below: 2"))
    assert left(cleaned) == {"ann", "bob", "cy"}
    assert len(cleaned.kept) == 11


def test_straight_lining_is_one_answer_too_often(tmp_path: Path) -> None:
    rating = [3, 3, 3, 3, 3, 3, 3, 1, 1, 2, 3, 4]
    study = make_study(tmp_path, "same_answer_share_above: 0.75")
    assert left(clean(make_rows(rating=rating), study)) == {"bob", "cy"}


def test_unfinished_raters_go(tmp_path: Path) -> None:
    finished = [False] * 4 + [True] * 8
    cleaned = clean(make_rows(finished=finished), make_study(tmp_path, "unfinished: true"))
    assert left(cleaned) == {"bob", "cy"}


def test_raters_who_are_nobody_go(tmp_path: Path) -> None:
    nobody = make_rows(rater=["unknown"] * 4 + ["bob"] * 4 + ["cy"] * 4)
    cleaned = clean(nobody, make_study(tmp_path, "placeholders: true"))
    assert left(cleaned) == {"bob", "cy"}
    assert (cleaned.exclusions.rules[0].rule, cleaned.exclusions.rules[0].n_ratings) == ("placeholders", 4)
    assert left(clean(nobody, make_study(tmp_path))) == {"unknown", "bob", "cy"}
    assert clean(make_rows(), make_study(tmp_path, "placeholders: true")).exclusions.n_excluded == 0


def test_a_rule_without_its_column_says_so(tmp_path: Path) -> None:
    cleaned = clean(make_rows(), make_study(tmp_path, "unfinished: true"))
    assert cleaned.exclusions.rules[0].missing.endswith("no column 'finished'.")


def test_rules_look_at_the_same_rows_and_are_counted_once_together(tmp_path: Path) -> None:
    frame = make_rows(seconds=[1.0] * 4 + [10.0] * 8, rating=[3] * 4 + [1, 2, 3, 4] * 2)
    cleaned = clean(frame, make_study(tmp_path, "median_seconds_below: 5, same_answer_share_above: 0.9"))
    assert [rule.n_ratings for rule in cleaned.exclusions.rules] == [4, 4]
    assert cleaned.exclusions.n_excluded == 4


def test_exclusions_that_leave_nothing_raise(tmp_path: Path) -> None:
    with pytest.raises(BadRatings, match="leave nothing"):
        clean(make_rows(), make_study(tmp_path, "seconds_below: 1000"))


def test_a_table_of_checks_alone_raises() -> None:
    with pytest.raises(BadRatings, match="all 12 rows are checks"):
        clean(make_rows(check="practice"))


def test_a_file_is_read_as_read_ratings_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    make_rows().assign(Excluded=["yes"] + [""] * 11).to_csv(path, index=False)
    everything = read_everything(path)
    assert list(everything.excluded) == ["yes"] + [""] * 11
    usual = read_ratings(path)
    ours = clean_ratings(everything).kept.frame
    shared = [name for name in usual.frame if name in ours]
    pd.testing.assert_frame_equal(ours[shared], usual.frame[shared])
    assert everything.hash_of == "the file ratings.csv"


def test_polars_frames_and_mapped_columns_are_welcome() -> None:
    import polars

    frame = make_rows().rename(columns={"rater": "WorkerId"}).assign(rejected=["spam"] + [""] * 11)
    everything = read_everything(polars.from_pandas(frame), {"rater": "WorkerId", "excluded": "rejected"})
    assert everything.excluded[0] == "spam"
    assert set(everything.ratings.frame["rater"]) == {"ann", "bob", "cy"}
