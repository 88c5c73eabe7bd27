"""Plain text: shown as it was written, in paragraphs; nothing in it is markup."""

import re
from difflib import SequenceMatcher
from itertools import count

from markupsafe import Markup, escape

from panelist.formats.base import FORMATS, FormatOptions, Say, Stimulus, StimulusFormat

_BLANK_LINE = re.compile(r"(?<!\n)\n\n")
_WORD, _SPACE = re.compile(r"\S+"), re.compile(r"(\s+)")
MOST_COMPARED = 1500  # words of a text
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
    # Escaped as a whole, which leaves line ends alone: a paragraph at a time took 2 s for a megabyte of them.
    return Markup("<p>{}</p>").format(Markup(_BLANK_LINE.sub("</p><p>", str(escape(trim_text(text))))))


def mark_differences(first: str, second: str) -> tuple[Markup, Markup]:
    """Return two texts as ``render_text`` does, with the words underlined that the other does not have there.

    Texts of very many words are shown without marks: they would take too long to compare.

    >>> mark_differences("a red cat", "a blue cat")[0]
    Markup('<p>a <u>red</u> cat</p>')
    """
    words = [_WORD.findall(trim_text(text)) for text in (first, second)]
    if max(map(len, words)) > MOST_COMPARED:
        return render_text(first), render_text(second)
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    alike: tuple[set[int], set[int]] = (set(), set())
    for one, two, size in matcher.get_matching_blocks():
        alike[0].update(range(one, one + size))
        alike[1].update(range(two, two + size))
    return _underline(first, alike[0]), _underline(second, alike[1])


def _underline(text: str, alike: set[int]) -> Markup:
    """Return a text in paragraphs, with all words underlined but those of these numbers."""
    numbers = count()

    def draw(part: str) -> Markup:
        pieces = [escape(piece) for piece in _SPACE.split(part)]
        for place, piece in enumerate(pieces):
            if piece.strip() and next(numbers) not in alike:
                pieces[place] = Markup("<u>{}</u>").format(piece)
        return Markup("<p>{}</p>").format(Markup("").join(pieces))

    return Markup("").join(draw(part) for part in _BLANK_LINE.split(trim_text(text)))


def trim_text(text: str) -> str:
    """Return a text without what nobody sees: blank lines before it, and white space after it.

    >>> trim_text("\\r\\n  one\\r\\n\\ttwo\\n\\n")
    '  one\\n\\ttwo'
    """
    return _BEFORE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip()


FORMATS.register("plain")(Plain())
