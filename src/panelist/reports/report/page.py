"""The page: an analysis becomes one HTML file that needs no other, for screen and paper, light and dark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.agreement.reliability import CoefficientEstimate, CriterionReliability
from panelist.analysis.missing import Missing
from panelist.analysis.systems.comparison_tables import make_systems_table, name_letters, tell_prior
from panelist.analysis.systems.margins import make_table
from panelist.core.display.formats import P_VALUE, TEXT, Cell, Format, decimals, interval
from panelist.core.display.result import NamedValues, Sentence, Table
from panelist.core.prose import capitalise, count
from panelist.models.inference.adjust import find_adjustment
from panelist.reports.methods import write_methods, write_results
from panelist.reports.page_style import read_styles
from panelist.reports.provenance import describe_provenance, say_settings
from panelist.reports.references import list_references
from panelist.reports.report.contents import SECTIONS, explain_missing, list_sections
from panelist.reports.report.estimate_charts import Chart, make_chart, share_axes
from panelist.reports.report.page_charts import (
    Axis,
    draw_estimates,
    draw_levels,
    draw_predicted,
    draw_shares,
    find_most,
    share_ticks,
)
from panelist.reports.report.report_tables import draw_html
from panelist.reports.report.shown_outputs import read_sheets, show_examples
from panelist.reports.report.typography import typeset
from panelist.reports.reporting.check import check_reporting

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis, CriterionAnalysis
    from panelist.analysis.departures import Departures
    from panelist.analysis.output_form import OutputForm
    from panelist.analysis.systems.effects import Effects
    from panelist.core.display.result import Part

MOST_DRAWN = 12  # systems whose predicted shares are drawn
ROUNDED = frozenset({"estimate", "se", "sd", "variance", "share", "icc", "distance", "t", "z"})
MOST_LEVELS = 150  # raters or items that a small picture can show


@dataclass(frozen=True)
class CriterionPage:
    """What the template needs for one criterion: ready pieces of HTML, and sentences."""

    name: str
    rated: bool
    finding: str
    estimates: str
    estimates_note: str
    pairs: str
    answers: str
    agreement: str
    agreement_table: str
    formula: str
    model: tuple[str, ...]
    model_tables: str
    checks: tuple[str, ...]
    predicted: tuple[tuple[str, str], ...]
    check_tables: str
    both: tuple[str, ...]
    both_table: str
    without: str
    without_table: str
    levels: tuple[tuple[str, str, str], ...]


def render_html(analysis: Analysis, date: str, report: str, folder: str | None) -> str:
    """Return the page; ``folder`` is the name of the folder of files beside it, None without one."""
    from panelist.core.display.templates import make_environment

    environment = make_environment(Path(__file__).parent / "templates")
    environment.filters["typeset"] = typeset
    environment.filters["say_settings"] = say_settings
    charts = [make_chart(one) for one in analysis.criteria]
    axes = share_axes(chart for chart in charts if isinstance(chart, Chart))
    exclusions = analysis.exclusions
    sections = list_sections(analysis)
    rules = [part for part in exclusions.parts() if isinstance(part, Table)]
    reporting = None if analysis.study is None else check_reporting(analysis.study, analysis)
    examples = show_examples(analysis)
    return environment.get_template("report.html").render(
        analysis=analysis,
        date=date,
        folder=folder,
        css=f"{read_styles()}\n{read_sheets(examples)}",
        pages=[
            make_page(one, analysis, chart, axes)
            for one, chart in zip(analysis.criteria, charts, strict=True)
        ],
        titles=SECTIONS,
        sections=sections,
        left_out=explain_missing(analysis, sections),
        exclusions=exclusions.sentence(),
        rules=draw_html(rules[0]) if rules else "",
        departures=_show_departures(analysis.departures),
        form=_show_form(analysis.form),
        examples=examples,
        judge="" if analysis.beside is None else _draw_parts(analysis.beside.parts()),
        lacking="" if analysis.lacking is None else _draw_parts(analysis.lacking.parts()),
        methods=write_methods(analysis),
        results=write_results(analysis).split("\n\n"),
        reporting="" if reporting is None else _draw_parts(reporting.parts()),
        references=list_references(analysis),
        provenance=describe_provenance(analysis, report, date),
        language=analysis.study.file.language if analysis.study else "en",
        adjustments=_name_adjustments(analysis),
        rated=any(not one.comparative for one in analysis.criteria),
    )


def _show_form(form: OutputForm | None) -> tuple[str, tuple[str, ...]]:
    """Return the sentence on the form of the outputs, and its tables."""
    if form is None:
        return "", ()
    return form.sentence(), tuple(draw_html(part) for part in form.parts() if isinstance(part, Table))


def _name_adjustments(analysis: Analysis) -> str:
    """Return what the adjustments that were used are called."""
    made = [one.comparison for one in analysis.criteria if not isinstance(one.comparison, Missing)]
    return " or ".join(dict.fromkeys(find_adjustment(one.adjust).label for one in made)) or "unadjusted"


def make_page(
    one: CriterionAnalysis, analysis: Analysis, chart: Chart | Missing, axes: dict[str, Axis]
) -> CriterionPage:
    """Return the pieces of one criterion; ``axes`` are those of all charts, by their label."""
    systems = analysis.data.systems
    name = _say_criterion(one, analysis)
    estimates, note = "", ""
    if isinstance(chart, Missing):
        note = chart.reason
    else:
        axis = axes.get(chart.label)
        estimates = draw_estimates(chart.marks, systems, chart.label, axis, analysis.spec.confidence)
        note = chart.note
    return CriterionPage(
        name=name,
        rated=not one.comparative,
        finding=one.sentence(),
        estimates=estimates,
        estimates_note=note,
        pairs=_show_pairs(one, name),
        answers=_show_answers(one, systems, name),
        agreement=_reason(one.reliability) or one.reliability.sentence(),  # type: ignore[union-attr]
        agreement_table=_show_reliability(one.reliability, name),
        formula="" if isinstance(one.comparison, Missing) else one.comparison.formula,
        model=_tell_model(one),
        model_tables=_show_model(one),
        checks=_tell_checks(one),
        predicted=_show_predicted(one),
        check_tables=_show_checks(one),
        both=(one.kinds.reason,) if isinstance(one.kinds, Missing) else tuple(one.kinds.sentences()),
        both_table="" if isinstance(one.kinds, Missing) else draw_html(one.kinds.table()),
        without=_reason(one.without_exclusions) or one.without_exclusions.sentence(),  # type: ignore[union-attr]
        without_table=""
        if isinstance(one.without_exclusions, Missing)
        else draw_html(one.without_exclusions.table()),
        levels=_show_levels(one),
    )


def _say_criterion(one: CriterionAnalysis, analysis: Analysis) -> str:
    """Return the criterion as a heading: as raters saw it, else its name with a capital."""
    planned = analysis.study.criteria if analysis.study else ()
    known = {criterion.name: criterion.heading for criterion in planned}
    return known.get(one.criterion, capitalise(one.criterion))


def _reason(part: Any) -> str:
    return part.reason if isinstance(part, Missing) else ""


def _missing(reason: str) -> str:
    return f'<p class="notice">{escape(reason)}</p>'


def _show_departures(part: Departures | Missing | None) -> str:
    """Return how the analysis departs from its preregistration; nothing where there is none."""
    if part is None:
        return ""
    return _missing(part.reason) if isinstance(part, Missing) else _draw_parts(part.parts())


def _show_pairs(one: CriterionAnalysis, name: str) -> str:
    if isinstance(one.comparison, Missing):
        return _missing(one.comparison.reason)
    if one.comparative or isinstance(one.effects, Missing):
        return f"<h3>{escape(name)}</h3>\n{_draw_parts(one.comparison.parts()[1:])}"
    alpha, equal = round(1 - one.comparison.confidence, 12), one.comparison.equivalence
    if name_letters(one.comparison):
        drawn = [draw_html(make_systems_table(one.comparison)), draw_html(one.effects.matrix(alpha), name)]
    else:
        drawn = [draw_html(_make_pairs(one.effects, alpha), name)]
    if equal:
        drawn.append(draw_html(make_table(equal, name, alpha, tell_prior(one.comparison))))
    if one.comparison.remedy is not None:
        drawn.append(_draw_parts(one.comparison.remedy.parts()))
    return "\n".join(drawn)


def _make_pairs(effects: Effects, alpha: float) -> Table:
    """Return the table of differences as the page shows it: points first, the verdict in words last."""
    rows: list[tuple[Cell, ...]] = []
    for pair in effects.pairs:
        if not isfinite(pair.p_adjusted):
            words = "Could not be tested"
        elif pair.p_adjusted < alpha:
            words = f"{pair.a if pair.tested > 0 else pair.b} higher"
        elif pair.points_low > 0 or pair.points_high < 0:
            words = f"Not settled: {pair.a if pair.points > 0 else pair.b} higher in points, not by p"
        else:
            words = "No difference shown"
        rows.append(
            (
                f"{pair.a} – {pair.b}",
                pair.points,
                interval(pair.points_low, pair.points_high),
                pair.latent,
                pair.superiority,
                interval(pair.superiority_low, pair.superiority_high),
                pair.p_adjusted,
                words,
            )
        )
    header = ("Pair", "Points", "Interval", "Latent SDs", "P(higher)", "Interval", "p", "In words")
    right: Format = Format(TEXT.write, "right")
    formats = {"Points": decimals(2), "Interval": right, "Latent SDs": decimals(2), "P(higher)": decimals(2)}
    return Table(effects.criterion, header, rows, {**formats, "p": P_VALUE}, note=effects.tell_opposed())


def _draw_parts(parts: list[Part]) -> str:
    """Return the parts of any result as the page shows them."""
    drawn = []
    for part in parts:
        if isinstance(part, Table):
            drawn.append(draw_html(part))
        elif isinstance(part, Sentence):
            drawn.append(f"<p>{escape(typeset(part.text))}</p>")
        elif isinstance(part, NamedValues):
            rows = "".join(f"<li>{escape(typeset(text))}</li>" for _, text in part.rows)
            drawn.append(f'<ul class="small">{rows}</ul>')
    return "\n".join(drawn)


def _show_answers(one: CriterionAnalysis, systems: tuple[str, ...], name: str) -> str:
    if isinstance(one.description, Missing):
        return _missing(one.description.reason)
    drawn = draw_shares(one.description, systems) if one.description.points else ""
    return drawn + draw_html(_make_description(one), f"{name}, observed")


def _make_description(one: CriterionAnalysis) -> Table:
    assert not isinstance(one.description, Missing)
    rows: list[tuple[Cell, ...]] = [
        (s.system, s.n, s.n_raters or None, s.n_items or None, s.mean, s.sd, s.median)
        for s in one.description.systems
    ]
    header = ("System", "Ratings", "Raters", "Items", "Mean", "SD", "Median")
    formats = {"System": TEXT, "Mean": decimals(2), "SD": decimals(2), "Median": decimals(1)}
    missing = one.description.n_missing
    notes = [f"{count(missing, 'answer')} without a rating"] if missing else []
    note = ". ".join([*notes, *(text.rstrip(".") for text in one.description.notes)])
    return Table(f"{one.criterion}, observed", header, rows, formats, note)


def _show_reliability(part: CriterionReliability | Missing, name: str) -> str:
    """Return the coefficients, those that are defined; the reason for the others is below."""
    if isinstance(part, Missing):
        return ""
    known = [one for one in part.coefficients if isfinite(one.estimate)]
    if not known:
        return ""
    rows: list[tuple[Cell, ...]] = [
        (
            capitalise(COEFFICIENTS[one.name].spoken),
            one.estimate,
            interval(one.low, one.high),
            one.n_items,
            _read(one),
        )
        for one in known
    ]
    header = ("Coefficient", "Estimate", f"{part.confidence * 100:g} % interval", "Outputs", "In words")
    formats = {"Coefficient": TEXT, "Estimate": decimals(2), "In words": TEXT}
    formats[header[2]] = Format(TEXT.write, "right")
    notes = [suspicion.text.rstrip(".") for suspicion in part.suspicions]
    return draw_html(Table(part.criterion, header, rows, formats, note=". ".join(notes)), name)


def _read(one: CoefficientEstimate) -> str:
    """Return the words for a coefficient."""
    reading = next(iter(one.readings()), None)
    return f"{reading.word} ({reading.scale})" if reading else ""


def _tell_model(one: CriterionAnalysis) -> tuple[str, ...]:
    if isinstance(one.comparison, Missing):
        return (one.comparison.reason,)
    return one.comparison.notes


def _show_model(one: CriterionAnalysis) -> str:
    """Return fixed effects, thresholds and spreads of the fitted model, and where the variance lies."""
    if isinstance(one.comparison, Missing) or one.comparison.fit is None:
        return ""
    fit = one.comparison.fit
    tables = [part for part in fit.parts() if isinstance(part, Table) and part.name != "thresholds"]
    if fit.design.factors and fit.link != "cauchit" and fit.family in (None, "cumulative"):
        tables += [part for part in fit.icc().parts() if isinstance(part, Table)]
    return "\n".join(draw_html(_round(table), f"{table.caption}, {one.criterion}") for table in tables)


def _round(table: Table) -> Table:
    """Return a table of a model with as many digits as the page has elsewhere; the files have them all."""
    two = {name: decimals(2) for name in table.header if name.casefold() in ROUNDED}
    return replace(table, formats={**table.formats, **two})


def _tell_checks(one: CriterionAnalysis) -> tuple[str, ...]:
    if isinstance(one.checks, Missing):
        return (one.checks.reason,)
    if one.checks.linear is not None:
        linear = one.checks.linear
        return (linear.reason,) if isinstance(linear, Missing) else tuple(linear.sentences())
    spacing, shares = one.checks.spacing, one.checks.shares
    n = 0 if isinstance(spacing, Missing) else len(spacing.thresholds)  # what needs more of them is not told
    checks = ([spacing] if n != 1 and n != 2 else []) + ([one.checks.proportional_odds] if n != 1 else [])
    said = [check.reason if isinstance(check, Missing) else check.sentence() for check in (*checks, shares)]
    if (remedy := one.checks.remedy) is not None:  # right after the departure that it is for
        said.insert(-1, remedy.reason if isinstance(remedy, Missing) else remedy.advice())
    return tuple(said)


def _show_predicted(one: CriterionAnalysis) -> tuple[tuple[str, str], ...]:
    if isinstance(one.checks, Missing) or isinstance(one.checks.shares, Missing):
        return ()
    shares = one.checks.shares.shares
    systems, most = list(dict.fromkeys(share.system for share in shares))[:MOST_DRAWN], find_most(shares)
    return tuple((name, draw_predicted([s for s in shares if s.system == name], most)) for name in systems)


def _show_checks(one: CriterionAnalysis) -> str:
    if isinstance(one.checks, Missing):
        return ""
    linear = one.checks.linear
    if linear is not None and not isinstance(linear, Missing):
        return "\n".join(draw_html(table) for table in (linear.table(), linear.quantile_table()))
    tables = [
        check.table()
        for check in (one.checks.spacing, one.checks.proportional_odds)
        if not isinstance(check, Missing)
    ]
    if not isinstance(one.checks.shares, Missing):
        tables.append(_make_predicted(one))
    return "\n".join(draw_html(table) for table in tables)


def _make_predicted(one: CriterionAnalysis) -> Table:
    """Return observed and predicted shares, one row per system and kind, one column per point."""
    assert not isinstance(one.checks, Missing)
    assert not isinstance(one.checks.shares, Missing)
    shares = one.checks.shares.shares
    points = list(dict.fromkeys(share.point for share in shares))
    rows: list[tuple[Cell, ...]] = []
    for system in dict.fromkeys(share.system for share in shares):
        mine = [share for share in shares if share.system == system]
        for kind in ("observed", "ordinal", "interval"):
            values = [100 * getattr(share, kind) for share in mine]
            if all(map(isfinite, values)):
                rows.append((system, kind if kind == "observed" else f"{kind} model", *values))
    formats = {"System": TEXT, "Share": TEXT} | {point: decimals(0) for point in points}
    title = f"Per cent of ratings, {one.criterion}"
    return Table(title, ("System", "Share", *points), rows, formats, names=tuple(points))


def _show_levels(one: CriterionAnalysis) -> tuple[tuple[str, str, str], ...]:
    """Return the sentence, the picture and the table of raters and of items, both on one scale."""
    known = [part for part in (one.raters, one.items) if not isinstance(part, Missing)]
    drawn = [part for part in known if 2 <= len(part.levels) <= MOST_LEVELS and part.sd > 0]
    ticks = share_ticks(drawn) if drawn else []
    return tuple(
        (
            part.sentence(),
            draw_levels(part, ticks) if part in drawn else "",
            "" if part.alike else draw_html(part.table(5)),
        )
        for part in known
    )
