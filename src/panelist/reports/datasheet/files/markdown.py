"""A sheet as Markdown, for a repository or a supplement."""

from panelist.core.display.markdown import markdown
from panelist.reports.datasheet.files.sheet_view import CITATION, LICENCE, Row, say_counts, view_sheet
from panelist.reports.datasheet.sheet import Sheet


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
