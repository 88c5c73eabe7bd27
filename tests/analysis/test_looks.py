"""Looks at an unfinished study: which one it is, what it is tested at, and what is said."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.departures import _compare_look
from panelist.analysis.looks import GENERAL, _round_down, find_look, plan_looks
from panelist.analysis.planned import compare_planned, read_planned
from panelist.models.inference.group_sequential import find_critical
from panelist.power.truth.spread import PRESETS
from panelist.reports.preregistration.topics import Known, answer_topics
from panelist.study.reading.load import load_study
from panelist.study.sections.analysis_plan import AnalysisPlan
from panelist.study.study import Study

STUDY = """
title: Looks
outputs: outputs.csv
criteria:
  - name: fluency
    question: How fluent is this?
    definition: Reads well.
    scale: {type: likert, points: 5}
design: {type: full}
analysis:
  looks: [6, 12]
"""


def make_study(folder: Path, more: str = "") -> Study:
    rows = [f"i{item},{system},text {item} {system}" for item in range(10) for system in ("a", "b", "c")]
    (folder / "outputs.csv").write_text("item,system,output\n" + "\n".join(rows) + "\n")
    path = folder / "study.yaml"
    path.write_text(STUDY + more)
    return load_study(path)


def make_ratings(raters: int, seed: int = 1) -> pd.DataFrame:
    import numpy as np

    rng = np.random.default_rng(seed)
    rows = [(f"r{r}", f"i{i}", s) for r in range(raters) for i in range(10) for s in "abc"]
    frame = pd.DataFrame(rows, columns=["rater", "item", "system"])
    latent = 3 + frame["system"].map({"a": 0.0, "b": 0.3, "c": 0.9}) + rng.normal(size=len(frame))
    return frame.assign(rating=latent.round().clip(1, 5), criterion="fluency")


def test_the_spreads_behind_the_information_are_those_of_the_general_preset() -> None:
    raters, items = PRESETS["general"]
    assert (raters.slope, items.slope) == GENERAL


def test_a_look_has_its_share_of_information_and_its_level(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    first, last = plan_looks(study)
    assert (first.number, last.number, first.of) == (1, 2, 2)
    assert 0.6 < first.information < 0.9
    assert last.information == 1
    critical = find_critical((first.information, 1.0), "obrien-fleming")
    assert (first.critical, last.critical) == pytest.approx(critical)
    assert first.level < last.level < 0.05
    beyond = find_look(study, 15)
    assert beyond is not None
    assert (beyond.information, beyond.declared) == (1.0, False)
    odd = find_look(study, 9)
    assert odd is not None
    assert not odd.declared
    assert first.information < odd.information < 1
    assert "a look that was not declared, after 9 of 12 raters" in odd.sentence()
    assert _round_down(0.04999) == 0.0499


def test_declared_information_replaces_the_usual_spreads(tmp_path: Path) -> None:
    study = make_study(tmp_path, "  information: [0.5, 1]\n  spending: pocock\n")
    first, last = plan_looks(study)
    assert (first.critical, last.critical) == pytest.approx((2.1570, 2.2010), abs=1e-4)
    between = find_look(study, 9)
    assert between is not None
    assert between.information == pytest.approx(
        0.75
    )  # half of the raters having half of it: only raters count


def test_a_study_with_looks_is_compared_by_the_level_of_its_look(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    look = plan_looks(study)[0]
    found = compare_planned(read_planned(study, make_ratings(6)))
    (one,) = found.criteria
    assert one.adjust == "holm"
    assert one.confidence == pytest.approx(1 - look.level)
    assert "This is look 1 of 2, after 6 of 12 raters" in one.sentence()
    assert "too large on average" in one.sentence()
    assert f"compared with {look.level:g}" in one.sentence()
    assert one.to_dict()["look"] == look.sentence()
    whole = analyse(study, make_ratings(6))
    assert "look 1 of 2" in whole.sentences()[0]
    end = compare_planned(read_planned(study, make_ratings(12))).criteria[0]
    assert "look 2 of 2" in end.sentence()
    assert "too large on average" not in end.sentence()


def test_an_undeclared_look_is_a_departure(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    (row,) = _compare_look(study, find_look(study, 9))
    assert (row.what, row.declared, row.used) == ("look", "after 6 and 12 raters", "after 9 raters")
    assert not list(_compare_look(study, find_look(study, 6)))


def test_a_preregistration_names_the_looks_with_their_levels(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    first, last = plan_looks(study)
    said = answer_topics(Known(study))["inference"]
    assert f"after 6 raters at {first.level:g} and 12 raters at {last.level:g}" in said


@pytest.mark.parametrize(
    "wrong",
    [
        {"looks": (12,)},
        {"looks": (12, 12)},
        {"looks": (6, 12), "information": (0.5,)},
        {"looks": (6, 12), "information": (0.5, 0.9)},
    ],
)
def test_looks_and_information_must_rise(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="rising"):
        AnalysisPlan(**wrong)
