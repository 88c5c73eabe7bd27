"""Markdown to HTML, the one renderer with two policies: for outputs of systems, and for texts of researchers.

Raw HTML is text in both, pictures are their words, and what comes out passes the sanitiser. Outputs have no
links (an address would be fetched, and tell the other side who reads), and their headings stand below all of
the page; researchers may link.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape

from panelist.formats.base import FormatOptions, Say
from panelist.formats.formulas import CLOSING, DISPLAYED, convert, is_wide, use_formulas
from panelist.formats.highlight import render_code, split_info
from panelist.formats.sanitise import REGION, sanitise

_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_BAR = re.compile(r"(?<!\\)\|")
_BOX = re.compile(r"\[([ xX])\](?=\s)")
_ALIGNED = {"text-align:left": "start", "text-align:center": "middle", "text-align:right": "end"}

Tokens = Sequence[Token]
Env = MutableMapping[str, Any]


class _Rendering(RendererHTML):
    """What both policies share: pictures as words, and alignment by classes."""

    def image(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        return str(escape(self.renderInlineAsText(tokens[place].children, options, env)))

    def th_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        tokens[place].attrSet("scope", "col")
        return self.td_open(tokens, place, options, env)

    def td_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        if named := _ALIGNED.get(str(tokens[place].attrGet("style"))):  # the style itself is dropped later
            tokens[place].attrSet("class", named)
        return self.renderToken(tokens, place, options, env)

    def ordered_list_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        """Return the start of a list with room for its longest number."""
        level = tokens[place].level
        last = int(first) - 1 if (first := tokens[place].attrGet("start")) is not None else 0
        for token in tokens[place + 1 :]:
            if token.level == level:
                break
            last += token.type == "list_item_open" and token.level == level + 1
        if last > 9:
            tokens[place].attrSet("class", f"digits-{min(len(str(last)), 9)}")
        return self.renderToken(tokens, place, options, env)


class _ResearcherRendering(_Rendering):
    """Texts of researchers: links open beside the page and tell the other side nothing."""

    def heading_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        tokens[place].tag = f"h{min(int(tokens[place].tag[1]) + 1, 6)}"  # the page has the first
        return self.renderToken(tokens, place, options, env)

    heading_close = heading_open

    def link_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        tokens[place].attrSet("target", "_blank")
        return self.renderToken(tokens, place, options, env)


class _OutputRendering(_Rendering):
    """Outputs: each block finds its own direction; code, wide tables and wide formulas scroll by themselves.

    ``env`` holds the options of the study, the words of the page, and how many of each there were so far.
    """

    def heading_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        """Return the start of a heading, two levels down; one that skips a level stands below the last."""
        written, above = len(tokens[place].markup), env.setdefault("above", [])
        if tokens[place].markup[0] in "=-":
            written = 1 if tokens[place].markup == "=" else 2
        while above and above[-1] >= written:
            above.pop()
        above.append(written)
        tokens[place].tag = env["heading"] = f"h{min(2 + len(above), 6)}"
        return self.renderToken(tokens, place, options, env)

    def heading_close(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        return f"</{env['heading']}>\n"

    def renderToken(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        token = tokens[place]
        if token.block and token.nesting == 1 and token.level == 0:
            token.attrSet("dir", "auto")
        return super().renderToken(tokens, place, options, env)

    def link_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        return ""

    link_close = link_open

    def code_inline(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        return _show_source(tokens[place].content)

    def fence(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        token = tokens[place]
        language, beside = split_info(token.info)
        code = token.content.removesuffix("\n")
        number = _count(env, "code")
        return str(render_code(code, language, env["options"].highlight, env["say"], number, beside))

    def code_block(self, tokens: Tokens, idx: int, options: Any, env: Env) -> str:
        return self.fence(tokens, idx, options, env)

    def table_open(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        say: Say = env["say"]
        label = escape(say("shown_table", _count(env, "table")))
        return f'<div class="scroller" {REGION}{label}" dir="auto"><table>\n'

    def table_close(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        return "</table></div>\n"

    def math_inline(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        token = tokens[place]
        math = convert(token.content, token.markup in DISPLAYED)
        if math is None:
            return _show_source(write_source(token))
        return _scroll("span", math, env) if is_wide(math) else math

    def math_block(self, tokens: Tokens, place: int, options: Any, env: Env) -> str:
        token = tokens[place]
        math = convert(token.content, True)
        if math is None:
            code = render_code(write_source(token), "", False, env["say"], _count(env, "code"))
            return str(code)
        return _scroll("div", math, env) if is_wide(math) else f"<p>{math}</p>\n"


def write_source(token: Token) -> str:
    """Return a formula as it was written."""
    return f"{token.markup}{token.content}{CLOSING[token.markup]}"


def _show_source(code: str) -> str:
    """Return code within a line: it keeps its own direction."""
    return f'<bdi dir="ltr"><code>{escape(code)}</code></bdi>'


def _scroll(tag: str, math: str, env: Env) -> str:
    say: Say = env["say"]
    label = escape(say("shown_formula", _count(env, "formula")))
    return f'<{tag} class="scroller formula" {REGION}{label}">{math}</{tag}>'


def _count(env: Env, kind: str) -> int:
    env[kind] = env.get(kind, 0) + 1
    return int(env[kind])


def _tick_boxes(state: StateCore) -> None:
    """Show the boxes of a list of tasks as signs."""
    for before, token in zip(state.tokens[1:], state.tokens[2:], strict=False):
        if token.type == "inline" and before.type == "paragraph_open" and token.children:
            first = token.children[0]
            if first.type == "text" and (box := _BOX.match(first.content)) and token.level >= 3:
                first.content = ("☐" if box[1] == " " else "☑") + first.content[3:]


def _read_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a table, unless a row has more cells than the header: those would be dropped, and no word of an
    output may be. Such rows are shown as they were written.
    """
    before, line = len(state.tokens), state.line
    if not table(state, start, end, silent):
        return False
    if silent:
        return True
    width = sum(token.type == "th_open" for token in state.tokens[before:])
    if any(_count_cells(state, row) > width for row in range(start + 2, state.line)):
        del state.tokens[before:]
        state.line = line
        return False
    return True


