r"""What a study reports, as LaTeX for an appendix: published lists, departures, and the whole datasheet.

No preamble: a paper has its own, with ``\usepackage{array,booktabs,longtable}``.
"""

from typing import TYPE_CHECKING

from panelist.analysis.departures import Departures
from panelist.core.display.latex import latex, long_table
from panelist.core.display.result import Table
from panelist.reports.datasheet.files.sheet_view import MACROS, render_latex_body
from panelist.reports.reporting.check import ReportingCheck

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis

NEEDS = (
    r"% \usepackage{array,booktabs,longtable} in the preamble, \input{appendix} after \appendix;",
    "% letters beyond Latin need LuaLaTeX or XeLaTeX. The keys of \\cite are those of references.bib.",
)


def draw_appendix(check: ReportingCheck, analysis: "Analysis | None" = None) -> str:
    """Return the appendix; without an analysis, what is known before there are ratings."""
    simulated = "" if analysis is None else analysis.data.simulated()
    cited = rf"They are published as~\cite{{{','.join(check.references)}}}."
    lines = [*NEEDS, r"\section{What is reported, by published lists}", r"\label{sec:reporting}"]
    lines += [rf"\textbf{{{latex(str(simulated))}.}}" + "\n"] if simulated else []
    lines += [f"{latex(check.sentence())} {cited}", "", _draw(check.table(), "reporting-criteria")]
    departures = None if analysis is None else analysis.departures
    if isinstance(departures, Departures):
        lines += [rf"\section{{{latex(departures.title())}}}", latex(departures.sentence()), ""]
        lines += [_draw(departures.table(), "declared-and-done")] if departures.rows else []
    lines += [r"\section{Human Evaluation Datasheet}", r"\label{sec:datasheet}"]
    lines += [
        r"\begingroup\setlength{\parindent}{0pt}\sloppy",
        MACROS,
        render_latex_body(check.sheet) + r"\endgroup",
    ]
    return "\n".join([*lines, ""])


def _draw(table: Table, label: str) -> str:
    return long_table(table.caption, f"tab:{label}", table.header, table.written())
