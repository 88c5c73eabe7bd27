"""The words of a formula, one after another, and the complaint about a word that is out of place."""

import keyword
import re
from typing import NamedTuple, NoReturn

from panelist.core.errors import BadFormula

EXAMPLE = "rating ~ system + (system | rater) + (1 | item)"
_DEEPEST = 40  # nested parentheses; people stop at three, Python's stack at some hundred

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
    |`(?P<quoted>[^`]+)`|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<op>\*\*|\|\||[-+*/:^~|(),=]))""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """One word of a formula: its kind (name, number, string, op, end), its text, and where it starts."""

    kind: str
    text: str
    start: int


def quote(name: str) -> str:
    """Return the column name as a formula must write it: in backquotes unless it is a plain word."""
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"`{name}`"


class TokenStream:
    """A formula as a row of words; ``at`` is the one that comes next."""

    def __init__(self, text: str, example: str = EXAMPLE) -> None:
        self.example = example  # a right one, for whoever wrote a wrong one
        self.text = re.sub(r"\s", " ", text)
        self.tokens = self._split()
        self.at = 0

    def fail(self, what: str, start: int | None = None) -> NoReturn:
        """Raise BadFormula that says what is wrong, points at the place and gives a right formula."""
        place = self.token.start if start is None else start
        where = f"{self.text}\n  {' ' * place}^"
        raise BadFormula(f"The formula cannot be read: {what}.\n  {where}\nA right one: {self.example}")

    @property
    def token(self) -> Token:
        """The word that comes next."""
        return self.tokens[self.at]

    def take(self, *operators: str) -> str:
        """Return the next word and step over it if it is one of these operators, else ''."""
        if self.token.kind == "op" and self.token.text in operators:
            self.at += 1
            return self.tokens[self.at - 1].text
        return ""

    def name(self) -> str:
        """Return the column name that comes next."""
        kind, text, _ = self.token
        if kind == "name" and "." in text:
            self.fail(f"a column name with a dot is written in backquotes, `{text}`")
        if kind not in ("name", "quoted"):
            found = f", and {text!r} was found" if text else ""
            self.fail(f"a column name is expected here{found}")
        self.at += 1
        return text

    def calls(self) -> bool:
        """Return whether a function call comes next."""
        return self.token.kind == "name" and self.tokens[self.at + 1][:2] == ("op", "(")

    def finish(self) -> None:
        """Raise BadFormula unless everything has been read."""
        kind, text, _ = self.token
        if kind == "end":
            return
        if text == "~":
            self.fail("it has two '~', and only one is allowed")
        if text in ("|", "||"):
            self.fail(f"'{text}' is outside parentheses; a random term is written (system {text} rater)")
        if text == ")":
            self.fail("this ')' closes nothing")
        if text in (",", "="):
            self.fail(f"'{text}' has no meaning here")
        self.fail(f"'{text}' follows without an operator (+, -, *, /, : or **) before it")

    def _split(self) -> list[Token]:
        tokens: list[Token] = []
        opened: list[int] = []
        place = 0
        end = len(self.text.rstrip())
        while place < end:
            match = _TOKEN.match(self.text, place)
            if match is None:
                self._refuse_character(place + len(self.text[place:]) - len(self.text[place:].lstrip()))
            kind = str(match.lastgroup)
            start = match.start(kind) - (kind in ("quoted", "single", "double"))
            text = match.group(kind)
            place = match.end()
            if text == "(" and kind == "op":
                opened.append(start)
                if len(opened) > _DEEPEST:
                    self.fail(f"parentheses are nested more than {_DEEPEST} deep", start)
            elif text == ")" and kind == "op":
                if not opened:
                    self.fail("this ')' closes nothing", start)
                opened.pop()
            tokens.append(Token({"single": "string", "double": "string"}.get(kind, kind), text, start))
        if opened:
            self.fail("this '(' is never closed", opened[-1])
        return [*tokens, Token("end", "", end)]

    def _refuse_character(self, place: int) -> NoReturn:
        found = self.text[place]
        if found == "`":
            self.fail("this backquote is never closed, or holds no name", place)
        if found in "'\"":
            self.fail("this quotation mark is never closed", place)
        if found == ".":
            self.fail("'.' (all columns) is not known here; name the columns", place)
        if found in "{}":
            self.fail(f"'{found}' is not allowed; arithmetic is written I(x + 1)", place)
        self.fail(f"{found!r} is not allowed here", place)
