"""Code set off quietly: keywords and comments get a class, no colour, and the text stays as it is.

The same for all systems: colours would draw the eye to code and away from prose.
"""

from functools import lru_cache

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import Comment, Keyword
from pygments.util import ClassNotFound

from panelist.core.errors import did_you_mean
from panelist.formats.base import Say
from panelist.formats.sanitise import REGION

LONGEST_HIGHLIGHTED = 20_000  # characters; some lexers take longer than their share of a text


@lru_cache(512)
def find_lexer(language: str) -> Lexer | None:
    """Return what reads a programming language, by any name that it goes by; None where nothing does."""
    try:
        return get_lexer_by_name(language.strip(), stripnl=False, ensurenl=False)
    except (ClassNotFound, UnicodeError):
        return None


def name_language(language: str) -> str:
    """Return the name of a programming language as people write it.

    >>> name_language("js"), name_language("no such")
    ('JavaScript', 'no such')
    """
    lexer = find_lexer(language)
    return language.strip() if lexer is None else str(lexer.name)


def suggest_language(language: str) -> str:
    """Return which language may be meant by a name that is unknown.

    >>> suggest_language("fortrann")
    "Did you mean 'fortran' or 'fortranfixed' or 'forth'?"
    """
    return did_you_mean(
        language, [alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases]
    )


def split_info(info: str) -> tuple[str, str]:
    """Return the language that the first line of a code block names, and what else it says.

    >>> split_info('python title="main.py"'), split_info("python:src/main.py")
    (('python', 'title="main.py"'), ('python', 'src/main.py'))
    """
    language, _, beside = info.strip().partition(" ")
    name, mark, file = language.partition(":")
    if mark and find_lexer(language) is None and find_lexer(name) is not None:
        language, beside = name, f"{file} {beside}"
    return language, beside.strip()


def render_code(code: str, language: str, highlight: bool, say: Say, number: int, beside: str = "") -> Markup:
    """Return code as a block with its language in words and a sideways scroll of its own; nothing is wrapped.

    ``number`` is which block of its text it is, for those who hear the page; ``beside`` is what a system
    wrote beside the language, such as the name of a file.
    """
    name = name_language(language)
    label = say("shown_code_in", number, language=name) if name else say("shown_code", number)
    between = " " if find_lexer(language) is None else " · "
    said = between.join(filter(None, (name, beside)))
    caption = Markup("<figcaption>{}</figcaption>").format(said) if said else Markup("")
    return Markup(
        '<figure class="code-block">{}<pre dir="ltr" ' + REGION + '{}"><code>{}</code></pre></figure>'
    ).format(caption, label, mark_code(code, language if highlight else ""))


def mark_code(code: str, language: str) -> Markup:
    """Return code with its keywords and comments marked by classes; as it is where the language is unknown.

    >>> mark_code("if x: pass  # <b>", "python")
    Markup('<span class="k">if</span> x: <span class="k">pass</span>  <span class="c"># &lt;b&gt;</span>')
    """
    lexer = find_lexer(language) if language and len(code) <= LONGEST_HIGHLIGHTED else None
    if lexer is None:
        return escape(code)
    tokens = [(kind, value) for _, kind, value in lexer.get_tokens_unprocessed(code)]
    if "".join(value for _, value in tokens) != code:
        return escape(code)
    return Markup("").join(
        Markup('<span class="k">{}</span>').format(value)
        if kind in Keyword
        else Markup('<span class="c">{}</span>').format(value)
        if kind in Comment and kind not in Comment.Preproc
        else escape(value)
        for kind, value in tokens
    )
