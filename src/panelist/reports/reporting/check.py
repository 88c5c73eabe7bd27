"""A study checked against published lists of what to report: where each point is, or what to add.

Every point of criteria.toml is answered by questions of the datasheet (HEDS), so that what is known about a
study is known once. The datasheet itself, Amidei's checklist and the preregistration are lists of their own.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from panelist.agreement.checklist import make_checklist
from panelist.analysis.analysis_result import Analysis
from panelist.analysis.departures import Departures
from panelist.analysis.missing import Missing
from panelist.collection.study_files import StudyFiles
from panelist.core.display.formats import TEXT
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.prose import capitalise, count, listing
from panelist.reports.datasheet.fill import fill_sheet
from panelist.reports.datasheet.sheet import Sheet, say_missing
from panelist.study.study import Study

State = Literal["reported", "in part", "missing", "not yet"]
SHEET, DATASHEET = "HEDS 3.0", "datasheet"
AGREEMENT_QUESTIONS = frozenset({"4.3.11.1", "4.3.11.2"})  # answered by ratings, which the report has
NEED_RATINGS = frozenset({*AGREEMENT_QUESTIONS, "4.3.10"})
HEADER = ("what to report", "asked for by", "status", "where it is, or what to add")
TITLES = {
    "methods": "Methods",
    "aside": "What was set aside",
    "model": "How it was modelled",
    "pairs": "Which differences hold",
    "agreement": "Did raters agree?",
    "departures": "Departures from the preregistration",
}


@dataclass(frozen=True)
class ReportingPoint:
    """One thing that a report should state."""

    asks: str
    lists: tuple[str, ...]
    state: State
    where: str
    """The section of the report and the questions of the datasheet, or the key of the study file to fill."""


@dataclass(frozen=True, eq=False)
class ReportingCheck(Result):
    """A study held against lists of what to report."""

    name: str
    points: tuple[ReportingPoint, ...]
    references: tuple[str, ...]
    """Keys of references.toml: where the lists are published."""
    sheet: Sheet = field(repr=False)
    """The datasheet, as far as the study fills it."""

    @property
    def missing(self) -> tuple[ReportingPoint, ...]:
        """The points that are not, or not wholly, reported."""
        return tuple(one for one in self.points if one.state in ("missing", "in part"))

    def title(self) -> str:
        """Return the heading."""
        return f"What {self.name} reports, and what it does not"

    def sentence(self) -> str:
        """Return how many points are reported, by which lists."""
        reported = sum(one.state == "reported" for one in self.points)
        waiting = sum(one.state == "not yet" for one in self.points)
        named = listing(dict.fromkeys(name for one in self.points for name in one.lists), 10)
        later = f"; {waiting} cannot be until there are ratings" if waiting else ""
        told = f"{reported} of {count(len(self.points), 'point')} are reported{later}. Lists: {named}."
        return f"{told} The datasheet is the HEDS sheet that panelist heds fill writes."

    def table(self) -> Table:
        """Return the points, those that lack something first."""
        order = {"missing": 0, "in part": 1, "not yet": 2, "reported": 3}
        rows = [
            (capitalise(one.asks), "; ".join(one.lists), one.state, one.where)
            for one in sorted(self.points, key=lambda one: order[one.state])
        ]
        return Table("Reporting criteria", HEADER, rows, dict.fromkeys(HEADER, TEXT))

    def parts(self) -> list[Part]:
        """Return the count and the table."""
        return [Sentence(self.sentence()), self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return the points."""
        return {"name": self.name, "points": [asdict(one) for one in self.points]}


def check_reporting(study: Study, analysis: Analysis | None = None) -> ReportingCheck:
    """Return what a report of this study states and what it lacks; without an analysis, as far as is planned.

    Plan, power analysis and database are those in the study's folder.
    """
    folder = StudyFiles(study)
    sheet = fill_sheet(study, folder.find_plan(), power=folder.power_file)
    data = read_criteria()
    shorts = {name: one["short"] for name, one in data["lists"].items()}
    points = [_check_point(one, shorts, folder, sheet, analysis) for one in data["criterion"]]
    points += [_check_sheet(sheet, rated=analysis is not None), *_check_agreement(analysis, folder)]
    points += _check_departures(analysis)
    references = tuple(one["reference"] for one in data["lists"].values())
    return ReportingCheck(study.title, tuple(points), references, sheet)


