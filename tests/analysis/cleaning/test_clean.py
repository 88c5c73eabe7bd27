"""Exclusions: every rule alone, marks in the data, checks graded from the table, what cannot be applied."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from panelist.analysis.cleaning.clean import Cleaned, clean_ratings
from panelist.analysis.cleaning.everything import read_everything
from panelist.analysis.cleaning.failed_checks import count_failed
from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.grading import grade_checks
from panelist.core.errors import BadRatings
from panelist.core.tables.ratings import read_ratings
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.scales.base import ComparativeAnswer, ComparativeScale
from panelist.study.reading.load import load_study
from panelist.study.sections.checks import choose_spoilt
from panelist.study.start import init_study
from panelist.study.study import Study
from tests.collection.raters import DESIGNS, SCALES
from tests.collection.raters import make_study as make_other_study
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


PAIR = (("item0", "system0"), ("item0", "system1"))


def make_pair_study() -> Study:
    """Return a study whose pages show two outputs: each is rated, and the two are compared."""
    checks = {"items": [{"kind": "degraded"}]}
    scales = {"ease": SCALES["likert"], "better": SCALES["pairs"]}
    return make_other_study(scales, {"type": "pairs", "rated": "side by side"}, checks=checks)


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
    assert "6 of 12 ratings (50.0 %)" in cleaned.exclusions.sentence()
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


def make_pairs(tmp_path: Path) -> tuple[Study, pd.DataFrame]:
    """Return the template of pairs, with a page shown again, and the answers of careful raters."""
    init_study(tmp_path / "pairs", "pairs")
    path = tmp_path / "pairs" / "study.yaml"
    text = path.read_text("utf-8")
    again = "  items:\n    - {kind: repeat, count: 1}\n    - kind: instructed\n"
    assert "  items:\n    - kind: instructed\n" in text
    path.write_text(text.replace("  items:\n    - kind: instructed\n", again), encoding="utf-8")
    study = load_study(path)
    return study, simulate_ratings(study, plan_study(study), seed=3, careless=0)


@pytest.mark.parametrize("kind", ["instructed", "repeat"])
def test_checks_of_comparisons_are_graded_from_the_table(tmp_path: Path, kind: str) -> None:
    study, frame = make_pairs(tmp_path)
    rater = str(frame["rater"].iloc[0])
    again = (frame["rater"] == rater) & (frame["check"] == "repeat-1")
    # Whoever is careful still wavers: all repeat what they said, but for the rater in question.
    keys = ["rater", "item", "criterion", "system"]
    first = frame[frame["check"].isin(["", "repeat-1"])].copy()
    for column in ("choice", "answer"):
        first[column] = first.groupby(keys, dropna=False)[column].transform("first")
        frame.loc[first.index, column] = first[column]
    frame.loc[frame["check"] == "instructed-1", "answer"] = "tie"
    assert all(rule.n_raters == 0 for rule in clean(frame, study).exclusions.rules)
    if kind == "instructed":
        frame.loc[(frame["rater"] == rater) & (frame["check"] == "instructed-1"), "answer"] = "1"
    else:
        turned = {"best": "worst", "worst": "best", "": "best"}
        frame.loc[again, "choice"] = [turned[str(choice)] for choice in frame.loc[again, "choice"]]
    cleaned = clean(frame, study)
    (rule,) = (one for one in cleaned.exclusions.rules if "failed" in one.text)
    assert (rule.missing, rule.n_raters) == ("", 1)
    assert rater not in left(cleaned)


@pytest.mark.parametrize(("of_spoilt", "of_whole", "fails"), [(3, 7, 0), (5, 1, 1), (6, 5, 1)])
def test_only_the_spoilt_output_of_a_page_is_graded(of_spoilt: int, of_whole: int, fails: int) -> None:
    study = make_pair_study()
    spoilt = choose_spoilt(study.file.design.seed, PAIR)
    before = [("ann", *output, "ease", 5, "") for output in PAIR]
    after = [
        ("ann", *output, "ease", of_spoilt if output == spoilt else of_whole, "degraded-1") for output in PAIR
    ]
    rows = pd.DataFrame(before + after, columns=["rater", "item", "system", "criterion", "rating", "check"])
    assert count_failed(rows, study) == {"ann": fails}


def test_a_spoilt_output_that_is_chosen_fails_the_check_where_outputs_are_only_compared() -> None:
    study = make_pair_study()
    spoilt = choose_spoilt(study.file.design.seed, PAIR)
    for best, fails in ((spoilt, 1), (next(output for output in PAIR if output != spoilt), 0)):
        rows = [
            ("ann", *output, "better", float("nan"), "best" if output == best else "", "degraded-1")
            for output in PAIR
        ]
        names = ["rater", "item", "system", "criterion", "rating", "choice", "check"]
        assert count_failed(pd.DataFrame(rows, columns=names), study) == {"ann": fails}


def test_the_table_and_the_pages_grade_spoilt_outputs_alike() -> None:
    study = make_pair_study()
    plan = plan_study(study)
    ratings = simulate_ratings(study, plan, careless=0.5)
    booklet = Booklet(study, plan)
    places = {
        (row.rater, row.order, row.criterion, row.item, row.system): row for row in ratings.itertuples()
    }
    by_table = count_failed(ratings.assign(check=ratings["check"].astype(str)), study)
    for rater in plan.raters:
        sitting = booklet.agenda.sitting(rater, 1)
        answers = {
            page.order: {
                f"c1p{place}": f"{places[rater, page.order, 'ease', *output].rating:.0f}"
                for place, output in enumerate(page.outputs, start=1)
            }
            for page in sitting.pages
            if page.phase != "practice"
        }
        graded = [grade_checks(booklet, sitting, page, answers) for page in sitting.pages]
        by_pages = sum(not passed for one in graded for passed in one.values())
        assert by_table[rater] == by_pages
    assert 0 < sum(by_table.values()) < len(plan.raters)


@pytest.mark.parametrize(
    ("scale", "asked"),
    [
        ("pairs", "tie"),
        ("preference", "B2"),
        ("best-worst", "1,2"),
        ("ranking", "3,2,1"),
        ("choose-one", "2"),
    ],
)
def test_the_table_and_the_pages_grade_comparisons_alike(scale: str, asked: str) -> None:
    told = {"kind": "instructed", "text": "Please do as we say.", "answers": {"better": asked}}
    checks = {"items": [told, {"kind": "repeat", "distance": 2}, {"kind": "degraded"}]}
    study = make_other_study({"better": SCALES[scale]}, DESIGNS[scale], checks=checks)
    plan, compares = plan_study(study), study.criteria[0].scale
    assert isinstance(compares, ComparativeScale)
    ratings = simulate_ratings(study, plan, careless=0.5)
    booklet = Booklet(study, plan)
    by_table = count_failed(ratings.assign(check=ratings["check"].astype(str)), study)
    from_file = ratings.astype(object).replace("", float("nan"))
    assert count_failed(from_file.assign(check=ratings["check"].astype(str)), study) == by_table
    graded = {}
    for rater, mine in ratings.groupby("rater", observed=True):
        answers: dict[Any, dict[str, str]] = {}
        for order, page in mine.sort_values("position").groupby("order"):
            told_by = "rating" if "rating" in page else "choice"
            choices = tuple(str(int(one)) if told_by == "rating" else one for one in page[told_by].dropna())
            answer = str(page["answer"].iloc[0])
            shown = len(page) > 1
            grade = int(page["grade"].iloc[0]) if shown and "grade" in page else None
            said = ComparativeAnswer(choices, answer, grade)
            answers[order] = {"c1": compares.write(said) if shown else answer}
        sitting = booklet.agenda.sitting(str(rater), 1)
        found = [grade_checks(booklet, sitting, page, answers) for page in sitting.pages]
        assert sum(len(one) for one in found) == 3
        graded[rater] = sum(not passed for one in found for passed in one.values())
    assert by_table == graded
    assert 0 < sum(graded.values()) < 3 * len(plan.raters)


def test_answers_to_checks_need_no_system_and_are_no_gaps() -> None:
    frame = pd.DataFrame(
        {"rater": ["a", "a", "b"], "item": ["x", "y", "x"], "system": ["s", None, "s"], "rating": [1, 2, 3]}
    )
    gaps = read_everything(frame.assign(check=["", "", "instructed-1"])).ratings.notes
    assert "system is missing in 1 of 2 rows" in gaps
    checked = read_everything(frame.assign(check=["", "instructed-1", ""])).ratings.notes
    assert not [note for note in checked if "is missing" in note]
