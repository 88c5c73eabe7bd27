"""A sheet as one self-contained page, in the design of the report."""

from importlib.resources import files
from pathlib import Path

from panelist.reports.datasheet.files.sheet_view import CITATION, LICENCE, say_counts, view_sheet
from panelist.reports.datasheet.sheet import Sheet
from panelist.reports.report.page import STYLES


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
        css="\n".join(
            _read(*place) for place in (*STYLES, ("panelist.reports.datasheet", "templates", "heds.css"))
        ),
    )


def _read(package: str, *names: str) -> str:
    path = files(package)
    for name in names:
        path = path / name
    return path.read_text(encoding="utf-8")
