"""A sheet as one self-contained page, in the design of the report."""

from importlib.resources import files

from panelist.reports.heds.sheet import Sheet
from panelist.reports.heds.view import CITATION, LICENCE, say_counts, view_sheet
from panelist.reports.html import STYLES


def render_html(sheet: Sheet) -> str:
    """Return the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("panelist.reports.heds", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
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
            _read(*place) for place in (*STYLES, ("panelist.reports.heds", "templates", "heds.css"))
        ),
    )


def _read(package: str, *names: str) -> str:
    path = files(package)
    for name in names:
        path = path / name
    return path.read_text(encoding="utf-8")
