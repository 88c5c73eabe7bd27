"""Findings, as a study file writes them: ``fluency: tuned > rules``."""

import re
from dataclasses import dataclass

_FINDING = re.compile(r"\s*(?P<criterion>[^:]+?)\s*:\s*(?P<first>.+?)\s+(?P<sign>[<>=])\s+(?P<second>.+?)\s*")


@dataclass(frozen=True)
class Finding:
    """On a criterion one system is rated higher (``>``), lower (``<``) or alike (``=``)."""

    criterion: str
    first: str
    sign: str
    second: str


def parse_finding(text: str) -> Finding | None:
    """Return the finding that a text states, None where it states none.

    >>> parse_finding("fluency: tuned > rules")
    Finding(criterion='fluency', first='tuned', sign='>', second='rules')
    """
    found = _FINDING.fullmatch(text)
    return Finding(**found.groupdict()) if found else None
