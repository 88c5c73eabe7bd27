"""Reading and writing answers of forms. An answer is short, in ASCII digits, one per value."""

import re
from typing import Any

from panelist.scales.base import BadAnswer

LONGEST = 200  # characters; no answer but free text is longer
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0{1,9})?")  # 5.0 is what a spreadsheet makes of 5
_DECIMAL = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,20})?")


def refuse(answer: object, allowed: str) -> BadAnswer:
    """Return the error for an answer that a scale does not have."""
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        return BadAnswer(f"There is no answer yet. It must be {allowed}.")
    try:
        found = repr(answer)
    except ValueError:  # Python does not print integers of thousands of digits
        found = f"a {type(answer).__name__}"
    if len(found) > 40:
        found = f"{found[:36]}…, {len(found)} characters"
    return BadAnswer(f"The answer must be {allowed}. Got {found} instead.")


def read_text(answer: object, allowed: str) -> str:
    """Return the answer without the white space around it, or raise BadAnswer if it is not a short text."""
    text = answer.strip() if isinstance(answer, str) else ""
    if not text or len(text) > LONGEST:
        raise refuse(answer, allowed)
    return text


def read_whole(answer: object, allowed: str) -> int:
    """Return a whole number that is not negative, or raise BadAnswer.

    >>> read_whole(" 5 ", "a point"), read_whole("5.0", "a point")
    (5, 5)
    """
    found = _WHOLE.fullmatch(read_text(answer, allowed))
    if found is None:
        raise refuse(answer, allowed)
    return int(found[1])


def read_decimal(answer: object, allowed: str) -> float:
    """Return a number that is not negative, written out with a decimal point, or raise BadAnswer."""
    text = read_text(answer, allowed)
    if _DECIMAL.fullmatch(text) is None:
        raise refuse(answer, allowed)
    return float(text)


def read_places(answer: object, allowed: str) -> tuple[int, ...]:
    """Return the numbers between commas, or raise BadAnswer."""
    parts = read_text(answer, allowed).split(",")
    try:
        return tuple(read_whole(part, allowed) for part in parts)
    except BadAnswer:
        raise refuse(answer, allowed) from None  # names the whole answer, not its part


def write_number(value: Any, allowed: str) -> str:
    """Return a number as the shortest text of up to six decimals, or raise BadAnswer if it is none.

    >>> write_number(5.0, "a point"), write_number(62.4, "a place")
    ('5', '62.4')
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise refuse(value, allowed) from None
    if not abs(number) < 1e15:  # nan as well
        raise refuse(value, allowed)
    return str(int(number)) if number == int(number) else f"{number:.6f}".rstrip("0").rstrip(".")
