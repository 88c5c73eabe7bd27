"""Pseudonyms: a name for each rater, stable within a study, and not traceable without its salt."""

import hashlib
import hmac
from base64 import b32encode

LENGTH = 9  # 45 bits: among 10,000 raters two share a name once in 700,000 studies


def make_pseudonym(salt: str, person: str) -> str:
    """Return the pseudonym of a person: the letter p and nine more characters, never readable as a number.

    >>> name = make_pseudonym("0a1b", "5f2d8a")
    >>> len(name), name == make_pseudonym("0a1b", "5f2d8a"), name == make_pseudonym("0a1c", "5f2d8a")
    (10, True, False)
    """
    digest = hmac.new(bytes.fromhex(salt), person.encode(), hashlib.sha256).digest()
    return "p" + b32encode(digest).decode().lower()[:LENGTH]
