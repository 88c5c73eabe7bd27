"""The whole analysis: every part there, every missing part with its reason, the study's plan followed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.analysis_result import PARTS, Analysis
from panelist.analysis.fitting.workload import lighten_formula
from panelist.analysis.level_effects import LevelEffects
from panelist.analysis.missing import Missing, attempt
from panelist.core.errors import BadFile, BadRatings
from panelist.core.seeds import stream
from panelist.core.tables.ratings import read_ratings
from panelist.study.reading.load import load_study
from tests.simulated import simulate_demo
from tests.study.studies import write_study

FEW = 50  # resamples; what they are for is tested elsewhere


def demo() -> pd.DataFrame:
    frame = simulate_demo()
    return frame[frame["criterion"] == "fluency"].reset_index(drop=True)


@pytest.fixture(scope="module")
def whole() -> Analysis:
    return analyse(None, simulate_demo(), resamples=FEW)


def missing_parts(analysis: Analysis) -> dict[str, str]:
    parts = {name: getattr(analysis.criteria[0], name) for name, _ in PARTS}
    return {name: part.reason for name, part in parts.items() if isinstance(part, Missing)}


def test_every_part_is_there(whole: Analysis) -> None:
    assert [one.criterion for one in whole.criteria] == ["adequacy", "fluency"]
    assert set(missing_parts(whole)) == {"without_exclusions"}
    assert whole.data.systems == ("prompted", "rules", "tuned")
    assert whole.data.n == 1920


def test_it_prints_and_it_is_json(whole: Analysis) -> None:
    text, data = str(whole), json.loads(whole.to_json())
    assert "is 0.96 points of the scale" in " ".join(text.split())
    assert data["findings"] == whole.sentences()
    criterion = data["criteria"][1]
    assert criterion["effects"]["pairs"][0]["superiority"] > 0.5
    assert criterion["without_exclusions"] == {
        "missing": "No rating was excluded, so there is nothing to compare the results with."
    }


def test_the_same_ratings_give_the_same_analysis(whole: Analysis) -> None:
    assert analyse(None, simulate_demo(), resamples=FEW).to_json() == whole.to_json()


def test_rater_effects_follow_their_means(whole: Analysis) -> None:
    raters = whole["fluency"].raters
    assert isinstance(raters, LevelEffects)
    means = demo().groupby("rater")["rating"].mean()
    effects = pd.Series({one.name: one.effect for one in raters.levels})
    assert effects.corr(means.reindex(effects.index)) > 0.98
    assert all(one.low < one.effect < one.high for one in raters.levels)


def test_intervals_of_item_effects_cover_the_truth_as_often_as_they_say() -> None:
    rng = stream(11, "items")
    item, rater = (grid.ravel() for grid in np.meshgrid(np.arange(120), np.arange(10), indexing="ij"))
    truth = rng.normal(0, 0.8, (120, 2))
    system = (item + rater) % 2
    latent = truth[item, system] + rng.normal(0, 0.4, 10)[rater] + rng.normal(size=len(item))
    frame = pd.DataFrame(
        {
            "rater": [f"r{k}" for k in rater],
            "item": [f"i{k:03d}" for k in item],
            "system": np.array(["a", "b"])[system],
            "rating": np.digitize(latent, [-1.5, -0.5, 0.5, 1.5]) + 1,
        }
    )
    items = analyse(None, frame, resamples=FEW)["rating"].items
    assert isinstance(items, LevelEffects)
    assert len({len(name) for name in (one.name for one in items.levels)}) == 1
    true = {f"i{k:03d}": truth[k].mean() for k in range(120)}
    centre = np.mean([one.effect - true[one.name] for one in items.levels])
    covered = [one.low <= true[one.name] + centre <= one.high for one in items.levels]
    assert 0.88 <= np.mean(covered) <= 0.99


BAD: dict[str, tuple[Callable[[pd.DataFrame], Any], dict[str, str]]] = {
    "one system": (
        lambda frame: frame[frame["system"] == "rules"],
        {"comparison": "only one system", "effects": "no model", "checks": "no model"},
    ),
    "one rater": (lambda frame: frame[frame["rater"] == "rater-01"], {"raters": "no effect of raters"}),
    "no repeated items": (
        lambda frame: frame.assign(item=[f"i{k}" for k in range(len(frame))]),
        {"items": "no effect of items"},
    ),
    "no raters": (
        lambda frame: read_ratings(frame.drop(columns="rater"), {"rater": None}),
        {"raters": "no effect of raters"},
    ),
    "no systems": (lambda frame: frame.drop(columns="system"), {"comparison": "no column 'system'"}),
    "words": (
        lambda frame: frame.assign(rating=frame["rating"].map(lambda x: "abcdef"[x - 1])),
        {"comparison": "are not numbers"},
    ),
    "a line": (
        lambda frame: frame.assign(rating=frame["rating"] * 10 + np.arange(len(frame)) % 10),
        {"kinds": "different values"},
    ),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_gives_an_analysis_with_reasons(name: str) -> None:
    change, expected = BAD[name]
    analysis = analyse(None, change(demo()), resamples=FEW)
    found = missing_parts(analysis)
    for part, reason in expected.items():
        assert reason in found[part]
    assert str(analysis)
    json.loads(analysis.to_json())


HOPELESS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "constant ratings": (lambda frame: frame.assign(rating=3), r"cannot be analysed\. .*do not vary"),
    "one rating": (lambda frame: frame.head(1), r"cannot be analysed\. .*do not vary"),
    "two ratings": (lambda frame: frame.head(2), "cannot be analysed"),
    "no ratings": (lambda frame: frame.assign(rating=np.nan), r"cannot be analysed\. .*no rating was given"),
    "no raters": (lambda frame: frame.drop(columns="rater"), "--columns rater=none"),
    "no items": (lambda frame: frame.drop(columns="item"), "--columns item=none"),
}


@pytest.mark.parametrize("name", sorted(HOPELESS))
def test_what_cannot_be_analysed_is_refused_in_one_message(name: str) -> None:
    change, message = HOPELESS[name]
    with pytest.raises(BadRatings, match=message):
        analyse(None, change(demo()), resamples=FEW)


def test_a_table_without_criteria_is_one_criterion() -> None:
    analysis = analyse(None, demo().drop(columns="criterion"), resamples=FEW)
    assert [one.criterion for one in analysis.criteria] == ["rating"]
    assert set(missing_parts(analysis)) == {"without_exclusions"}


def test_a_hundred_systems_are_analysed() -> None:
    rng = stream(4, "many")
    frame = pd.DataFrame(
        {
            "rater": [f"r{(k + k // 100) % 8}" for k in range(800)],
            "item": [f"i{(k // 100) % 8}" for k in range(800)],
            "system": [f"s{k % 100:03d}" for k in range(800)],
            "rating": rng.integers(1, 6, 800),
        }
    )
    analysis = analyse(None, frame, resamples=FEW)
    assert len(analysis["rating"].comparison.pairs) == 4_950  # type: ignore[union-attr]
    assert "With 4,950 pairs" in missing_parts(analysis)["kinds"]


def test_a_table_too_large_for_the_largest_model_gets_a_smaller_one_and_says_so() -> None:
    rng = stream(4, "large")
    n = 60_000
    large = pd.DataFrame(
        {
            "rater": rng.integers(0, 400, n).astype(str),
            "item": rng.integers(0, 1000, n).astype(str),
            "system": np.array(list("abcde"))[rng.integers(0, 5, n)],
        }
    )
    formula, why = lighten_formula(large)
    assert formula == "rating ~ system + (1 | rater) + (1 | item)"
    assert "400 raters and 1,000 items" in why
    few = large.assign(rater=[str(int(one) % 40) for one in large["rater"]])
    assert lighten_formula(few) == (None, "")
    assert lighten_formula(large.head(1000)) == (None, "")


def test_exclusions_are_compared_with_everything() -> None:
    frame = demo()
    excluded = np.where(frame["rater"] == "rater-01", "withdrew", "")
    analysis = analyse(None, frame.assign(excluded=excluded), resamples=FEW)
    one = analysis["fluency"].without_exclusions
    assert not isinstance(one, Missing)
    assert (one.kept.n, one.everything.n) == (920, 960)
    assert analysis.exclusions.rules[0].text == "marked as excluded in the data: withdrew"


@pytest.mark.parametrize("winner", ["", "winner", "rating"])  # a row per option, or per pair by what it names
def test_choices_between_systems_are_compared(winner: str) -> None:
    rng = stream(6, "pairs")
    options, pairs = [], []
    for trial in range(120):
        first = int(rng.random() < 0.75)
        known = (f"r{trial % 10}", f"i{trial % 12}", "fluency")
        pairs.append((*known, "good|poor", "good", "poor", "good" if first else "poor"))
        for place, system in enumerate(("good", "poor")):
            best = "best" if (place == 0) == bool(first) else ""
            options.append((*known, f"t{trial}", system, best))
    told = ["trial", "system", "choice"] if not winner else ["system", "system_a", "system_b", winner]
    frame = pd.DataFrame(pairs if winner else options, columns=["rater", "item", "criterion", *told])
    analysis = analyse(None, frame)
    assert analysis["fluency"].comparative
    assert analysis.data.systems == ("good", "poor")
    assert "good is preferred to poor" in analysis.sentences()[0]
    assert "not ratings" in missing_parts(analysis)["effects"]


STUDY = """\
title: A study of two
systems: [{name: b}, {name: a}]
criteria:
  - {name: fluency, question: "How fluent?", scale: {type: likert, points: 5}}
  - {name: clarity, question: "How clear?", scale: {type: vas, low: murky, high: clear}}
  - {name: tone, question: "How polite?", scale: {type: likert, points: 5}}
