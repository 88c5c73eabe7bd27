"""What the open link says about a person, and how far that can be trusted.

An id that others can guess must not open the visit of the person whose id it is. So an id is trusted where
nobody can guess it (Prolific), or where it comes with our signature (``panelist links --ids``). Any other id
works only in the browser that began with it.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from panelist.collection.store.operations.places import derive_token
from panelist.collection.store.records import clean_text
from panelist.study.sections.recruiting import Panel

SIGNATURE, KEY = "sig", "key"
LONGEST_ID = 500
HARD_TO_GUESS = frozenset({"PROLIFIC_PID", "participantId", "workerId"})
"""Parameters of panels whose ids are long and random, where the study names no panel."""

PROVEN = ("signed", "keyed")
"""Kinds of ids whose links hold what only the researcher can make."""


@dataclass(frozen=True)
class Badge:
    """Who a person claims to be."""

    person: str | None
    admitted: bool = True
    """Whether the link has what the panel of the study requires."""
    signed: bool = False
    """Whether the researcher wrote this link for this person."""
    trusted: bool = False
    """Whether the id alone opens the visit that belongs to it, in any browser."""


def check_badge(
    panel: Panel | None, parameters: Sequence[str], secret: str, given: Mapping[str, str]
) -> Badge:
    """Return what the parameters of an open link say; ``parameters`` may hold the id, the first counts."""
    name = next((one for one in parameters if given.get(one)), None)
    person = clean_text(given[name][:LONGEST_ID]) if name is not None else None
    signed = name is not None and _matches(given.get(SIGNATURE, ""), sign_id(secret, name, given[name]))
    secretive = name in HARD_TO_GUESS if panel is None else name == panel.id and panel.ids == "secret"
    admitted = True
    if panel is not None and panel.ids == "signed":
        admitted = signed
    elif panel is not None and panel.ids == "keyed":
        admitted = signed or _matches(given.get(KEY, ""), make_panel_key(secret, panel.name))
    return Badge(person, admitted, signed, signed or secretive)


def sign_id(secret: str, name: str, person: str) -> str:
    """Return the signature that identifies the holder of a link as this person.

    >>> sign_id("a secret", "student", "17") == sign_id("a secret", "student", "18")
    False
    """
    return derive_token(secret, f"id {name} {person}")


def make_panel_key(secret: str, panel: str) -> str:
    """Return the key in the link that a panel shows to its members, and to nobody else."""
    return derive_token(secret, f"panel {panel}")


def write_badge(panel: Panel | None, secret: str, person: str) -> dict[str, str]:
    """Return the parameters with which the open link lets a person in."""
    if panel is None or panel.ids not in PROVEN:
        return {"id": person}
    if panel.ids == "signed":
        return {panel.id: person, SIGNATURE: sign_id(secret, panel.id, person)}
    return {panel.id: person, KEY: make_panel_key(secret, panel.name)}


def _matches(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
