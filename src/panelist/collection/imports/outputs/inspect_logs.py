"""Logs of Inspect: one sample per item and epoch, the model in the header."""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from panelist.collection.imports.outputs.base import (
    LAYOUTS,
    TIMEOUT,
    Findings,
    OutputLayout,
    OutputRow,
    ReadOptions,
    SourceFile,
    name_status,
    read_content,
    read_turns,
    shorten,
)

ATTACHMENT = "attachment://"
PICTURES = {"png": ".png", "jpeg": ".jpg", "jpg": ".jpg", "webp": ".webp", "gif": ".gif"}


class InspectLog(OutputLayout):
    """A log of Inspect, as .json or from the .eval archive."""

    title = "log of Inspect"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether there is a header with a model, and samples."""
        return isinstance(entry.get("eval"), dict) and isinstance(entry.get("samples"), list)

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give one output per sample."""
        for log in file.entries:
            system = options.system or str(log["eval"].get("model", ""))
            for sample in log["samples"]:
                kept = sample.get("attachments") or {}
                output = sample.get("output") or {}
                choices = output.get("choices") or []
                text = str(output.get("completion") or "")
                if choices and (options.reasoning or not text):
                    text, _ = read_content(choices[0].get("message", {}).get("content"), options.reasoning)
                yield OutputRow(
                    str(sample.get("id", "")),
                    system,
                    _resolve(text, kept),
                    self._read_input(sample.get("input"), kept, file.name, found),
                    _write_target(sample.get("target")),
                    _find_status(sample),
                    int(sample.get("epoch") or 1),
                )

    def _read_input(self, asked: Any, kept: Mapping[str, str], name: str, found: Findings) -> Any:
        if not isinstance(asked, list):
            return _resolve(str(asked or ""), kept)
        turns = read_turns(asked, name)
        for turn in turns:
            turn["text"] = _resolve(turn["text"], kept)
            if pictures := turn.pop("images", None):
                turn["images"] = [_keep_picture(_resolve(one, kept), found) for one in pictures]
        return shorten(turns)


def _resolve(text: str, attachments: Mapping[str, str]) -> str:
    """Return what a reference to an attachment stands for; any other text as it is."""
    if not text.startswith(ATTACHMENT):
        return text
    return str(attachments.get(text.removeprefix(ATTACHMENT), text))


def _keep_picture(address: str, found: Findings) -> str:
    """Return the file name under which a picture in the log is written; an address elsewhere as it is."""
    kind, _, content = address.removeprefix("data:image/").partition(";base64,")
    if not address.startswith("data:image/") or kind not in PICTURES:
        found.notes.append(f"a picture in a message is not in the log, and is not fetched: {address[:80]!r}")
        return address
    try:
        data = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        found.notes.append("a picture in a message is damaged, and is left out")
        return ""
    name = f"media/{hashlib.sha256(data).hexdigest()[:16]}{PICTURES[kind]}"
    found.pictures[name] = data
    return name


def _write_target(target: Any) -> str:
    return "\n".join(map(str, target)) if isinstance(target, list) else str(target or "")


def _find_status(sample: Mapping[str, Any]) -> str:
    if limit := sample.get("limit"):
        return TIMEOUT if "time" in str(limit.get("type", "")) else "error"
    if error := sample.get("error"):
        return name_status(error.get("message", "") if isinstance(error, dict) else error)
    return ""


LAYOUTS.register("inspect")(InspectLog())
