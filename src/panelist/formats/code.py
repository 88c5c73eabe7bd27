"""Code: monospaced, as it was written, with a sideways scroll of its own."""

from markupsafe import Markup

from panelist.formats.base import FORMATS, FormatOptions, Say, Stimulus, StimulusFormat
from panelist.formats.highlight import find_lexer, render_code, suggest_language
from panelist.formats.plain import trim_text
from panelist.formats.sanitise import sanitise


class CodeFormat(StimulusFormat):
    """Code in one programming language, or in that which a column names."""

    def find_note(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return that a language is unknown: its code is shown without keywords set off."""
        language = find_language(cell, options)
        if not language or find_lexer(language) is not None:
            return ""
        near = suggest_language(language)
        return f"the language {language!r} is unknown, so its keywords are not set off. {near}"

    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return the code itself."""
        return cell.text

    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the code as a block."""
        code = trim_text(cell.text)
        return sanitise(render_code(code, find_language(cell, options), options.highlight, say, 1))


def find_language(cell: Stimulus, options: FormatOptions) -> str:
    """Return the language of a cell: what its row says, else what the study says."""
    return cell.language.strip() or options.code.language


FORMATS.register("code")(CodeFormat())
