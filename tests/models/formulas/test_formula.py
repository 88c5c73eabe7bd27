"""Formulas: every spelling of lme4, and a clear word about every mistake."""

import numpy as np
import pandas as pd
import pytest
from formulaic import Formula as Formulaic
from hypothesis import given
from hypothesis import strategies as st

from panelist.core.errors import BadFormula
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.terms import read_terms
from panelist.numerics.arrays import Floats


def random_terms(right_side: str) -> list[str]:
    return [term.text for term in parse_formula(f"rating ~ {right_side}").random]


# -- what is understood


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("1", "1"),
        ("0", "0"),
        ("system", "1 + system"),
        ("0 + system", "0 + system"),
        ("system - 1", "0 + system"),
        ("-1 + system", "0 + system"),
        ("system + 0", "0 + system"),
        ("0 + system + 1", "1 + system"),
        ("0 + system - 0", "1 + system"),
        ("a * b", "1 + a + b + a:b"),
        ("a:b", "1 + a:b"),
        ("a:b + b:a + a:a", "1 + a + a:b"),
        ("a / b", "1 + a + a:b"),
        ("(a + b) / c", "1 + a + b + a:b:c"),
        ("(a + b) ** 2", "1 + a + b + a:b"),
        ("(a + b + c) ^ 2", "1 + a + b + c + a:b + a:c + b:c"),
        ("a * b * c - a:b:c", "1 + a + b + c + a:b + a:c + b:c"),
        ("a * (b + c)", "1 + a + b + c + a:b + a:c"),
        ("x:a + b", "1 + b + x:a"),
        ("((a))", "1 + a"),
        ("a\n  +\tb", "1 + a + b"),
        ("`my col` + x", "1 + `my col` + x"),
        ("`plain`", "1 + plain"),
        ("C(system)", "1 + C(system)"),
        ("C(system,Sum)", "1 + C(system, Sum)"),
        ("C(system, Treatment)", "1 + C(system, Treatment())"),
        ("C(system, Sum())", "1 + C(system, Sum)"),
        ("C(system, contr.sum)", "1 + C(system, contr.sum)"),
        ('C(system, Treatment("b"))', "1 + C(system, Treatment('b'))"),
        ('C(system, Treatment(reference="b"))', "1 + C(system, Treatment('b'))"),
        ("C(system, contr.treatment(base='b'))", "1 + C(system, contr.treatment('b'))"),
        ("C(system, Treatment(2))", "1 + C(system, Treatment('2'))"),
        ("C(`my col`, Helmert)", "1 + C(`my col`, Helmert)"),
        ("np.log(x) + log(x+1)", "1 + np.log(x) + log(x + 1)"),
        ("I(x^2) + I(-x ** -0.5 / (2*y))", "1 + I(x ** 2) + I(-x ** -0.5 / (2 * y))"),
        ("poly(x, 2) + poly(x, degree=3, raw=True)", "1 + poly(x, 2) + poly(x, degree=3, raw=True)"),
        ("center(`my col`):system", "1 + center(`my col`):system"),
    ],
)
def test_fixed_part_is_multiplied_out_and_says_whether_it_has_an_intercept(written: str, fixed: str) -> None:
    formula = parse_formula(f"rating ~ {written}")
    assert formula.fixed == fixed
    assert formula.random == ()
    assert read_terms(fixed).text == fixed


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        ("(1|g)", ["(1 | g)"]),
        ("(x|g)", ["(1 + x | g)"]),
        ("(1 + x | g)", ["(1 + x | g)"]),
        ("(0 + x | g)", ["(0 + x | g)"]),
        ("(x - 1 | g)", ["(0 + x | g)"]),
        ("(x || g)", ["(1 | g)", "(0 + x | g)"]),
        ("(1 || g)", ["(1 | g)"]),
        ("(0 + x + y || g)", ["(0 + x | g)", "(0 + y | g)"]),
        ("(x * y || g)", ["(1 | g)", "(0 + x | g)", "(0 + y | g)", "(0 + x:y | g)"]),
        ("(1 | a:b)", ["(1 | a:b)"]),
        ("(1 | a/b)", ["(1 | a)", "(1 | a:b)"]),
        ("(1 | a/b/c)", ["(1 | a)", "(1 | a:b)", "(1 | a:b:c)"]),
        ("(1 | a/b:c)", ["(1 | a)", "(1 | a:b:c)"]),
        ("(x || a/b)", ["(1 | a)", "(0 + x | a)", "(1 | a:b)", "(0 + x | a:b)"]),
        ("((1 | g))", ["(1 | g)"]),
        ("(1 + (x + y) | g)", ["(1 + x + y | g)"]),
        ("(log(x) | `the group`)", ["(1 + log(x) | `the group`)"]),
        ("(1 | g) + (1 | h)", ["(1 | g)", "(1 | h)"]),
        ("(1 | g) + (0 + x | g)", ["(1 | g)", "(0 + x | g)"]),
        ("(system + (1 | g))", ["(1 | g)"]),
        ("(\n1\n|\ng\n)", ["(1 | g)"]),
    ],
)
def test_random_terms_are_spelt_out_as_lme4_does(written: str, terms: list[str]) -> None:
    assert random_terms(written) == terms