analysis: {alpha: 0.1, adjust: holm, exclude: {seconds_below: 2}}
"""


def study_ratings() -> pd.DataFrame:
    rng = stream(2, "study")
    rows = []
    for rater in range(8):
        for item in range(1, 7):
            for system in "ab":
                seconds = 1.0 if rater == item == 1 else 9.0
                for criterion, rating in (
                    ("clarity", float(np.round(rng.uniform(0, 100), 1))),
                    ("fluency", int(rng.integers(1, 6))),
                ):
                    rows.append((f"r{rater}", f"i{item}", system, criterion, rating, seconds))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "criterion", "rating", "seconds"])


def test_a_study_says_the_order_the_scales_and_the_rules(tmp_path: Path) -> None:
    study = load_study(write_study(tmp_path, STUDY))
    analysis = analyse(study, study_ratings(), resamples=FEW)
    assert analysis.name == "A study of two"
    assert [one.criterion for one in analysis.criteria] == ["fluency", "clarity", "tone"]
    assert analysis.data.systems == ("b", "a")
    assert (analysis.spec.confidence, analysis.spec.adjust) == (0.9, "holm")
    fluency, clarity, tone = (one.comparison for one in analysis.criteria)
    assert not isinstance(fluency, Missing)
    assert not isinstance(clarity, Missing)
    assert fluency.link == "probit"
    assert clarity.model in ("lmm", "lm")
    assert isinstance(tone, Missing)
    assert "no answers on 'tone'" in tone.reason
    assert analysis.exclusions.n_excluded == 4


def test_a_table_that_is_none_raises() -> None:
    with pytest.raises(BadFile):
        analyse(None, "nowhere.csv")


def test_ratings_already_read_are_taken_as_they_are() -> None:
    ratings = read_ratings(demo())
    analysis = analyse(None, ratings, resamples=FEW)
    assert analysis.data.n == 960


def test_a_fault_of_ours_is_not_swallowed() -> None:
    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        attempt(fail)
