"""Raters: part of alpha, leniency, spread, pairs; and the QG-STEC analysis of Amidei et al. (2019)."""

import json

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.coefficient import COEFFICIENTS, LEVELS
from panelist.agreement.criterion_table import from_matrix, make_table
from panelist.agreement.studies.rater_rows import share_alpha, summarise_raters
from panelist.agreement.studies.raters import RaterStudy, find_out_of_line, study_raters
from tests.shared_cases import MISSING, SHARED

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)
CRITERIA = ["Relevance", "QuestionType", "Correctness", "Ambiguity", "Variety"]
PAIRS = [(1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 5), (3, 5), (4, 5), (5, 6)]


def gappy(seed: int = 2, n: int = 40, raters: int = 5, points: int = 5) -> np.ndarray:
    random = np.random.default_rng(seed)
    matrix = np.clip(np.rint(3 + random.normal(size=(n, 1)) + random.normal(size=(n, raters))), 1, points)
    matrix[random.random(matrix.shape) < 0.3] = np.nan
    return matrix


@pytest.mark.parametrize("measurement", LEVELS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_parts_of_alpha_average_to_alpha(measurement: str, seed: int) -> None:
    table = from_matrix(gappy(seed), measurement=measurement)
    pairable = table.ratings_per_unit[table.unit] >= 2
    weight = np.bincount(table.rater, weights=pairable, minlength=table.n_raters)
    whole = COEFFICIENTS[f"krippendorff_alpha_{measurement}"](table)
    assert np.average(share_alpha(table), weights=weight) == pytest.approx(whole, abs=1e-12)


def test_part_of_alpha_is_the_mean_disagreement_with_others_over_the_expected() -> None:
    matrix = gappy(4, n=12, raters=4)
    table = from_matrix(matrix, measurement="interval")
    rows = [row[~np.isnan(row)] for row in matrix]
    pool = np.concatenate([row for row in rows if len(row) >= 2])
    expected = ((pool[:, None] - pool) ** 2).sum() / (len(pool) * (len(pool) - 1))
    for place in range(4):
        apart = []
        for row in matrix:
            others = np.delete(row, place)
            others = others[~np.isnan(others)]
            if not np.isnan(row[place]) and len(others):
                apart.append(((row[place] - others) ** 2).mean())
        assert share_alpha(table)[place] == pytest.approx(1 - np.mean(apart) / expected)


def test_leniency_is_the_mean_difference_from_the_others_on_common_units() -> None:
    matrix = [[3, 2, 1], [4, 3, 2], [5, 5, 5], [np.nan, 1, 2], [2, np.nan, np.nan]]
    rows = summarise_raters(from_matrix(matrix, measurement="interval"))
    assert rows[0]["leniency"] == pytest.approx(np.mean([1.5, 1.5, 0]))
    assert (rows[0]["n_ratings"], rows[0]["n_items"]) == (4, 3)
    half = 4.302652729911275 * np.std([1.5, 1.5, 0], ddof=1) / np.sqrt(3)
    assert rows[0]["leniency_high"] - rows[0]["leniency"] == pytest.approx(half)


def test_spread_compares_with_the_others_on_the_same_units() -> None:
    matrix = np.array([[1, 2, 2], [5, 3, 3], [1, 2, 2], [5, 3, 3]], dtype=float)
    rows = summarise_raters(from_matrix(matrix, measurement="interval"))
    own, others = np.std([1, 5, 1, 5], ddof=1), np.std([2, 2, 3, 3, 2, 2, 3, 3], ddof=1)
    assert rows[0]["spread"] == pytest.approx(own / others)


def test_correlation_with_the_rest_uses_ranks_for_ordinal_ratings() -> None:
    matrix = np.array([[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 5]], dtype=float)
    rows = summarise_raters(from_matrix(matrix, measurement="ordinal"))
    assert rows[2]["correlation"] == pytest.approx(1.0)
    linear = summarise_raters(from_matrix(matrix, measurement="interval"))
    assert linear[2]["correlation"] == pytest.approx(np.corrcoef([1, 2, 3, 5], [1, 2, 3, 4])[0, 1])


def test_words_have_no_leniency() -> None:
    rows = summarise_raters(make_table(["a", "a", "b", "b"], ["x", "y"] * 2, ["no", "yes", "no", "no"]))
    assert np.isnan([rows[0]["leniency"], rows[0]["mean"], rows[0]["correlation"]]).all()
    assert np.isfinite(rows[0]["agreement"])


def test_a_judge_below_all_partners_is_out_of_line() -> None:
    matrix = np.full((4, 4), 0.8)
    matrix[0, 1:] = matrix[1:, 0] = 0.3
    common = np.full((4, 4), 50)
    names = ("a", "b", "c", "d")
    assert [find_out_of_line(place, matrix, common, names)[0] for place in range(4)] == [
        True,
        False,
        False,
        False,
    ]
    assert "0.30 with b (0.80)" in find_out_of_line(0, matrix, common, names)[1]


def test_nobody_is_out_of_line_on_a_handful_of_units() -> None:
    matrix = np.full((4, 4), 0.8)
    matrix[0, 1:] = matrix[1:, 0] = 0.3
    assert not find_out_of_line(0, matrix, np.full((4, 4), 7), "abcd")[0]


def test_a_crowd_gets_no_matrix_and_a_note() -> None:
    random = np.random.default_rng(0)
    table = from_matrix(random.integers(1, 6, size=(6, 40)).astype(float))
    (one,) = study_raters([("x", table)]).criteria
    assert one.matrices == {}
    assert "40 raters are too many" in one.notes[0]
    assert len(one.summaries) == 40


def test_labels_have_no_line_to_be_out_of() -> None:
    labels = make_table(["a", "a", "b", "b"], ["x", "y"] * 2, ["no", "yes", "no", "no"])
    assert "nobody can be called out of line" in study_raters([("x", labels)]).sentence()


def test_the_study_shows_itself_and_gives_pairs_as_json() -> None:
    study = study_raters([("fluency", from_matrix(gappy()))])
    assert "Raters on fluency" in str(study)
    found = json.loads(study.to_json())["criteria"][0]
    assert set(found["pairs"][0]) == {
        "a",
        "b",
        "n_items",
        "krippendorff_alpha_ordinal",
        "goodman_kruskal_gamma",
    }
    assert len(found["pairs"]) == 10


@pytest.fixture(scope="module")
def stec() -> RaterStudy:
    frame = pd.read_csv(SHARED / "qg_stec.csv")
    tables = []
    for criterion in CRITERIA:
        rows = frame[frame["criterion"] == criterion]
        columns = (rows[name].to_numpy() for name in ("text", "participant", "rating"))
        tables.append((criterion, make_table(*columns, measurement="ordinal")))
    return study_raters(tables, ("fleiss_kappa", "goodman_kruskal_gamma"))


@needs_shared
def test_batches_are_those_of_table_6(stec: RaterStudy) -> None:
    sizes = [80, 67, 81, 7, 106, 158, 125, 142, 129]
    expected = [(f"P00{i}", f"P00{j}", n) for (i, j), n in zip(PAIRS, sizes, strict=True)]
    assert stec["Relevance"].batches() == expected


@needs_shared
@pytest.mark.parametrize("name", ["fleiss", "gamma"])
def test_pairs_are_those_of_table_7(stec: RaterStudy, name: str) -> None:
    published = json.loads((SHARED / "reference" / "published_checks.json").read_text("utf-8"))
    ours = {"fleiss": "fleiss_kappa", "gamma": "goodman_kruskal_gamma"}[name]
    for (i, j), row in zip(PAIRS, published["qg_stec_table7"], strict=True):
        assert row["pair"] == f"J{i}-J{j}"
        for criterion in CRITERIA:
            value = stec[criterion].pair(ours, f"P00{i}", f"P00{j}")
            expected = row[criterion].get(name)
            expected = np.nan if expected in (None, "NA", "NaN") else expected
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), (row["pair"], criterion)


@needs_shared
def test_judges_out_of_line_are_those_of_the_paper(stec: RaterStudy) -> None:
    """Variety: judges 4 and 6; relevance: judge 2 (section 4); question type: judge 3 (footnote 19).

    Judge 6 on correctness is not in the paper's text, but in its Table 7: .39 with both partners.
    """
    found = {one.criterion: [judge.rater for judge in one.out_of_line()] for one in stec.criteria}
    assert found["Variety"] == ["P004", "P006"]
    assert found["Relevance"] == ["P002"]
    assert found["QuestionType"] == ["P003"]
    assert found["Correctness"] == ["P006"]
    assert found["Ambiguity"] == []
    assert "P004, P006 on Variety" in stec.sentence()