@cache
def read_criteria() -> Mapping[str, Any]:
    """Return criteria.toml."""
    text = (files("panelist.reports.reporting") / "criteria.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _check_point(
    point: Mapping[str, Any],
    shorts: Mapping[str, str],
    folder: StudyFiles,
    sheet: Sheet,
    analysis: Analysis | None,
) -> ReportingPoint:
    lists = tuple(shorts[name] for name in point["lists"])
    asked, open_ = list(point["heds"]), _find_open(sheet, analysis)
    lacking = [number for number in asked if number in open_]
    elsewhere = "the ratings" if analysis is not None and "rated" in point else _find_elsewhere(point, folder)
    section = TITLES[point["section"]] if "section" in point else ""
    if analysis is None and NEED_RATINGS.intersection(asked):  # a plan is no result
        return ReportingPoint(point["asks"], lists, "not yet", f"{section}, once there are ratings")
    each = point.get("each", "name")
    if undefined := [one.name for one in folder.study.criteria if not getattr(one, each)]:
        return ReportingPoint(point["asks"], lists, "in part", f"{point['key']} of {listing(undefined)}")
    if analysis is None and section != TITLES["methods"]:
        section = ""  # the report has none of its sections about ratings yet
    if not lacking and (asked or elsewhere):
        answered = [f"{DATASHEET} {', '.join(asked)}"] if asked else []
        where = "; ".join([*filter(None, (section, elsewhere)), *answered])
        return ReportingPoint(point["asks"], lists, "reported", where)
    state: State = "in part" if elsewhere or 0 < len(lacking) < len(asked) else "missing"
    return ReportingPoint(point["asks"], lists, state, point["key"])


def _find_elsewhere(point: Mapping[str, Any], folder: StudyFiles) -> str:
    """Return what holds an answer outside the datasheet; nothing where nothing does."""
    if "file" in point:
        return str(point["file"]) if folder.beside(point["file"]) else ""
    return "the information sheet" if "filled" in point and _look_up(folder.study, point["filled"]) else ""


def _find_open(sheet: Sheet, analysis: Analysis | None) -> set[str]:
    """Return the questions without a whole answer; an analysis answers those about agreement."""
    found = {one.number for one, name in sheet.places() if say_missing(one, sheet.answer(one.number, name))}
    measured = analysis is not None and any(
        not isinstance(one.reliability, Missing) for one in analysis.criteria
    )
    return found - AGREEMENT_QUESTIONS if measured else found


def _look_up(study: Study, path: str) -> Any:
    value: Any = study.file
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _check_sheet(sheet: Sheet, *, rated: bool) -> ReportingPoint:
    blanks = dict.fromkeys(blank.question.number for blank in sheet.open())
    if rated:
        blanks = dict.fromkeys(number for number in blanks if number not in AGREEMENT_QUESTIONS)
    if not blanks:
        return ReportingPoint("the whole datasheet", (SHEET,), "reported", "heds.json: panelist heds fill")
    text = f"study.yaml, heds: {listing(blanks, None)}"
    return ReportingPoint("the whole datasheet", (SHEET,), "in part", text)


def _check_agreement(analysis: Analysis | None, folder: StudyFiles) -> Iterator[ReportingPoint]:
    """Return Amidei's checklist, the points of all criteria together."""
    if analysis is None:
        return
    found_in, apart = folder.find_ratings(), folder.study.file.raters.independent
    if apart is None and found_in is not None and found_in.collected:
        apart = True  # our pages show nobody's ratings
    named = (read_criteria()["lists"]["amidei"]["short"],)
    found: dict[str, list[tuple[str, bool, str]]] = {}
    for one in analysis.criteria:
        if isinstance(one.reliability, Missing):
            continue
        for point in make_checklist(one.reliability, independent=apart, level_given=True).points:
            found.setdefault(point.name, []).append((one.criterion, point.stated, point.text))
    for name, answers in found.items():
        if name == "experiment":  # the points above
            continue
        lacking: dict[str, list[str]] = {}
        for criterion, stated, text in answers:
            if not stated:
                lacking.setdefault(text, []).append(criterion)
        where = "; ".join(f"{listing(criteria)}: {text}" for text, criteria in lacking.items())
        if lacking and name == "independence":
            where += " (study.yaml, raters: independent)"
        state: State = "missing" if lacking else "reported"
        yield ReportingPoint(f"reliability: {name}", named, state, where or TITLES["agreement"])


def _check_departures(analysis: Analysis | None) -> Iterator[ReportingPoint]:
    if analysis is None or not isinstance(analysis.departures, Departures):
        return
    yield ReportingPoint("departures from the preregistration", (SHEET,), "reported", TITLES["departures"])
