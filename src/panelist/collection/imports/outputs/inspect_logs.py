"""Logs of Inspect: one sample per item and epoch, the model in the header."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from panelist.collection.imports.outputs.base import (
    ERROR,
    LAYOUTS,
    TIMEOUT,
    Findings,
    OutputLayout,
    OutputRow,
    ReadOptions,
    SourceFile,
    name_status,
)
from panelist.collection.imports.outputs.messages import read_content, read_turns, shorten
from panelist.core.errors import BadFile

ATTACHMENT = "attachment://"
TIMES = ("time", "working")
"""The limits of a sample that are about time, of which one leaves out waiting."""


class InspectLog(OutputLayout):
    """A log of Inspect, as .json or from the .eval archive."""

    title = "log of Inspect"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether there is a header with a model, and samples or how it went without any."""
        return isinstance(entry.get("eval"), dict) and ("samples" in entry or "status" in entry)

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give one output per sample."""
        for log in file.entries:
            system = options.system or str(log["eval"].get("model", ""))
            samples = log.get("samples")
            if not isinstance(samples, list) or not samples:
                raise BadFile(f"{file.name} is a log of Inspect without samples{_say_why(log)}.")
            for sample in samples:
                resolve = partial(_resolve, attachments=sample.get("attachments") or {})
                output = sample.get("output") or {}
                choices = output.get("choices") or []
                text = resolve(str(output.get("completion") or ""))
                if choices and (options.reasoning or not text):
                    content = choices[0].get("message", {}).get("content")
                    text, _ = read_content(content, found, options.reasoning, resolve)
                asked = sample.get("input")
                if isinstance(asked, list):
                    asked = shorten(read_turns(asked, file.name, found, resolve=resolve))
                else:
                    asked = resolve(str(asked or ""))
                yield OutputRow(
                    str(sample.get("id", "")),
                    system,
                    text,
                    asked,
                    _write_target(sample.get("target")),
                    _find_status(sample),
                    int(sample.get("epoch") or 1),
                )


def _say_why(log: Mapping[str, Any]) -> str:
    error = log.get("error")
    message = error.get("message", "") if isinstance(error, dict) else error
    status = f": its status is {log['status']!r}" if log.get("status") else ""
    return f"{status} ({message})" if status and message else status


def _resolve(text: str, attachments: Mapping[str, str]) -> str:
    """Return what a reference to an attachment stands for; any other text as it is."""
    if not text.startswith(ATTACHMENT):
        return text
    return str(attachments.get(text.removeprefix(ATTACHMENT), text))


def _write_target(target: Any) -> str:
    return "\n".join(map(str, target)) if isinstance(target, list) else str(target or "")


def _find_status(sample: Mapping[str, Any]) -> str:
    if limit := sample.get("limit"):
        kind = limit.get("type", "") if isinstance(limit, dict) else limit
        return TIMEOUT if kind in TIMES else ERROR
    if error := sample.get("error"):
        return name_status(error.get("message", "") if isinstance(error, dict) else error)
    return ""


LAYOUTS.register("inspect")(InspectLog())
