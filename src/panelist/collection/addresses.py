"""Addresses under which raters reach the pages."""

import re
from urllib.parse import urlsplit

from panelist.core.errors import PanelistError

PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")


class BadAddress(PanelistError):
    """An address that the server cannot have, or that raters cannot open."""


def check_url(url: str) -> str:
    """Return the public address without a last slash, or raise BadAddress.

    >>> check_url("https://rate.example.org/")
    'https://rate.example.org'
    >>> check_url("https://example.org/rating/")
    'https://example.org/rating'
    """
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:  # such as a bracket that is not closed
        whole = False
    if not whole or PREFIX.fullmatch(parts.path.rstrip("/")) is None or parts.username is not None:
        raise BadAddress(
            f"{url!r} is not an address for the pages. Give scheme and host, such as "
            "https://rate.example.org, and the path under which the pages are, if it is not the root of "
            "the host: https://example.org/rating."
        )
    return url.rstrip("/")
