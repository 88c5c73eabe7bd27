"""Estimated means and pairwise differences against R's emmeans, with R's own coefficients put in."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel, UnknownName
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design
from panelist.models.inference.contrasts import Means, PairContrasts, contrast_pairs, estimate_means
from panelist.numerics.arrays import Floats

SHARED = Path(__file__).parents[4] / "shared" / "data"


@dataclass(frozen=True)
class StandIn:
    """A fit with what contrasts need from it."""

    model: str
    beta: Floats
    vcov: Floats
    design: ModelMatrices
    df: Floats = field(default_factory=lambda: np.array(np.inf))
    params: Floats = field(default_factory=lambda: np.empty(0))
    cov_params: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def degrees(self, L: Floats) -> Floats:
        return np.broadcast_to(self.df, len(L)).astype(float)

    def widen(self, L: Floats) -> Floats:
        return np.ones(len(L))


def _read(name: str) -> Any:
    path = SHARED / "reference" / name
    if not path.exists():
        pytest.skip(f"R's reference {name} is not beside the repository")
    return json.loads(path.read_text(encoding="utf-8"))


def _build(formula: str, frame: pd.DataFrame, *, ordinal: bool) -> ModelMatrices:
    ratings: Any = SimpleNamespace(frame=frame, names={})
    return build_design(parse_formula(formula), ratings, ordinal=ordinal)


def _design(systems: list[str], *, ordinal: bool) -> ModelMatrices:
    frame = pd.DataFrame({"system": systems * 2, "rating": np.arange(2 * len(systems)) % 3})
    return _build("rating ~ system", frame, ordinal=ordinal)


def _clmm(name: str) -> tuple[StandIn, Any]:
    models, reference = _read(f"{name}__models.json"), _read(f"{name}__emmeans.json")
    fit = models["clmm_intercept_probit"]
    thresholds, beta = (np.array(list(fit[part].values())) for part in ("thresholds", "beta"))
    joint = np.array(fit["vcov"]["values"])[: len(thresholds) + len(beta), : len(thresholds) + len(beta)]
    vcov = joint[len(thresholds) :, len(thresholds) :]
    design = _design(models["systems"], ordinal=True)
    estimates = np.concatenate([thresholds, beta])
    return StandIn("clmm", beta, vcov, design, params=estimates, cov_params=joint), reference


def _lmer(name: str, rows: list[dict[str, float]]) -> StandIn:
    models = _read(f"{name}__models.json")
    fit = models["lmer_intercept_REML"]
    beta = np.array([row["Estimate"] for row in fit["coefficients_satterthwaite"].values()])
    vcov = np.array(fit["vcov_beta"]["values"])
    df = np.array([row["df"] for row in rows])
    return StandIn("lmm", beta, vcov, _design(models["systems"], ordinal=False), df)


def _column(rows: list[dict[str, float]], name: str) -> Floats:
    return np.array([row[name] for row in rows], dtype=float)


def _check_means(means: Means, rows: list[dict[str, Any]], low: str, high: str) -> None:
    assert means.levels == tuple(row["system"] for row in rows)
    for name, column in (("estimate", "emmean"), ("se", "SE"), ("low", low), ("high", high)):
        np.testing.assert_allclose(getattr(means, name), _column(rows, column), rtol=1e-6, atol=1e-9)


def _check_pairs(pairs: PairContrasts, rows: list[dict[str, Any]], ratio: str) -> None:
    named = [row["contrast"].replace("(", "").replace(")", "") for row in rows]
    assert [f"{a} - {b}" for a, b in zip(pairs.a, pairs.b, strict=True)] == named
    for name, column in (("estimate", "estimate"), ("se", "SE"), ("statistic", ratio)):
        np.testing.assert_allclose(getattr(pairs, name), _column(rows, column), rtol=1e-6)


FILES = ["qg_stec__Correctness", "reprohum_def_fluency"]


@pytest.mark.parametrize("name", FILES)
def test_latent_means_equal_emmeans(name: str) -> None:
    fit, reference = _clmm(name)
    means = estimate_means(fit)
    assert means.scale == "latent"
    assert np.isinf(means.df).all()
    _check_means(means, reference["emmeans"], "asymp.LCL", "asymp.UCL")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("adjust", ["none", "holm", "bonferroni", "BH"])
def test_latent_differences_equal_emmeans(name: str, adjust: str) -> None:
    fit, reference = _clmm(name)
    pairs, rows = contrast_pairs(fit, adjust=adjust), reference["contrasts"][adjust]
    _check_pairs(pairs, rows, "z.ratio")
    np.testing.assert_allclose(pairs.p_adjusted, _column(rows, "p.value"), rtol=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_tukey_equals_emmeans(name: str) -> None:
    fit, reference = _clmm(name)
    pairs, rows = contrast_pairs(fit, adjust="tukey"), reference["contrasts"]["tukey"]
    _check_pairs(pairs, rows, "z.ratio")
    # R forms 1 - P(range), so that its smallest p-values are rounding: 4e-14 stands for our 2e-15.
    np.testing.assert_allclose(pairs.p_adjusted, _column(rows, "p.value"), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", FILES)
def test_linear_means_and_differences_equal_emmeans(name: str) -> None:
    reference = _read(f"{name}__emmeans.json")["lmer"]
    means = estimate_means(_lmer(name, reference["emmeans"]))
    assert means.scale == "rating"
    _check_means(means, reference["emmeans"], "lower.CL", "upper.CL")
    for adjust, atol in (("tukey", 1e-8), ("holm", 0.0)):  # R's ptukey on finite df is good to 1e-8
        rows = reference[f"contrasts_{adjust}"]
        pairs = contrast_pairs(_lmer(name, rows), adjust=adjust)
        _check_pairs(pairs, rows, "t.ratio")
        np.testing.assert_allclose(pairs.p_adjusted, _column(rows, "p.value"), rtol=1e-6, atol=atol)


@pytest.mark.parametrize("name", FILES)
def test_intervals_of_one_way_anova_equal_tukey_hsd(name: str) -> None:
    models = _read(f"{name}__models.json")
    anova, systems = models["anova_oneway"], models["systems"]
    n = np.array([anova["system_n"][system] for system in systems], dtype=float)
    mean = np.array([anova["system_means"][system] for system in systems])
    df = float(anova["system"]["df2"])
    sigma2 = anova["system"]["ss_within"] / df
    X = np.eye(len(systems))
    X[:, 0] = 1  # treatment coding: the first system is the intercept
    beta = np.linalg.solve(X, mean)
    vcov = np.linalg.inv(X.T @ np.diag(n) @ X) * sigma2
    pairs = contrast_pairs(StandIn("lm", beta, vcov, _design(systems, ordinal=False), np.array(df)))
    for a, b, estimate, low, high, p in zip(
        pairs.a, pairs.b, pairs.estimate, pairs.low, pairs.high, pairs.p_adjusted, strict=True
    ):
        row = anova["tukey_system"][f"{b}-{a}"]
        expected = [-row["diff"], -row["upr"], -row["lwr"]]
        # qtukey stops at 1e-4 (its help page says so), hence 1e-5 of the ends.
        np.testing.assert_allclose([estimate, low, high], expected, rtol=2e-5, atol=1e-6)
        assert p == pytest.approx(row["p adj"], rel=1e-6, abs=1e-8)


@pytest.fixture(scope="module")
def wine() -> pd.DataFrame:
    path = SHARED / "wine" / "wine.csv"
    if not path.exists():
        pytest.skip("The wine data are not beside the repository")
    frame = pd.read_csv(path, dtype={"judge": str}).iloc[:61]  # 61 rows: no longer balanced
    return frame.astype({"bottle": float})


def _fit_linear(formula: str, frame: pd.DataFrame) -> StandIn:
    design = _build(formula, frame, ordinal=False)
    X, y = design.X, design.y
    beta = np.asarray(np.linalg.lstsq(X, y, rcond=None)[0], dtype=np.float64)
    df = len(y) - X.shape[1]
    vcov = np.linalg.inv(X.T @ X) * float(np.sum((y - X @ beta) ** 2)) / df
    return StandIn("lm", beta, vcov, design, np.array(float(df)))


def _linear_wine(wine: pd.DataFrame) -> StandIn:
    return _fit_linear("response ~ judge*temp + contact + bottle", wine)


# R 4.2.2, emmeans 1.8.4-1, means and SEs by weights, of
# emmeans(lm(response ~ judge*temp + contact + bottle, wine[1:61, ]), "judge", weights = .)
JUDGES = {
    "equal": (
        [
            63.5532786885246,
            43.0532786885245,
            55.9282786885245,
            48.6782786885246,
            46.9282786885246,
            52.5532786885246,
            29.8032786885246,
            45.6366120218579,
        ],
        [4.52963951496207] * 7 + [7.19287930850524],
    ),
    "proportional": (
        [
            62.7103825136612,
            42.0505464480874,
            54.8825136612021,
            48.0136612021858,
            46.5956284153005,
            51.870218579235,
            29.3169398907104,
            44.9125683060109,
        ],
        [4.51710356961569] * 7 + [7.01052852101088],
    ),
}


@pytest.mark.parametrize("weights", ["equal", "proportional"])
def test_means_over_another_factor_and_a_covariate_equal_emmeans(wine: pd.DataFrame, weights: str) -> None:
    means = estimate_means(_linear_wine(wine), "judge", weights=weights)
    np.testing.assert_allclose(means.estimate, JUDGES[weights][0], rtol=1e-10)
    np.testing.assert_allclose(means.se, JUDGES[weights][1], rtol=1e-10)
    assert f"Means are averaged over temp and contact, with {weights} weights." in means.notes
    assert any("judge:temp" in note and "average" in note for note in means.notes)


@pytest.mark.parametrize(
    ("adjust", "p", "low", "high"),
    [
        ("tukey", 0.04661166760806490, 0.18120613921983875, 40.8187938607802536),
        ("bonferroni", 0.069725236540625374, -0.75112437778540553, 41.7511243777855015),
        ("none", 0.0024901870193080491, 7.6330812119302784, 33.3669187880698103754),
    ],
)
def test_adjusted_intervals_equal_emmeans(
    wine: pd.DataFrame, adjust: str, p: float, low: float, high: float
) -> None:
    pairs = contrast_pairs(_linear_wine(wine), "judge", adjust)
    assert (pairs.a[0], pairs.b[0]) == ("1", "2")
    assert pairs.estimate[0] == pytest.approx(20.5, rel=1e-10)
    assert pairs.se[0] == pytest.approx(6.3802095297420260, rel=1e-10)
    assert pairs.p_adjusted[0] == pytest.approx(p, rel=1e-6)
    # emmeans takes its Tukey interval from qtukey, good to 1e-4; the others are exact.
    tolerance = 2e-3 if adjust == "tukey" else 1e-8
    np.testing.assert_allclose([pairs.low[0], pairs.high[0]], [low, high], atol=tolerance)


def test_latent_means_with_interaction_and_covariate_equal_emmeans(wine: pd.DataFrame) -> None:
    # R 4.2.2, ordinal 2022.11-16: clm(ord ~ temp*contact + bottle, data = wine[1:61, ], link = "logit"),
    # with its coef() and vcov(), thresholds first; emmeans 1.8.4-1 on "temp".
    joint = np.array(
        [
            -1.41288896050709,
            1.12950885059762,
            3.25543948369202,
            4.55774313606845,
            1.75549142930977,
            0.916260538523324,
            0.120685736435957,
            0.30804494599898,
        ]
    )
    lower = [
        [0.874626216077514],
        [0.687679915906431, 0.813343567713128],
        [0.698329123682388, 0.812305870219272, 0.988184475456135],
        [0.686452372161389, 0.799920885071281, 0.964008553334266, 1.10395225673215],
        [-1.21232666615007, -1.15272641017425, -1.09642359279185, -1.05041591958554, 4.19837235986202],
        [
            -0.518202421109965,
            -0.455380885084308,
            -0.44220333266086,
            -0.42493378971251,
            2.11020551016821,
            1.39626689894606,
        ],
        [
            0.347542195327217,
            0.35717896818275,
            0.364919212650175,
            0.356477841852704,
            -0.924149458373911,
            -0.465689933601449,
            0.233917806952083,
        ],
        [
            -0.214862252205165,
            -0.29627850504464,
            -0.266670566843229,
            -0.208636447082442,
            -0.373307575983291,
            -0.40721409573587,
            -0.0250657212799238,
            0.975249665772905,
        ],
    ]
    V = np.array([row + [0.0] * (8 - len(row)) for row in lower])
    V += np.tril(V, -1).T
    names = ["temp[T.warm]", "contact[T.yes]", "bottle", "temp[T.warm]:contact[T.yes]"]  # R's order
    design = _build("rating ~ temp*contact + bottle", wine, ordinal=True)
    order = [0, 1, 2, 3, *(4 + names.index(name) for name in design.names)]
    joint, V = joint[order], V[np.ix_(order, order)]
    fit = StandIn("clm", joint[4:], V[4:, 4:], design, params=joint, cov_params=V)
    for weights, estimate, se in (
        ("equal", [-0.896072954456815, 1.01344094785244], [0.974000142368465, 1.10765564313381]),
        ("proportional", [-0.903583286739793, 1.0034056569957], [0.98142594075358, 1.09972553524944]),
    ):
        means = estimate_means(fit, "temp", weights=weights)
        np.testing.assert_allclose(means.estimate, estimate, rtol=1e-9)
        np.testing.assert_allclose(means.se, se, rtol=1e-9)
    pairs = contrast_pairs(fit, "temp")
    assert pairs.estimate[0] == pytest.approx(-1.9095139023092587, rel=1e-9)
    assert pairs.p_adjusted[0] == pytest.approx(0.34382149660306527, rel=1e-9)


def _three(beta: list[float], order: list[str]) -> StandIn:
    vcov = 0.01 * (np.eye(len(beta)) + 1)
    return StandIn("clmm", np.array(beta), vcov, _design(order, ordinal=True))


def test_difference_is_first_minus_second() -> None:
    pairs = contrast_pairs(_three([1.0, 3.0], ["a", "b", "c"]))
    assert list(zip(pairs.a, pairs.b, pairs.estimate.round(9), strict=True)) == [
        ("a", "b", -1.0),
        ("a", "c", -3.0),
        ("b", "c", -2.0),
    ]
    assert list(pairs.table()["a"]) == ["a", "a", "b"]


def test_only_pairs_with_the_reference_are_shown_when_one_is_named() -> None:
    fit = _three([0.3, 0.5], ["a", "b", "c"])
    pairs = contrast_pairs(fit, adjust="bonferroni", reference="b")
    assert list(zip(pairs.a, pairs.b, strict=True)) == [("a", "b"), ("c", "b")]
    np.testing.assert_allclose(pairs.p_adjusted, np.minimum(2 * pairs.p, 1))
    everything = contrast_pairs(fit, adjust="tukey")
    tukey = contrast_pairs(fit, adjust="tukey", reference="b")
    assert tukey.p_adjusted[0] == pytest.approx(everything.p_adjusted[0], rel=1e-12)
    assert any("covers all pairs" in note for note in tukey.notes)
    with pytest.raises(UnknownName, match="No system is called 'B'"):
        contrast_pairs(fit, reference="B")


def test_stepwise_methods_say_that_their_intervals_are_unadjusted() -> None:
    fit = _three([0.3, 0.5], ["a", "b", "c"])
    plain = contrast_pairs(fit, adjust="none")
    for adjust in ("holm", "bh"):
        pairs = contrast_pairs(fit, adjust=adjust)
        np.testing.assert_array_equal(pairs.low, plain.low)
        assert any("unadjusted" in note for note in pairs.notes)
    assert contrast_pairs(fit, adjust="tukey").notes == ()


def test_an_unknown_covariance_gives_unknown_p_values_and_no_warning() -> None:
    design = _design(["a", "b", "c"], ordinal=True)
    pairs = contrast_pairs(StandIn("clmm", np.array([1.0, 2.0]), np.full((2, 2), np.nan), design))
    np.testing.assert_array_equal(pairs.estimate, [-1.0, -2.0, -1.0])
    assert np.isnan(pairs.p_adjusted).all()
    assert np.isnan(pairs.low).all()


def test_a_term_that_is_not_in_the_model_is_refused_with_the_nearest() -> None:
    fit = _three([1.0, 3.0], ["a", "b", "c"])
    with pytest.raises(BadModel, match=r"'sistem' is not a factor .* Did you mean 'system'"):
        estimate_means(fit, "sistem")
    with pytest.raises(BadModel, match="must be one of equal, proportional"):
        estimate_means(fit, weights="flat")
    with pytest.raises(BadModel, match="between 0 and 1"):
        contrast_pairs(fit, confidence=95)


def test_what_was_never_rated_has_no_mean_but_the_others_keep_theirs() -> None:
    # c was never seen by group y, so that with the interaction its mean over groups is unknown.
    rng = np.random.default_rng(3)
    cells = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x")] * 6
    frame = pd.DataFrame(cells, columns=["system", "group"])
    frame["rating"] = rng.normal(size=len(frame)).round(3)
    fit = _fit_linear("rating ~ system * group", frame)
    cell_means = frame.groupby(["system", "group"])["rating"].mean()

    means = estimate_means(fit)
    expected = [cell_means[system].mean() for system in "ab"]
    np.testing.assert_allclose(means.estimate, [*expected, np.nan], rtol=1e-9)
    assert np.isnan(means.se[2])
    assert any("No mean can be estimated for c" in note for note in means.notes)

    pairs = contrast_pairs(fit)
    np.testing.assert_allclose(pairs.estimate, [expected[0] - expected[1], np.nan, np.nan], rtol=1e-9)
    np.testing.assert_array_equal(np.isnan(pairs.p_adjusted), [False, True, True])
    additive = estimate_means(_fit_linear("rating ~ system + group", frame))
    assert np.isfinite(additive.estimate).all()


@pytest.mark.parametrize("coding", ["system", "C(system, Sum)", "C(system, Treatment('b'))", "0 + system"])
def test_coding_does_not_matter(coding: str) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"system": list("abc") * 8, "length": rng.normal(size=24), "rating": rng.normal(size=24)}
    )
    plain = _fit_linear("rating ~ system + length", frame)
    other = _fit_linear(f"rating ~ {coding} + length", frame)
    for estimate in (lambda fit: estimate_means(fit), lambda fit: contrast_pairs(fit)):
        np.testing.assert_allclose(estimate(other).estimate, estimate(plain).estimate, rtol=1e-9)
        np.testing.assert_allclose(estimate(other).se, estimate(plain).se, rtol=1e-9)
