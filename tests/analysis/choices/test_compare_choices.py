"""``compare_choices``, and ``compare_systems`` on choices: one shape of result for ratings and choices."""

import json

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.choices.choice_comparison import ChoiceCriterion
from panelist.analysis.choices.compare_choices import compare_choices
from panelist.analysis.compare import compare_systems
from panelist.core.errors import BadModel, UnknownName
from tests.analysis.choices.choices import make_pairs, make_sets

STRENGTHS = {"alto": 1.2, "bass": 0.2, "canto": -1.4}


def two_criteria() -> pd.DataFrame:
    parts = [
        make_sets(STRENGTHS, 2, raters=12, items=15, kind="pairs", seed=1).assign(criterion="clarity"),
        make_sets(STRENGTHS, 3, raters=12, items=15, kind="best-worst", seed=2).assign(criterion="warmth"),
    ]
    return pd.concat(parts, ignore_index=True)


def test_json_has_the_keys_of_any_comparison_and_those_of_choices() -> None:
    found = json.loads(compare_choices(two_criteria()).to_json())
    assert [one["criterion"] for one in found["criteria"]] == ["clarity", "warmth"]
    assert [one["model"] for one in found["criteria"]] == ["mixed", "plackett-luce"]
    assert [one["beside"]["model"] for one in found["criteria"]] == ["bradley-terry", "mixed"]
    one = found["criteria"][0]
    assert set(one["systems"][0]) >= {"system", "estimate", "low", "high", "rank_low", "rank_high", "score"}
    assert set(one["pairs"][0]) >= {"a", "b", "difference", "se", "low", "high", "p", "p_adjusted"}
    assert one["counts"] == {"decided": 180}
    assert len(one["items"]) == len({(row["system"], row["item"]) for row in one["items"]}) <= 45
    assert sum(row["wins"] for row in one["systems"]) == 180
    assert sum(row["best"] for row in one["systems"]) == 180
    assert one["anova"]["df1"] == 2


def test_differences_ranks_and_probabilities_hang_together() -> None:
    one = compare_choices(two_criteria())["clarity"]
    estimates = {s.system: s.estimate for s in one.systems}
    assert sum(estimates.values()) == pytest.approx(0, abs=1e-9)
    assert [s.system for s in one.systems] == ["alto", "bass", "canto"]
    for pair in one.pairs:
        assert pair.difference == pytest.approx(estimates[pair.a] - estimates[pair.b])
        assert pair.effect == pytest.approx(1 / (1 + np.exp(-pair.difference)))
        assert pair.p <= pair.p_adjusted
        assert pair.low < pair.difference < pair.high
    assert [(s.rank_low, s.rank_high) for s in one.systems] == [(1, 1), (2, 2), (3, 3)]
    assert "alto is preferred to bass and canto" in one.sentence()


def test_compare_systems_takes_choices_and_ratings_in_one_table() -> None:
    rng = np.random.default_rng(3)
    rated = pd.DataFrame(
        [
            (f"r{r}", f"i{i}", name, "fluency", int(np.clip(round(3 + value + rng.normal()), 1, 5)))
            for r in range(8)
            for i in range(8)
            for name, value in STRENGTHS.items()
        ],
        columns=["rater", "item", "system", "criterion", "rating"],
    )
    found = compare_systems(pd.concat([two_criteria(), rated], ignore_index=True), cluster="both")
    kinds = {one.criterion: isinstance(one, ChoiceCriterion) for one in found.criteria}
    assert kinds == {"clarity": True, "fluency": False, "warmth": True}
    assert found["fluency"].model == "clmm"
    clarity = found["clarity"]
    assert isinstance(clarity, ChoiceCriterion)
    assert clarity.cluster == "both"
    assert clarity.strengths.theta == pytest.approx(
        compare_choices(two_criteria())["clarity"].strengths.theta
    )


def test_what_only_ratings_have_is_refused() -> None:
    with pytest.raises(BadModel, match="do not take the model 'clmm'"):
        compare_systems(two_criteria(), model="clmm")
    with pytest.raises(UnknownName, match="bradley-terry"):
        compare_systems(two_criteria(), model="bradley-terri")
    rated = pd.DataFrame({"rater": ["r", "r"], "item": ["i", "i"], "system": ["a", "b"], "rating": [1, 3]})
    with pytest.raises(BadModel, match="is a model of choices"):
        compare_systems(rated, model="plackett-luce")


