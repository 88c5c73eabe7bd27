"""No decision depends on prose: with every note reworded, everything made from them keeps its content."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from panelist.analysis.analyse import analyse
from panelist.analysis.analysis_result import Analysis
from panelist.analysis.departures import Departures
from panelist.analysis.fitting import workload
from panelist.core.notes import Note, NoteCode, has_note
from panelist.design.assess.estimable import find_estimable
from panelist.design.make import plan_study
from panelist.design.simulate import simulate_ratings
from panelist.reports.datasheet.convert.versions import convert_sheet
from panelist.reports.datasheet.files.read import read_sheet
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.methods import write_methods, write_results
from panelist.reports.preregistration.declare import preregister
from panelist.reports.references import list_references
from panelist.reports.report.contents import list_sections
from panelist.reports.report.page import render_html
from panelist.reports.report.report_tables import list_tables
from panelist.reports.report.typography import typeset
from panelist.study.reading.load import load_study
from tests.simulated import simulate_demo
from tests.study.studies import PLAIN, write_study

OTHER: dict[str, str] = {}  # what notes say, in words of which no decision can be made
RATED = PLAIN + "design: {type: full}\nraters: {count: 6}\n"
COMPARED = RATED.replace("{type: likert, points: 5}", "{type: pairs}").replace("type: full", "type: pairs")
THEN = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def say_otherwise(text: str) -> str:
    known = text in OTHER.values()
    return (
        str(text)
        if known
        else OTHER.setdefault(text, f"Other words, {len(OTHER):03d}{'.' * text.endswith('.')}")
    )


def make_note(cls: type[Note], code: NoteCode, text: str) -> Note:
    made = str.__new__(cls, say_otherwise(text))
    made.__dict__["code"] = code
    return made


@pytest.fixture
def reword(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which every note with a code has other words."""
    return lambda: monkeypatch.setattr(Note, "__new__", make_note)


def reword_all(value: Any) -> Any:
    """Return a result with other words in all its notes, also in those without a code."""
    if isinstance(value, tuple):
        return tuple(map(reword_all, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {}
    for one in fields(value):
        here = getattr(value, one.name)
        if one.name == "notes":
            changed[one.name] = tuple(
                Note(note.code, note) if isinstance(note, Note) else say_otherwise(note) for note in here
            )
        elif one.init and one.name not in ("study", "fit"):
            changed[one.name] = reword_all(here)
    return replace(value, **{name: new for name, new in changed.items() if new is not getattr(value, name)})


def describe(analysis: Analysis) -> dict[str, Any]:
    """Return all that is decided by an analysis, without the words of its notes."""
    page = render_html(analysis, "today", "report.html", None)
    for note in [*OTHER, *OTHER.values()]:
        page = page.replace(escape(typeset(note.rstrip(".")), quote=False), "").replace("&#39;", "'")
    departures = analysis.departures
    return {
        "cited": [one.key for one in list_references(analysis)],
        "methods": write_methods(analysis),
        "results": write_results(analysis),
        "sections": list_sections(analysis),
        "tables": [(one.name, one.table.caption) for one in list_tables(analysis)],
        "departures": departures.rows if isinstance(departures, Departures) else departures,
        "page": page,
    }


def analyse_demo(_: Path) -> Analysis:
    rows = simulate_demo()
    return analyse(None, rows[rows["criterion"] == "fluency"], resamples=20)


def rate(folder: Path, text: str) -> tuple[Path, pd.DataFrame]:
    """Return a study that was declared, and ratings of which some were set aside, by rule and by hand."""
    path = write_study(folder, text)
    study = load_study(path)
    preregister(path, now=THEN)
    rows = simulate_ratings(study, plan_study(study), 3)
    aside = rows["rater"].map({"r001": "declined: no time", "r002": "looked bored"}).fillna("")
    return path, rows.assign(excluded=aside)


def analyse_declared(folder: Path) -> Analysis:
    return analyse(*rate(folder, RATED), resamples=20)


def analyse_independent(folder: Path) -> Analysis:
    return analyse(*rate(folder, RATED + "analysis: {model: clm}\n"), resamples=20)


def analyse_compared(folder: Path) -> Analysis:
    return analyse(*rate(folder, COMPARED), resamples=20)


@pytest.mark.parametrize(
    ("make", "codes"),
    [
        (analyse_demo, {"slopes", "reduced"}),
        (analyse_declared, {"lightened"}),
        (analyse_independent, {"independent"}),
        (analyse_compared, set()),
    ],
)
def test_reworded_notes_change_no_citation_sentence_section_or_table(
    make: Callable[[Path], Analysis],
    codes: set[str],
    tmp_path: Path,
    reword: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if make is analyse_declared:  # as if the table were too large for the largest model
        monkeypatch.setattr(workload, "FEW_ROWS", 0)
        monkeypatch.setattr(workload, "MOST_WORK", 0)
    analysis = make(tmp_path)
    notes = analysis.criteria[0].comparison.notes  # type: ignore[union-attr]
    assert {note.code for note in notes if isinstance(note, Note)} == codes
    reword()
    again = reword_all(make(tmp_path))
    assert notes
    assert all(note in OTHER.values() for note in again.criteria[0].comparison.notes)
    assert describe(again) == describe(analysis)


def test_what_was_set_aside_by_hand_departs_and_what_ended_a_visit_does_not(tmp_path: Path) -> None:
    found = analyse_declared(tmp_path).departures
    assert isinstance(found, Departures)
    (done,) = [row.used for row in found.rows if row.what == "exclusion"]
    assert "looked bored" in done


def test_a_model_taken_to_save_time_is_a_departure_and_a_caution(
    tmp_path: Path, reword: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload, "FEW_ROWS", 0)
    monkeypatch.setattr(workload, "MOST_WORK", 0)
    reword()
    analysis = analyse_declared(tmp_path)
    assert isinstance(analysis.departures, Departures)
    assert "formula of fluency" in {row.what for row in analysis.departures.rows}
    assert "This may look surer than it is" in analysis.criteria[0].sentence()


def test_reworded_notes_change_no_answer_of_the_datasheet(tmp_path: Path, reword: Callable[[], None]) -> None:
    path, rows = rate(tmp_path, RATED)
    study = load_study(path)
    before = fill_sheet(study, plan_study(study), rows, resamples=20)
    reword()
    after = fill_sheet(study, plan_study(study), rows, resamples=20)
    assert after.answers == before.answers


def test_a_note_on_the_layout_does_not_go_over_to_the_other_version(
    tmp_path: Path, reword: Callable[[], None]
) -> None:
    reword()
    path = tmp_path / "odd.json"
    path.write_text(
        (Path(__file__).parent / "datasheet" / "half-filled-2.x.json").read_text("utf-8") + " \n\n"
    )
    path.write_text(path.read_text("utf-8").replace("{", "{  ", 1), encoding="utf-8")
    sheet = read_sheet(path)
    assert has_note(sheet.notes, "layout")
    assert not has_note(convert_sheet(sheet, "3.0").sheet.notes, "layout")


def test_what_a_plan_can_estimate_is_said_without_the_slopes_that_it_has(
    tmp_path: Path, reword: Callable[[], None]
) -> None:
    reword()
    study = load_study(write_study(tmp_path, RATED.replace("count: 6", "count: 2")))
    (found,) = find_estimable(plan_study(study).table, study.criteria, study.systems)
    assert found.reasons
    assert not has_note(found.reasons, "slopes")
