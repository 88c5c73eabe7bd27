"""An analysis becomes a report: one HTML page, and beside it figures, tables, words and references."""

import json
import os
from datetime import UTC, date, datetime
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from panelist.analysis.analyse import analyse
from panelist.core.display.result import json_ready
from panelist.core.errors import BadFile
from panelist.core.files import check_folder, check_place, replace_file
from panelist.core.progress import OnProgress, Progress, ignore
from panelist.reports.methods import write_methods, write_results
from panelist.reports.provenance import describe_provenance
from panelist.reports.references import list_references, write_bibtex
from panelist.reports.report.estimate_charts import Chart, make_chart
from panelist.reports.report.page import render_html
from panelist.reports.report.report_tables import draw_csv, draw_latex, list_tables
from panelist.reports.reporting.appendix import draw_appendix
from panelist.reports.reporting.check import check_reporting

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis

EPOCH = "SOURCE_DATE_EPOCH"


def write_report(
    analysis: "Analysis | str | PathLike[str]",
    path: str | PathLike[str],
    *,
    made: date | None = None,
    files: bool = True,
    on_progress: OnProgress | None = None,
) -> list[Path]:
    """Write the page to ``path`` and, with ``files``, a folder beside it; return what was written.

    The folder is named after the page, with ``_files`` at its end. The same analysis gives the same bytes,
    except for the date: ``made``, else that of SOURCE_DATE_EPOCH, else today. Given the folder of a study
    instead of an analysis, it is analysed first.
    """
    target = check_report_path(path, files=files)
    if isinstance(analysis, str | PathLike):
        analysis = analyse(analysis)
    day = made or _find_date()
    folder = target.with_name(f"{target.stem}_files") if files else None
    tell = on_progress or ignore
    try:
        tell(Progress(0, 2, "page"))
        page = render_html(analysis, say_date(day), target.name, folder.name if folder else None)
        written = [target]
        if folder is not None:
            tell(Progress(1, 2, "files"))
            written += _fill_folder(analysis, folder, target.name, day)
        replace_file(target, page)
    except OSError as error:
        raise BadFile(f"The report cannot be written to {target}: {error.strerror or error}.") from error
    return written


def check_report_path(path: str | PathLike[str], *, files: bool = True) -> Path:
    """Return the path if a report can be written there, or raise BadFile; nothing is written yet."""
    target = Path(path)
    if target.suffix.casefold() not in (".html", ".htm"):
        found = f"the ending {target.suffix!r}" if target.suffix else "no ending"
        raise BadFile(f"A report is an HTML file, such as report.html; {str(path)!r} has {found}.")
    check_place(target, "report")
    if files:
        check_folder(target.with_name(f"{target.stem}_files"), "files of the report")
    return target


def _fill_folder(analysis: "Analysis", folder: Path, report: str, day: date) -> list[Path]:
    """Make all files beside the page before the first goes to its place; return where they are."""
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as draft:
        made = _write_files(analysis, Path(draft), report, day)
        places = [folder / path.relative_to(draft) for path in made]
        for path, place in zip(made, places, strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)
    return places


def _find_date() -> date:
    epoch = os.environ.get(EPOCH, "")
    if not epoch:
        return datetime.now(UTC).astimezone().date()
    try:
        return datetime.fromtimestamp(int(epoch), UTC).date()
    except (ValueError, OverflowError, OSError):
        raise BadFile(f"{EPOCH} must be a whole number of seconds since 1970. Got {epoch!r}.") from None


def say_date(day: date) -> str:
    """Return a date in words.

    >>> say_date(date(2026, 11, 4))
    '4 November 2026'
    """
    months = "January February March April May June July August September October November December"
    return f"{day.day} {months.split()[day.month - 1]} {day.year}"


def _write_files(analysis: "Analysis", folder: Path, report: str, day: date) -> list[Path]:
    """Write everything beside the page into an empty folder; return the files."""
    from panelist.reports.figures.report_figures import draw_figures

    for part in (folder / "figures", folder / "tables"):
        part.mkdir()
    simulated = analysis.data.simulated()
    mark = f"**{simulated}.**\n\n" if simulated else ""
    texts = {
        "methods.md": f"# Methods\n\n{mark}{write_methods(analysis)}\n",
        "results.md": f"# Results\n\n{mark}{write_results(analysis)}\n",
        "references.bib": write_bibtex(list_references(analysis)),
        "analysis.json": analysis.to_json() + "\n",
        "provenance.json": json.dumps(
            json_ready(describe_provenance(analysis, report, say_date(day))), ensure_ascii=False, indent=2
        )
        + "\n",
    }
    if analysis.study is not None:
        texts["appendix.tex"] = draw_appendix(check_reporting(analysis.study, analysis), analysis)
    written = []
    for table in list_tables(analysis):
        texts[f"tables/{table.name}.tex"] = draw_latex(table)
        texts[f"tables/{table.name}.csv"] = draw_csv(table)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    made = ((one.criterion, make_chart(one)) for one in analysis.criteria)
    charts = {name: chart for name, chart in made if isinstance(chart, Chart)}
    return written + draw_figures(analysis, charts, folder / "figures")
