"""Design matrices: groups, rows and names; what is left out is counted, what cannot be is named."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadFormula, BadModel, BadRatings
from panelist.core.tables.ratings import read_ratings
from panelist.models.formulas import coding
from panelist.models.formulas.coding import code_columns
from panelist.models.formulas.formula import add_sides, parse_formula
from panelist.models.formulas.matrices import build_design
from panelist.models.formulas.variables import Labels, Numbers, read_labels, read_variable
from tests.examples import examples
from tests.models.designs import CROSSED, design, factor, make_frame, with_values

# -- random columns


def test_grouping_factors_carry_levels_index_and_columns() -> None:
    frame = make_frame()
    built = design(CROSSED, frame)
    rater, item = factor(built, "rater"), factor(built, "item")
    assert (rater.levels, item.levels) == (("1", "2", "3", "4"), ("1", "2", "3", "4", "5", "6"))
    assert rater.columns == ("Intercept", "system[T.b]", "system[T.c]")
    assert item.columns == ("Intercept",)
    assert (rater.blocks, item.blocks) == (((0, 3),), ((0, 1),))
    assert rater.index.dtype == np.int32
    assert rater.Z.flags.c_contiguous
    assert [rater.levels[code] for code in rater.index] == frame["rater"].to_list()
    np.testing.assert_array_equal(rater.Z, built.X)
    np.testing.assert_array_equal(item.Z, np.ones((72, 1)))


def test_factor_with_most_effects_comes_first() -> None:
    assert [f.name for f in design(CROSSED, make_frame()).factors] == ["rater", "item"]  # 12 and 6
    assert [f.name for f in design("rating ~ 1 + (1|rater) + (1|item)", make_frame()).factors] == [
        "item",
        "rater",
    ]


def test_terms_of_one_group_become_blocks_of_one_factor() -> None:
    built = design("rating ~ 1 + (1 | rater) + (0 + x | rater) + (0 + system | rater)", make_frame())
    (rater,) = built.factors
    assert rater.columns == ("Intercept", "x", "system[a]", "system[b]", "system[c]")
    assert rater.blocks == ((0, 1), (1, 2), (2, 5))
    assert built.notes == ()


def test_double_bar_gives_one_block_a_term() -> None:
    built = design("rating ~ 1 + (x + z || rater)", make_frame())
    assert built.factors[0].blocks == ((0, 1), (1, 2), (2, 3))
    assert built.notes == ()


def test_factor_inside_a_double_bar_stays_correlated_and_is_noted() -> None:
    built = design("rating ~ 1 + (system || rater)", make_frame())
    assert built.factors[0].columns == ("Intercept", "system[a]", "system[b]", "system[c]")
    assert built.factors[0].blocks == ((0, 1), (1, 4))
    assert "keeps its 3 columns correlated, as in lme4" in built.notes[0]


def test_crossed_group_has_the_combinations_that_occur() -> None:
    frame = make_frame(items=2)
    frame = frame[(frame["item"] == "1") | (frame["system"] == "a")]
    built = design("rating ~ 1 + (1 | item:system)", frame)
    (group,) = built.factors
    assert group.name == "item:system"
    assert group.levels == ("1:a", "1:b", "1:c", "2:a")
    expected = (frame["item"] + ":" + frame["system"]).to_list()
    assert [group.levels[code] for code in group.index] == expected


def test_nested_group_is_the_outer_one_and_the_combination() -> None:
    built = design("rating ~ 1 + (1 | list/item/rater)", make_frame())
    assert [(f.name, len(f.levels)) for f in built.factors] == [
        ("list:item:rater", 24),
        ("list:item", 6),
        ("list", 2),
    ]
    assert factor(built, "list:item").levels[:4] == ("A:1", "A:2", "A:3", "B:4")


def test_equal_right_sides_are_coded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def count(text: str, *rest: Any) -> coding.Columns:
        calls.append(text)
        return code_columns(text, *rest)

    monkeypatch.setattr(coding, "code_columns", count)
    design("rating ~ system + (system | rater) + (system | item) + (1 | list)", make_frame())
    assert sorted(calls) == ["1", "1 + system"]


def test_number_may_group_rows_and_be_a_slope() -> None:
    frame = make_frame().assign(position=lambda f: np.resize([1.0, 2.0, 10.0], len(f)))
    built = design("rating ~ position + (1 | position)", frame)
    assert built.names == ("Intercept", "position")
    assert built.factors[0].levels == ("1", "2", "10")


def test_aliased_random_columns_are_noted() -> None:
    frame = make_frame().assign(copy=lambda f: 3 * f["x"])
    built = design("rating ~ 1 + (0 + x + copy | rater)", frame)
    assert built.factors[0].columns == ("x", "copy")
    assert "'copy' can be computed from the other columns" in built.notes[0]


def test_intercept_in_two_terms_of_a_group_is_noted() -> None:
    built = design("rating ~ 1 + (1 | rater) + (x | rater)", make_frame())
    assert "rater has 'Intercept' in two random terms" in built.notes[0]


def test_group_with_one_level_is_refused() -> None:
    with pytest.raises(
        BadModel, match=r"grouping factor rater has only one level, '1'.*Leave \(1 \| rater\) out"
    ):
        design("rating ~ system + (1 | rater)", make_frame(raters=1))


def test_group_with_a_level_a_row_is_refused_by_linear_and_noted_by_ordinal_models() -> None:
    frame = make_frame().assign(row=lambda f: [f"r{i}" for i in range(len(f))])
    with pytest.raises(BadModel, match=r"row has as many levels as there are rows \(72\).*residual"):
        design("rating ~ system + (1 | row)", frame)
    built = design("rating ~ system + (1 | row)", frame, ordinal=True)
    assert "row has as many levels as there are rows (72)" in built.notes[0]


def test_more_effects_than_rows_are_refused_by_linear_and_noted_by_ordinal_models() -> None:
    text = "rating ~ 1 + (system | item:rater)"
    with pytest.raises(BadModel, match=r"24 levels × 3 columns = 72 effects for 72 rows.*simpler"):
        design(text, make_frame())
    assert "24 levels × 3 columns = 72 effects" in design(text, make_frame(), ordinal=True).notes[0]


# -- rows


def test_rows_with_missing_values_are_left_out_and_counted_by_column() -> None:
    frame = make_frame()
    frame.loc[[3, 10], "rating"] = np.nan
    frame.loc[5, "rater"] = None
    built = design(CROSSED, frame)
    assert built.notes == ("3 of 72 rows left out: 2 without a rating, 1 without a rater",)
    assert built.rows.tolist() == [row for row in range(72) if row not in (3, 5, 10)]
    assert len(built.y) == len(built.X) == len(built.factors[0].index) == 69


def test_row_that_lacks_several_values_is_counted_once() -> None:
    frame = make_frame()
    frame.loc[[3, 10], "rating"] = np.nan
    frame.loc[3, "item"] = None
    expected = "2 of 72 rows left out: 2 without a rating, 1 without an item (some lack several)"
    assert design(CROSSED, frame).notes == (expected,)


def test_missing_value_in_a_column_that_is_not_used_changes_nothing() -> None:
    frame = make_frame()
    frame.loc[:, "x"] = np.nan
    built = design(CROSSED, frame)
    assert len(built.rows) == 72
    assert built.notes == ()


def test_level_that_goes_with_its_rows_is_named() -> None:
    frame = make_frame()
    frame.loc[frame["system"] == "c", "rating"] = np.nan
    built = design("rating ~ system", frame)
    assert built.names == ("Intercept", "system[T.b]")
    assert "system: no row has 'c'" in built.notes[1]


def test_row_labels_of_the_table_do_not_matter() -> None:
    frame = make_frame()
    frame.index = pd.Index(np.resize([7, 3], len(frame)))
    np.testing.assert_array_equal(design("rating ~ log(abs(x)) + system", frame).rows, np.arange(72))


def test_table_without_rows_or_complete_rows_is_refused() -> None:
    with pytest.raises(BadModel, match="has no rows"):
        design(CROSSED, make_frame().iloc[:0])
    with pytest.raises(BadModel, match=r"No row is complete.*72 without a rating"):
        design(CROSSED, make_frame().assign(rating=np.nan))


def test_infinite_values_are_refused() -> None:
    with pytest.raises(BadRatings, match=r"x is infinite in row 3\."):
        design("rating ~ x", with_values("x", {2: np.inf}))
    with pytest.raises(BadRatings, match=r"rating is infinite in 2 rows \(1, 5\)"):
        design("rating ~ x", make_frame().assign(rating=[np.inf, 1, 2, 3, -np.inf, *range(67)]))


def test_transform_without_a_finite_value_is_refused() -> None:
    frame = make_frame().assign(x=np.arange(72.0))
    with pytest.raises(
        BadModel, match=r"log\(x\) is not a finite number in 1 of 72 rows used, first in number 1"
    ):
        design("rating ~ log(x)", frame)


# -- names


def test_formula_may_use_the_names_of_the_source() -> None:
    source = make_frame().rename(columns={"rater": "participant", "system": "WorkerSystem"})
    ratings = read_ratings(source, {"system": "WorkerSystem"})
    text = "rating ~ {0} + ({0} | {1}) + (1 | item)"
    theirs = build_design(parse_formula(text.format("WorkerSystem", "participant")), ratings, ordinal=True)
    ours = build_design(parse_formula(text.format("system", "rater")), ratings, ordinal=True)
    assert theirs.names == ("WorkerSystem[T.b]", "WorkerSystem[T.c]")
    assert {f.name for f in theirs.factors} == {"participant", "item"}
    assert ours.names == ("system[T.b]", "system[T.c]")
    np.testing.assert_array_equal(theirs.X, ours.X)


def test_synonyms_of_our_names_are_understood() -> None:
    built = design("score ~ model + (1 | annotator)", make_frame())
    assert built.response == "score"
    assert built.names == ("Intercept", "model[T.b]", "model[T.c]")
    assert built.factors[0].name == "annotator"


def test_canonical_name_finds_a_column_that_kept_its_own() -> None:
    frame = make_frame().rename(columns={"rater": "who"})
    assert design("rating ~ 1 + (1 | rater)", frame, names={"who": "rater"}).factors[0].name == "rater"


def test_unknown_column_is_named_with_the_known_ones() -> None:
    with pytest.raises(BadFormula) as caught:
        design("rating ~ sistem + (1 | rater)", make_frame())
    assert "uses 'sistem', and the table has no such column. Did you mean 'system'" in str(caught.value)
    assert "'rater', 'item', 'system', 'rating'" in str(caught.value)


def test_one_column_under_two_names_is_refused() -> None:
    with pytest.raises(BadFormula, match="same column"):
        design("rating ~ 1 + (1 | rater) + (0 + x | participant)", make_frame())


def test_several_criteria_are_not_mixed() -> None:
    frame = make_frame().assign(criterion=lambda f: np.where(f["list"] == "A", "fluency", "clarity"))
    with pytest.raises(
        BadModel, match=r"2 criteria, 'clarity' and 'fluency'.*--criterion clarity.*ratings\.only"
    ):
        design("rating ~ system", frame)
    assert len(design("rating ~ system * criterion", frame).names) == 6
    assert design("rating ~ system", frame.assign(criterion="fluency")).notes == ()


# -- models that cannot be


def test_factor_with_one_level_is_refused() -> None:
    with pytest.raises(BadModel, match=r"system has only one level, 'a'.*Leave system out"):
        design("rating ~ system", make_frame(systems="a"))
    with pytest.raises(BadModel, match="system has only one level"):
        design("rating ~ 1 + (system | rater)", make_frame(systems="a"))


def test_reference_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadFormula, match=r"system has no level 'd'. Known: 'a', 'b', 'c'"):
        design("rating ~ C(system, Treatment('d'))", make_frame())


def test_function_of_a_factor_is_refused() -> None:
    with pytest.raises(BadModel, match=r"log\(system\) needs numbers, and system is a factor"):
        design("rating ~ log(system)", make_frame())


def test_transform_that_fails_is_refused_in_words() -> None:
    with pytest.raises(BadFormula, match=r"poly\(x, 2, 3, 4, 5\) cannot be computed"):
        design("rating ~ poly(x, 2, 3, 4, 5)", make_frame())


def test_factor_with_too_many_levels_for_memory_is_refused() -> None:
    n = 30_000
    frame = pd.DataFrame({"rating": np.resize([1, 2], n), "item": np.arange(n).astype(str)})
    with pytest.raises(BadModel, match=r"item would need .* columns.*\(1 \| item\)"):
        design("rating ~ item", frame)


def test_as_many_fixed_columns_as_rows_are_refused() -> None:
    frame = make_frame().iloc[:3]
    with pytest.raises(BadModel, match="3 independent columns for 3 rows"):
        design("rating ~ system", frame)


# -- what must not matter


@examples(30)
@given(st.permutations(range(36)))
def test_order_of_rows_only_permutes_the_matrices(order: list[int]) -> None:
    frame = make_frame(items=3)
    text = "rating ~ system * x + (system | rater) + (1 | item:system)"
    one, other = design(text, frame, True), design(text, frame.iloc[order], True)
    np.testing.assert_array_equal(other.X, one.X[order])
    assert one.codes is not None
    assert other.codes is not None
    np.testing.assert_array_equal(other.codes, one.codes[order])
    for a, b in zip(one.factors, other.factors, strict=True):
        assert (a.name, a.levels, a.columns, a.blocks) == (b.name, b.levels, b.columns, b.blocks)
        np.testing.assert_array_equal(b.index, a.index[order])
        np.testing.assert_array_equal(b.Z, a.Z[order])


def test_new_names_in_the_same_order_change_nothing_but_names() -> None:
    frame = make_frame()
    renamed = frame.assign(
        system=frame["system"].map({"a": "k", "b": "l", "c": "m"}), rater="r" + frame["rater"]
    )
    one, other = design(CROSSED, frame), design(CROSSED, renamed)
    np.testing.assert_array_equal(one.X, other.X)
    for a, b in zip(one.factors, other.factors, strict=True):
        np.testing.assert_array_equal(a.index, b.index)


@pytest.mark.parametrize("dtype", ["object", "category", "string", "str"])
def test_kind_of_text_column_does_not_matter(dtype: str) -> None:
    frame = make_frame()
    other = frame.astype(dict.fromkeys(["rater", "item", "system"], dtype))
    one, two = design(CROSSED, frame), design(CROSSED, other)
    np.testing.assert_array_equal(one.X, two.X)
    assert [f.levels for f in one.factors] == [f.levels for f in two.factors]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int8", "float32", "object"])
def test_kind_of_number_column_does_not_matter(dtype: str) -> None:
    frame = make_frame().assign(x=lambda f: np.resize([1, 2, 3, 5], len(f)))
    other = frame.astype({"rating": dtype, "x": dtype})
    one, two = design("rating ~ x", frame, True), design("rating ~ x", other, True)
    np.testing.assert_array_equal(one.X, two.X)
    assert one.categories == two.categories
    np.testing.assert_array_equal(one.y, two.y)


def test_variables_are_read_as_labels_or_numbers() -> None:
    assert isinstance(read_variable(pd.Series(["1", "2"]), False), Labels)
    assert isinstance(read_variable(pd.Series([1, 2]), False), Numbers)
    assert isinstance(read_variable(pd.Series([1, 2]), True), Labels)


def test_a_column_is_read_once_and_anew_after_it_changed() -> None:
    frame = pd.DataFrame({"rater": ["b", "a", "b"]})
    first = read_labels(frame["rater"])
    assert read_labels(frame["rater"]) is first
    assert not first.codes.flags.writeable
    frame.loc[0, "rater"] = "c"
    assert read_labels(frame["rater"]).levels == ("a", "b", "c")
    assert first.levels == ("a", "b")


@pytest.mark.parametrize("side", ["scale", "nominal"])
def test_columns_beside_the_location_that_others_determine_are_named(side: str) -> None:
    frame = make_frame()
    frame["copy"] = frame["system"]
    formula = add_sides(parse_formula(CROSSED), **{"nominal": None, "scale": None, side: "~ system + copy"})
    built = build_design(formula, read_ratings(frame), ordinal=True)
    wanted = f"{side} effects: 'copy[T.b]' and 'copy[T.c]' are linear combinations of earlier columns"
    assert any(note.startswith(wanted) for note in built.notes)
