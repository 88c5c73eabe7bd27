"""A sheet as Markdown, for a repository or a supplement."""

import re

from panelist.reports.heds.sheet import Sheet
from panelist.reports.heds.view import CITATION, LICENCE, Row, say_counts, view_sheet


def render_markdown(sheet: Sheet) -> str:
    """Return the sheet as a Markdown page."""
    lines = [
        f"# {escape(sheet.title)}",
        "",
        f"Human Evaluation Datasheet, HEDS {sheet.version}. {say_counts(sheet)}",
        *(["", f"**{escape(sheet.simulated)}.**"] if sheet.simulated else []),
    ]
    for group in view_sheet(sheet):
        lines += ["", f"## {escape(group.heading)}"]
        for row in group.rows:
            lines += ["", f"**{row.number} {escape(row.title)}**", *_write_row(row)]
    lines += ["", "---", "", f"{CITATION[sheet.version]}. {LICENCE}"]
    return "\n".join(lines) + "\n"


def _write_row(row: Row) -> list[str]:
    lines: list[str] = []
    for paragraph in row.answer:
        lines += ["", "  \n".join(escape(line) for line in paragraph.splitlines())]
    if row.open:
        lines += ["", f"*{row.open}.*"]
    return lines


def escape(text: str) -> str:
    r"""Return the text so that Markdown shows it as it is.

    >>> print(escape("1. *a* <b> [c](d) # e"))
    1\. \*a\* \<b\> \[c\](d) \# e
    """
    safe = re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text)
    # What would begin a list, a heading or a rule at the start of a line.
    return re.sub(r"^(\s*)(\d+)([.)])", r"\1\2\\\3", re.sub(r"^(\s*)([-+=])", r"\1\\\2", safe))
