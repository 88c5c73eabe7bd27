"""Comparing systems: choosing the model, stepping down, ranks, sentences, and the JSON of the contract.

The fits are stood in for by least squares, so that what is tested here is everything around them; at the end
the real fits are compared with R's emmeans.
"""

import json
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from panelist.analysis import compare
from panelist.analysis.compare import compare_systems
from panelist.analysis.fitting.choose import RandomPart, choose_random, groups_at_fault
from panelist.analysis.systems.comparison import CriterionComparison, PairDifference, SystemEstimate
from panelist.analysis.systems.ranks import better_pairs, rank_intervals
from panelist.core.errors import BadModel, BadRatings, UnknownName
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.models.formulas.formula import parse_formula
from panelist.models.formulas.matrices import ModelMatrices, build_design
from panelist.models.formulas.response import choose_family
from panelist.models.inference.contrasts import PairContrasts
from panelist.numerics.arrays import Floats

SHARED = Path(__file__).parents[4] / "shared" / "data"


@dataclass(frozen=True)
class LeastSquares:
    """A fit as far as compare looks at it."""

    model: str
    link: str | None
    design: ModelMatrices
    beta: Floats
    vcov: Floats
    converged: bool = True
    singular: bool = False
    random: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"group": [], "term": [], "sd": []}))
    variance_components: dict[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    loglik: float = -100.0
    n_parameters: int = 10
    has_latent_differences: bool = True

    @property
    def n(self) -> int:
        return len(self.design.y)

    @property
    def params(self) -> Floats:
        return np.array([0.0, *self.beta])

    @property
    def cov_params(self) -> Floats:
        return np.pad(self.vcov, (1, 0))

    def degrees(self, L: Floats) -> Floats:
        return np.full(len(L), np.inf if self.model.startswith("cl") else float(self.n - len(self.beta)))

    def widen(self, L: Floats) -> Floats:
        return np.ones(len(L))


def fit_least_squares(formula: str, table: Ratings, model: str, link: str, **fields: Any) -> LeastSquares:
    ordinal = model.startswith("cl")
    design = build_design(parse_formula(formula), table, ordinal=ordinal)
    X = np.column_stack([np.ones(len(design.y)), design.X]) if ordinal else design.X
    gram = np.linalg.inv(X.T @ X)
    beta = gram @ X.T @ design.y
    vcov = gram * float(np.mean((design.y - X @ beta) ** 2))
    if ordinal:
        beta, vcov = beta[1:], vcov[1:, 1:]
    return LeastSquares(model, link if ordinal else None, design, beta, vcov, **fields)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Fit by least squares; returns the list of (model, formula) that were asked for."""
    asked: list[tuple[str, str]] = []

    def fit(formula: str, table: Ratings, model: str, options: Any, scale: None = None) -> LeastSquares:
        asked.append((model, formula))
        return fit_least_squares(formula, table, model, options.link)

    put_in(monkeypatch, fit)
    return asked


def put_in(monkeypatch: pytest.MonkeyPatch, fit: Any) -> None:
    """Fit by ``fit``; which analysis leads is tested with real fits."""
    monkeypatch.setattr(compare, "_fit", fit)
    monkeypatch.setattr(compare, "choose_lead", lambda main, *_, **__: main)


def make_ratings(
    means: dict[str, float], *, raters: int = 6, items: int = 10, seed: int = 1, slider: bool = False
) -> pd.DataFrame:
    """Return ratings on five points (or 0 to 100), every rater rating every item of every system."""
    rng = np.random.default_rng(seed)
    rows = [(f"r{r}", f"i{i}", s) for r in range(raters) for i in range(items) for s in means]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    latent = frame["system"].map(means).to_numpy(dtype=float) + rng.normal(size=len(frame))
    frame["rating"] = np.clip(latent * 10 + 50, 0, 100) if slider else np.clip(np.round(latent + 3), 1, 5)
    frame["criterion"] = "fluency"
    return frame


# -- the family and the random part


def test_up_to_eleven_values_in_whole_half_or_quarter_steps_are_ordered_categories() -> None:
    assert choose_family(np.arange(11.0))[0]
    assert not choose_family(np.arange(12.0))[0]
    assert choose_family(np.array([1.0, 1.5, 2.0]))[0]
    assert "9 values in steps of 0.5 (1 to 5)" in choose_family(np.arange(1.0, 5.1, 0.5))[1]
    assert not choose_family(np.arange(1.0, 7.1, 0.5))[0]  # thirteen
    assert not choose_family(np.array([1.0, 1.1, 2.0]))[0]
    assert choose_family(np.arange(40.0), ordered=True)[0]


def test_crossed_raters_get_slopes_and_single_cells_intercepts() -> None:
    part = choose_random(make_ratings({"a": 0, "b": 1}))
    assert part.formula() == "rating ~ system + (system | rater) + (system | item)"
    once = choose_random(
        make_ratings({"a": 0, "b": 1}, raters=2, items=20)
        .query("rater == 'r0'")
        .assign(rater=lambda frame: ["x" if i % 4 < 2 else "y" for i in range(len(frame))])
    )
    assert once.shapes["item"] == "intercept"
    assert any("nearly all cells item × system hold one rating" in note for note in once.notes)


def test_factors_that_met_one_system_get_intercepts() -> None:
    frame = make_ratings({"a": 0, "b": 1})
    frame["rater"] += frame["system"]
    part = choose_random(frame)
    assert part.shapes == {"rater": "intercept", "item": "slopes"}


def test_many_systems_or_few_raters_share_one_spread() -> None:
    many = choose_random(make_ratings(dict.fromkeys("abcdefg", 0.0), raters=40))
    assert many.shapes == {"rater": "cells", "item": "cells"}
    few = choose_random(make_ratings(dict.fromkeys("abcd", 0.0), raters=9, items=10))
    assert few.shapes == {"rater": "cells", "item": "slopes"}  # ten parameters
    assert few.formula() == "rating ~ system + (1 | rater) + (1 | rater:system) + (system | item)"
    assert any("9 raters are too few for 10 variances" in note for note in few.notes)


def test_factors_that_tell_nothing_are_left_out_and_named() -> None:
    frame = make_ratings({"a": 0, "b": 1}, raters=1)
    part = choose_random(frame)
    assert list(part.shapes) == ["item"]
    assert any("only one rater" in note for note in part.notes)
    own = choose_random(frame.assign(rater=[f"r{i}" for i in range(len(frame))]))
    assert any("Every rating has its own rater" in note for note in own.notes)
    same = choose_random(make_ratings({"a": 0, "b": 1}).assign(item=lambda table: table["rater"] + "'s"))
    assert list(same.shapes) == ["rater"]
    assert any("Each item goes with one rater" in note for note in same.notes)
    assert choose_random(frame.drop(columns=["rater", "item"])).formula() == "rating ~ system"


def test_only_the_group_without_full_rank_steps_down() -> None:
    covariances = {
        "rater": np.array([[0.25, 0.15], [0.15, 0.09]]),
        "item": np.array([[0.36, 0.096], [0.096, 0.16]]),
    }
    part = RandomPart({"rater": "slopes", "item": "slopes"})
    assert groups_at_fault(covariances, part.shapes) == {"rater"}
    lower = part.lower({"rater"})
    assert lower is not None
    assert lower.formula() == "rating ~ system + (1 | rater) + (1 | rater:system) + (system | item)"
    assert RandomPart({"rater": "intercept"}).lower({"rater"}) is None


# -- stepping down


def _fit_with(monkeypatch: pytest.MonkeyPatch, troubles: dict[str, Any]) -> list[str]:
    """Let fits of formulas that hold a text come out as told: fields of the fit, or an error to raise."""
    asked: list[str] = []

    def fit(formula: str, table: Ratings, model: str, options: Any, scale: None = None) -> LeastSquares:
        asked.append(formula)
        found: Any = next((trouble for text, trouble in troubles.items() if text in formula), {})
        if isinstance(found, Exception):
            raise found
        return fit_least_squares(formula, table, model, options.link, **found)

    put_in(monkeypatch, fit)
    return asked


FLAT = pd.DataFrame(
    {
        "group": ["rater", "rater", "item"],
        "term": ["Intercept", "system[T.b]"] * 1 + [""],
        "sd": [0.5, 0.3, 0.4],
    }
)
PERFECT = {"rater": np.array([[0.25, 0.15], [0.15, 0.09]])}
SINGULAR = {"singular": True, "random": FLAT, "variance_components": PERFECT}
"""A fit in which the slopes of raters are perfectly correlated."""


def test_a_singular_fit_steps_down_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _fit_with(monkeypatch, {"(system | rater)": SINGULAR})
    only = compare_systems(make_ratings({"a": 0, "b": 1})).criteria[0]
    assert len(asked) == 2
    assert only.formula == asked[1]
    assert "(1 | rater:system) + (system | item)" in only.formula  # what is not at fault stays
    assert any("was singular" in note and asked[1] in note for note in only.notes)


def test_a_singular_fit_is_kept_where_the_smaller_one_is_far_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _fit_with(
        monkeypatch, {"(system | rater)": SINGULAR, ":system)": {"loglik": -109.7, "n_parameters": 9}}
    )
    only = compare_systems(make_ratings({"a": 0, "b": 1})).criteria[0]
    assert only.formula == asked[0]
    assert any("was kept: a smaller model loses 9.7 in log-likelihood" in note for note in only.notes)


def test_a_fit_that_is_singular_elsewhere_keeps_its_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _fit_with(monkeypatch, {"(system |": {"singular": True}})
    only = compare_systems(make_ratings({"a": 0, "b": 1})).criteria[0]
    assert asked == [only.formula]


def test_a_zero_variance_is_kept_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    zero = pd.DataFrame({"group": ["rater", "rater:system"], "term": [""] * 2, "sd": [0.5, 0.0]})
    asked = _fit_with(
        monkeypatch, {"(system | rater)": SINGULAR, ":system)": {"singular": True, "random": zero}}
    )
    only = compare_systems(make_ratings({"a": 0, "b": 1})).criteria[0]
    assert len(asked) == 2
    assert any("The variance of rater:system is estimated as zero" in note for note in only.notes)


def test_what_does_not_converge_goes_down_to_intercepts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _fit_with(
        monkeypatch, {"(system |": BadModel("too many random columns."), ":system)": {"converged": False}}
    )
    only = compare_systems(make_ratings({"a": 0, "b": 1})).criteria[0]
    assert asked[-1] == only.formula == "rating ~ system + (1 | rater) + (1 | item)"
    assert any("too many random columns" in note for note in only.notes)
    assert any("did not converge. The next smaller" in note for note in only.notes)


def test_the_last_failure_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    _fit_with(monkeypatch, {"system": {"converged": False}})
    only = compare_systems(make_ratings({"a": 0, "b": 1})).criteria[0]
    assert any("do not rely on these numbers" in note for note in only.notes)
    _fit_with(monkeypatch, {"system": BadModel("no.")})
    with pytest.raises(BadModel, match="no"):
        compare_systems(make_ratings({"a": 0, "b": 1}))


def test_a_formula_of_the_user_is_fitted_once_and_as_it_is(stand_in: list[tuple[str, str]]) -> None:
    formula = "rating ~ system + (1 | item)"
    only = compare_systems(make_ratings({"a": 0, "b": 1}), formula=formula).criteria[0]
    assert stand_in == [("clmm", formula)]
    assert only.formula == formula
    compare_systems(make_ratings({"a": 0, "b": 1}, slider=True), formula="rating ~ system")
    assert stand_in[1] == ("lm", "rating ~ system")


# -- the whole


def test_auto_takes_ordinal_for_points_and_linear_for_sliders(stand_in: list[tuple[str, str]]) -> None:
    points = compare_systems(make_ratings({"a": 0, "b": 1})).criteria[0]
    slider = compare_systems(make_ratings({"a": 0, "b": 1}, slider=True)).criteria[0]
    assert [model for model, _ in stand_in] == ["clmm", "lmm"]
    assert (points.link, slider.link) == ("probit", None)
    assert any("5 whole values (1 to 5): ordered categories" in note for note in points.notes)
    assert any("different values: measured" in note for note in slider.notes)


def test_json_has_the_names_of_the_contract(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1, "c": 2})
    found = json.loads(compare_systems(frame).to_json())
    criterion = found["criteria"][0]
    assert {
        "criterion",
        "model",
        "systems",
        "pairs",
        "n",
        "formula",
        "link",
        "adjust",
        "units",
        "notes",
    } <= set(criterion)
    assert {"system", "estimate", "low", "high", "rank_low", "rank_high"} <= set(criterion["systems"][0])
    assert {"a", "b", "difference", "se", "low", "high", "p", "p_adjusted", "effect"} <= set(
        criterion["pairs"][0]
    )
    assert [system["system"] for system in criterion["systems"]] == ["c", "b", "a"]
    assert [system["rank_low"] for system in criterion["systems"]] == [1, 2, 3]
    assert [(pair["a"], pair["b"]) for pair in criterion["pairs"]] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert criterion["pairs"][0]["difference"] < 0
    assert criterion["n"] == len(frame) == sum(system["n"] for system in criterion["systems"])


def test_effects_are_in_the_units_they_name(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1})
    for link, sd in (("probit", 1.0), ("logit", np.pi / np.sqrt(3)), ("cloglog", np.pi / np.sqrt(6))):
        only = compare_systems(frame, link=link).criteria[0]
        assert only.pairs[0].effect == pytest.approx(only.pairs[0].difference / sd)
        assert only.effect_units == "residual SDs of the latent scale"
    assert np.isnan(compare_systems(frame, link="cauchit").criteria[0].pairs[0].effect)
    slider = make_ratings({"a": 0, "b": 1}, slider=True)
    only = compare_systems(slider).criteria[0]
    spread = np.sqrt(slider.groupby("system")["rating"].var().mean())
    assert only.pairs[0].effect == pytest.approx(only.pairs[0].difference / spread)


def test_each_criterion_is_compared_and_one_that_cannot_be_is_named(stand_in: list[tuple[str, str]]) -> None:
    fluency = make_ratings({"a": 0, "b": 1})
    clarity = make_ratings({"a": 1, "b": 0}, seed=2).assign(criterion="clarity")
    alone = clarity.query("system == 'a'").assign(criterion="length")
    frame = pd.concat([fluency, clarity, alone])
    both = compare_systems(frame)
    assert [one.criterion for one in both.criteria] == ["clarity", "fluency"]
    assert both["clarity"].systems[0].system == "a"
    assert any("length" in note and "only one system, 'a'" in note for note in both.notes)
    assert [one.criterion for one in compare_systems(frame, criteria="fluency").criteria] == ["fluency"]
    with pytest.raises(UnknownName, match=r"No criterion is called 'fluent'.* Did you mean 'fluency'"):
        compare_systems(frame, criteria=["fluent"])
    with pytest.raises(BadModel, match="needs at least two"):
        compare_systems(frame, criteria=["length"])


def test_bad_input_gets_an_error_that_says_what_to_do(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1})
    words = frame.assign(rating=["A", "B", "similar"] * 40)
    with pytest.raises(BadRatings, match=r"not numbers \(found 'A', 'B', 'similar'\).*Bradley"):
        compare_systems(words)
    with pytest.raises(BadModel, match="no trial was decided"):
        compare_systems(frame.drop(columns="rating").assign(choice="best"))
    with pytest.raises(BadRatings, match="no column 'system'"):
        compare_systems(frame.drop(columns="system"))
    with pytest.raises(BadModel, match="no rating was given to 'b'"):
        compare_systems(frame.assign(rating=frame["rating"].where(frame["system"] == "a")))
    with pytest.raises(UnknownName, match="No model is called 'clmn'"):
        compare_systems(frame, model="clmn")
    with pytest.raises(UnknownName, match="Did you mean 'tukey'"):
        compare_systems(frame, adjust="tuckey")
    with pytest.raises(BadModel, match=r"clmm needs random effects.*model='clm'"):
        compare_systems(read_ratings(frame, {"rater": None, "item": None}), model="clmm")


def test_numbers_are_compared_beside_a_criterion_of_labels(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1})
    labels = frame.assign(criterion="topic", rating=["food", "drink"] * (len(frame) // 2))
    both = compare_systems(pd.concat([frame.astype({"rating": str}), labels], ignore_index=True))
    alone = compare_systems(frame)
    assert [one.pairs for one in both.criteria] == [one.pairs for one in alone.criteria]
    assert any("cannot be compared: topic" in note for note in both.notes)


@pytest.mark.parametrize("role", ["rater", "item"])
def test_a_table_without_raters_or_items_is_asked_about(role: str, stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1}).rename(columns={role: "who_or_what"})
    with pytest.raises(BadRatings) as caught:
        compare_systems(frame)
    message = str(caught.value)
    assert f"--columns {role}=who_or_what" in message
    assert f"--columns {role}=none" in message
    said = read_ratings(frame, {role: "who_or_what"})
    assert getattr(compare_systems(said).criteria[0], f"n_{role}s") > 0
    none = compare_systems(read_ratings(frame, {role: "none"}))
    assert getattr(none.criteria[0], f"n_{role}s") == 0


def test_a_formula_needs_its_own_columns_alone(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1}).drop(columns="item")
    assert compare_systems(frame, formula="rating ~ system + (1 | rater)").criteria[0].n == len(frame)


def test_two_columns_that_could_be_the_item_are_both_named(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1}).rename(columns={"item": "seg_id"}).assign(doc_id="d")
    with pytest.raises(BadRatings, match=r"could be the item: 'seg_id', 'doc_id'.*--columns item=seg_id"):
        compare_systems(frame)


def test_missing_ratings_are_counted(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 1})
    frame.loc[[3, 8], "rating"] = np.nan
    frame.loc[5, "rater"] = None
    only = compare_systems(frame).criteria[0]
    assert only.n == len(frame) - 3
    assert "3 of 120 rows left out: 2 without rating, 1 without rater." in only.notes


def test_reference_shows_its_pairs_but_ranks_by_all(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 0.1, "c": 2})
    whole = compare_systems(frame, adjust="holm").criteria[0]
    only = compare_systems(frame, adjust="holm", reference="a").criteria[0]
    assert [(pair.a, pair.b) for pair in only.pairs] == [("b", "a"), ("c", "a")]
    assert only.systems == whole.systems
    assert only.sentence().startswith("On fluency, c is rated above a; b cannot be told apart from a (")


def test_relabelling_the_systems_permutes_the_answer(stand_in: list[tuple[str, str]]) -> None:
    frame = make_ratings({"a": 0, "b": 0.4, "c": 1})
    plain = compare_systems(frame).criteria[0]
    for new in permutations("xyz"):
        names = dict(zip("abc", new, strict=True))
        other = compare_systems(frame.assign(system=frame["system"].map(names))).criteria[0]
        ranks = {one.system: (one.rank_low, one.rank_high) for one in other.systems}
        assert ranks == {names[one.system]: (one.rank_low, one.rank_high) for one in plain.systems}
        found = {(d.a, d.b): d for d in other.pairs}
        for pair in plain.pairs:
            a, b = names[pair.a], names[pair.b]
            twin, sign = (found[a, b], 1) if (a, b) in found else (found[b, a], -1)
            assert sign * twin.difference == pytest.approx(pair.difference)
            assert twin.p_adjusted == pytest.approx(pair.p_adjusted)


# -- ranks


def _pairs(k: int, estimates: list[float], p: list[float]) -> PairContrasts:
    levels = tuple("abcdefgh"[:k])
    first, second = np.triu_indices(k, 1)
    means = np.array(estimates)
    difference = means[first] - means[second]
    blank = np.ones(len(first))
    return PairContrasts(
        term="system",
        levels=levels,
        a=tuple(levels[i] for i in first),
        b=tuple(levels[j] for j in second),
        estimate=difference,
        se=blank,
        df=blank,
        statistic=difference,
        p=np.array(p),
        p_adjusted=np.array(p),
        low=blank,
        high=blank,
        adjust="tukey",
        confidence=0.95,
    )


@st.composite
def _any_pairs(draw: st.DrawFn) -> tuple[PairContrasts, list[float]]:
    k = draw(st.integers(2, 6))
    estimates = draw(st.lists(st.floats(-3, 3), min_size=k, max_size=k))
    m = k * (k - 1) // 2
    p = draw(st.lists(st.floats(0, 1) | st.just(float("nan")), min_size=m, max_size=m))
    pairs = _pairs(k, estimates, p)
    keep = np.where(pairs.estimate == 0, 1.0, pairs.p_adjusted)  # no difference is never significant
    return _pairs(k, estimates, list(keep)), estimates


@given(_any_pairs())
def test_the_rank_of_the_estimate_lies_in_the_range(drawn: tuple[PairContrasts, list[float]]) -> None:
    pairs, estimates = drawn
    low, high = rank_intervals(pairs)
    means = np.array(estimates)
    point = 1 + (means[None, :] > means[:, None]).sum(axis=1)
    assert (low >= 1).all()
    assert (low <= point).all()
    assert (point <= high).all()
    assert (high <= len(means)).all()
    assert int((low - 1).sum()) == len(better_pairs(pairs)) == int((len(means) - high).sum())


def test_ranks_of_a_worked_case() -> None:
    # c is above both; a and b cannot be told apart.
    pairs = _pairs(3, [0.1, 0.0, 1.0], [0.8, 0.01, 0.001])
    low, high = rank_intervals(pairs)
    assert list(zip(pairs.levels, low.tolist(), high.tolist(), strict=True)) == [
        ("a", 2, 3),
        ("b", 2, 3),
        ("c", 1, 1),
    ]


# -- words


def _comparison(
    estimates: dict[str, float], p: dict[tuple[str, str], float], **more: Any
) -> CriterionComparison:
    systems = [
        SystemEstimate(name, estimate, 0.1, estimate - 0.2, estimate + 0.2, 1, len(estimates), 100)
        for name, estimate in sorted(estimates.items(), key=lambda item: -item[1])
    ]
    pairs = [
        PairDifference(a, b, estimates[a] - estimates[b], 0.1, np.inf, 1.0, 0.0, 0.1, value, value, 0.5)
        for (a, b), value in p.items()
    ]
    fields: dict[str, Any] = {
        "adjust": "tukey",
        "confidence": 0.95,
        "n": 300,
        "n_raters": 15,
        "n_items": 50,
        **more,
    }
    return CriterionComparison(
        criterion="fluency",
        model="clmm",
        link="probit",
        formula="rating ~ system",
        units="latent scale",
        effect_units="residual SDs",
        systems=tuple(systems),
        pairs=tuple(pairs),
        **fields,
    )


def test_sentence_can_be_quoted() -> None:
    three = _comparison({"A": 1.0, "B": 0.1, "C": 0}, {("A", "B"): 0.01, ("A", "C"): 0.001, ("B", "C"): 0.7})
    assert three.sentence() == (
        "On fluency, A is rated above B and C; B and C cannot be told apart "
        "(ordinal mixed model, 300 ratings by 15 raters of 50 items, Tukey-adjusted, 95 %)."
    )
    chain = _comparison({"A": 2, "B": 1, "C": 0}, {("A", "B"): 0.01, ("A", "C"): 0.001, ("B", "C"): 0.01})
    assert "A is rated above B and C; B is rated above C (" in chain.sentence()
    two = _comparison({"A": 0.1, "B": 0.0}, {("A", "B"): 0.4}, n_raters=1, n_items=0, confidence=0.9)
    assert two.sentence() == (
        "On fluency, A and B cannot be told apart (ordinal mixed model, 300 ratings by 1 rater, 90 %)."
    )
    both = _comparison({"A": 1.0, "B": 0.9, "C": 0}, {("A", "B"): 0.6, ("A", "C"): 0.001, ("B", "C"): 0.01})
    assert "A and B are rated above C; A and B cannot be told apart (" in both.sentence()
    overlap = _comparison(
        {"C": 1.0, "A": 0.5, "B": 0.2}, {("A", "B"): 0.6, ("A", "C"): 0.2, ("B", "C"): 0.01}
    )
    assert (
        "C is rated above B; C and A cannot be told apart; A and B cannot be told apart ("
        in overlap.sentence()
    )
    unknown = _comparison({"A": 0.1, "B": 0.0}, {("A", "B"): float("nan")})
    assert "1 of 1 pair could not be tested" in unknown.sentence()


def test_sentence_about_many_systems_is_a_summary() -> None:
    names = "ABCDEFG"
    estimates = {name: -float(place) for place, name in enumerate(names)}
    p = {
        (a, b): 0.001 if j - i > 1 else 0.5 for i, a in enumerate(names) for j, b in enumerate(names) if i < j
    }
    sentence = _comparison(estimates, p).sentence()
    assert (
        "15 of 21 pairs of systems differ; A is estimated highest (rank 1 to 7 of 7) and G lowest" in sentence
    )


def test_it_shows_itself_with_tables_and_notes(stand_in: list[tuple[str, str]]) -> None:
    found = compare_systems(make_ratings({"a": 0, "b": 1, "c": 2}))
    text = str(found)
    assert text.splitlines()[0] == "Comparison of systems"
    for words in (
        "Systems on fluency",
        "95 % interval",
        "Differences on fluency",
        "a − b",
        "< 0.001",
        "note",
    ):
        assert words in text
    assert "<table>" in found._repr_html_()
    assert r"\toprule" in found.to_latex()


# -- with the real fits


@pytest.mark.parametrize(
    ("file", "where", "reference"),
    [
        ("qg_stec.csv", "Correctness", "qg_stec__Correctness"),
        ("reprohum_def_fluency.csv", None, "reprohum_def_fluency"),
    ],
)
@pytest.mark.parametrize("adjust", ["tukey", "holm", "bonferroni", "bh"])
def test_real_fits_give_the_differences_of_emmeans(
    file: str, where: str | None, reference: str, adjust: str
) -> None:
    pytest.importorskip("panelist.models.fit")
    if not (SHARED / file).exists():
        pytest.skip(f"{file} is not beside the repository")
    expected = json.loads((SHARED / "reference" / f"{reference}__emmeans.json").read_text(encoding="utf-8"))
    only = compare_systems(
        SHARED / file,
        formula="rating ~ system + (1 | rater) + (1 | item)",
        adjust=adjust,
        criteria=where,
        test="z",  # as emmeans
    ).criteria[0]
    rows = expected["contrasts"]["BH" if adjust == "bh" else adjust]
    for pair, row in zip(only.pairs, rows, strict=True):
        assert row["contrast"].replace("(", "").replace(")", "") == f"{pair.a} - {pair.b}"
        assert pair.difference == pytest.approx(row["estimate"], rel=1e-3, abs=1e-3)
        assert pair.se == pytest.approx(row["SE"], rel=5e-3)
        assert pair.p_adjusted == pytest.approx(row["p.value"], rel=0.02, abs=1e-4)
    estimates = {one.system: one for one in only.systems}
    for row in expected["emmeans"]:
        assert estimates[row["system"]].estimate == pytest.approx(row["emmean"], rel=1e-3, abs=1e-3)
        assert estimates[row["system"]].se == pytest.approx(row["SE"], rel=5e-3)


def test_a_sentence_on_many_systems_counts_their_pairs() -> None:
    names = [f"system-{place:02d}" for place in range(11)]
    estimates = {name: 10.0 - place for place, name in enumerate(names)}
    best, worst = names[0], names[-1]
    pairs = {
        (a, b): 0.001 if best in (a, b) or worst in (a, b) else 0.6
        for place, a in enumerate(names)
        for b in names[place + 1 :]
    }
    said = _comparison(estimates, pairs).sentence()
    assert "19 of 55 pairs of systems differ; system-00 is estimated highest" in said
    assert "system-05" not in said
