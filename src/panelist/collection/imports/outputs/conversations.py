"""Conversations: messages of chat programs, ShareGPT's, and pairs of a preferred and a rejected answer."""

from collections.abc import Iterator, Mapping
from typing import Any

from panelist.collection.imports.outputs.base import (
    LAYOUTS,
    MISSING,
    Findings,
    OutputLayout,
    OutputRow,
    ReadOptions,
    SourceFile,
)
from panelist.collection.imports.outputs.messages import read_turns, shorten, split_last

IDS = ("item", "id", "item_id", "prompt_id", "conversation_id", "question_id", "doc_id", "custom_id")
SYSTEMS = ("system", "model", "model_name", "model_id", "generator")


def find_cell(entry: Mapping[str, Any], names: tuple[str, ...], chosen: str = "") -> str:
    """Return the first of these cells that says something; ``chosen`` names one and only that."""
    for name in (chosen,) if chosen else names:
        value = entry.get(name)
        if value not in (None, "") and not isinstance(value, dict | list):
            return str(value)
    return ""


class ChatMessages(OutputLayout):
    """Entries with ``messages`` (OpenAI style, Hugging Face) or ``conversations`` (ShareGPT)."""

    title = "conversations"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether there is a list of messages."""
        return isinstance(entry.get("messages", entry.get("conversations")), list)

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give the last answer of each conversation, with what came before as its context."""
        for number, entry in enumerate(file.entries, start=1):
            messages = entry.get("messages", entry.get("conversations"))
            context, output = split_last(read_turns(messages, file.name, found, options.reasoning))
            yield OutputRow(
                find_cell(entry, IDS, options.columns.get("item", "")) or str(number),
                options.system or find_cell(entry, SYSTEMS, options.columns.get("system", "")),
                output or "",
                context,
                status=MISSING if output is None else "",
            )


class Preferences(OutputLayout):
    """Entries with ``prompt``, ``chosen`` and ``rejected``."""

    title = "pairs of a chosen and a rejected answer"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether there are two answers."""
        return "chosen" in entry and "rejected" in entry

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give both answers, as of the systems chosen and rejected."""
        for number, entry in enumerate(file.entries, start=1):
            for system in ("chosen", "rejected"):
                context, output = entry.get("prompt") or "", entry[system]
                if isinstance(output, list):
                    before, output = split_last(read_turns(output, file.name, found, options.reasoning))
                    context = context or before
                if isinstance(context, list) and context and isinstance(context[0], dict):
                    context = shorten(read_turns(context, file.name, found))
                item = find_cell(entry, IDS, options.columns.get("item", "")) or str(number)
                status = MISSING if output is None else ""
                yield OutputRow(item, system, "" if output is None else str(output), context, status=status)


LAYOUTS.register("conversations")(ChatMessages())
LAYOUTS.register("preferences")(Preferences())
