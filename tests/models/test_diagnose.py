"""What a fit says about itself, in words: each kind of trouble from data that have it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from panelist.core.errors import BadModel
from panelist.models.diagnose import diagnose
from panelist.models.fit import fit
from panelist.models.results.fitted import Fit
from tests.models.small_tables import even_frame, make_frame
from tests.shared_cases import MISSING, SHARED


def notes(fitted: Fit, word: str) -> list[str]:
    return [text for text in fitted.notes if text.startswith(word)]


def test_a_sound_fit_has_nothing_to_confess() -> None:
    for model in ("clmm", "lmm"):
        fitted = fit("rating ~ system + (1 | rater) + (1 | item)", make_frame(), model=model)
        assert fitted.converged
        assert not fitted.singular
        assert diagnose(fitted) == []


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_variance_at_zero_names_its_term(model: str) -> None:
    fitted = fit("rating ~ system + (1 | rater) + (1 | item)", even_frame(), model=model)
    assert fitted.singular
    assert fitted.converged
    said = notes(fitted, "singular")
    assert any("the variance of Intercept over rater is estimated as zero" in text for text in said)
    assert any(
        "these data show no difference between raters, which does not mean that there is none" in text
        for text in said
    )
    assert dict(zip(fitted.random["group"], fitted.random["sd"], strict=True))["rater"] < 1e-4


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_perfect_correlation_names_its_term(model: str) -> None:
    found = []
    for seed in range(8):
        frame = make_frame(seed=seed)
        fitted = fit("rating ~ system + (system | rater) + (1 | item)", frame, model=model)
        if fitted.singular and abs(fitted.correlations["r"].iloc[0]) > 0.999:
            found += notes(fitted, "singular")
    assert found
    assert all("rater" in text and "perfectly correlated" in text and "(1 | rater)" in text for text in found)
    assert not any("fits as well" in text for text in found)  # that is for the likelihood to say


def test_a_search_that_did_not_end_is_not_to_be_reported() -> None:
    fitted = fit("rating ~ system + (1 | rater) + (1 | item)", make_frame(), model="clmm")
    optimum = replace(
        fitted.optimum,
        converged=False,
        gradient=0.31,
        condition=4e5,
        steps=500,
        reason="the limit on steps was reached",
    )
    stopped = replace(fitted, solution=replace(fitted.solution, optimum=optimum), notes=())
    (said,) = diagnose(stopped)
    for word in (
        "not converged",
        "the limit on steps was reached",
        "0.31",
        "4e+05",
        "500 steps",
        "do not report",
    ):
        assert word in said
    assert "NOT converged" in str(stopped)


def test_a_hardly_determined_direction_is_named() -> None:
    fitted = fit("rating ~ system + (1 | rater) + (1 | item)", make_frame(), model="lmm")
    solution = replace(fitted.solution, optimum=replace(fitted.optimum, condition=1e10))
    (said,) = diagnose(replace(fitted, solution=solution, notes=()))
    assert said.startswith("nearly unidentifiable")
    assert "1e+10" in said


def test_unused_categories_are_named() -> None:
    frame = make_frame()
    frame["rating"] = frame["rating"].replace({3: 2})
    fitted = fit("rating ~ system + (1 | rater)", frame, model="clmm")
    assert any("no rating is 3" in text for text in fitted.notes)
    assert list(fitted.thresholds["name"]) == ["1|2", "2|4", "4|5"]


def test_aliased_columns_are_left_out_by_name() -> None:
    frame = make_frame()
    frame["twice"] = 2.0 * frame["x"]
    for model in ("clm", "lm"):
        fitted = fit("rating ~ x + twice", frame, model=model)
        assert "twice" not in fitted.names
        assert any("'twice' is a linear combination of earlier columns" in text for text in fitted.notes)


@pytest.mark.parametrize("model", ["clmm", "lmm"])
def test_a_factor_with_one_level_is_refused(model: str) -> None:
    frame = make_frame().assign(occasion="first")
    with pytest.raises(BadModel, match=r"occasion has only one level, 'first'.*Leave \(1 \| occasion\) out"):
        fit("rating ~ system + (1 | occasion)", frame, model=model)


def test_as_many_levels_as_rows_are_refused_or_noted() -> None:
    frame = make_frame().assign(row=lambda f: [f"n{k}" for k in range(len(f))])
    with pytest.raises(BadModel, match=r"row has as many levels as there are rows \(360\)"):
        fit("rating ~ system + (1 | row)", frame, model="lmm")
    fitted = fit("rating ~ system + (1 | rater) + (1 | row)", frame, model="clmm")
    assert any("as many levels as there are rows" in text for text in fitted.notes)


def test_a_slope_that_never_varies_within_a_level_is_not_identified() -> None:
    frame = make_frame()
    frame = frame[(frame["rater"].str[1:].astype(int) % 2 == 0) == (frame["system"] == "a")]
    for model in ("clmm", "lmm"):
        said = notes(fit("rating ~ system + (system | rater)", frame, model=model), "not identified")
        assert len(said) == 1
        assert "within no rater do Intercept, system[T.b] vary" in said[0]


def test_a_note_is_said_once_and_printed() -> None:
    fitted = fit("rating ~ system + (1 | rater) + (1 | item)", even_frame(), model="clmm")
    assert len(set(fitted.notes)) == len(fitted.notes)
    for text in fitted.notes:
        assert text[:40] in " ".join(str(fitted).split())


def test_a_fit_that_leaves_nothing_over_tests_nothing() -> None:
    frame = make_frame(raters=3, items=3)
    rater = frame["rater"].str[1:].astype(int)
    frame["rating"] = 1.0 + rater + 2.0 * (frame["system"] == "b")  # no residual at all
    fitted = fit("rating ~ system + (1 | rater)", frame, model="lmm")
    assert notes(fitted, "no residual variance")
    assert fitted.coefficients[["df", "p"]].isna().all(axis=None)


def test_a_fit_without_an_optimum_is_not_called_separated() -> None:
    """Ratings of both systems overlap: that there is no standard error has another reason."""
    fitted = fit("rating ~ system + (1 | rater)", make_frame(), model="clmm")
    unknown = np.full_like(fitted.solution.vcov, np.nan)
    stopped = replace(fitted.optimum, converged=False)
    lost = replace(fitted, solution=replace(fitted.solution, vcov=unknown, optimum=stopped), notes=())
    told = diagnose(lost)
    assert any(note.startswith("not converged") for note in told)
    assert not any(note.startswith("separated") for note in told)


@pytest.mark.skipif(not (SHARED / "models2").is_dir(), reason=MISSING)
def test_the_approximation_is_not_judged_where_an_effect_is_separated() -> None:
    """Its shift there is not known, and was called an unknown amount beside an error of 0.0."""
    formula = "rating ~ system + (1 | rater) + (1 | rater:system) + (system | item)"
    found = fit(formula, pd.read_csv(SHARED / "models2" / "separated.csv"))
    assert any(note.startswith("separated") for note in found.notes)
    assert not any("approximation does not hold" in note for note in found.notes)


def test_a_spread_that_runs_off_is_named_and_no_random_part_is_blamed() -> None:
    """Ratings of a are mostly at the ends, those of b in the middle: equal distances cannot be both ways."""
    counts = {"a": (25, 15, 15, 25), "b": (5, 40, 40, 10)}
    rows = [(name, k + 1) for name, own in counts.items() for k, n in enumerate(own) for _ in range(n)]
    frame = pd.DataFrame(rows, columns=["system", "rating"])
    how = {"model": "clm", "family": "adjacent", "link": "logit", "threshold": "equidistant"}
    found = fit("rating ~ system", frame, scale="~ system", **how)  # type: ignore[arg-type]
    assert not found.converged
    (said,) = notes(found, "not converged")
    assert "the spread of system[T.b] runs off" in said
    assert "Leave scale out" in said
    assert "random part" not in said
