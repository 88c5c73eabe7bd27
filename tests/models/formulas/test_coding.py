"""Columns of the fixed part, held to formulaic and to R's codings, in the fit and for new data."""

import numpy as np
import pandas as pd
import pytest
from formulaic import Formula as Formulaic
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadFormula, BadModel
from panelist.models.formulas import coding
from panelist.models.formulas.coding import code_columns, independent_columns
from panelist.models.formulas.variables import read_variable
from tests.models.designs import CROSSED, design, factor, make_frame


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(12, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    for name, levels in (("a", "uvw"), ("b", "pq"), ("c", "klm")):
        frame[name] = rng.permutation(np.resize(list(levels), n))
    return frame


SIDES = st.lists(
    st.sampled_from(
        [
            "a", "b", "x", "z", "a:b", "a:x", "x:z", "b:a:x", "a*b", "a*x", "c", "a:b:c", "C(a)",
            "C(b, Sum)",
            "C(c, contr.sum):x", "C(a, Treatment('v'))", "C(a, contr.treatment('w')):b",
            "C(a, Sum):C(b, Sum)",
        ]
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@given(tables(), SIDES, st.sampled_from(["1 + ", "0 + "]))
def test_columns_and_names_are_those_of_formulaic(frame: pd.DataFrame, parts: list[str], start: str) -> None:
    text = start + " + ".join(parts)
    theirs = Formulaic(text).get_model_matrix(frame, output="numpy")
    variables = {str(name): read_variable(frame[name], False) for name in frame.columns}
    ours = code_columns(text, variables, len(frame))
    assert ours.names == tuple(theirs.model_spec.column_names)
    np.testing.assert_array_equal(ours.matrix, np.asarray(theirs))
    assert [list(places) for places in ours.terms.values()] == list(theirs.model_spec.term_indices.values())


def test_common_formulas_do_not_need_formulaic(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("formulaic was called")

    monkeypatch.setattr(coding, "_code_by_formulaic", refuse)
    for side in ("system", "0 + system", "system * x", "C(system, Sum) * list", "C(system, Treatment('b'))"):
        design(f"rating ~ {side} + (system | rater) + (x || item)", make_frame())
    with pytest.raises(AssertionError):
        design("rating ~ log(x)", make_frame())


@pytest.mark.parametrize(
    ("contrast", "by_r", "names"),
    [
        ("Treatment", [[0, 0], [1, 0], [0, 1]], ["T.b", "T.c"]),
        ("Treatment('b')", [[1, 0], [0, 0], [0, 1]], ["T.a", "T.c"]),
        ("contr.treatment(base='c')", [[1, 0], [0, 1], [0, 0]], ["T.a", "T.b"]),
        ("Sum", [[1, 0], [0, 1], [-1, -1]], ["S.a", "S.b"]),
        ("contr.sum", [[1, 0], [0, 1], [-1, -1]], ["S.a", "S.b"]),
        ("Helmert", [[-1, -1], [1, -1], [0, 2]], ["H.b", "H.c"]),
        ("contr.helmert", [[-1, -1], [1, -1], [0, 2]], ["H.b", "H.c"]),
        ("Poly", [[-(0.5**0.5), 6**-0.5], [0, -2 * 6**-0.5], [0.5**0.5, 6**-0.5]], [".L", ".Q"]),
    ],
)
def test_codings_are_those_of_r(contrast: str, by_r: list[list[float]], names: list[str]) -> None:
    built = design(f"rating ~ C(system, {contrast})", make_frame())
    np.testing.assert_allclose(built.X[:3, 1:], by_r, atol=1e-12)
    assert [name.rsplit("[")[1] for name in built.names[1:]] == [f"{name}]" for name in names]


def test_columns_are_named_as_formulaic_does() -> None:
    built = design("rating ~ system * x + (1 | rater)", make_frame())
    assert built.names == ("Intercept", "system[T.b]", "system[T.c]", "x", "system[T.b]:x", "system[T.c]:x")
    assert built.fixed.terms == {"Intercept": (0,), "system": (1, 2), "x": (3,), "system:x": (4, 5)}
    assert built.X.flags.c_contiguous
    assert built.X.dtype == np.float64


def test_ordinal_model_has_no_intercept_column() -> None:
    built = design("rating ~ system + x", make_frame(), ordinal=True)
    assert built.names == ("system[T.b]", "system[T.c]", "x")
    assert built.fixed.terms == {"system": (0, 1), "x": (2,)}
    assert built.X.shape == (72, 3)
    assert design("rating ~ 1", make_frame(), ordinal=True).X.shape == (72, 0)


def test_ordinal_model_keeps_its_thresholds_when_told_to_drop_the_intercept() -> None:
    built = design("rating ~ 0 + system", make_frame(), ordinal=True)
    assert built.names == ("system[T.b]", "system[T.c]")
    assert "thresholds replace the intercept" in built.notes[0]
    assert design("rating ~ 0 + system", make_frame()).names == ("system[a]", "system[b]", "system[c]")


def test_linear_model_may_have_no_fixed_columns() -> None:
    assert design("rating ~ 0 + (1 | rater)", make_frame()).X.shape == (72, 0)


def test_column_names_with_spaces_are_used_in_backquotes() -> None:
    frame = make_frame().rename(columns={"x": "my col", "list": "the list"})
    built = design("rating ~ `my col` + center(`my col`):system + (1 | `the list`)", frame)
    assert built.names[:2] == ("Intercept", "my col")
    assert built.factors[0].name == "`the list`"


def test_transforms_are_computed() -> None:
    frame = make_frame().assign(x=np.arange(1.0, 73.0))
    built = design("rating ~ np.log(x) + I(x ** 2 / 10) + sqrt(x)", frame)
    x = np.arange(1.0, 73.0)
    np.testing.assert_allclose(built.X[:, 1:], np.column_stack([np.log(x), x**2 / 10, np.sqrt(x)]))
    assert list(built.fixed.terms) == ["Intercept", "np.log(x)", "I(x ** 2 / 10)", "sqrt(x)"]


def test_bool_and_text_columns_are_factors() -> None:
    frame = make_frame().assign(flag=lambda f: f["x"] > 0)
    built = design("rating ~ flag + list", frame)
    assert built.names == ("Intercept", "flag[T.True]", "list[T.B]")
    assert built.fixed.levels == {"flag": ("False", "True"), "list": ("A", "B")}


def test_number_in_c_is_a_factor() -> None:
    frame = make_frame().assign(position=lambda f: np.resize([1.0, 2.0, 10.0], len(f)))
    assert design("rating ~ C(position)", frame).names == (
        "Intercept",
        "C(position)[T.2]",
        "C(position)[T.10]",
    )
    assert design("rating ~ position", frame).names == ("Intercept", "position")
    with pytest.raises(BadFormula, match=r"position as a number and as the factor C\(position\)"):
        design("rating ~ position + C(position)", frame)


def test_identifiers_are_factors_even_where_they_are_numbers() -> None:
    frame = make_frame(systems="12").assign(system=lambda f: f["system"].astype(int))
    assert design("rating ~ system", frame).names == ("Intercept", "system[T.2]")


def test_levels_that_are_whole_numbers_count_up_and_others_are_sorted() -> None:
    frame = make_frame(raters=11, items=5)
    assert factor(design(CROSSED, frame), "rater").levels == tuple(str(r) for r in range(1, 12))
    frame["rater"] = "r" + frame["rater"]
    assert factor(design(CROSSED, frame), "rater").levels[:3] == ("r1", "r10", "r11")


def test_categorical_keeps_its_order_and_loses_unused_levels_with_a_note() -> None:
    frame = make_frame()
    frame["system"] = pd.Categorical(frame["system"], categories=["c", "gone", "a", "b"])
    built = design("rating ~ system", frame)
    assert built.names == ("Intercept", "system[T.a]", "system[T.b]")
    assert built.notes == ("system: no row has 'gone', left out of its levels",)


def test_aliased_columns_are_left_out_and_named() -> None:
    frame = make_frame().assign(copy=lambda f: 2 * f["x"] + 1)
    built = design("rating ~ x + copy + z", frame)
    assert built.names == ("Intercept", "x", "z")
    assert built.fixed.terms == {"Intercept": (0,), "x": (1,), "copy": (), "z": (2,)}
    assert "'copy' is a linear combination of earlier columns and left out" in built.notes[0]
    X, names = built.fixed.matrix(frame)
    assert names == built.names
    np.testing.assert_array_equal(X, built.X)


def test_empty_cell_of_an_interaction_is_left_out() -> None:
    frame = make_frame()
    frame = frame[~((frame["system"] == "c") & (frame["list"] == "B"))]
    built = design("rating ~ system * list", frame)
    assert "system[T.c]:list[T.B]" not in built.names
    assert "'system[T.c]:list[T.B]'" in built.notes[0]


def test_column_is_aliased_from_r_s_tolerance_on() -> None:
    rng = np.random.default_rng(3)
    base = rng.normal(size=(50, 2))
    noise = rng.normal(size=50)
    for share, kept in ((1e-6, [0, 1, 2]), (1e-8, [0, 1])):
        X = np.column_stack([base, base @ [1.0, 2.0] + share * noise * 3])
        assert independent_columns(X) == kept
    assert independent_columns(np.zeros((5, 2))) == []
    assert independent_columns(np.eye(2, 4)) == [0, 1]


# -- the same coding for new data


@pytest.mark.parametrize(
    "side",
    [
        "system * x",
        "0 + system",
        "C(system, Sum) * list",
        "C(system, Helmert) + scale(x)",
        "poly(x, 2):system",
        "1",
    ],
)
@pytest.mark.parametrize("ordinal", [False, True])
def test_matrix_for_new_data_is_coded_as_in_the_fit(side: str, ordinal: bool) -> None:
    frame = make_frame()
    built = design(f"rating ~ {side}", frame, ordinal=ordinal)
    some = frame.iloc[[8, 3, 70]].drop(columns="rating")
    X, names = built.fixed.matrix(some)
    assert names == built.names
    np.testing.assert_allclose(X, built.X[[8, 3, 70]], rtol=1e-12, atol=1e-14)
    assert X.flags.c_contiguous


def test_new_data_may_use_the_name_in_the_table_or_in_the_formula() -> None:
    frame = make_frame()
    fixed = design("rating ~ model", frame).fixed
    by_table, _ = fixed.matrix(frame[["system"]])
    by_formula, _ = fixed.matrix(frame[["system"]].rename(columns={"system": "model"}))
    np.testing.assert_array_equal(by_table, by_formula)


def test_new_data_that_the_coding_does_not_know_are_refused() -> None:
    fixed = design("rating ~ system + x", make_frame()).fixed
    with pytest.raises(BadModel, match=r"system has 'd' in the new data.*It knows 'a', 'b' and 'c'"):
        fixed.matrix(pd.DataFrame({"system": ["a", "d"], "x": [1.0, 2.0]}))
    with pytest.raises(BadModel, match="have no column 'x'"):
        fixed.matrix(pd.DataFrame({"system": ["a"]}))
    with pytest.raises(BadModel, match="x is text in the new data"):
        fixed.matrix(pd.DataFrame({"system": ["a"], "x": ["1"]}))
    with pytest.raises(BadModel, match="x is missing in row 2 of the new data"):
        fixed.matrix(pd.DataFrame({"system": ["a", "b"], "x": [1.0, np.nan]}))
    with pytest.raises(BadModel, match="system is missing in row 1"):
        fixed.matrix(pd.DataFrame({"system": [None, "b"], "x": [1.0, 2.0]}))


def test_fixed_part_knows_what_a_reference_grid_needs() -> None:
    frame = make_frame()
    frame.loc[0, "rating"] = np.nan
    fixed = design("rating ~ system * x + list + (z | rater)", frame).fixed
    assert fixed.levels == {"system": ("a", "b", "c"), "list": ("A", "B")}
    assert fixed.numeric == {"x": pytest.approx(frame["x"].iloc[1:].mean())}
    assert set(fixed.data.columns) == {"system", "x", "list"}
    assert len(fixed.data) == 71
