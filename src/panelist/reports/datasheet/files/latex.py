"""A sheet as LaTeX: a complete document, whose body can be moved into an appendix."""

from panelist.core.display.latex import latex
from panelist.reports.datasheet.files.sheet_view import CITATION, LICENCE, Row, say_counts, view_sheet
from panelist.reports.datasheet.sheet import Sheet

_OPENING = r"""\documentclass[a4paper,10pt]{article}
\usepackage{iftex}
\ifPDFTeX
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage{textcomp}
\else
\usepackage{fontspec}
\fi
\usepackage[margin=25mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\sloppy
\newcommand{\hedsquestion}[2]{\par\medskip\textbf{#1\quad #2}\nopagebreak\par}
\newcommand{\hedsopen}[1]{\emph{#1.}\par}
\begin{document}
"""


def render_latex(sheet: Sheet) -> str:
    """Return the sheet as a LaTeX document; letters beyond Latin need LuaLaTeX or XeLaTeX."""
    lines = [
        _OPENING + rf"\section*{{{latex(sheet.title)}}}",
        latex(f"Human Evaluation Datasheet, HEDS {sheet.version}. {say_counts(sheet)}"),
        *([rf"\par\textbf{{{latex(sheet.simulated)}.}}\par"] if sheet.simulated else []),
    ]
    for group in view_sheet(sheet):
        lines += ["", rf"\subsection*{{{latex(group.heading)}}}"]
        for row in group.rows:
            lines += [rf"\hedsquestion{{{row.number}}}{{{latex(row.title)}}}", *_write_row(row)]
    lines += [
        "",
        r"\bigskip\footnotesize " + latex(f"{CITATION[sheet.version]}. {LICENCE}"),
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _write_row(row: Row) -> list[str]:
    lines = [
        latex(line) + r"\par" for paragraph in row.answer for line in paragraph.splitlines() if line.strip()
    ]
    return [*lines, *([rf"\hedsopen{{{latex(row.open)}}}"] if row.open else [])]
