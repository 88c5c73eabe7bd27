"""The tables of a report, once for each criterion: for the page, as LaTeX (booktabs) and as CSV."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from panelist.analysis.departures import Departures
from panelist.analysis.missing import Missing
from panelist.core.display.formats import is_interval
from panelist.core.display.latex import is_wordy, latex, latex_cell, long_table
from panelist.core.display.result import Result, Table
from panelist.core.prose import capitalise
from panelist.judges.card import tabulate_cards
from panelist.reports.report.beside_judge import BesideJudge, list_tables_of
from panelist.reports.report.typography import group_digits, typeset, write_out
from panelist.reports.reporting.check import check_reporting

if TYPE_CHECKING:
    import pandas as pd

    from panelist.analysis.analysis_result import Analysis, CriterionAnalysis

MOST_ROWS = 60
_MOST_COLUMNS = 9  # columns that fit on a page; further ones scroll beside the first
_SHORT = frozenset({"clmm", "clm", "lmm", "lm", "icc", "se", "sd"})
_SHORT_NAME = re.compile(rf"(?<!\S)(?:{'|'.join(sorted(_SHORT))})(?=:)")


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table with the name of its files; ``frame`` has all rows and every number unrounded."""

    name: str
    table: Table
    frame: pd.DataFrame


def list_tables(analysis: Analysis) -> list[NamedTable]:
    """Return every table of an analysis, in the order of the report."""
    found = [_named("exclusions", analysis.exclusions.parts()[1:], analysis.exclusions.rules)]
    if isinstance(analysis.departures, Departures):
        found.append(_named("departures", analysis.departures.parts()[1:], analysis.departures.rows))
    if analysis.study is not None:
        reporting = check_reporting(analysis.study, analysis)
        found.append(_named("reporting", [reporting.table()], reporting.points))
    if isinstance(analysis.beside, BesideJudge):
        found.append(_named("judges", [tabulate_cards(analysis.beside.cards)], analysis.beside.cards))
        for corrected in analysis.beside.criteria:
            name = f"judges_{make_file_name(corrected.criterion)}"
            systems, pairs = list_tables_of(corrected)
            found.append(_named(f"{name}_systems", [systems], corrected.systems))
            found.append(_named(f"{name}_pairs", [pairs], corrected.pairs))
    for place, one in enumerate(analysis.criteria, start=1):
        prefix = f"{place:02d}_{make_file_name(one.criterion)}"
        found += [_named(f"{prefix}_{name}", [table], rows) for name, table, rows in _tables_of(one)]
    return [table for table in found if table is not None]


def _tables_of(one: CriterionAnalysis) -> Iterator[tuple[str, Table, Any]]:
    """Return the tables of a criterion with the rows behind them."""
    if not isinstance(one.description, Missing):
        yield "ratings", one.description.table(), one.description.systems
    if not isinstance(one.reliability, Missing):
        yield "reliability", _first_table(one.reliability), one.reliability.coefficients
    if not isinstance(one.comparison, Missing):
        tables = [part for part in one.comparison.parts() if isinstance(part, Table)]
        yield "systems", next(table for table in tables if table.name == "systems"), one.comparison.systems
        if isinstance(one.effects, Missing):
            pairs = next((table for table in tables if table.name == "pairs"), tables[-1])
            yield "pairs", pairs, one.comparison.pairs
    if not isinstance(one.effects, Missing):
        yield "expected", _first_table(one.effects), one.effects.systems
        yield "pairs", one.effects.table(), one.effects.pairs
    if not isinstance(one.kinds, Missing):
        yield "both_analyses", one.kinds.table(), one.kinds.other.pairs
    if not isinstance(one.without_exclusions, Missing):
        yield "without_exclusions", one.without_exclusions.table(), one.without_exclusions.everything.pairs
    for group in (one.raters, one.items):
        if not isinstance(group, Missing):
            yield f"{group.group}s", group.table(10), group.levels
    if not isinstance(one.checks, Missing):
        for name, check, rows in (
            ("thresholds", one.checks.spacing, "thresholds"),
            ("proportional_odds", one.checks.proportional_odds, "effects"),
            ("predicted", one.checks.shares, "shares"),
            ("residuals", one.checks.linear or Missing("The model is ordinal."), "systems"),
        ):
            if not isinstance(check, Missing):
                yield name, check.table(), getattr(check, rows)


def _first_table(result: Result) -> Table:
    return next(part for part in result.parts() if isinstance(part, Table))


def _named(name: str, tables: Sequence[Any], rows: Sequence[Any]) -> NamedTable | None:
    import pandas as pd

    if not tables or not rows:
        return None
    records = [{key: _cell(value) for key, value in asdict(row).items()} for row in rows]
    return NamedTable(name, tables[0], pd.DataFrame(records))


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, tuple | list) else value


def make_file_name(text: str) -> str:
    """Return a text as part of a file name.

    >>> make_file_name("Fluency & <b>clarity</b>"), make_file_name("明瞭")
    ('Fluency-b-clarity-b', 'criterion')
    """
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in text).split()
    return "-".join(words)[:40] or "criterion"


