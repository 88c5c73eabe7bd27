"""How numbers are written in results: the only place where they are rounded."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf, isnan
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

MISSING = "–"
_TO = " to "
_END = r"-?(?:[\d,]+(?:\.\d+)?(?:e[+-]\d+)?|∞)"
_INTERVAL = re.compile(rf"{_END}{_TO}{_END}(?: \*\w+\*)?")

Cell: TypeAlias = str | int | float | np.integer[Any] | np.floating[Any] | None


def number(x: Cell, digits: int = 3) -> str:
    """Return a number with a fixed count of decimals; a whole number stays whole, nan is a dash.

    >>> number(0.12345), number(-0.00001), number(12), number(3.2e9, 2)
    ('0.123', '0.000', '12', '3.20e+09')
    >>> number(float("nan")), number(None), number(float("-inf"))
    ('–', '–', '-∞')
    """
    if not isinstance(x, Real):
        return MISSING if x is None else str(x)
    if isinstance(x, Integral):
        return str(x)
    if isnan(x):
        return MISSING
    if isinf(x):
        return "∞" if x > 0 else "-∞"
    if abs(x) >= 1e7:
        return f"{float(x):.{digits}e}"
    return f"{float(x):z.{digits}f}"  # z: never minus nought


def p_value(p: Cell) -> str:
    """Return a p value to three decimals, the small ones as a bound.

    >>> p_value(0.04), p_value(0.0004), p_value(0), p_value(float("nan"))
    ('0.040', '< 0.001', '< 0.001', '–')
    """
    return "< 0.001" if isinstance(p, Real) and p < 0.001 else number(float(p) if isinstance(p, Real) else p)


def say_p(p: Cell) -> str:
    """Return a p value as a statement.

    >>> say_p(0.04), say_p(0.0004)
    ('p = 0.040', 'p < 0.001')
    """
    return f"p {'' if isinstance(p, Real) and p < 0.001 else '= '}{p_value(p)}"


def interval(low: Cell, high: Cell, digits: int = 2) -> str:
    """Return an interval in words.

    >>> interval(0.123, 0.456), interval(float("nan"), float("nan"))
    ('0.12 to 0.46', '–')
    """
    ends = [number(float(end) if isinstance(end, Real) else end, digits) for end in (low, high)]
    return MISSING if ends == [MISSING, MISSING] else _TO.join(ends)


def ends(low: float, high: float, digits: int = 2) -> str:
    """Return an interval in brackets, to follow its estimate; nothing where there is none.

    >>> ends(0.123, 0.456), ends(float("nan"), float("nan"))
    (' (0.12 to 0.46)', '')
    """
    text = interval(low, high, digits)
    return "" if text == MISSING else f" ({text})"


def is_interval(text: str) -> bool:
    """Return whether a text is an interval in numbers, as ``interval`` writes them.

    An end may be infinite, and a mark in stars may follow.

    >>> is_interval(interval(-0.1, 2)), is_interval("-∞ to -1.46 *prior*"), is_interval("from 1 to 2")
    (True, True, False)
    """
    return _INTERVAL.fullmatch(text) is not None


@dataclass(frozen=True)
class Format:
    """How the cells of a column are written, and how they are aligned."""

    write: Callable[[Cell], str]
    align: Literal["left", "right"] = "right"


def decimals(digits: int) -> Format:
    """Return the format of numbers with this many decimals."""
    return Format(lambda x: number(x, digits))


TEXT = Format(number, "left")
P_VALUE = Format(p_value)
