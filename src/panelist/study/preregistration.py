"""Preregistrations: what was declared, when, and for which study; beside the study, never overwritten."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from panelist.core.errors import BadFile
from panelist.core.files import replace_file

FILE = "preregistration.json"
FORMAT = 1
Topic = Literal[
    "authors",
    "research_questions",
    "hypotheses",
    "existing_data",
    "blinding",
    "stopping_rule",
    "sample_size_rationale",
    "indices",
    "transformations",
    "inference",
    "missing_data",
    "exploratory",
    "other",
    "original_effect",
    "importance",
    "original_effect_size",
    "original_interval",
    "original_sample_size",
    "original_location",
    "original_country",
    "original_sample",
    "original_format",
    "materials",
    "assumptions",
    "experimenter_location",
    "experimenter_knowledge",
    "same_location",
    "expected_differences",
    "tests_of_differences",
    "successful_replication",
]
"""What only a person can say; ``preregistration:`` in the study file has the answers by these names."""


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One declaration: the first is the preregistration, each later one an amendment with its reason."""

    time: str
    """UTC, to the second."""
    panelist: str
    study_hash: str
    plan_hash: str | None
    reason: str = ""
    answers_before: int = 0
    """How many answers had been collected by then."""
    decisions: Mapping[str, str] = field(default_factory=dict)
    """Everything that the study decided, by key."""
    planned: Mapping[str, int] = field(default_factory=dict)
    """Raters and ratings of the plan, where there was one."""
    forms: Mapping[str, Any] = field(default_factory=dict)
    """The forms as they were filled in."""
    open: tuple[str, ...] = ()
    """What was left open."""
    previous: str = ""
    """The SHA-256 of the declaration before."""
    sha256: str = ""
    """Of everything else in this declaration."""

    def seal(self) -> "Registration":
        """Return the declaration with its own SHA-256."""
        return replace(self, sha256=self.find_hash())

    def find_hash(self) -> str:
        """Return the SHA-256 of what was declared."""
        content = {name: value for name, value in asdict(self).items() if name != "sha256"}
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_registrations(folder: Path) -> tuple[Registration, ...]:
    """Return the declarations beside a study, the oldest first; none where there is no file.

    Raises BadFile for a file that cannot be read, or that was changed by hand.
    """
    path = folder / FILE
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(f"{path} cannot be read as JSON: {error}. Put the old file back.") from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        found = whole.get("format") if isinstance(whole, dict) else None
        raise BadFile(f"{path} is of format {found!r}; this version reads format {FORMAT}.")
    try:
        found_all = tuple(
            Registration(**{**one, "open": tuple(one["open"])}) for one in whole["registrations"]
        )
    except (KeyError, TypeError) as error:
        raise BadFile(f"{path} holds no preregistration that panelist wrote ({error}).") from None
    _check_chain(path, found_all)
    return found_all


def add_registration(folder: Path, registration: Registration) -> Registration:
    """Return the declaration, sealed and written after those before it; what was declared stays as it is."""
    before = read_registrations(folder)
    sealed = replace(registration, previous=before[-1].sha256 if before else "").seal()
    whole = {"format": FORMAT, "registrations": [asdict(one) for one in (*before, sealed)]}
    replace_file(folder / FILE, json.dumps(whole, ensure_ascii=False, indent=2) + "\n")
    return sealed


def _check_chain(path: Path, found: tuple[Registration, ...]) -> None:
    """Raise BadFile where a declaration is not what it was when it was written."""
    if not found:
        raise BadFile(f"{path} holds no declaration. Delete it and preregister again.")
    previous = ""
    for number, one in enumerate(found, start=1):
        if one.find_hash() != one.sha256 or one.previous != previous:
            raise BadFile(
                f"{path} was changed after it was written: declaration {number}, of {one.time}, no longer "
                "has its SHA-256. Put the old file back."
            )
        previous = one.sha256
