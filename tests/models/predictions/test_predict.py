"""Predictions: of the fit's own rows, of new ones, of raters and items that nobody has seen."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

from panelist.core.errors import BadModel, BadRatings, UnknownName
from panelist.models.fit import fit
from panelist.models.likelihoods import link_functions as links
from panelist.models.likelihoods.link_functions import LINKS, link_code
from panelist.models.predictions.categories import category_probabilities, tails
from panelist.models.predictions.draw import draw_noise
from panelist.models.predictions.predict import EFFECTS
from tests.models.compiled import compiled
from tests.models.reference_fits import CROSSED, LATENT, SLOPES, fit_data, read_answers, read_data

evaluate_link = compiled(links.evaluate_link)


@pytest.mark.parametrize("link", LINKS)
def test_the_tails_are_those_that_the_fit_uses(link: str) -> None:
    x = np.linspace(-8.0, 8.0, 33)
    fitted = np.array([evaluate_link(link_code(link), value)[:2] for value in x])
    np.testing.assert_allclose(np.column_stack(tails(link, x)), fitted, rtol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_noise_follows_the_link(link: str) -> None:
    noise = draw_noise(link, np.random.default_rng(5), 20_000)
    lower, _ = tails(link, noise)
    assert stats.kstest(lower, "uniform").pvalue > 1e-4
    assert stats.kstest(noise, LATENT[link].cdf).pvalue > 1e-4


@pytest.mark.parametrize("sd", [0.3, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("link", LINKS)
def test_averages_over_a_normal_agree_with_numerical_integration(link: str, sd: float) -> None:
    thresholds, eta = np.array([-1.0, 0.2, 2.5]), 0.4

    def below(threshold: float) -> float:
        value, _ = integrate.quad(
            lambda x: tails(link, np.array(threshold - eta - sd * x))[0] * np.exp(-x * x / 2.0),
            -12.0,
            12.0,
            points=[0.0, (threshold - eta) / sd],
            epsabs=1e-12,
            epsrel=1e-12,
            limit=400,
        )
        return float(value / np.sqrt(2.0 * np.pi))

    expected = np.diff([0.0, *(below(threshold) for threshold in thresholds), 1.0])
    found = category_probabilities(link, thresholds, np.array([eta]), np.array([sd**2]))[0]
    np.testing.assert_allclose(found, expected, atol=2e-8)


def test_far_categories_keep_their_digits() -> None:
    for link, distribution in (("probit", stats.norm), ("logit", stats.logistic)):
        found = category_probabilities(link, np.array([9.0, 10.0]), np.zeros(1), np.zeros(1))[0]
        expected = [
            distribution.cdf(9.0),
            distribution.sf(9.0) - distribution.sf(10.0),
            distribution.sf(10.0),
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("effects", EFFECTS)
@pytest.mark.parametrize("link", LINKS)
def test_probabilities_sum_to_one(link: str, effects: str) -> None:
    table = fit_data("paper", CROSSED, "clmm", link).predict(effects=effects)
    assert list(table.columns) == ["1", "2", "3", "4", "5", "6"]
    assert (np.asarray(table) > 0.0).all()
    np.testing.assert_allclose(np.asarray(table).sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("link", ["probit", "logit", "cloglog"])
def test_population_probabilities_are_what_many_new_raters_and_items_would_give(link: str) -> None:
    model = fit_data("paper", SLOPES, "clmm", link)
    draws = 200_000
    rng = np.random.default_rng(11)
    for system in ("a", "b"):
        row = int(np.flatnonzero(read_data("paper")["system"] == system)[0])
        eta = np.full(draws, model.design.X[row] @ model.beta)
        for factor in model.design.factors:
            effects = rng.multivariate_normal(np.zeros(2), model.variance_components[factor.name], draws)
            eta += effects @ factor.Z[row]
        latent = eta + draw_noise(link, rng, draws)
        counts = np.bincount(np.searchsorted(model.threshold_values, latent), minlength=6)
        found = np.asarray(model.predict(pd.DataFrame({"system": [system]}), effects="population"))[0]
        error = np.sqrt(found * (1.0 - found) / draws)
        assert (np.abs(counts / draws - found) < 4.5 * error).all()


def test_probabilities_of_typical_and_unseen_raters_are_those_of_r() -> None:
    answer = read_answers("paper")["probabilities"]["clmm_probit"]
    model = fit_data("paper", CROSSED, "clmm")
    new = pd.DataFrame({"system": answer["systems"]})
    np.testing.assert_allclose(model.predict(new, effects="none"), answer["typical"], atol=2e-5)
    np.testing.assert_allclose(model.predict(new, effects="population"), answer["unseen"], atol=2e-5)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("paper", "clmm_probit"),
        ("paper", "clmm_logit"),
        ("paper", "clmm_maximal_probit"),
        ("three", "clmm_item_slopes_probit"),
        ("paper", "clmm_cloglog"),
    ],
)
def test_fitted_probabilities_are_those_of_r(data: str, name: str) -> None:
    answer = read_answers(data)["fits"][name]
    model = fit_data(data, answer["formula"], "clmm", answer["link"])
    table, codes = np.asarray(model.fitted()), model.design.codes
    assert codes is not None
    np.testing.assert_allclose(table[np.arange(20), codes[:20]], answer["fitted"], atol=1e-4)


@pytest.mark.parametrize("name", ["lmer", "lmer_rater_slopes", "lm"])
def test_fitted_means_are_those_of_r(name: str) -> None:
    answer = read_answers("slider")["fits"][name]
    model = fit_data("slider", answer["formula"], "lm" if name == "lm" else "lmm")
    np.testing.assert_allclose(model.fitted()[:20], answer["fitted"], rtol=1e-4)
    if name != "lm":
        np.testing.assert_allclose(model.predict(effects="population")[:20], answer["population"], rtol=1e-5)


@pytest.mark.parametrize(
    ("data", "formula", "model"),
    [
        ("paper", SLOPES, "clmm"),
        ("three", "rating ~ C(system, Sum) + (system | item) + (1 | rater)", "lmm"),
        ("nested", "rating ~ system + (1 | document/sentence) + (1 | rater)", "clmm"),
        ("covariate", "rating ~ system + (words || rater) + (1 | item)", "lmm"),
        ("covariate", "rating ~ system + scale(words) + (scale(words) | rater) + (1 | item)", "lmm"),
        ("paper", "rating ~ 1 + (0 + system | rater)", "clmm"),
        ("paper", "rating ~ 1", "clm"),
    ],
)
@pytest.mark.parametrize("effects", EFFECTS)
def test_rows_of_the_fit_are_predicted_alike_as_new_data(
    data: str, formula: str, model: str, effects: str
) -> None:
    fitted = fit_data(data, formula, model)
    frame = read_data(data).drop(columns="rating")
    shuffled = frame.sample(frac=0.5, random_state=3)
    own, new = fitted.predict(effects=effects), fitted.predict(shuffled, effects=effects)
    assert new.index.equals(shuffled.index)
    np.testing.assert_allclose(new, own.loc[shuffled.index], rtol=1e-10, atol=1e-12)


def test_unseen_levels_are_averaged_over_and_counted() -> None:
    model = fit_data("paper", CROSSED, "clmm", "logit")
    seen = read_data("paper").iloc[:4]
    new = seen.assign(rater=["nobody", *seen["rater"][1:]])
    found = model.predict(new)
    assert model.count_unseen(new) == {"item": 0, "rater": 1}
    np.testing.assert_allclose(found[1:], model.fitted().iloc[1:4])
    # The item keeps its mode, and only the rater is integrated out.
    [item, rater] = [f.name for f in model.design.factors]
    assert (item, rater) == ("item", "rater")
    mode = model.solution.modes[0][model.design.factors[0].index[0], 0]
    eta = model.design.X[:1] @ model.beta + mode
    expected = category_probabilities(
        "logit", model.threshold_values, eta, model.variance_components["rater"][0]
    )
    np.testing.assert_allclose(found.iloc[:1], expected, rtol=1e-12)


def test_wholly_unseen_rows_are_predicted_as_the_population() -> None:
    for model in (fit_data("paper", SLOPES, "clmm"), fit_data("paper", SLOPES, "lmm")):
        new = read_data("paper").iloc[:6].assign(rater="x", item="y")
        np.testing.assert_allclose(model.predict(new), model.predict(new, effects="population"))


def test_an_unseen_combination_of_known_levels_keeps_the_known_part() -> None:
    model = fit_data("nested", "rating ~ system + (1 | document/sentence) + (1 | rater)", "lmm")
    row = read_data("nested").iloc[[0]]
    modes = model.random_effects.set_index(["group", "level"])["mode"]
    lost = model.predict(row).iloc[0] - model.predict(row.assign(sentence="none such")).iloc[0]
    level = f"{row['document'].iloc[0]}:{row['sentence'].iloc[0]}"
    assert lost == pytest.approx(modes["document:sentence", level], rel=1e-9)


def test_levels_with_a_colon_in_their_names_are_not_mixed_up() -> None:
    frame = read_data("paper").assign(left="p", right="q")
    odd = np.arange(len(frame)) % 3
    frame["left"] = np.array(["a", "a:b", "z"])[odd]
    frame["right"] = np.array(["b:c", "c", "z"])[odd]
    frame["rating"] = frame["rating"] + 2.0 * odd
    model = fit("rating ~ 1 + (1 | left:right)", frame, model="lmm")
    np.testing.assert_allclose(model.predict(frame), model.fitted(), rtol=1e-12)
    assert len(set(np.round(model.fitted(), 6))) == 3


def test_relabelling_raters_and_items_changes_no_prediction() -> None:
    frame = read_data("paper")
    turned = {rater: f"z{99 - place}" for place, rater in enumerate(sorted(frame["rater"].unique()))}
    again = fit(CROSSED, frame.assign(rater=frame["rater"].map(turned)), model="clmm")
    np.testing.assert_allclose(again.fitted(), fit_data("paper", CROSSED, "clmm").fitted(), atol=2e-6)


def test_means_classes_and_the_latent_scale_follow_from_the_probabilities() -> None:
    model = fit_data("paper", CROSSED, "clmm")
    table = np.asarray(model.fitted())
    np.testing.assert_allclose(model.predict(kind="mean"), table @ np.arange(1.0, 7.0))
    assert (model.predict(kind="class") == 1.0 + table.argmax(axis=1)).all()
    latent = np.asarray(model.predict(kind="latent"))
    np.testing.assert_allclose(special.ndtr(model.threshold_values[0] - latent), table[:, 0])


def test_categories_that_are_words_have_classes_but_no_mean() -> None:
    words = np.array(["bad", "poor", "fair", "good", "fine", "best"])
    frame = read_data("paper")
    said = pd.Categorical(words[frame["rating"] - 1], categories=list(words), ordered=True)
    model = fit("rating ~ system", frame.assign(rating=said), model="clm")
    assert list(model.predict().columns) == list(words)
    assert set(model.predict(kind="class")) <= set(words)
    with pytest.raises(BadModel, match="are words, which have no mean"):
        model.predict(kind="mean")


def test_new_data_may_be_any_table_and_use_synonyms() -> None:
    polars = pytest.importorskip("polars")
    model = fit_data("paper", CROSSED, "clmm")
    frame = read_data("paper")[["rater", "item", "system"]].iloc[:5]
    expected = model.fitted().iloc[:5]
    named = frame.rename(columns={"rater": "participant"})
    tables: list[Any] = [named, polars.from_pandas(frame), frame.to_dict("list")]
    for table in tables:
        np.testing.assert_allclose(model.predict(table), expected)


def test_no_rows_give_no_predictions() -> None:
    table = fit_data("paper", SLOPES, "clmm").predict(read_data("paper").iloc[:0])
    assert table.shape == (0, 6)


def test_what_cannot_be_predicted_is_said() -> None:
    model = fit_data("paper", SLOPES, "clmm")
    row = read_data("paper").iloc[:2]
    with pytest.raises(BadModel, match=r"no column 'rater'.*effects='population'"):
        model.predict(row.drop(columns="rater"))
    with pytest.raises(BadModel, match=r"rater is missing in 1 of 2 rows of the new data \(2\)"):
        model.predict(row.assign(rater=["r00", np.nan]))
    with pytest.raises(BadModel, match="system is missing in row 2"):
        model.predict(row.assign(system=["a", np.nan]))
    with pytest.raises(BadModel, match="system has 'c' in the new data, which the model has not seen"):
        model.predict(row.assign(system="c"))
    with pytest.raises(UnknownName, match="Did you mean 'population'"):
        model.predict(effects="populations")
    with pytest.raises(UnknownName, match="Did you mean 'mean'"):
        model.predict(kind="means")
    with pytest.raises(UnknownName, match="A prediction of a lmm cannot be of the kind 'class'"):
        fit_data("paper", CROSSED, "lmm").predict(kind="class")
    with pytest.raises(BadRatings, match="A int is not a table"):
        model.predict(3)
    twice = pd.concat([row, row["system"]], axis=1)
    with pytest.raises(BadModel, match="2 columns called 'system'"):
        model.predict(twice)