def test_either_model_may_be_asked_for() -> None:
    found = compare_choices(two_criteria(), model="bradley-terry", criteria="warmth")
    (one,) = found.criteria
    assert (one.model, one.kind) == ("bradley-terry", "best-worst")
    assert one.strengths.theta.argmax() == 0


def test_a_reference_leaves_its_own_pairs() -> None:
    found = compare_choices(two_criteria(), reference="bass", adjust="holm")["clarity"]
    assert [(pair.a, pair.b) for pair in found.pairs] == [("alto", "bass"), ("canto", "bass")]
    assert [s.system for s in found.systems] == ["alto", "bass", "canto"]
    with pytest.raises(UnknownName, match="Did you mean 'bass'"):
        compare_choices(two_criteria(), reference="base")


def test_ties_none_and_all_are_counted_and_said() -> None:
    rows = [(f"r{n % 5}", "a", "b", ("a", "b", "tie")[n % 3]) for n in range(60)]
    found = compare_choices(make_pairs(rows), model="bradley-terry")["choice"]
    assert found.counts == {"decided": 40, "tie": 20}
    assert "20 pairs without a preference enter as ties" in found.notes[0]
    assert "tie in 33 % of comparisons" in found.notes[0]  # equal systems, a third of answers ties
    assert "60 trials: 40 decided, 20 ties." in str(found)
    mixed = compare_choices(make_pairs(rows))["choice"]
    assert mixed.strengths.mixed is not None
    assert mixed.strengths.mixed.family == "davidson"
    assert "20 pairs without a preference enter as ties" in " ".join(mixed.notes)
    frame = make_sets(STRENGTHS, 3, raters=6, items=10, kind="choose-one").assign(answer="")
    frame.loc[frame["trial"] == "r0-0", ["choice", "answer"]] = ["", "none"]
    frame.loc[frame["trial"] == "r0-1", ["choice", "answer"]] = ["", "all"]
    told = compare_choices(frame)["choice"]
    assert told.counts == {"decided": 58, "none": 1, "all": 1}
    assert any("2 trials (none, all) say nothing about the order" in note for note in told.notes)


def test_a_criterion_that_cannot_be_compared_is_named() -> None:
    frame = two_criteria()
    frame = frame[(frame["criterion"] == "clarity") | (frame["system"] == "alto")]
    found = compare_choices(frame)
    assert [one.criterion for one in found.criteria] == ["clarity"]
    assert any("warmth" in note and "only one system" in note for note in found.notes)


def test_one_item_still_gives_strengths_and_says_what_is_missing() -> None:
    frame = make_sets(STRENGTHS, 2, raters=40, items=1, kind="pairs")
    found = compare_choices(frame)["choice"]
    assert found.anova is None
    assert any("An analysis of variance" in note for note in found.notes)
    assert len(found.pairs) == 3


def test_markup_in_names_stays_text() -> None:
    names = {"<b>a</b>": 0.4, "b & c": -0.4}
    frame = make_sets(names, 2, raters=6, items=10, kind="pairs")
    page = compare_choices(frame)._repr_html_()
    assert "<b>a</b>" not in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page


def test_nothing_but_ties_says_so() -> None:
    rows = [
        {
            "rater": f"r{t % 2}",
            "item": f"i{t}",
            "criterion": "q",
            "trial": f"t{t}",
            "system": system,
            "choice": "",
        }
        for t in range(6)
        for system in "ab"
    ]
    one = compare_choices(pd.DataFrame(rows).assign(answer="tie"))["q"]
    assert [s.estimate for s in one.systems] == pytest.approx([0.0, 0.0])
    assert any("No comparison was decided, so nothing says" in note for note in one.notes)


def test_every_system_has_its_chance_against_another_one() -> None:
    frame = make_sets({"a": 1.0, "b": 0.0, "c": -1.0}, 3, raters=8, items=10, kind="ranking")
    found = compare_choices(frame, model="plackett-luce")["choice"]
    theta = dict(zip(found.strengths.systems, found.strengths.theta, strict=True))
    for system in found.to_dict()["systems"]:
        others = [theta[system["system"]] - theta[name] for name in theta if name != system["system"]]
        assert system["probability"] == pytest.approx(np.mean(1 / (1 + np.exp(-np.array(others)))))
    assert "Preferred to another system drawn at random" in " ".join(str(found).split())
