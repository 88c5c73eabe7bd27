"""What every layout gives: one row per output, with what was asked, and a status where there is none."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from panelist.core.errors import BadFile
from panelist.core.registry import Registry

LAYOUTS = Registry["OutputLayout"]("layout")

Turn = dict[str, Any]
"""A turn of a dialogue: role, text and, where it has some, images."""

ROLES = {"human": "user", "gpt": "assistant", "model": "assistant", "bot": "assistant", "developer": "system"}
"""What other programs call the four roles."""
TIMEOUT, ERROR = "timeout", "error"
_TIMED_OUT = re.compile(r"time[ds]?[ _-]?out|deadline", re.IGNORECASE)


@dataclass(frozen=True)
class OutputRow:
    """One output as a file has it; ``system`` is empty where the file does not say it."""

    item: str
    system: str
    output: str | list[Turn]
    context: str | list[Turn] = ""
    reference: str = ""
    status: str = ""
    repeat: int = 1
    """Which of several outputs of the same system for the same item it is."""
    version: str = ""
    """What names the input, where the file has a hash of it: equal for all systems, or the inputs differ."""


@dataclass(frozen=True)
class ReadOptions:
    """What a person says about the files."""

    system: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    systems: tuple[str, ...] = ()
    """The columns that hold outputs, one per system."""
    filter: str = ""
    """Which filter of lm-evaluation-harness."""
    reasoning: bool = False
    """Whether reasoning is part of an output."""


@dataclass(frozen=True)
class SourceFile:
    """The entries of one file; ``parent`` is the name of its folder."""

    name: str
    stem: str
    parent: str
    entries: Sequence[dict[str, Any]] = field(repr=False)


@dataclass(eq=False)
class Findings:
    """What layouts find on the way: notes for a person, pictures, and inputs that stand in other files."""

    notes: list[str] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """The pictures of messages, by the name of the file they are written to."""
    inputs: dict[str, tuple[str | list[Turn], str]] = field(default_factory=dict)
    """Item → what was asked, and of which system, from files of requests or questions."""


class OutputLayout(ABC):
    """How a program writes outputs; ``title`` is what people call its files."""

    title: str
    of_inputs: bool = False
    """Whether the files hold what was asked rather than outputs; they are read first."""

    @abstractmethod
    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether an entry is of this layout."""

    @abstractmethod
    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give the outputs of a file."""


def name_status(message: object) -> str:
    """Return the status of an output that failed with these words.

    >>> name_status("The request timed out."), name_status("overloaded")
    ('timeout', 'error')
    """
    return TIMEOUT if _TIMED_OUT.search(str(message)) else ERROR


def read_content(content: object, reasoning: bool = False) -> tuple[str, list[str]]:
    """Return the text of a message and the pictures in it: a text, or parts of type text, image and so on.

    >>> read_content([{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Six."}])
    ('Six.', [])
    """
    if content is None:
        return "", []
    if not isinstance(content, list):
        return str(content), []
    texts, pictures = [], []
    for part in content:
        if not isinstance(part, dict):
            texts.append(str(part))
            continue
        kind = part.get("type", "text")
        picture = part.get("image") or part.get("image_url")
        if kind in ("reasoning", "thinking"):
            if reasoning:
                texts.append(str(part.get("reasoning") or part.get("thinking") or ""))
        elif picture:
            pictures.append(str(picture.get("url", "") if isinstance(picture, dict) else picture))
        elif "text" in part or "refusal" in part:
            texts.append(str(part.get("text") or part.get("refusal") or ""))
    return "\n\n".join(text for text in texts if text), pictures


def read_turns(messages: object, name: str, reasoning: bool = False) -> list[Turn]:
    """Return messages of chat programs as turns: role and text, nothing that names a model.

    >>> read_turns([{"from": "human", "value": "Hello?"}], "a.jsonl")
    [{'role': 'user', 'text': 'Hello?'}]
    """
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise BadFile(f"{name}: a conversation must be a list of messages, each with role and content.")
    turns = []
    for one in messages:
        role = str(one.get("role") or one.get("from") or "")
        text, pictures = read_content(one.get("content", one.get("value", one.get("text"))), reasoning)
        turn: Turn = {"role": ROLES.get(role, role), "text": text}
        if pictures:
            turn["images"] = pictures
        turns.append(turn)
    return turns


def split_last(turns: list[Turn]) -> tuple[str | list[Turn], str]:
    """Return what came before the last answer, and the answer; a single question as plain text.

    >>> split_last([{"role": "user", "text": "Six?"}, {"role": "assistant", "text": "Yes."}])
    ('Six?', 'Yes.')
    """
    if turns and turns[-1]["role"] == "assistant":
        return shorten(turns[:-1]), str(turns[-1]["text"])
    return shorten(turns), ""


def shorten(turns: list[Turn]) -> str | list[Turn]:
    """Return a lone question without pictures as its text."""
    if not turns:
        return ""
    alone = len(turns) == 1 and turns[0]["role"] == "user" and "images" not in turns[0]
    return str(turns[0]["text"]) if alone else turns
