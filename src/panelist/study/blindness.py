"""What in the outputs themselves tells systems apart: names of systems and makers, counted and masked."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from panelist.core.prose import count, listing
from panelist.formats.base import write_canonical
from panelist.study.outputs import Outputs

MASK = "[assistant]"
SHORTEST = 3  # letters of a system's name: shorter ones stand in any text
_VERSION = r"(?:[ -]?[0-9](?:[\w.\-]*\w)?)"
# Products and makers of language models, as models name themselves, with their versions; words that mean
# something else only with their capital letter. Longer names come first: the whole of a name is found.
KNOWN = (
    rf"(?i:chatgpt|gpt{_VERSION}|openai|anthropic|deepseek(?:[ -]?[rv][0-9](?:[\w.\-]*\w)?)?|qwen{_VERSION}?"
    rf"|llama{_VERSION}?|mixtral{_VERSION}?)",
    r"GPT|(?:Claude|Gemini|Mistral|Grok)(?:-?[0-9](?:[\w.\-]*\w)?| [0-9]\.[0-9]+)?",
    r"Google|Meta AI|Meta(?!-[a-z])",
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
    patterns = [rf"(?<!\w)(?i:{listed})(?!\w)"] if listed else []
    if known:  # also within names of tools: openai_search
        patterns.append(rf"(?<![^\W_])(?:{'|'.join(known)})(?![^\W_])")
    return re.compile("|".join(patterns) or r"(?!)")  # no name: never


def count_names(outputs: Outputs) -> list[NameCount]:
    """Return in how many outputs of each system each name stands, names and systems that occur only.

    A name counts in whatever case it is written first.
    """
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
    masked = [outputs.frame[column].str.contains(MASK, regex=False) for column in _list_columns(outputs)]
    return int(np.any(masked, axis=0).sum()) if masked else 0


def redact(outputs: Outputs) -> tuple[Outputs, int]:
    """Return the outputs with every name masked that raters read, and in how many of them one was."""
    pattern = find_pattern(outputs.systems)
    dialogues = outputs.format("output").has_turns
    frame, changed = outputs.frame, np.zeros(len(outputs.frame), dtype=bool)
    for column in _list_columns(outputs):
        texts = frame[column].tolist()
        masked = [
            _mask_turns(text, pattern) if dialogues and text.strip() else pattern.sub(MASK, text)
            for text in texts
        ]
        changed |= [new != old for new, old in zip(masked, texts, strict=True)]
        frame = frame.assign(**{column: masked})
    return replace(outputs, frame=frame), int(changed.sum())


def _list_columns(outputs: Outputs) -> tuple[str, ...]:
    """Return the columns with the words of outputs; where those are files, what is said about them."""
    if not outputs.media.kinds("output"):
        return ("output",)
    beside = ("alt", outputs.options.transcripts.casefold())
    return tuple(column for column in beside if column in outputs.frame)


def _mask_turns(text: str, pattern: re.Pattern[str]) -> str:
    """Return a dialogue with names masked in what is said: roles and files keep theirs."""
    turns: list[dict[str, Any]] = json.loads(text)
    for turn in turns:
        for key in ("text", "content"):
            if isinstance(turn.get(key), str):
                turn[key] = pattern.sub(MASK, turn[key])
    return write_canonical(turns)


def find_names(outputs: Outputs) -> Iterator[str]:
    """Give the note of ``panelist check`` on names in outputs."""
    counts = count_names(outputs)
    if counts:
        n = count(len({one.name for one in counts}), "name")
        yield (
            f"{n} of systems or makers in the outputs, which may tell raters whose they are: "
            f"{say_names(counts)}. To show a copy without them: panelist check STUDY --redact FILE."
        )
