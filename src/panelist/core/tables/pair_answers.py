"""What an answer about a pair says: the first, the second, or neither; in the words that people publish."""

import re
from typing import Literal

NOUNS = "model|system|output|response|text|option|assistant|answer|candidate|summary|translation|version"
FIRST, SECOND = (
    re.compile(rf"(the )?(({NOUNS}) )?({marks})( ({NOUNS}))?( (is )?(better|wins|won|preferred))?")
    for marks in ("a|1|one|first|left", "b|2|two|second|right")
)
TIE = re.compile(
    r"ties?|tied|tie \(?both ?(bad|good)\)?|draw|drawn|both|neither|either|equal|equals|equally (good|bad)|0"
    r"|both (are )?(equally )?(good|bad)|bothbad|(about |exactly )?(the )?(same|similar)|no difference"
    r"|no (preference|winner)|undecided"
)
SILENT = ("", "na", "n/a", "nan", "none", "skip", "skipped", "no answer")
_STRENGTH = re.compile(
    r"\b(much|slightly|clearly|somewhat|significantly|strongly|marginally|a (bit|little|lot))\b ?"
)

Side = Literal["first", "second", "tie", "silent"]


def drop_zeros(answer: str) -> str:
    """Return an answer as it was meant: a whole number in a column with gaps is often written with decimals.

    >>> drop_zeros("1.0"), drop_zeros("-1.00"), drop_zeros("0.5")
    ('1', '-1', '0.5')
    """
    return re.sub(r"^(-?\d+)\.0+$", r"\1", answer.strip())


def find_side(answer: str) -> Side | None:
    """Return which side an answer names, or None where it names none.

    >>> [find_side(word) for word in ("model_a", "B is slightly better", "tie (bothbad)", "N/A", "good")]
    ['first', 'second', 'tie', 'silent', None]
    """
    plain = re.sub(r"[\s_\-]+", " ", drop_zeros(answer).casefold())
    if plain in SILENT:
        return "silent"
    plain = " ".join(_STRENGTH.sub("", plain).split())
    for side, pattern in (("first", FIRST), ("second", SECOND), ("tie", TIE)):
        if pattern.fullmatch(plain):
            return side  # type: ignore[return-value]  # a tuple of literals is one of strings to mypy
    return None
