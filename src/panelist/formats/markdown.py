"""Markdown: what language models write, with tables, code and formulas; HTML in it is text."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from markdown_it.token import Token
from markupsafe import Markup

from panelist.formats.base import FORMATS, FormatOptions, Say, Stimulus, StimulusFormat
from panelist.formats.commonmark import parse_output, render_output, write_source
from panelist.formats.formulas import LONGEST_FORMULA
from panelist.formats.plain import render_text

LONGEST_MARKDOWN = 50_000
"""The characters up to which a text is read as Markdown, some 8,000 words: rendering takes up to a second for
these, and nobody reads more on one page."""
WORDS_KEPT = 10_000

_FENCE = re.compile(r"\s*(?:```|~~~)")
_STRUCTURE = re.compile(r"[\s>]*(?:#{1,6}\s|[-*+]\s+(?:\[[ xX]\]\s)?|\d{1,9}[.)]\s)?[\s>]*")
_RULED = re.compile(r"[\s>|:*_=-]*")  # a line without words: a rule, or what stands under a table's header
# No end is looked for further than this, so that a line full of beginnings takes no longer than others.
_NEAR, _FAR = 400, LONGEST_FORMULA
_WHOLE = re.compile(
    rf"`{{1,9}}[^`\n]{{1,{_NEAR}}}`{{1,9}}|\*\*[^*\n]{{1,{_NEAR}}}\*\*|\*[^*\s][^*\n]{{0,{_NEAR}}}\*"
    rf"|\$[^$\n]{{1,{_FAR}}}\$|\\\(.{{1,{_FAR}}}?\\\)|!?\[[^\]\n]{{0,{_NEAR}}}\]\([^)\n]{{0,{_NEAR}}}\)"
)
_GAP = re.compile(r"\n{3,}")
_HELD = "\ue000"  # stands for a space that must stay within its words


class MarkdownFormat(StimulusFormat):
    """Markdown."""

    longest = LONGEST_MARKDOWN

    def find_note(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return that a text is too long to be read as Markdown."""
        if len(cell.text) <= LONGEST_MARKDOWN:
            return ""
        return (
            f"over {LONGEST_MARKDOWN:,} characters, so it is shown as plain text, with its asterisks. "
            "Split it, or declare the column plain."
        )

    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return the words: a paragraph for each block, a line for each item of a list or row of a table."""
        if len(cell.text) > LONGEST_MARKDOWN:
            return cell.text
        return _read_words(cell.text, options.formulas)

    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the text with its headings, lists, tables, code and formulas."""
        if options.flatten or len(cell.text) > LONGEST_MARKDOWN:
            return render_text(self.read_words(cell, options))
        return render_output(cell.text, options, say)

    def rewrite(self, cell: Stimulus, options: FormatOptions, change: Callable[[str], str]) -> str:
        """Return the text with its words changed line by line: lists, tables and code stay what they are."""
        if len(cell.text) > LONGEST_MARKDOWN:
            return change(cell.text)
        lines, fenced = [], False
        for line in cell.text.splitlines(keepends=True):
            body = line.rstrip("\r\n")
            if _FENCE.match(body):
                fenced = not fenced
            elif not _RULED.fullmatch(body):
                line = _rewrite_line(body, fenced, change) + line[len(body) :]
            lines.append(line)
        return "".join(lines)


def _rewrite_line(line: str, fenced: bool, change: Callable[[str], str]) -> str:
    if fenced:
        return change(line)
    start = _STRUCTURE.match(line)
    assert start is not None, "the pattern matches nothing, too"
    words = _WHOLE.sub(lambda found: found[0].replace(" ", _HELD), line[start.end() :])
    cells = words.split("|") if line.lstrip().startswith("|") else [words]
    changed = "|".join(change(one) if one.strip() else one for one in cells)
    return start[0] + changed.replace(_HELD, " ")


_ENDS = {
    "paragraph_close": "\n\n",
    "heading_close": "\n\n",
    "bullet_list_close": "\n",
    "ordered_list_close": "\n",
    "td_close": "\t",
    "th_close": "\t",
    "tr_close": "\n",
    "table_close": "\n",
}
_TIGHT = {"paragraph_close": "\n"}


@lru_cache(WORDS_KEPT)
def _read_words(text: str, formulas: bool) -> str:
    words = "".join(_list_words(parse_output(text, formulas)))
    return _GAP.sub("\n\n", words).strip("\n")


def _list_words(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield "".join(_list_inline(token.children or []))
        elif token.type in ("fence", "code_block"):
            yield token.content + "\n"
        elif token.type == "math_block":
            yield write_source(token) + "\n\n"
        elif token.hidden:
            yield _TIGHT.get(token.type, "")
        else:
            yield _ENDS.get(token.type, "")


def _list_inline(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "image":
            yield from _list_inline(token.children or [])
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"
        else:
            yield write_source(token) if token.type == "math_inline" else token.content


FORMATS.register("markdown")(MarkdownFormat())
