"""HTML of researchers' texts, and of nothing at all, for pages."""

from markupsafe import Markup

from panelist.formats.commonmark import render_line, render_markdown

__all__ = ["NOTHING", "render_line", "render_markdown"]

NOTHING = Markup("")
