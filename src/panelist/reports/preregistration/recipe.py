"""The recipe of a replication: which parts are as in the original, and what differs and why."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from panelist.reproduction.deviations.deviation_table import Deviations

GROUPS: Mapping[str, tuple[str, ...]] = {
    "same_instructions": (
        "information",
        "instructions",
        "examples",
        "practice",
        "sound_check",
        "comprehension",
        "closing",
    ),
    "same_measures": ("criteria", "background", "noun", "language"),
    "same_stimuli": ("outputs", "systems", "text_language"),
    "same_procedure": ("design", "checks", "breaks", "collecting"),
    "same_pay": ("pay", "raters.paid"),
    "same_people": ("raters", "recruiting"),
}
"""Which keys of the study file belong to which part of the recipe; the first that fits counts."""


def answer_recipe(deviations: "Deviations | None") -> dict[str, str]:
    """Return for each part whether it is exact, or what differs and why; nothing without an original."""
    if deviations is None:
        return {}
    found: dict[str, list[str]] = {topic: [] for topic in GROUPS}
    for row in deviations.rows:
        topic = find_group(row.parameter)
        if topic:
            why = f" ({row.reason})" if row.reason else ""
            found[topic].append(f"{row.parameter}: {row.original or 'none'} → {row.repeat or 'none'}{why}")
    return {topic: f"Not exact: {'; '.join(said)}." if said else "Exact." for topic, said in found.items()}


def find_group(parameter: str) -> str:
    """Return the part of the recipe to which a parameter belongs; empty where it belongs to none.

    >>> find_group("raters.paid"), find_group("raters.count"), find_group("analysis.alpha")
    ('same_pay', 'same_people', '')
    """
    fits = [
        (len(key), topic)
        for topic, keys in GROUPS.items()
        for key in keys
        if parameter == key or parameter.startswith(f"{key}.")
    ]
    return max(fits)[1] if fits else ""
