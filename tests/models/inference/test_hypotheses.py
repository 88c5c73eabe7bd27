"""Type I and III tests of terms against lmerTest; the variances are R's, everything else is computed here."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel
from panelist.core.tables.ratings import read_ratings
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design
from panelist.models.inference import hypotheses
from panelist.models.inference.hypotheses import degrees_satterthwaite, f_tail, term_contrasts
from panelist.models.inference.kenward_roger import kenward_roger
from panelist.numerics.arrays import Floats
from tests.models.reference_fits import covariances_of, design_of
from tests.reference_cases import Case, own_cases, r_names
from tests.shared_cases import MISSING, shared_cases

RANDOM = " + (1 | item) + (1 | rater)"


@cache
def ratings(empty_cell: bool = False) -> pd.DataFrame:
    """Three systems, three genres and a covariate, unbalanced; made without a random number generator."""
    rows = []
    for i in range(120):
        system, genre = "abc"[(i * i + i // 7) % 3], "xyz"[(i**3 + i // 5 + i) % 4 % 3]
        words = ((i * 37) % 23 - 11) / 8
        effect = {"a": 0.0, "b": 0.5, "c": 0.9}[system] - 0.4 * (genre == "y") + 0.3 * words
        groups = 0.6 * math.sin(5.1 * (i % 8)) + 0.5 * math.cos(3.3 * (i // 8))
        both = 0.4 * (system == "b") * (genre == "z")
        rating = round(3 + effect + groups + both + 2 * math.sin(12.9898 * i + 0.5), 6)
        if not (empty_cell and system == "c" and genre == "z"):
            rows.append((f"r{i % 8}", f"i{i // 8:02d}", system, genre, words, rating))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "genre", "words", "rating"])


def make_design(fixed: str, frame: pd.DataFrame) -> ModelMatrices:
    return build_design(parse_formula(f"rating ~ {fixed}{RANDOM}"), read_ratings(frame), ordinal=False)


def satterthwaite_pieces(
    design: ModelMatrices, covariances: list[Floats], variance: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """β, C, dC and A at REML estimates inside the parameter space, in the (co)variances γ.

    There the first derivatives are zero, so that the answer is the same in any parameters; the second
    derivatives of the deviance are −tr(P G_r P G_s) + 2 y'P G_r P G_s P y (Searle, Casella & McCulloch 1992,
    section 6.6).
    """
    X, y = design.X, design.y
    G = [np.eye(len(y))]
    Sigma = variance * G[0]
    for factor, covariance in zip(design.factors, covariances, strict=True):
        same = (factor.index[:, None] == factor.index).astype(float)
        Sigma += same * (factor.Z @ covariance @ factor.Z.T)
        for low, high in factor.blocks:
            for a in range(low, high):
                for b in range(low, a + 1):
                    outer = np.outer(factor.Z[:, a], factor.Z[:, b])
                    G.append(same * (outer if a == b else outer + outer.T))
    S = np.linalg.inv(Sigma)
    SX = S @ X
    C: Floats = np.asarray(np.linalg.inv(X.T @ SX), dtype=float)
    P = S - SX @ C @ SX.T
    PG = [P @ matrix for matrix in G]
    z = [matrix @ (P @ y) for matrix in G]
    hessian = np.array(
        [
            [2 * zr @ P @ zs - np.sum(r * s.T) for s, zs in zip(PG, z, strict=True)]
            for r, zr in zip(PG, z, strict=True)
        ]
    )
    dC = np.array([C @ SX.T @ matrix @ SX @ C for matrix in G])
    return C @ SX.T @ y, C, dC, 2 * np.linalg.inv(hessian)


# ---- R: formulas with several terms ------------------------------------------------------------------------
# (variances of item, rater, residual), then for each type and term what lmerTest 3.1-3 answers:
# numdf; F, ddf, p by Satterthwaite; F, ddf, p by Kenward-Roger
Row = tuple[int, float, float, float, float, float, float]
ANSWERS: dict[tuple[str, bool], tuple[tuple[float, float, float], dict[int, dict[str, Row]]]] = {
    ("system * genre", False): ((1.0159513474026, 0.067796934220257, 1.6460319103502), {
        1: {
            "system": (2, 3.04176879, 101.449203, 0.05212782, 2.92733951, 101.707873, 0.05806541),
            "genre": (2, 0.895495262, 98.2819627, 0.411711, 0.873299232, 98.3358152, 0.4207846),
            "system:genre": (4, 1.1918213, 97.1817478, 0.3193188, 1.16042005, 98.7674842, 0.3330009),
        },
        3: {
            "system": (2, 2.46593862, 100.149117, 0.09007225, 2.37092344, 100.056882, 0.0986224),
            "genre": (2, 0.726095417, 97.57793, 0.4863896, 0.709430459, 97.6604073, 0.4944415),
            "system:genre": (4, 1.1918213, 97.8715446, 0.3192684, 1.16042005, 98.7674842, 0.3330009),
        },
    }),
    ("system * genre * words", False): ((1.2109109118114, 0.080628658093919, 1.526384175578), {
        1: {
            "system": (2, 3.2620815, 91.142512, 0.04282569, 3.13586361, 91.5311125, 0.04816623),
            "genre": (2, 0.850406081, 87.9756007, 0.430723, 0.830249697, 88.2063009, 0.4393181),
            "words": (1, 5.79436211, 81.7158671, 0.01833142, 5.77527713, 82.2118954, 0.01850392),
            "system:genre": (4, 1.49112198, 87.7806, 0.2117671, 1.46261552, 89.4324228, 0.2202611),
            "system:words": (2, 1.03870923, 89.3302399, 0.3581457, 1.01259689, 89.5557295, 0.3673952),
            "genre:words": (2, 1.2057183, 90.7259069, 0.3042295, 1.16731736, 91.0300389, 0.3158147),
            "system:genre:words": (4, 1.01741164, 88.4267723, 0.4028549, 0.977705719, 89.2834283, 0.4238751),
        },
        3: {
            "system": (2, 1.87214373, 91.3729469, 0.1596451, 1.80187025, 91.8137221, 0.1707752),
            "genre": (2, 1.01300085, 87.2480781, 0.367358, 0.995612774, 87.5395511, 0.3736416),
            "words": (1, 1.35770743, 89.7126435, 0.247024, 1.31383282, 90.0217915, 0.2547396),
            "system:genre": (4, 1.33540103, 87.3652701, 0.2632233, 1.2923011, 89.7459139, 0.2790622),
            "system:words": (2, 0.235437028, 90.4039886, 0.7907084, 0.227788475, 90.6355585, 0.7967471),
            "genre:words": (2, 0.7279456, 89.8427514, 0.4857261, 0.704796802, 90.2019322, 0.4969099),
            "system:genre:words": (4, 1.01741164, 89.2575422, 0.4027985, 0.977705719, 89.2834283, 0.4238751),
        },
    }),
    ("0 + system + genre", False): ((0.98518582803582, 0.06937596160223, 1.6632573396477), {
        1: {
            "system": (3, 42.412218, 32.5736252, 2.354659e-11, 41.5105836, 50.3723111, 1.183416e-13),
            "genre": (2, 1.05637546, 102.322154, 0.3514748, 1.03200461, 102.112453, 0.3599777),
        },
        3: {
            "system": (3, 39.3297606, 40.8132576, 4.102957e-12, 38.5375989, 60.3374759, 4.869218e-14),
            "genre": (2, 1.05637546, 102.420352, 0.3514712, 1.03200461, 102.112453, 0.3599777),
        },
    }),
    ("system * genre", True): ((0.93226451808663, 0.051681365193872, 1.6953267921903), {
        1: {
            "system": (2, 2.24708447, 97.3615771, 0.1111622, 2.15779181, 98.0188286, 0.1210393),
            "genre": (2, 0.632577092, 96.0893038, 0.5334186, 0.610586242, 96.5209442, 0.5451164),
            "system:genre": (3, 1.36465691, 95.3506346, 0.2583097, 1.29767797, 95.1550471, 0.2797954),
        },
        3: {
            "system": (2, 0.989779287, 95.784366, 0.3754274, 0.950931512, 96.2682753, 0.3899799),
            "genre": (2, 0.59712886, 96.1106342, 0.5524185, 0.576662812, 96.7604494, 0.5636887),
            "system:genre": (3, 1.36465691, 94.5994019, 0.258363, 1.29767797, 95.1550471, 0.2797954),
        },
    }),
    ("system * poly(words, 2)", False): ((1.0306694363071, 0.10200995851729, 1.6167606218627), {
        1: {
            "system": (2, 3.11616109, 99.8666939, 0.04866516, 3.01605645, 99.9118049, 0.05347631),
            "poly(words, 2)": (2, 2.73240221, 90.93392, 0.07040814, 2.72465254, 90.7781615, 0.07093397),
            "system:poly(words, 2)":
                (4, 0.501846683, 98.8979628, 0.7344261, 0.487368582, 98.8902112, 0.7449733),
        },
        3: {
            "system": (2, 3.56807237, 100.147223, 0.03185115, 3.45326975, 99.9656461, 0.03546522),
            "poly(words, 2)": (2, 2.54812437, 91.0540555, 0.08379604, 2.54037069, 90.8998369, 0.08442308),
            "system:poly(words, 2)":
                (4, 0.501846683, 99.1662551, 0.734426, 0.487368582, 98.8902112, 0.7449733),
        },
    }),
}  # fmt: skip


# Satterthwaite's degrees of freedom of type I depend on the rows, and these on the coding
@pytest.mark.parametrize(("kind", "coding"), [(1, "treatment"), (3, "treatment"), (3, "sum")])
@pytest.mark.parametrize(("fixed", "empty_cell"), ANSWERS)
def test_terms_are_tested_as_in_lmertest(fixed: str, empty_cell: bool, coding: str, kind: int) -> None:
    (item, rater, residual), tables = ANSWERS[fixed, empty_cell]
    if coding == "sum":
        fixed = fixed.replace("system", "C(system, Sum)").replace("genre", "C(genre, Sum)")
    design = make_design(fixed, ratings(empty_cell))
    assert [factor.name for factor in design.factors] == ["item", "rater"]
    covariances = [np.array([[item]]), np.array([[rater]])]
    beta, C, dC, A = satterthwaite_pieces(design, covariances, residual)
    kr = kenward_roger(design.X, design.factors, covariances, math.sqrt(residual))
    contrasts = term_contrasts(design.fixed, design.X, design.names, kind)
    assert [name.replace("C(", "").replace(", Sum)", "") for name in contrasts] == list(tables[kind])
    for L, row in zip(contrasts.values(), tables[kind].values(), strict=True):
        # lmerTest rounds its type III contrasts to seven digits and differentiates numerically
        by_satterthwaite = hypotheses.test_term_satterthwaite(L, beta, C, dC, A)
        assert by_satterthwaite == pytest.approx((row[1], row[0], row[2], row[3]), rel=3e-6)
        assert kr.test(L, beta) == pytest.approx((row[4], row[0], row[5], row[6]), rel=3e-6)


def test_type_three_averages_over_the_cells_of_the_other_factor() -> None:
    design = make_design("system * genre", ratings())
    contrasts = term_contrasts(design.fixed, design.X, design.names)
    third = 1 / 3
    assert contrasts["system"] == pytest.approx(
        np.array([[0, 1, 0, 0, 0, third, 0, third, 0], [0, 0, 1, 0, 0, 0, third, 0, third]]), abs=1e-12
    )
    assert contrasts["genre"] == pytest.approx(
        np.array([[0, 0, 0, 1, 0, third, third, 0, 0], [0, 0, 0, 0, 1, 0, 0, third, third]]), abs=1e-12
    )
    assert contrasts["system:genre"] == pytest.approx(np.eye(9)[5:], abs=1e-12)


def same_hypothesis(L: Floats, X: Floats, other: Floats, other_X: Floats) -> bool:
    """Whether two contrasts, each in its own coding, ask for the same means to be equal."""
    one, two = (np.linalg.pinv(x).T @ contrast.T for x, contrast in ((X, L), (other_X, other)))
    both = np.linalg.matrix_rank(np.column_stack([one, two]), tol=1e-8)
    return bool(both == len(L) == len(other))


@pytest.mark.parametrize(
    "fixed",
    [
        "C(system, Sum) * C(genre, Helmert)",
        "C(system, Treatment('b')) * C(genre, Treatment('z'))",
        "system / genre",
        "0 + system * genre",
    ],
)
def test_type_three_of_a_main_effect_does_not_depend_on_how_the_model_is_written(fixed: str) -> None:
    plain, other = make_design("system * genre", ratings()), make_design(fixed, ratings())
    L = term_contrasts(plain.fixed, plain.X, plain.names)["system"]
    first = next(iter(term_contrasts(other.fixed, other.X, other.names).values()))
    if fixed.startswith("0"):  # without the intercept the term asks for all means to be zero
        assert len(first) == 3
        first = np.diff(first, axis=0)
    assert same_hypothesis(L, plain.X, first, other.X)


def test_type_one_depends_on_the_order_and_type_three_does_not() -> None:
    plain, turned = make_design("system + genre", ratings()), make_design("genre + system", ratings())
    for kind, same in ((1, False), (3, True)):
        L = term_contrasts(plain.fixed, plain.X, plain.names, kind)["system"]
        M = term_contrasts(turned.fixed, turned.X, turned.names, kind)["system"]
        assert same_hypothesis(L, plain.X, M, turned.X) is same


@pytest.mark.parametrize("kind", [1, 3])
@pytest.mark.parametrize("fixed", ["system", "system * genre + words", "C(system, Sum) * words"])
def test_ordinal_models_have_the_contrasts_of_linear_ones_less_the_intercept(fixed: str, kind: int) -> None:
    frame = ratings().assign(rating=lambda d: d["rating"].round().clip(1, 6).astype(int))
    formula = parse_formula(f"rating ~ {fixed}{RANDOM}")
    linear = build_design(formula, read_ratings(frame), ordinal=False)
    ordinal = build_design(formula, read_ratings(frame), ordinal=True)
    with_intercept = term_contrasts(linear.fixed, linear.X, linear.names, kind)
    without = term_contrasts(ordinal.fixed, ordinal.X, ordinal.names, kind)
    assert list(with_intercept) == list(without)
    for name, L in with_intercept.items():
        assert L[:, 0] == pytest.approx(np.zeros(len(L)), abs=1e-9)
        assert without[name] == pytest.approx(L[:, 1:], abs=1e-9)


@pytest.mark.parametrize("kind", [1, 3])
def test_a_term_that_others_explain_has_no_row_and_no_test(kind: int) -> None:
    frame = ratings().assign(family=lambda d: d["system"].map({"a": "old", "b": "new", "c": "new"}))
    design = make_design("system + family + genre", frame)
    contrasts = term_contrasts(design.fixed, design.X, design.names, kind)
    assert contrasts["family"].shape == (0, 5)
    none = np.zeros((0, 5, 5))
    test = hypotheses.test_term_satterthwaite(contrasts["family"], np.zeros(5), np.eye(5), none, np.eye(0))
    assert test.numdf == 0
    assert np.isnan([test.F, test.ddf, test.p]).all()


def test_a_model_of_nothing_but_the_intercept_has_no_terms() -> None:
    design = make_design("1", ratings())
    assert term_contrasts(design.fixed, design.X, design.names) == {}


def test_other_types_are_refused() -> None:
    design = make_design("system", ratings())
    with pytest.raises(BadModel, match=r"no type 2 test here\. Ask for type 3"):
        term_contrasts(design.fixed, design.X, design.names, 2)


# ---- R: stored fits ----------------------------------------------------------------------------------------
def is_inside(case: Case) -> bool:
    linear = case.model == "lmm" and case.method == "REML" and case.trust == "full"
    return linear and not case.answer.singular and bool(case.answer.anova)


OWN = [
    case for case in own_cases() if is_inside(case) and "df" in next(iter(case.answer.coefficients.values()))
]
SHARED = [
    case
    for case in shared_cases()
    if is_inside(case) and len(case.answer.coefficients) > 2 and (case.answer.n or 0) < 2000
]


def check_satterthwaite(case: Case) -> None:
    design, answer = design_of(case), case.answer
    assert answer.sigma is not None
    beta, C, dC, A = satterthwaite_pieces(design, covariances_of(design, answer), answer.sigma**2)
    rows = [answer.coefficients[name] for name in r_names(design.names)]
    degrees = degrees_satterthwaite(np.eye(len(beta)), C, dC, A)
    assert degrees == pytest.approx([row["df"] for row in rows], rel=5e-5)
    contrasts = term_contrasts(design.fixed, design.X, design.names)
    for L, row in zip(contrasts.values(), answer.anova.values(), strict=True):
        statistic, numdf, ddf, _ = hypotheses.test_term_satterthwaite(L, beta, C, dC, A)
        assert numdf == row["num_df"]
        assert statistic == pytest.approx(row["F"], rel=1e-9)
        assert ddf == pytest.approx(row["den_df"], rel=5e-5)


@pytest.mark.parametrize("case", OWN, ids=lambda case: case.id)
def test_satterthwaite_is_that_of_lmertest(case: Case) -> None:
    check_satterthwaite(case)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED, reason=MISSING)
@pytest.mark.parametrize("case", SHARED, ids=lambda case: case.id)
def test_satterthwaite_of_real_ratings_of_several_systems_is_that_of_lmertest(case: Case) -> None:
    check_satterthwaite(case)


# ---- the parts ---------------------------------------------------------------------------------------------
def test_rows_of_equal_degrees_keep_them() -> None:
    dC, A = np.array([np.eye(2)]), np.array([[0.2]])
    test = hypotheses.test_term_satterthwaite(np.eye(2), np.array([1.0, 2.0]), np.eye(2), dC, A)
    assert test == pytest.approx((2.5, 2, 10.0, f_tail(2.5, 2, 10.0)))


def test_a_row_of_two_degrees_or_fewer_leaves_two() -> None:
    C, dC, A = np.diag([1.0, 4.0]), np.array([np.diag([1.0, 0.5])]), np.array([[2.0]])
    assert degrees_satterthwaite(np.eye(2), C, dC, A) == pytest.approx([1.0, 64.0])
    assert hypotheses.test_term_satterthwaite(np.eye(2), np.ones(2), C, dC, A).ddf == 2


def test_a_variance_known_exactly_has_infinite_degrees() -> None:
    C, dC, A = np.diag([1.0, 4.0]), np.array([np.diag([1.0, 0.0])]), np.array([[0.2]])
    assert degrees_satterthwaite(np.eye(2), C, dC, A) == pytest.approx([10.0, np.inf])
    # E = 10/8 + 1, so 2E/(E − 2)
    assert hypotheses.test_term_satterthwaite(np.eye(2), np.ones(2), C, dC, A).ddf == pytest.approx(18)
    known = hypotheses.test_term_satterthwaite(np.eye(2), np.ones(2), C, 0 * dC, A)
    assert known.ddf == np.inf
    assert known.p == pytest.approx(math.exp(-(1 + 1 / 4) / 2))  # chi-squared with two degrees of freedom


def test_repeated_rows_count_once() -> None:
    C, dC, A = np.diag([1.0, 4.0]), np.array([np.diag([1.0, 0.5])]), np.array([[0.2]])
    beta = np.array([0.3, 0.9])
    once = hypotheses.test_term_satterthwaite(np.eye(2)[:1], beta, C, dC, A)
    assert hypotheses.test_term_satterthwaite(np.eye(2)[[0, 0]], beta, C, dC, A) == pytest.approx(once)


def test_the_tail_of_f_with_one_numerator_degree_is_that_of_t() -> None:
    assert f_tail(12.706204736**2, 1, 1.0) == pytest.approx(0.05, rel=1e-6)  # t at 97.5 %, one degree
    assert f_tail(1.959963985**2, 1, math.inf) == pytest.approx(0.05, rel=1e-6)
    assert math.isnan(f_tail(1.0, 1, -3.0))
    assert math.isnan(f_tail(math.nan, 1, 3.0))
