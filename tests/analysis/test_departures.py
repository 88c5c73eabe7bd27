"""Departures: whatever was not done as declared is found, and only that."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.departures import Departures
from panelist.analysis.missing import Missing
from panelist.design.make import plan_study
from panelist.design.plan_files import write_plan
from panelist.design.simulate import simulate_ratings
from panelist.reports.methods import write_methods
from panelist.reports.preregistration.declare import preregister
from panelist.reports.report.report_tables import list_tables
from panelist.reports.report.write_report import write_report
from panelist.study.preregistration import FILE, add_registration, read_registrations
from panelist.study.reading.load import load_study
from tests.study.studies import PLAIN, write_study

TEXT = PLAIN + (
    "design: {type: full}\nraters: {count: 4}\n"
    'analysis: {model: lm, formula: "rating ~ system", exclude: {failed_checks: 1}}\n'
)
THEN = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = write_study(tmp_path, TEXT.replace(", exclude: {failed_checks: 1}", ""))
    write_plan(plan_study(load_study(made)), tmp_path)
    return made


@pytest.fixture
def ratings(path: Path) -> pd.DataFrame:
    study = load_study(path)
    return simulate_ratings(study, plan_study(study), 3)


def find(path: Path, ratings: pd.DataFrame) -> Departures:
    found = analyse(path, ratings, resamples=2).departures
    assert isinstance(found, Departures)
    return found


def rows(found: Departures) -> dict[str, tuple[str, str]]:
    return {one.what: (one.declared, one.used) for one in found.rows}


def test_without_a_preregistration_nothing_is_said(path: Path, ratings: pd.DataFrame, tmp_path: Path) -> None:
    found = analyse(path, ratings, resamples=2)
    assert found.departures is None
    assert "departures" not in found.to_dict()
    write_report(found, tmp_path / "r.html", files=False)
    assert "Departures" not in (tmp_path / "r.html").read_text("utf-8")


def test_none_is_said_when_there_are_none(path: Path, ratings: pd.DataFrame, tmp_path: Path) -> None:
    preregister(path, now=THEN)
    analysis = analyse(path, ratings, resamples=2)
    assert isinstance(analysis.departures, Departures)
    assert analysis.departures.rows == ()
    sentence = "There are no departures from the preregistration of 2026-03-04T05:06:07Z."
    assert sentence in str(analysis)
    write_report(analysis, tmp_path / "r.html", files=False)
    assert sentence in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "what", "then", "now"),
    [
        ("model: lm", "model: lmm", "analysis.model", "lm", "lmm"),
        ("model: lm", "model: lm, alpha: 0.01", "analysis.alpha", "0.05", "0.01"),
        ("model: lm", "model: lm, adjust: holm", "analysis.adjust", "tukey", "holm"),
        (
            "rating ~ system",
            "rating ~ 0 + system",
            "analysis.formula",
            "rating ~ system",
            "rating ~ 0 + system",
        ),
        ("points: 5", "points: 5, low: bad", "criteria.fluency.scale.low", "very poor", "bad"),
        ("How fluent", "How good", "criteria.fluency.question", "How fluent is it?", "How good is it?"),
        ("type: full", "type: full, order: as listed", "design.order", "random", "as listed"),
        ("raters: {", "pay: {hourly: 10}\nraters: {", "pay.hourly", "", "10"),
    ],
)
def test_a_change_of_the_study_is_found(
    path: Path, ratings: pd.DataFrame, old: str, new: str, what: str, then: str, now: str
) -> None:
    preregister(path, now=THEN)
    path.write_text(path.read_text("utf-8").replace(old, new), encoding="utf-8")
    assert rows(find(path, ratings))[what] == (then, now)


def test_an_amendment_is_named_beside_the_departure(path: Path, ratings: pd.DataFrame) -> None:
    preregister(path, now=THEN)
    path.write_text(path.read_text("utf-8").replace("model: lm", "model: lm, adjust: holm"), encoding="utf-8")
    preregister(path, reason="Few pairs.", now=THEN.replace(day=9))
    found = find(path, ratings)
    (row,) = found.rows
    assert row.amended == "2026-03-09T05:06:07Z: Few pairs."
    assert "1 of them declared in an amendment" in found.sentence()


def test_departures_are_in_the_files_of_the_report(path: Path, ratings: pd.DataFrame, tmp_path: Path) -> None:
    preregister(path, now=THEN)
    analysis = analyse(path, ratings[ratings["rater"] != "r004"], resamples=2)
    assert "There are 2 departures" in write_methods(analysis)
    (table,) = [one for one in list_tables(analysis) if one.name == "departures"]
    assert table.frame["what"].tolist() == ["number of raters", "number of ratings"]


def test_fewer_raters_and_ratings_than_planned_are_found(path: Path, ratings: pd.DataFrame) -> None:
    preregister(path)
    fewer = ratings[ratings["rater"] != "r004"]
    found = rows(find(path, fewer))
    assert found["number of raters"] == ("4", "3")
    assert found["number of ratings"] == ("48", "36")


def test_systems_without_and_beyond_the_study_are_found(path: Path, ratings: pd.DataFrame) -> None:
    preregister(path)
    other = ratings.assign(system=["c" if name == "b" else name for name in ratings["system"]])
    found = rows(find(path, other))
    assert found["system b"] == ("judged", "has no ratings")
    assert found["system c"] == ("", "has ratings")


def test_answers_given_before_the_declaration_are_counted(path: Path, ratings: pd.DataFrame) -> None:
    preregister(path, now=THEN)
    times = ["2026-03-04T05:00:00.000+00:00"] * 3 + ["2026-03-05T05:00:00.000+00:00"] * (len(ratings) - 3)
    found = rows(find(path, ratings.assign(given=times)))
    assert found == {"time of collecting": ("after 2026-03-04T05:06:07Z", "3 answers before it")}


def test_ratings_set_aside_by_hand_are_found_and_procedure_is_not(path: Path, ratings: pd.DataFrame) -> None:
    preregister(path)
    marks = ["excluded: looked odd"] + ["screened out: failed checks"] + [""] * (len(ratings) - 2)
    found = rows(find(path, ratings.assign(excluded=marks)))
    assert list(found) == ["exclusion"]
    assert "looked odd" in found["exclusion"][1]


def test_a_rule_that_could_not_be_applied_is_found(path: Path, ratings: pd.DataFrame) -> None:
    path.write_text(TEXT.replace("failed_checks: 1", "seconds_below: 1"), encoding="utf-8")
    preregister(path)
    without = ratings.drop(columns=[name for name in ("seconds",) if name in ratings])
    found = rows(find(path, without))
    assert "could not be applied" in found["exclusion"][1]


def test_a_key_that_the_format_did_not_have_then_is_no_departure(path: Path, ratings: pd.DataFrame) -> None:
    made = preregister(path, now=THEN)
    (kept,) = read_registrations(path.parent)
    older = {key: text for key, text in kept.decisions.items() if key != "collecting.back"}
    (path.parent / FILE).unlink()
    add_registration(path.parent, replace(kept, decisions=older))
    assert find(path, ratings).rows == ()
    assert preregister(path).time == made.time
    path.write_text(path.read_text("utf-8") + "collecting: {back: true}\n", encoding="utf-8")
    assert rows(find(path, ratings)) == {"collecting.back": ("", "yes")}


def test_a_broken_preregistration_is_a_reason_and_no_crash(path: Path, ratings: pd.DataFrame) -> None:
    (path.parent / FILE).write_text("{", encoding="utf-8")
    found = analyse(path, ratings, resamples=2).departures
    assert isinstance(found, Missing)
    assert str(path.parent) not in found.reason
