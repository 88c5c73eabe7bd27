r"""Formulas in Markdown: found between ``$…$``, ``$$…$$``, ``\(…\)`` and ``\[…\]``, shown as MathML.

One that cannot be converted is shown as its source. No delimiter is looked for further than a formula may be
long, so that a text full of delimiters which are never closed takes no longer than others.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from math_core import LatexError, LatexToMathML

from panelist.formats.sanitise import CLASSES

LONGEST_FORMULA = 2000  # characters; deeper nesting than fits into these would exhaust the converter
MOST_LINES = 40
WIDE = 28  # visible letters that may not fit beside each other on a phone
CLOSING = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"}
DISPLAYED = ("$$", "\\[")

_CONVERTER = LatexToMathML(fancy_error=False)
_STYLE = re.compile(r' style="([^"]*)"')
_TAG = re.compile(r"<[^>]*>")
_CLASS_OF_STYLE = {
    "text-align:left": "left",
    "text-align:right": "right",
    "padding-left:0": "tight-left",
    "padding-right:0": "tight-right",
    "padding-left:1em": "gap",
    "border-left": "rule-left",
    "border-right": "rule-right",
    "border-top": "rule-top",
}


def convert(source: str, display: bool) -> str | None:
    """Return a formula of LaTeX as MathML without styles, None where it cannot be read.

    >>> convert("x<1", False)
    '<math dir="ltr"><mi>x</mi><mo>&lt;</mo><mn>1</mn></math>'
    """
    if len(source) > LONGEST_FORMULA or not source.strip():
        return None
    try:
        math = _CONVERTER.convert_with_local_state(source, displaystyle=display)
    except LatexError:
        return None
    return _STYLE.sub(_name_style, math).replace("<math", '<math dir="ltr"', 1)


def _name_style(found: re.Match[str]) -> str:
    """Return the classes for a style of the converter; alignment and rules are kept, colours are not."""
    parts = [part.replace(" ", "") for part in found[1].split(";")]
    names = [_CLASS_OF_STYLE.get(part) or _CLASS_OF_STYLE.get(part.partition(":")[0]) for part in parts]
    kept = " ".join(name for name in names if name in CLASSES["mtd"])
    return f' class="{kept}"' if kept else ""


def is_wide(math: str) -> bool:
    """Return whether a formula may be wider than a phone, and so scrolls by itself."""
    return len(_TAG.sub("", math)) > WIDE


def use_formulas(markdown: MarkdownIt) -> None:
    """Let a parser of Markdown find formulas: tokens math_inline and math_block, markup the delimiter."""
    markdown.inline.ruler.before("escape", "math_inline", _find_inline)
    markdown.block.ruler.before("fence", "math_block", _find_block, {"alt": ["paragraph"]})


def _find_inline(state: StateInline, silent: bool) -> bool:
    opening = _find_opening(state.src, state.pos)
    if not opening:
        return False
    start = state.pos + len(opening)
    end = _find_end(state.src, opening, start)
    if end < 0 or (opening == "$" and not _is_formula(state.src, state.pos, end)):
        return False
    source = state.src[start:end]
    if not source.strip():
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content, token.markup = source, opening
    state.pos = end + len(opening)
    return True


def _find_opening(text: str, place: int) -> str:
    if text[place] not in "$\\":
        return ""
    return next((mark for mark in CLOSING if text.startswith(mark, place)), "")


def _find_end(text: str, opening: str, start: int) -> int:
    """Return where a formula is closed, -1 where it is not."""
    closing, last = CLOSING[opening], start + LONGEST_FORMULA
    end = text.find(closing, start, last)
    while closing == "$" and end > 0 and text[end - 1] == "\\":
        end = text.find(closing, end + 1, last)
    return end


def _is_formula(text: str, start: int, end: int) -> bool:
    """Return whether single dollars are delimiters: "$5 and $10" stays money."""
    if text[start + 1].isspace() or text[end - 1].isspace():
        return False
    return not (text[start - 1 : start].isdigit() or text[end + 1 : end + 2].isdigit())


def _find_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    r"""Find a formula that has lines of its own: ``$$`` or ``\[`` begins one, its closing ends one."""
    if state.is_code_block(first):
        return False
    start = state.bMarks[first] + state.tShift[first]
    opening = next((mark for mark in DISPLAYED if state.src.startswith(mark, start)), "")
    if not opening:
        return False
    closing, lines = CLOSING[opening], []
    start += len(opening)
    for line in range(first, min(last, first + MOST_LINES)):
        if line > first:
            start = state.bMarks[line] + state.tShift[line]
            if state.sCount[line] < state.blkIndent or start >= state.eMarks[line]:
                return False  # the block ends before the formula does
        text = state.src[start : state.eMarks[line]]
        end = text.find(closing)
        if end >= 0:
            if text[end + len(closing) :].strip():
                return False  # more text follows on the line: then it is a formula within a paragraph
            lines.append(text[:end])
            break
        lines.append(text)
    else:
        return False
    source = "\n".join(lines)
    if not source.strip():
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block, token.content, token.markup = True, source, opening
        token.map = [first, line + 1]
        state.line = line + 1
    return True