def test_random_terms_may_stand_anywhere_among_the_fixed_ones() -> None:
    formula = parse_formula("score ~ (system | rater) + system + (1 | item) + x")
    assert formula.response == "score"
    assert formula.fixed == "1 + system + x"
    assert [(term.columns, term.group, term.grouping) for term in formula.random] == [
        ("1 + system", "rater", ("rater",)),
        ("1", "item", ("item",)),
    ]
    assert formula.variables == {"score", "system", "rater", "item", "x"}


def test_only_a_term_from_a_double_bar_is_marked_as_split() -> None:
    formula = parse_formula("rating ~ 1 + (system || rater) + (system | item)")
    assert [term.split for term in formula.random] == [True, True, False]


def test_formula_without_fixed_terms_has_the_intercept() -> None:
    assert parse_formula("rating ~ (1 | rater)").fixed == "1"
    assert parse_formula("rating ~ 0 + (1 | rater)").fixed == "0"


def test_same_text_is_parsed_once() -> None:
    assert parse_formula("rating ~ system") is parse_formula("rating ~ system")


def test_response_may_be_quoted() -> None:
    assert parse_formula("`my rating` ~ 1").response == "my rating"


pieces = st.sampled_from(["a", "b", "c", "x", "I(x + 1)", "C(a, Sum)"])
expressions = st.recursive(
    pieces,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", ":", " * ", " / "]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"({text}) ** 2"),
    ),
    max_leaves=5,
)


@given(expressions, st.sampled_from(["{}", "0 + {}", "{} - 1", "{} + a - b"]))
def test_terms_are_those_that_formulaic_finds(text: str, around: str) -> None:
    text = around.format(text)
    theirs = {frozenset(str(f) for f in term.factors) for term in Formulaic(text)}
    ours = read_terms(text)
    found = {frozenset(piece.text for piece in term) for term in ours.terms}
    assert found | ({frozenset(["1"])} if ours.intercept else set()) == theirs