def _count_cells(state: StateBlock, row: int) -> int:
    text = state.src[state.bMarks[row] + state.tShift[row] : state.eMarks[row]].strip()
    cells = _BAR.split(text)
    return len(cells) - (cells[0] == "") - (len(cells) > 1 and cells[-1] == "")


def _make_parser(rendering: type[_Rendering], *, formulas: bool = False) -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=rendering)
    markdown.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])
    markdown.block.ruler.at("table", _read_table, {"alt": ["paragraph", "reference"]})
    if formulas:
        use_formulas(markdown)
    return markdown


def _make_output_parser(*, formulas: bool) -> MarkdownIt:
    markdown = _make_parser(_OutputRendering, formulas=formulas)
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]  # none is shown, so all are words
    markdown.core.ruler.push("task_boxes", _tick_boxes)
    return markdown


def _make_researcher_parser() -> MarkdownIt:
    markdown = _make_parser(_ResearcherRendering)
    markdown.validateLink = lambda url: _SAFE_LINK.match(url.strip()) is not None  # type: ignore[method-assign]
    return markdown


_PARSERS = {formulas: _make_output_parser(formulas=formulas) for formulas in (False, True)}
_RESEARCHERS = _make_researcher_parser()


@lru_cache(4)
def parse_output(text: str, formulas: bool) -> list[Token]:
    """Return the tokens of an output in Markdown; those of the last are kept, for its words or its HTML."""
    return _PARSERS[formulas].parse(text)


def render_output(text: str, options: FormatOptions, say: Say) -> Markup:
    """Return the HTML of an output in Markdown."""
    markdown, tokens = _PARSERS[options.formulas], parse_output(text, options.formulas)
    html = markdown.renderer.render(tokens, markdown.options, {"options": options, "say": say})
    return sanitise(f'<div class="prose">{html}</div>')


def render_markdown(text: str) -> Markup:
    """Return the HTML of a text of researchers.

    >>> render_markdown("**Read** <b>both</b>.")
    Markup('<p><strong>Read</strong> &lt;b&gt;both&lt;/b&gt;.</p>\\n')
    """
    return sanitise(_RESEARCHERS.render(text), links=True)


def render_line(text: str) -> Markup:
    """Return the HTML of one line of researchers, without a paragraph around it."""
    return sanitise(_RESEARCHERS.renderInline(text), links=True)