def draw_html(table: Table, caption: str | None = None, most: int = MOST_ROWS) -> str:
    """Return a table for the page, in a scroller that can take focus; long ones are cut and say so."""
    formats, written = table.columns(), table.written()
    shown = written[:most]
    title = table.caption if caption is None else caption
    heads = "".join(
        f'<th scope="col"{_side(form.align)}>{escape(name if name in table.names else _head(name))}</th>'
        if name
        else "<td></td>"
        for form, name in zip(formats, table.header, strict=True)
    )
    title = typeset(title)
    lines = [
        f'<div class="scroller" role="group" aria-label="{escape(title)}" tabindex="0">',
        f'<table class="table{_kind(len(formats))}">',
        f"<caption>{escape(title)}</caption>",
        f"<thead><tr>{heads}</tr></thead>",
        "<tbody>",
    ]
    for row in shown:
        cells = [f'<th scope="row">{escape(row[0])}</th>']
        cells += [
            f"<td{_side(form.align)}>{_number(text, form.align)}</td>"
            for form, text in zip(formats[1:], row[1:], strict=True)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>", "</div>"]
    notes = [table.note] if table.note else []
    if len(written) > most:
        notes.append(f"The first {most:,} of {len(written):,} rows; the files beside this page have them all")
    if notes:
        rows = {row[0] for row in written}
        text = ". ".join(_begin(_name_heads(note.rstrip(".")), rows) for note in notes)
        lines.append(f'<p class="small muted">{escape(typeset(text))}.</p>')
    return "\n".join(lines)


def draw_latex(named: NamedTable, most: int = MOST_ROWS) -> str:
    r"""Return a table as LaTeX; the preamble must have ``\usepackage{booktabs}``.

    A table of long texts takes as many pages as it needs, and ``\usepackage{array,longtable}`` as well.
    """
    table, label = named.table, f"tab:{named.name.replace('_', '-')}"
    formats, written = table.columns(), table.written()
    if is_wordy(written):
        return long_table(table.caption, label, table.header, written)
    lines = [r"\begin{table}[t]", r"\centering", r"\small", rf"\caption{{{latex(table.caption)}.}}"]
    lines += [rf"\label{{{label}}}"]
    lines += [rf"\begin{{tabular}}{{{''.join(form.align[0] for form in formats)}}}", r"\toprule"]
    lines += [" & ".join(latex(name) for name in table.header) + r" \\", r"\midrule"]
    for row in written[:most]:
        cells = (latex_cell(text, form.align) for form, text in zip(formats, row, strict=True))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    notes = [table.note] if table.note else []
    if len(written) > most:
        notes.append(f"First {most:,} of {len(written):,} rows; {named.name}.csv has them all")
    if notes:
        lines.append(rf"\par\smallskip\footnotesize {latex('. '.join(notes))}")
    return "\n".join([*lines, r"\end{table}", ""])


def draw_csv(named: NamedTable) -> str:
    """Return a table as CSV, every row and digit of it; no spreadsheet runs a text in it as a formula."""
    from panelist.core.tables.spreadsheets import disarm

    return disarm(named.frame)[0].to_csv(index=False, lineterminator="\n")


def _head(name: str) -> str:
    """Return the head of a column: a word begins with a capital, a symbol stays as it is.

    >>> _head("estimate"), _head("se"), _head("p"), _head("r1"), _head("clmm")
    ('Estimate', 'SE', 'p', 'r1', 'CLMM')
    """
    if name in _SHORT:
        return name.upper()
    return _begin(name) if len(name.split(" ")[0]) > 3 and name[:1].islower() else name


def _name_heads(note: str) -> str:
    """Return a note that names short columns as their heads do.

    >>> _name_heads("share: of all variance; icc: of what the fixed effects leave")
    'share: of all variance; ICC: of what the fixed effects leave'
    """
    return _SHORT_NAME.sub(lambda found: found[0].upper(), note)


def _begin(text: str, names: Collection[str] = ()) -> str:
    """Return a sentence with its capital, unless it begins with a name: of a short column, or of the data.

    >>> _begin("points: on the scale"), _begin("gpt2 was left out", {"gpt2"})
    ('Points: on the scale', 'gpt2 was left out')
    """
    first, colon, rest = text.partition(":")
    if len(text.partition(" ")[0]) < 2:  # a statistic, such as t
        return text
    if any(text.startswith((f"{name} ", f"{name},", f"{name}:")) for name in names if name):
        return text
    if first in _SHORT:
        return first.upper() + colon + rest
    return text if len(first) < 4 else capitalise(text)


def _kind(columns: int) -> str:
    """Return what a table is to the style sheet: wide ones are set close, matrices keep names in view."""
    return " dense matrix" if columns > _MOST_COLUMNS else " dense" if columns > 6 else ""


def _side(align: str) -> str:
    return ' class="num"' if align == "right" else ""


def _number(text: str, align: str) -> str:
    """Return a cell; numbers get a true minus sign, and intervals do not break."""
    if align == "right" or is_interval(text):
        shown = escape(typeset(write_out(group_digits(text)))).replace("-", "\N{MINUS SIGN}")
        return f'<span class="nowrap">{shown}</span>' if is_interval(text) else shown
    return escape(typeset(text))
