"""Outputs that are missing: the model leads, and the report says whether it depends on what is missing."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.compare import compare_systems
from panelist.analysis.missing import Missing
from panelist.analysis.planned import compare_planned, read_planned
from panelist.analysis.sensitivity.lacking import WorstCase
from panelist.analysis.systems.common_items import find_common_items, note_unequal_items
from panelist.core.notes import has_note
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.reports.methods import write_methods, write_results
from panelist.reports.report.page import render_html
from panelist.study.study import Study
from tests.design.small_studies import make_holes

EFFECTS = {"s0": 0.6, "s1": 0.0, "s2": -0.6}


def make_study(n: int = 40, systems: int = 3, **file: Any) -> Study:
    """Return a study that lacks a tenth of its outputs."""
    there = np.random.default_rng(5).random((n, systems)) >= 0.1
    there[0], there[1] = True, [False, *[True] * (systems - 1)]
    usual = {"type": "lists", "ratings_per_output": 4, "trials_per_rater": n // 2}
    return make_holes(there.tolist(), design=file.pop("design", usual), **file)


def make_table(means: dict[str, dict[str, float]]) -> pd.DataFrame:
    """Return one rating of each output: system → item → rating."""
    rows = [(s, i, "r1", value) for s, own in means.items() for i, value in own.items()]
    return pd.DataFrame(rows, columns=["system", "item", "rater", "rating"])


def test_plain_means_are_given_on_the_items_of_all_systems() -> None:
    frame = make_table({"a": {"1": 5, "2": 4}, "b": {"1": 4, "2": 3, "3": 1}})
    common, systems = find_common_items(frame)
    assert common == 2
    assert [(one.system, one.items, one.mean, one.common_mean) for one in systems] == [
        ("a", 2, 4.5, 4.5),
        ("b", 3, pytest.approx(8 / 3), 3.5),
    ]
    (note,) = note_unequal_items(frame)
    assert has_note([note], "items")
    assert "a 2 and b 3; 2 in common" in note
    assert "on the common items they are a 4.50 and b 3.50" in note


def test_systems_with_the_same_items_get_no_note() -> None:
    frame = make_table({"a": {"1": 5, "2": 4}, "b": {"1": 4, "2": 3}})
    assert note_unequal_items(frame) == []
    assert note_unequal_items(frame.drop(columns="item")) == []


def test_systems_without_a_common_item_are_left_to_the_note_on_links() -> None:
    assert note_unequal_items(make_table({"a": {"1": 5}, "b": {"2": 4}})) == []


@pytest.mark.slow
def test_a_study_with_holes_is_planned_simulated_compared_and_its_truth_recovered() -> None:
    study = make_study()
    plan = plan_study(study)
    ratings = simulate_ratings(study, plan, seed=2, effects=EFFECTS, careless=0.0)
    analysis = analyse(study, ratings, resamples=50)
    found = analysis.lacking
    assert found is not None
    compared = analysis.criteria[0].comparison
    assert not isinstance(compared, Missing)
    estimates = {one.system: one.estimate for one in compared.systems}
    assert list(estimates) == ["s0", "s1", "s2"]
    pairs = {(one.a, one.b): one for one in compared.pairs}
    assert pairs["s0", "s2"].low < 1.2 < pairs["s0", "s2"].high
    n = len(study.outputs.lacking)
    assert sum(int(text.split(" lacks ")[1].split(" of ")[0]) for text in found.lacks) == n
    assert str(analysis).index("System s0 lacks") < str(analysis).index("On fluency")
    worst = found.worst["fluency"]
    assert isinstance(worst, WorstCase)
    assert worst.worst.n > compared.n
    assert "missing outputs at the lowest value (1)" in worst.sentence()
    methods, results = write_methods(analysis), write_results(analysis)
    assert "Not every output exists: s0 lacks" in methods
    assert "each output is compared with others of the same item" in methods
    assert "missing outputs at the lowest value" in results
    page = render_html(analysis, "today", "report.html", None)
    assert page.index("System s0 lacks") < page.index("How the systems did")
    assert "Outputs that are missing" in page
    assert "mean on common items" in page.casefold()
    planned = compare_planned(read_planned(study, ratings))
    assert planned.notes[0] == found.opening()
    assert planned.notes[2] == worst.sentence()


@pytest.mark.slow
@pytest.mark.parametrize("scale", [{"type": "pairs"}, {"type": "best-worst", "best": "B", "worst": "W"}])
def test_in_comparisons_a_missing_output_loses(scale: dict[str, str]) -> None:
    design: dict[str, Any] = {"type": scale["type"], "ratings_per_output": 3}
    if scale["type"] == "best-worst":
        design["shown"] = 3
    study = make_study(30, 4, design=design, scales={"better": scale})
    ratings = simulate_ratings(study, plan_study(study), seed=3, effects={**EFFECTS, "s3": 0}, careless=0.0)
    analysis = analyse(study, ratings, resamples=50)
    assert analysis.lacking is not None
    worst = analysis.lacking.worst["better"]
    assert isinstance(worst, WorstCase)
    assert "missing outputs losing every comparison" in worst.sentence()
    assert worst.worst.n > worst.judged.n


def _rate_without_hard_items(seed: int, n: int = 100, raters: int = 30) -> pd.DataFrame:
    """Return judgements of three systems of which the first is .3 above the second, and lacks hard items."""
    rng = np.random.default_rng(seed)
    level, severity = rng.normal(0, 0.57, n), rng.normal(0, 0.52, raters)
    fit = rng.normal(0, 0.77 / np.sqrt(2), (n, 3))
    hard = set(np.argsort(level + rng.normal(0, 0.3, n))[: 3 * n // 10].tolist())
    rows = []
    for item in range(n):
        for system, effect in enumerate((0.3, 0.0, -0.3)):
            if system == 0 and item in hard:
                continue
            for rater in rng.choice(raters, 4, replace=False).tolist():
                value = effect + level[item] + fit[item, system] + severity[rater] + rng.normal()
                rows.append((f"r{rater}", f"i{item}", "abc"[system], value))
    return pd.DataFrame(rows, columns=["rater", "item", "system", "rating"])


@pytest.mark.slow
def test_where_hard_items_are_missing_the_model_is_less_biased_than_raw_means() -> None:
    raw, common, modelled = [], [], []
    formula = "rating ~ system + (1 | rater) + (1 | item) + (1 | item:system)"
    for seed in range(8):
        frame = _rate_without_hard_items(seed)
        found = compare_systems(frame, model="lmm", formula=formula).criteria[0]
        means = {one.system: one for one in find_common_items(frame)[1]}
        raw.append(means["a"].mean - means["b"].mean - 0.3)
        common.append(means["a"].common_mean - means["b"].common_mean - 0.3)
        modelled.append(next(one.difference for one in found.pairs if (one.a, one.b) == ("a", "b")) - 0.3)
    sure = np.array(common)  # unbiased here, and as noisy as the others
    assert 0 < np.mean(modelled - sure) < 0.75 * np.mean(raw - sure)
    assert abs(np.mean(sure)) < 3 * np.std(sure, ddof=1) / np.sqrt(len(sure))
