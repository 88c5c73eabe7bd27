"""Mixed models of choices against the reference numbers, and what a reader sees of them."""

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.choices.compare_choices import compare_choices
from panelist.analysis.choices.models.mixed_part import MixedPart, PreferenceSpread
from tests.analysis.choices.choices import make_sets, needs_shared
from tests.models.choices.stage_models import FOLDER, read_rankings, read_reference


def keep(kind: str) -> pd.DataFrame:
    """Return the rankings of the reference, or what is left of them where less was asked."""
    frame = read_rankings()
    words = {"best-worst": {1: "best", 4: "worst"}, "best": {1: "best"}}
    return frame if kind == "ranking" else frame.assign(choice=frame["choice"].map(words[kind]).fillna(""))


@needs_shared
@pytest.mark.parametrize("kind", ["ranking", "best-worst", "best"])
def test_choices_with_random_preferences_are_those_of_the_reference(kind: str) -> None:
    reference = read_reference(f"plackett_luce_{kind}")
    wanted = reference["mixed"]
    found = compare_choices(keep(kind), model="mixed")["choice"]
    strengths, mixed = found.strengths, found.strengths.mixed
    assert mixed is not None
    assert strengths.loglik == pytest.approx(wanted["logLik"], abs=1e-6)
    assert strengths.theta[1:] - strengths.theta[0] == pytest.approx(wanted["beta"]["estimate"], abs=1e-4)
    contrasts = np.eye(4)[1:] - np.eye(4)[0]
    se = np.sqrt(np.diag(contrasts @ strengths.covariance @ contrasts.T))
    assert se == pytest.approx(wanted["beta"]["se"], rel=1e-3)  # .303, where independence says .182
    sds = {one.group: one.sd for one in mixed.spreads}
    assert sds["rater"] == pytest.approx(wanted["random"]["rater"]["sd"], abs=1e-4)
    assert sds["item"] == pytest.approx(wanted["random"]["item"]["sd"], abs=1e-4)
    # Without random preferences it is the clustered model, whose errors here take answers as independent.
    plain = compare_choices(keep(kind), model="plackett-luce", cluster="none")["choice"].strengths
    fixed = reference["fixed"]["beta"]
    assert plain.theta[1:] - plain.theta[0] == pytest.approx(fixed["estimate"], abs=1e-5)
    se = np.sqrt(np.diag(contrasts @ plain.covariance @ contrasts.T))
    assert se == pytest.approx(fixed["se"], rel=1e-4)


@needs_shared
def test_the_clustered_model_stays_beside_the_mixed_one() -> None:
    found = compare_choices(read_rankings(), model="mixed")["choice"]
    beside = found.to_dict()["beside"]
    plain = compare_choices(read_rankings(), model="plackett-luce")["choice"].to_dict()
    assert beside["model"] == "plackett-luce"
    assert beside["systems"] == plain["systems"]
    text = " ".join(str(found).split())
    assert "mixed Plackett-Luce model" in text
    assert "random preferences of raters and items" in text
    assert "estimated not to differ, which does not prove that they are the same" in text


def test_best_worst_sets_and_choices_of_one_take_the_mixed_model() -> None:
    strengths = {"a": 2.0, "b": 0.0, "c": -1.0, "d": -1.0}
    for kind in ("best-worst", "choose-one"):
        frame = make_sets(strengths, 3, raters=8, items=10, kind=kind, taste=0.8, seed=3)
        found = compare_choices(frame, model="mixed")["choice"]
        mixed = found.strengths.mixed
        assert mixed is not None
        assert {one.group for one in mixed.spreads} == {"rater", "item"}
        assert found.systems[0].system == "a"
        loose = np.sqrt(np.diag(found.strengths.covariance))
        assert (loose > 0.05).all()


def test_chances_averaged_over_raters_are_nearer_to_one_half() -> None:
    part = MixedPart("cumulative", 2, "", (PreferenceSpread("rater", "(1 | rater:system)", 9, 0.9),), ())
    given, averaged = (float(part.find_chances(np.array([1.0]), averaged=a)[0]) for a in (False, True))
    assert given == pytest.approx(1 / (1 + np.exp(-1)))
    draws = np.random.default_rng(1).normal(1.0, part.spread, 200_000)
    assert averaged == pytest.approx(float((1 / (1 + np.exp(-draws))).mean()), abs=2e-3)
    assert 0.5 < averaged < given


@needs_shared
def test_ties_without_grades_are_davidsons_on_the_scale_of_strengths() -> None:
    wanted = read_reference("pairs_ties_exchangeable_adjacent")["laplace"]
    frame = pd.read_csv(FOLDER / "pairs_ties.csv").assign(first="a")
    frame["winner"] = frame.pop("rating").map({1: "B", 2: "tie", 3: "A"})
    found = compare_choices(frame)["choice"]
    strengths, mixed = found.strengths, found.strengths.mixed
    assert mixed is not None
    position, *systems = (2 * np.array(wanted["beta"]["estimate"])).tolist()
    assert strengths.theta[1:] - strengths.theta[0] == pytest.approx(systems, abs=2e-4)
    assert [one.estimate for one in mixed.slopes] == pytest.approx([position], abs=2e-4)
    assert strengths.tie == pytest.approx(wanted["alpha"]["estimate"][0], abs=1e-4)
    sds = {one.group: one.sd for one in mixed.spreads}
    assert sds["rater"] == pytest.approx(2 * wanted["random"]["rater"]["sd"][0], abs=2e-4)
    for pair in found.pairs:  # decided pairs keep their odds
        assert pair.effect == pytest.approx(1 / (1 + np.exp(-pair.difference)))
    assert "with Davidson's ties" in found.sentence()
