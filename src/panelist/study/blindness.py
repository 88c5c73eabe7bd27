"""What in the outputs themselves tells systems apart: names of systems and makers, counted and masked."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from panelist.core.prose import count, listing
from panelist.study.outputs import Outputs

MASK = "[assistant]"
SHORTEST = 3  # letters of a system's name: shorter ones stand in any text
TEXTS = ("plain", "markdown", "code", "turns")
"""Formats whose cells hold text; the others name files."""
# Products and makers of language models, as models name themselves; words that mean something else only with
# their capital letter. Longer names come first, so that the whole of a name is found.
KNOWN = (
    r"(?i:chatgpt|gpt-?[0-9][\w.\-]*|openai|anthropic|deepseek|qwen|llama[ -]?[0-9][\w.\-]*|llama|mixtral)",
    r"GPT|Claude|Gemini|Google|Mistral|Grok|Meta AI|Meta",
    r"(?i:as an ai(?: language)? (?:model|assistant))",
)
ROLES = frozenset({"user", "assistant", "system", "tool"})


@dataclass(frozen=True)
class NameCount:
    """How many outputs of a system hold a name."""

    system: str
    name: str
    n: int
    of: int


def find_pattern(systems: tuple[str, ...], known: tuple[str, ...] = KNOWN) -> re.Pattern[str]:
    """Return what finds the names: those of the study's systems in any case, and the known ones."""
    own = [name for name in systems if len(name) >= SHORTEST and name.casefold() not in ROLES]
    listed = "|".join(re.escape(name) for name in sorted(own, key=len, reverse=True))
    every = "|".join([*([f"(?i:{listed})"] if listed else []), *known]) or r"(?!)"  # no name: never
    return re.compile(rf"(?<!\w)(?:{every})(?!\w)")


def count_names(outputs: Outputs) -> list[NameCount]:
    """Return in how many outputs of each system each name stands, names and systems that occur only.

    A name counts in whatever case it is written first.
    """
    if outputs.options.formats.output not in TEXTS:
        return []
    pattern = find_pattern(outputs.systems)
    found: dict[tuple[str, str], int] = {}
    shown: dict[str, str] = {}
    per_system: dict[str, int] = {}
    for item, system in zip(outputs.frame["item"], outputs.frame["system"], strict=True):
        per_system[system] = per_system.get(system, 0) + 1
        said = {match[0].casefold(): match[0] for match in pattern.finditer(outputs.words(item, system))}
        for plain, name in said.items():
            word = shown.setdefault(plain, name)
            found[system, word] = found.get((system, word), 0) + 1
    return [NameCount(system, name, n, per_system[system]) for (system, name), n in sorted(found.items())]


def say_names(counts: list[NameCount]) -> str:
    """Return the counts in words: ``'tuned': GPT in 3 of 40 and Claude in 1``; empty where there are none."""
    systems: dict[str, list[NameCount]] = {}
    for one in sorted(counts, key=lambda one: -one.n):
        systems.setdefault(one.system, []).append(one)
    return "; ".join(
        f"{system!r}: " + listing((f"{one.name} in {one.n:,} of {one.of:,}" for one in names), 4)
        for system, names in systems.items()
    )


def count_masks(outputs: Outputs) -> int:
    """Return how many outputs hold a name that was masked."""
    return int(outputs.frame["output"].str.contains(MASK, regex=False).sum())


def redact(outputs: Outputs) -> tuple[Outputs, int]:
    """Return the outputs with every name masked, and in how many of them one was."""
    pattern = find_pattern(outputs.systems)
    dialogues = outputs.options.formats.output == "turns"
    masked = [
        json.dumps(_mask(json.loads(text), pattern), ensure_ascii=False)
        if dialogues and text.strip()
        else pattern.sub(MASK, text)
        for text in outputs.frame["output"].tolist()
    ]
    changed = int(np.sum([new != old for new, old in zip(masked, outputs.frame["output"], strict=True)]))
    return replace(outputs, frame=outputs.frame.assign(output=masked)), changed


def _mask(value: Any, pattern: re.Pattern[str]) -> Any:
    """Return JSON with names masked in what is said, not in roles."""
    if isinstance(value, list):
        return [_mask(one, pattern) for one in value]
    if isinstance(value, dict):
        return {
            key: _mask(one, pattern) if key in ("text", "content") or not isinstance(one, str) else one
            for key, one in value.items()
        }
    return pattern.sub(MASK, value) if isinstance(value, str) else value


def find_names(outputs: Outputs) -> Iterator[str]:
    """Give the note of ``panelist check`` on names in outputs."""
    counts = count_names(outputs)
    if counts:
        n = count(len({one.name for one in counts}), "name")
        yield (
            f"{n} of systems or makers in the outputs, which may tell raters whose they are: "
            f"{say_names(counts)}. To show a copy without them: panelist check STUDY --redact FILE."
        )
