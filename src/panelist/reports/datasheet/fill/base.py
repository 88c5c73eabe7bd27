"""What the sections have in common: a registry of fillers, and short ways to write an answer."""

from collections.abc import Callable

from panelist.reports.datasheet.fill.facts import SheetFacts
from panelist.reports.datasheet.sheet import Place, SheetAnswer

Filler = Callable[[SheetFacts], dict[Place, SheetAnswer]]
FILLERS: list[Filler] = []
SOURCES: dict[str, str] = {}
"""For each question that can be filled, where its answer comes from; docs/heds.md shows it."""


def filler(**sources: str) -> Callable[[Filler], Filler]:
    """Register a filler with the sources of its questions: ``q3_1_1="the plan"``."""
    SOURCES.update({name[1:].replace("_", "."): text for name, text in sources.items()})

    def register(function: Filler) -> Filler:
        FILLERS.append(function)
        return function

    return register


def tick(*codes: str, text: str = "", source: str, draft: bool = False) -> SheetAnswer:
    """Return ticked options."""
    return SheetAnswer(codes, text, source, draft)


def write(text: str, source: str, draft: bool = False) -> SheetAnswer:
    """Return a text."""
    return SheetAnswer((), text.strip(), source, draft)


def join(*texts: str) -> str:
    """Return sentences in a row, each with its full stop, the empty ones left out."""
    told = (text.strip() for text in texts)
    return " ".join(text if text.endswith((".", "!", "?", ":")) else f"{text}." for text in told if text)