# -- what is refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("  \n ", "is empty"),
        ("rating + system", "no '~'"),
        ("~ system", "missing before '~'"),
        ("rating ~", "nothing follows '~'"),
        ("rating ~ a ~ b", "two '~'"),
        ("rating + x ~ a", "one column name must come before '~'"),
        ("log(rating) ~ a", "function is not allowed before '~'"),
        ("2 ~ a", "column name is expected here, and '2' was found"),
        ("rating ~ rating", "'rating' is on both sides"),
        ("rating ~ 1 + (rating | g)", "'rating' is on both sides"),
        ("rating ~ a + (1 | g", "this '(' is never closed"),
        ("rating ~ a + 1 | g)", "this ')' closes nothing"),
        ("rating ~ a +", "a column or a term is missing"),
        ("rating ~ a + * b", "missing before '*'"),
        ("rating ~ a:", "a column or a term is missing"),
        ("rating ~ a b", "'b' follows without an operator"),
        ("rating ~ (1|g) (1|h)", "'(' follows without an operator"),
        ("rating ~ a, b", "',' has no meaning here"),
        ("rating ~ ()", "parentheses are empty"),
        ("rating ~ (1 | )", "grouping factor after '|' is missing"),
        ("rating ~ ( | g)", "nothing comes before the '|'"),
        ("rating ~ (0 | g)", "random term has no columns"),
        ("rating ~ a | g", "'|' is outside parentheses"),
        ("rating ~ a || g", "'||' is outside parentheses"),
        ("rating ~ (x || g || h)", "one '|' or one '||'"),
        ("rating ~ (x | g | h)", "one '|' or one '||'"),
        ("rating ~ (x | | g)", "spaces inside '||'"),
        ("rating ~ a * (1 | g)", "not joined with '*'"),
        ("rating ~ (1 | g) * a", "not joined with '*'"),
        ("rating ~ (1 | g):a", "not joined with ':'"),
        ("rating ~ a / (1 | g)", "not joined with '/'"),
        ("rating ~ (a + (1 | g)) ** 2", "not joined with '**'"),
        ("rating ~ a - (1 | g)", "not removed"),
        ("rating ~ -(1 | g)", "not removed"),
        ("rating ~ (x + (1 | h) | g)", "inside a random term"),
        ("rating ~ (1 | a + b)", "two groups are (1 | a) + (1 | b)"),
        ("rating ~ (1 | a * b)", "not '*'"),
        ("rating ~ (1 | factor(g))", "a grouping factor is a column"),
        ("rating ~ (1 | a:a)", "names 'a' twice"),
        ("rating ~ (1 | 1)", "column name is expected here"),
        ("rating ~ (1 | g) + (1 | g)", "(1 | g) occurs twice"),
        ("rating ~ (1 | g) + (1 | g/h)", "(1 | g) occurs twice"),
        ("rating ~ (x + y | a:b) + (y + x | b:a)", "occurs twice"),
        ("rating ~ (1 | g) + (x || g)", "(1 | g) occurs twice"),
        ("rating ~ 2 * x", "the number 2 means nothing"),
        ("rating ~ x ** y", "a whole number from 1 to 20"),
        ("rating ~ (a + b) ** 99", "a whole number from 1 to 20"),
        ("rating ~ (a - 1) * b", "are not allowed in inner parentheses"),
        ("rating ~ .", "name the columns"),
        ("rating ~ {x + 1}", "arithmetic is written I(x + 1)"),
        ("rating ~ my.col", "in backquotes, `my.col`"),
        ("rating ~ `my col", "backquote is never closed"),
        ("rating ~ C(a, Treatment('b))", "quotation mark is never closed"),
        ("rating ~ factor(x)", "Did you mean 'C'?"),
        ("rating ~ lag(x)", "the function 'lag' is not allowed"),
        ("rating ~ np.lgo(x)", "Did you mean 'np.log'"),
        ("rating ~ I(lag(x))", "the function 'lag' is not allowed"),
        ("rating ~ log()", "log() needs a column"),
        ("rating ~ log(2)", "log(2) uses no column"),
        ("rating ~ log('x')", "text is not allowed in arithmetic"),
        ("rating ~ log(x y)", "'y' was found"),
        ("rating ~ poly(x, order=2)", "'order' is not an allowed argument"),
        ("rating ~ poly(x, degree=y)", "degree must be a number"),
        ("rating ~ Sum(a)", "Sum is a coding and belongs inside C()"),
        ("rating ~ C()", "C() needs a column"),
        ("rating ~ C(log(x))", "takes no further argument here"),
        ("rating ~ C(a, Dummy)", "'Dummy' is not a coding; known are Diff, Helmert"),
        ("rating ~ C(a, Treatment(b))", "written in quotation marks"),
        ("rating ~ C(a, Sum(omit=1))", "takes no further argument"),
        ("rating ~ " + "(" * 60 + "a" + ")" * 60, "nested more than 40 deep"),
        ("rating ~ (" + " + ".join(f"v{i}" for i in range(60)) + ") ** 9", "more than 2000 terms"),
        ("rating ~ I(x ** 2 ** 3)", "powers of powers need parentheses"),
    ],
)
def test_mistake_is_named_with_its_place_and_a_right_formula(text: str, words: str) -> None:
    with pytest.raises(BadFormula) as caught:
        parse_formula(text)
    message = str(caught.value)
    assert words in message
    assert "A right one: rating ~ system + (system | rater) + (1 | item)" in message
    if text.strip():
        assert "\n  " + " ".join(text.splitlines()) + "\n" in message
        assert "^" in message.split("\n")[2]


