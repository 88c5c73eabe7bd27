"""The sections of the page: their titles, and which of them have something to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from panelist.analysis.missing import Missing

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis

SECTIONS = {
    "estimates": "How the systems did",
    "pairs": "Which differences hold",
    "judge": "Beside a judge",
    "lacking": "Outputs that are missing",
    "spread": "What raters answered",
    "form": "What the outputs look like",
    "examples": "Examples of outputs",
    "agreement": "Did raters agree?",
    "model": "How it was modelled",
    "checks": "Does the model fit?",
    "both": "Ordinal and interval analysis side by side",
    "aside": "What was set aside",
    "departures": "Departures from the preregistration",
    "levels": "Raters and items",
    "methods": "Methods, ready to paste",
    "results": "Results, ready to paste",
    "reporting": "What is reported, by published lists",
    "references": "What it rests on",
    "appendix": "Appendix: to repeat this",
}
# What each section shows about a criterion; a section that is not here is about the whole analysis.
PARTS = {
    "estimates": ("comparison",),
    "pairs": ("comparison",),
    "spread": ("description",),
    "agreement": ("reliability",),
    "model": ("comparison",),
    "checks": ("checks",),
    "both": ("kinds",),
    "levels": ("raters", "items"),
}


def list_sections(analysis: Analysis) -> list[str]:
    """Return the sections that have something to show, in the order of the page."""
    exclusions = analysis.exclusions
    empty = {name for name in PARTS if not _has_any(analysis, name)}
    if not (exclusions.rules or exclusions.n_excluded or exclusions.n_checks):
        empty.add("aside")
    if analysis.beside is None:
        empty.add("judge")
    if analysis.lacking is None:
        empty.add("lacking")
    if analysis.departures is None:
        empty.add("departures")
    if analysis.form is None:
        empty.add("form")
    if analysis.study is None:
        empty.add("reporting")
    if not analysis.examples:
        empty.add("examples")
    return [name for name in SECTIONS if name not in empty]


def explain_missing(analysis: Analysis, shown: list[str]) -> list[tuple[str, str]]:
    """Return the titles of sections that are not shown, those with the same reason together, and why."""
    why: dict[str, list[str]] = {}
    for name in PARTS:
        if name in shown:
            continue
        found = [getattr(one, part) for one in analysis.criteria for part in PARTS[name]]
        reasons = dict.fromkeys(part.reason for part in found if isinstance(part, Missing))
        why.setdefault(" ".join(reasons), []).append(SECTIONS[name])
    if "aside" not in shown:
        why.setdefault(analysis.exclusions.sentence(), []).append(SECTIONS["aside"])
    return [("; ".join(titles), reason) for reason, titles in why.items()]


def _has_any(analysis: Analysis, name: str) -> bool:
    return any(
        not isinstance(getattr(one, part), Missing) for one in analysis.criteria for part in PARTS[name]
    )
