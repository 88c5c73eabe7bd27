"""Rules that no single part of a study can check: one function per rule, which yields its problems."""

from panelist.core.registry import import_siblings
from panelist.study.problems import Problem
from panelist.study.rules.base import RULES, Facts

import_siblings(__name__, list(__path__))


def find_clashes(facts: Facts) -> list[Problem]:
    """Return what every rule finds; a rule is skipped where what it reads is broken."""
    found = []
    for needs, check in RULES:
        if not any(facts.is_broken(key) for key in needs):
            found += list(check(facts))
    return found
