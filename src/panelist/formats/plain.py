"""Plain text: shown as it was written, in paragraphs; nothing in it is markup."""

import re

from markupsafe import Markup

from panelist.formats.base import FORMATS, FormatOptions, Say, Stimulus, StimulusFormat

_BLANK_LINE = re.compile(r"(?<!\n)\n\n")
_BEFORE = re.compile(r"\A(?:[^\S\n]*\n)+")


class Plain(StimulusFormat):
    """Plain text."""

    blocks = False

    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return the text itself."""
        return cell.text

    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the text in paragraphs."""
        return render_text(cell.text)


def render_text(text: str) -> Markup:
    """Return a text as it was written, in paragraphs; nothing in it is markup.

    A blank line begins a paragraph. All other white space stays in the text, and the style sheet shows it:
    indentation, tabs, single line ends and any further blank lines.

    >>> render_text("One <b>\\n\\ntwo\\n  three")
    Markup('<p>One &lt;b&gt;</p><p>two\\n  three</p>')
    """
    return Markup("").join(Markup("<p>{}</p>").format(part) for part in _BLANK_LINE.split(trim_text(text)))


def trim_text(text: str) -> str:
    """Return a text without what nobody sees: blank lines before it, and white space after it.

    >>> trim_text("\\r\\n  one\\r\\n\\ttwo\\n\\n")
    '  one\\n\\ttwo'
    """
    return _BEFORE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip()


FORMATS.register("plain")(Plain())
