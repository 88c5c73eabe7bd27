"""Numbers that a user gives: counts and shares, checked in one way wherever they come in."""

from numbers import Integral, Real

from panelist.core.errors import BadModel, PanelistError


def check_count(what: str, given: object, least: int = 1, error: type[PanelistError] = BadModel) -> int:
    """Return a whole number of at least ``least``, or say what it must be.

    >>> check_count("data sets", 200)
    200
    """
    if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
        raise error(f"The number of {what} must be a whole number, {least} or more. Got {given!r}.")
    return int(given)


def check_confidence(given: object) -> None:
    """Raise unless a confidence level lies between 0 and 1."""
    if not _is_share(given):
        raise BadModel(f"The confidence level lies between 0 and 1, for example 0.95. Got {given!r}.")


def _is_share(given: object) -> bool:
    """Return whether something is a number between 0 and 1."""
    return isinstance(given, Real) and 0 < float(given) < 1
