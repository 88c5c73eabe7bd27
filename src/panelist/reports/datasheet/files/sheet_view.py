"""A sheet as people read it: sections, questions, answers in words; drawn as Markdown, LaTeX and HTML."""

from dataclasses import dataclass
from pathlib import Path

from panelist.core.display.latex import latex
from panelist.core.display.markdown import markdown
from panelist.reports.datasheet.heds_questions import list_sections
from panelist.reports.datasheet.sheet import Sheet, describe_answer, say_missing
from panelist.reports.page_style import read_styles

CITATION = {
    "3.0": "Belz & Thomson (2025), HEDS 3.0, https://aclanthology.org/2025.gem-1.6",
    "2.x": "Shimorina & Belz (2022), The Human Evaluation Datasheet, https://aclanthology.org/2022.humeval-1.6",
}
LICENCE = "The labels of options are those of the datasheet (CC BY 4.0); the questions are reworded."


@dataclass(frozen=True)
class Row:
    """One question with its answer, a paragraph each; ``open`` says that it is open."""

    number: str
    title: str
    answer: tuple[str, ...]
    open: str
    draft: bool


@dataclass(frozen=True)
class SheetGroup:
    """Questions under one heading: a section, or a criterion in section 4."""

    section: str
    heading: str
    criterion: str
    rows: tuple[Row, ...]


def view_sheet(sheet: Sheet) -> list[SheetGroup]:
    """Return the sheet as groups, in the order of the form."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for question, criterion in sheet.places():
        answer = sheet.answer(question.number, criterion)
        row = Row(
            question.number,
            question.title,
            tuple(describe_answer(question, answer)),
            _say_open(say_missing(question, answer)),
            answer.draft,
        )
        groups.setdefault((question.section, criterion), []).append(row)
    titles = list_sections()
    made = []
    for (section, criterion), rows in groups.items():
        heading = f"{section} {titles[section]}" + (f": {criterion}" if criterion else "")
        made.append(SheetGroup(section, heading, criterion, tuple(rows)))
    return made


def say_more(missing: str) -> str:
    """Return what is missing where something is there already, in brackets."""
    return "" if missing in ("", "no answer", "no option") else f" [{missing}]"


def _say_open(missing: str) -> str:
    return f"Open{say_more(missing)}" if missing else ""


def count_answers(sheet: Sheet) -> tuple[int, int, int]:
    """Return how many questions are answered, how many of these are drafts, and how many are open."""
    n_open = len(sheet.open())
    return sum(1 for _ in sheet.places()) - n_open, len(sheet.drafts()), n_open


def say_counts(sheet: Sheet) -> str:
    """Return the counts in words."""
    answered, drafts, n_open = count_answers(sheet)
    drafted = f" ({drafts} of them drafts to read)" if drafts else ""
    return f"{answered} questions answered{drafted}, {n_open} open."


def render_markdown(sheet: Sheet) -> str:
    """Return the sheet as a Markdown page."""
    lines = [
        f"# {markdown(sheet.title)}",
        "",
        f"Human Evaluation Datasheet, HEDS {sheet.version}. {say_counts(sheet)}",
        *(["", f"**{markdown(sheet.simulated)}.**"] if sheet.simulated else []),
    ]
    for group in view_sheet(sheet):
        lines += ["", f"## {markdown(group.heading)}"]
        for row in group.rows:
            lines += ["", f"**{row.number} {markdown(row.title)}**", *_write_row(row)]
    lines += ["", "---", "", f"{CITATION[sheet.version]}. {LICENCE}"]
    return "\n".join(lines) + "\n"


def _write_row(row: Row) -> list[str]:
    lines: list[str] = []
    for paragraph in row.answer:
        lines += ["", "  \n".join(markdown(line) for line in paragraph.splitlines())]
    if row.open:
        lines += ["", f"*{row.open}.*"]
    return lines


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
"""
MACROS = r"""\newcommand{\hedsquestion}[2]{\par\medskip\textbf{#1\quad #2}\nopagebreak\par}
\newcommand{\hedsopen}[1]{\emph{#1.}\par}"""
"""What render_latex_body uses."""


def render_latex(sheet: Sheet) -> str:
    """Return the sheet as a LaTeX document; letters beyond Latin need LuaLaTeX or XeLaTeX."""
    title = [r"\begin{document}", rf"\section*{{{latex(sheet.title)}}}"]
    return "\n".join([_OPENING + MACROS, *title, render_latex_body(sheet) + r"\end{document}", ""])


def render_latex_body(sheet: Sheet) -> str:
    """Return what stands under the title of the document, for a place in another one."""
    lines = [
        latex(f"Human Evaluation Datasheet, HEDS {sheet.version}. {say_counts(sheet)}"),
        *([rf"\par\textbf{{{latex(sheet.simulated)}.}}\par"] if sheet.simulated else []),
    ]
    for group in view_sheet(sheet):
        lines += ["", rf"\subsection*{{{latex(group.heading)}}}"]
        for row in group.rows:
            lines += [rf"\hedsquestion{{{row.number}}}{{{latex(row.title)}}}", *_write_latex_row(row)]
    lines += ["", r"{\bigskip\footnotesize " + latex(f"{CITATION[sheet.version]}. {LICENCE}") + r"\par}"]
    return "\n".join(lines) + "\n"


def _write_latex_row(row: Row) -> list[str]:
    lines = [
        latex(line) + r"\par" for paragraph in row.answer for line in paragraph.splitlines() if line.strip()
    ]
    return [*lines, *([rf"\hedsopen{{{latex(row.open)}}}"] if row.open else [])]


def render_html(sheet: Sheet) -> str:
    """Return the page."""
    from panelist.core.display.templates import make_environment

    environment = make_environment(Path(__file__).parents[1] / "templates")
    open_places = [(one.question.number, one.question.title, one.criterion) for one in sheet.open()]
    groups = view_sheet(sheet)
    anchors = [f"g{place}" for place in range(len(groups))]
    return environment.get_template("heds.html").render(
        sheet=sheet,
        groups=list(zip(anchors, groups, strict=True)),
        counts=say_counts(sheet),
        open_places=open_places,
        citation=CITATION[sheet.version],
        licence=LICENCE,
        css=read_styles(("panelist.reports.datasheet", "templates", "heds.css")),
    )
