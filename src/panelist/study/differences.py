"""What two study files decide differently, key by key."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from panelist.study.model import StudyFile
from panelist.study.study import Study

ABOUT_THE_FILE = ("panelist", "outputs", "heds", "repeat", "preregistration")
"""Sections that say nothing about how the study is run: versions, file names, answers for sheets."""
NOTHING = ""


@dataclass(frozen=True)
class Difference:
    """One key and what two studies say under it; empty where a study says nothing."""

    key: str
    first: str
    second: str


def list_decisions(study: Study) -> dict[str, str]:
    """Return everything that a study decides, as text by key, and what its outputs are."""
    return list_file_decisions(study.file) | {
        "outputs.items": f"{len(study.items):,}",
        "outputs.systems": ", ".join(study.systems),
        "outputs.texts": study.outputs.hash[:12],
    }


def list_file_decisions(file: StudyFile) -> dict[str, str]:
    """Return everything that a study file decides, as text by key; parts with a name are keyed by it.

    >>> from panelist.scales.likert import Likert
    >>> from panelist.study.sections.criteria import Criterion
    >>> fluency = Criterion(name="fluency", question="How fluent?", scale=Likert(points=5))
    >>> found = list_file_decisions(StudyFile(title="A study", criteria=(fluency,)))
    >>> found["criteria.fluency.question"], found["design.order"], found["design.seed"]
    ('How fluent?', 'random', '1')
    """
    found: dict[str, str] = {}
    for key, value in file.model_dump(mode="json").items():
        if key not in ABOUT_THE_FILE:
            _flatten(key, value, found)
    return found


def compare_decisions(first: Mapping[str, str], second: Mapping[str, str]) -> list[Difference]:
    """Return every key under which the two differ, in the order of the first, then of the second."""
    keys = dict.fromkeys([*first, *second])
    pairs = ((key, first.get(key, NOTHING), second.get(key, NOTHING)) for key in keys)
    return [Difference(key, one, other) for key, one, other in pairs if one != other]


def compare_declared(declared: Mapping[str, str], study: Study) -> list[Difference]:
    """Return every key under which a study is not as declared.

    A key that the declaration does not have, and that has its default, does not count: it may be new in the
    format.
    """
    chosen: dict[str, str] = {}
    _flatten("", study.file.model_dump(mode="json", exclude_defaults=True), chosen)
    given = {key.removeprefix(".") for key in chosen}
    return [
        one
        for one in compare_decisions(declared, list_decisions(study))
        if one.key in declared or one.key in given or one.key.startswith("outputs.")
    ]


def _flatten(key: str, value: Any, found: dict[str, str]) -> None:
    if isinstance(value, dict):
        for name, one in value.items():
            _flatten(f"{key}.{name}", one, found)
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for place, one in enumerate(value, start=1):
            name = one.get("name") if isinstance(one, dict) else None
            inner = {k: v for k, v in one.items() if k != "name"} if name else one
            _flatten(f"{key}.{name or place}", inner or "yes", found)
    else:
        found[key] = _write(value)


def _write(value: Any) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_write, value))
    return str(value)
