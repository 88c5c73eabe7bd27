"""Markdown of researchers as HTML that is safe to show."""

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

NOTHING = Markup("")

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_HEADINGS = re.compile(r"<(/?)h([1-6])>")


def render_markdown(text: str) -> Markup:
    """Return the HTML of a Markdown text; HTML in it comes out as text, pictures as their description.

    >>> render_markdown("**Read** <b>both</b>.")
    Markup('<p><strong>Read</strong> &lt;b&gt;both&lt;/b&gt;.</p>\\n')
    """
    # The page has its own first heading, so those of the text go one level down.
    html = _HEADINGS.sub(lambda found: f"<{found[1]}h{min(int(found[2]) + 1, 6)}>", _MARKDOWN.render(text))
    return Markup(html)


def render_line(text: str) -> Markup:
    """Return the HTML of one line of Markdown, without a paragraph around it."""
    return Markup(_MARKDOWN.renderInline(text))


def _open_link(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """Return the start of a link that opens beside the page and tells the other side nothing."""
    tokens[place].attrSet("rel", "noopener noreferrer")
    tokens[place].attrSet("target", "_blank")
    return self.renderToken(tokens, place, options, env)


def _describe_image(self: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """Return the words for a picture: pages fetch nothing from elsewhere."""
    return str(escape(tokens[place].content))


def _make_markdown() -> MarkdownIt:
    markdown = (
        MarkdownIt("commonmark", {"html": False}).enable("table").disable(["html_block", "html_inline"])
    )
    markdown.validateLink = lambda url: _SAFE_LINK.match(url.strip()) is not None  # type: ignore[method-assign]
    markdown.add_render_rule("link_open", _open_link)
    markdown.add_render_rule("image", _describe_image)
    return markdown


_MARKDOWN = _make_markdown()
