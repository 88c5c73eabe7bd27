"""A reproduction report as a file: Markdown, HTML, LaTeX or JSON, by the end of its name."""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path

from panelist.core.display.markdown import draw_markdown
from panelist.core.display.result import Result
from panelist.core.files import check_target, replace_file

ENDINGS = (".md", ".html", ".tex", ".json")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color:
#222; }} table {{ border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }}
caption {{ text-align: left; font-weight: 600; padding: .3rem 0; }}
th, td {{ padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }}
.right {{ text-align: right; font-variant-numeric: tabular-nums; }}
.note {{ color: #555; font-size: .9rem; }}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def check_report_path(path: str | PathLike[str]) -> Path:
    """Return the path, or raise BadFile where no report can be written to it."""
    return check_target(path, "report", ENDINGS)


def write_result(result: Result, path: str | PathLike[str]) -> Path:
    """Write a result in the format that the path ends in; return the path. All or nothing."""
    target = check_report_path(path)
    ending = target.suffix.casefold()
    if ending == ".html":
        text = _PAGE.format(title=escape(result.title()), body=result._repr_html_().replace("h3>", "h1>"))
    elif ending == ".md":
        text = draw_markdown(result, level=1)
    else:
        text = (result.to_latex() if ending == ".tex" else result.to_json()) + "\n"
    replace_file(target, text)
    return target
