"""How the page writes numbers in running text: one minus sign, one per cent sign, one way with thousands."""

import re

_MINUS = re.compile(r"(?<![\w\)\]\.\-])-(?=\d|\.\d|∞)")
_BARE_POINT = re.compile(r"(?<!\d)\.(?=\d)")
_PER_CENT = re.compile(r"(?<=\d)%")


def typeset(text: str) -> str:
    """Return a text with true minus signs, and a space before per cent signs.

    >>> typeset("from -0.31 to 0.2 in 95% of rater-01 (2026-11-04)")
    'from −0.31 to 0.2 in 95 % of rater-01 (2026-11-04)'
    """
    return _PER_CENT.sub(" %", _MINUS.sub("\N{MINUS SIGN}", text))


def group_digits(text: str) -> str:
    """Return a whole number of four digits or more with its thousands separated, any other text as it is.

    >>> group_digits("28000"), group_digits("0.25"), group_digits("812")
    ('28,000', '0.25', '812')
    """
    return f"{int(text):,}" if len(text) > 3 and text.isascii() and text.isdigit() else text


def write_out(text: str) -> str:
    """Return a number as the page has it elsewhere, where a narrow table left out its zero.

    >>> write_out("<.001"), write_out(".970"), write_out("1.07*")
    ('< 0.001', '0.970', '1.07*')
    """
    return _BARE_POINT.sub("0.", text.replace("<.", "< ."))
