"""Judges of a system's own family: a model may prefer its own kind's outputs, so the report names such pairs.

The family of a judge is in the column ``family`` of the judges table, that of a system in study.yaml
(``systems: [{name: …, family: …}]``) or in the mapping given. Words are compared without case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from panelist.core.errors import UnknownName, did_you_mean
from panelist.core.prose import quoted
from panelist.judges.table import JudgeScores


def find_kin(scores: JudgeScores, families: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """Return for each judge the systems of its own family; judges without any are left out."""
    found = {}
    for judge in scores.judges:
        own = scores.about.get(judge, {}).get("family", "").casefold()
        kin = tuple(s for s, family in (families or {}).items() if own and family.strip().casefold() == own)
        if kin:
            found[judge] = kin
    return found


def check_families(families: Mapping[str, str], systems: Iterable[str]) -> None:
    """Raise where a system that has a family is none of the systems."""
    known = tuple(systems)
    for name in families:
        if name not in known:
            raise UnknownName(f"No system is called {name!r}. {did_you_mean(name, known)}")


def say_kin(judge: str, kin: tuple[str, ...]) -> str:
    """Return the flag in words."""
    return (
        f"{judge} is of the same family as {quoted(kin)}: judges may prefer outputs of their own kind, so "
        "see what it favours, and let people rate new systems of that family"
    )