def test_pointer_stands_under_the_mistake() -> None:
    with pytest.raises(BadFormula) as caught:
        parse_formula("rating ~ system + lag(x)")
    _, formula, pointer, _ = str(caught.value).split("\n")
    assert formula[pointer.index("^") :] == "lag(x)"


@pytest.mark.parametrize(
    "attack",
    [
        "__import__('os').system('true')",
        "I(__import__('os'))",
        "x.__class__",
        "I(x.__class__)",
        "`x`.mean()",
        "np.load('file')",
        "np.log.__self__",
        "eval('1')",
        "open('file')",
        "x[0]",
        "I(x if x else x)",
        "I(lambda: x)",
        "I([i for i in x])",
        "I(9 ** 9 ** 9)",
        "I(x * 9 ** 999999999)",
        "I(I(9) ** 999999999)",
        "I(x * 99999999999999999999)",
        "C(x, contrasts=exec('1'))",
        "Q('x')",
        "I(x := 3)",
        "I(x @ x)",
        "I(f'{x}')",
    ],
)
def test_python_is_not_let_through(attack: str) -> None:
    with pytest.raises(BadFormula):
        parse_formula(f"rating ~ {attack}")


@given(st.text(alphabet="ab x01+-*/:^|()~`'\",.=\n[]{}é", max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        formula = parse_formula(text)
    except BadFormula:  # any other exception fails the test
        return
    again = parse_formula(formula.text)
    assert (again.fixed, again.random) == (formula.fixed, formula.random)


def test_every_function_that_is_allowed_can_be_computed() -> None:
    from panelist.models.formulas.calls import NUMBER_FUNCTIONS
    from panelist.models.formulas.coding import code_columns
    from panelist.models.formulas.variables import Numbers

    x = np.array([0.5, 1.0, 2.0, 4.0])
    expected: dict[str, Floats] = {
        "I": x,
        "center": x - x.mean(),
        "square": x**2,
        "scale": (x - x.mean()) / x.std(ddof=1),
    }
    expected["standardize"] = (x - x.mean()) / x.std()
    expected["poly"] = (x - x.mean()) / np.linalg.norm(x - x.mean())
    for function in sorted(NUMBER_FUNCTIONS):
        name = function.removeprefix("np.")
        values = expected[name] if name in expected else getattr(np, name)(x)
        columns = code_columns(f"0 + {function}(x)", {"x": Numbers(x)}, 4)
        np.testing.assert_allclose(columns.matrix[:, 0], values, rtol=1e-12, err_msg=function)


def test_formulaic_knows_our_codings_under_the_names_we_allow() -> None:
    from panelist.models.formulas.calls import CONTRASTS

    frame = pd.DataFrame({"a": list("uvwuvw")})
    for spelling in CONTRASTS:
        text = read_terms(f"C(a, {spelling})").text
        assert Formulaic(text).get_model_matrix(frame).shape == (6, 3)
