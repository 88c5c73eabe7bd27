"""What every layout gives: one row per output, with what was asked, and a status where there is none."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from panelist.core.registry import Registry

LAYOUTS = Registry["OutputLayout"]("layout")

Turn = dict[str, Any]
"""A turn of a dialogue: role, text and, where it has some, images."""

TIMEOUT, ERROR, MISSING = "timeout", "error", "missing"
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
    left_out: Counter[str] = field(default_factory=Counter)
    """How many parts of messages are neither texts nor pictures, by their type."""


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
