"""Odd ratings are noticed, counted and reported; ordinary ones are not."""

from math import factorial, log10
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.agreement.criterion_table import RatingTable, make_table
from panelist.agreement.suspicious import (
    find_constant,
    find_off_scale,
    find_repeated,
    find_sorted,
    find_suspicions,
)
from panelist.core.tables.ratings import read_ratings
from tests.shared_cases import MISSING, SHARED

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason=MISSING)


def table_of(rows: Any) -> RatingTable:
    matrix = np.asarray(rows, dtype=float)
    unit, rater = np.indices(matrix.shape)
    return make_table(unit.ravel(), [f"r{k:02}" for k in rater.ravel()], matrix.ravel())


def ordinary(n: int = 200, raters: int = 3, seed: int = 1) -> RatingTable:
    random = np.random.default_rng(seed)
    quality = random.normal(size=(n, 1))
    return table_of(np.clip(np.rint(3 + quality + random.normal(size=(n, raters))), 1, 5))


def read_shared(name: str, criterion: str | None = None) -> RatingTable:
    frame = pd.read_csv(SHARED / f"{name}.csv")
    rows = frame if criterion is None else frame[frame["criterion"] == criterion]
    columns = (rows[column].to_numpy() for column in ("text", "participant", "rating"))
    return make_table(*columns)


def test_ordinary_ratings_raise_no_suspicion() -> None:
    assert find_suspicions(ordinary(), scale=(1, 5)) == ()


def test_sorted_rows_are_noticed_whatever_the_raters_are_called() -> None:
    matrix = np.sort(ordinary().matrix(), axis=1)[:, [2, 0, 1]]
    (found,) = find_sorted(table_of(matrix))
    assert found.raters == ("r01", "r02", "r00")
    assert "r01 ≤ r02 ≤ r00 in all 200 units" in found.text
    assert "positions and not persons" in found.text


def test_one_row_out_of_order_ends_the_suspicion() -> None:
    matrix = np.sort(ordinary().matrix(), axis=1)
    matrix[7] = [5, 1, 1]
    assert find_sorted(table_of(matrix)) == []


def test_few_sorted_rows_may_be_chance() -> None:
    assert find_sorted(table_of([[1, 2, 3]] * 5)) == []


def test_chance_of_sorted_rows_is_the_product_of_one_in_the_number_of_orders() -> None:
    rows = [[1, 2, 3]] * 12 + [[1, 1, 2]] * 5 + [[4, 4, 4]] * 3
    exponent = 12 * log10(factorial(3)) + 5 * log10(3) - log10(factorial(3))  # any of 3! orders of raters
    (found,) = find_sorted(table_of(rows))
    assert f"10^{int(exponent)}," in found.text


@needs_shared
def test_flickr_is_found_to_be_sorted_in_all_rows() -> None:
    """PUBLISHED.md, row 4: judge 1 ≤ judge 2 ≤ judge 3 in 5,822 of 5,822 rows."""
    (found,) = find_suspicions(read_shared("flickr8k_expert"))
    assert found.kind == "sorted"
    assert found.text.startswith("P001 ≤ P002 ≤ P003 in all 5,822 units")
    assert "that is, practically zero" in found.text


@needs_shared
@pytest.mark.parametrize("criterion", ["Ambiguity", "Correctness", "QuestionType", "Relevance", "Variety"])
def test_trained_judges_are_not_under_suspicion(criterion: str) -> None:
    assert find_suspicions(read_shared("qg_stec_reeval", criterion)) == ()


def test_a_rater_who_always_gives_one_value_is_named() -> None:
    matrix = ordinary().matrix()
    matrix[:, 1] = 4
    (found,) = find_constant(table_of(matrix))
    assert found.raters == ("r01",)
    assert found.text.startswith("r01 gave 4 to all 200 units, although others differed on")


def test_a_rater_is_not_blamed_where_everybody_agrees() -> None:
    assert find_constant(table_of([[3, 3]] * 20 + [[4, 4]] * 2)) == []


def test_many_constant_raters_are_counted_not_listed() -> None:
    matrix = ordinary(raters=12).matrix()
    matrix[:, :9] = 3
    (found,) = find_constant(table_of(matrix))
    assert len(found.raters) == 9
    assert found.text.startswith("9 raters gave one value throughout")
    assert "r00 (3 to all 200 units)" in found.text
    assert "and 4 more" in found.text


@needs_shared
def test_the_two_values_off_the_scale_of_question_type_are_counted() -> None:
    """PUBLISHED.md, row 12: the scale is 1 to 2, and the file has two 3s."""
    (found,) = find_off_scale(read_shared("qg_stec", "QuestionType"), 1, 2)
    assert found.text.startswith("2 of 1,791 ratings are off the scale 1 to 2: 3 twice, by P003 and P006.")


def copied(raters: int = 4, items: int = 20) -> pd.DataFrame:
    random = np.random.default_rng(3)
    rows = []
    for rater in range(raters):
        for item in range(items):
            one, other = random.integers(1, 6, size=2)
            rows += [(f"r{rater}", f"i{item}", "gold-1", one), (f"r{rater}", f"i{item}", "gold-2", one)]
            rows.append((f"r{rater}", f"i{item}", "system", other))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


def test_assignments_repeated_under_two_systems_are_noticed() -> None:
    (found,) = find_repeated(read_ratings(copied()))
    assert found.text.startswith("every rater who saw both gave the same ratings")
    assert "under gold-1 and under gold-2 (80 pairs of ratings, all equal)" in found.text


def test_one_rater_with_copied_assignments_is_named() -> None:
    frame = copied()
    other = (frame["rater"] != "r2") & (frame["system"] == "gold-2")
    frame.loc[other, "rating"] = np.random.default_rng(5).integers(1, 6, size=int(other.sum()))
    assert find_repeated(read_ratings(frame)) == []  # the texts may be the same
    (found,) = find_repeated(read_ratings(frame.assign(text=frame["item"] + frame["system"])))
    assert found.raters == ("r2",)
    assert found.text.startswith("r2 gave the same ratings")


def test_a_rater_with_one_habit_has_not_copied() -> None:
    frame = copied().assign(rating=4)
    assert find_repeated(read_ratings(frame)) == []


def test_tables_without_systems_have_no_repeated_assignments() -> None:
    assert find_repeated(read_ratings(copied().drop(columns="system"))) == []


def test_a_copy_among_many_systems_is_found_and_nothing_else() -> None:
    random = np.random.default_rng(11)
    rows = [
        (f"r{rater}", f"i{item}", f"s{system:02d}", random.integers(0, 101))
        for rater in range(3)
        for item in range(10)
        for system in range(60)
    ]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])
    frame.loc[frame["system"] == "s41", "rating"] = frame.loc[frame["system"] == "s07", "rating"].to_numpy()
    (found,) = find_repeated(read_ratings(frame))
    assert "under s07 and under s41 (30 pairs of ratings, all equal)" in found.text
