"""Margins: the largest difference that does not matter, with its unit."""

import re
from dataclasses import dataclass
from math import isfinite

from panelist.core.errors import BadModel

UNITS = {"points": "points", "latent": "residual SDs"}
"""Of a margin, and in words: points of the scale, or standard deviations of the latent judgement."""
CLAIMS = ("equivalence", "non-inferiority")
"""What a margin is for: to show that systems differ by less, or that one is not worse by as much."""
ALLOWED = "Give a number above 0, with points (of the scale; the default) or latent (residual SDs)"
_WRITTEN = re.compile(r"\s*([0-9.eE+-]+)\s*([a-z]*)\s*")


@dataclass(frozen=True)
class Margin:
    """A length in points of the scale, or in residual standard deviations of the latent scale."""

    size: float
    unit: str = "points"

    def __post_init__(self) -> None:
        if not (isfinite(self.size) and self.size > 0) or self.unit not in UNITS:
            raise BadModel(f"A margin is a length. {ALLOWED}, for example 0.5. Got {str(self)!r}.")

    def __str__(self) -> str:
        return f"{self.size:g} {self.unit}"

    @property
    def words(self) -> str:
        """The margin as a sentence names it."""
        return f"{self.size:g} {UNITS[self.unit]}"

    @property
    def written(self) -> float | str:
        """The margin as files hold it: a number of points, or a text with its unit."""
        return self.size if self.unit == "points" else str(self)


def read_margin(given: "Margin | float | str | None") -> Margin | None:
    """Return the margin that a number or a text says, in points unless it says otherwise.

    >>> read_margin("0.3 latent"), read_margin(0.5)
    (Margin(size=0.3, unit='latent'), Margin(size=0.5, unit='points'))
    """
    if given is None or isinstance(given, Margin):
        return given
    found = _WRITTEN.fullmatch(str(given).lower())
    try:
        size = float(found[1]) if found else float(given)
    except ValueError:
        raise BadModel(f"A margin is a length. {ALLOWED}, for example '0.3 latent'. Got {given!r}.") from None
    return Margin(size, (found[2] if found else "") or "points")


def find_level(claim: str, alpha: float) -> float:
    """Return the one-sided level of a claim: α for equivalence, half of it for non-inferiority.

    >>> find_level("equivalence", 0.05), find_level("non-inferiority", 0.05)
    (0.05, 0.025)
    """
    return alpha if claim == "equivalence" else alpha / 2
