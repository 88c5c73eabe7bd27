"""Batch files of OpenAI and Anthropic: results by custom_id in any order, and the requests they answer."""

from collections.abc import Iterator, Mapping
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
    Turn,
    name_status,
)
from panelist.collection.imports.outputs.messages import read_content, read_turns, shorten
from panelist.core.errors import BadFile

ASKED = ("messages", "input", "prompt")
"""What the bodies of requests call what is asked."""


class BatchResults(OutputLayout):
    """Results of a batch."""

    title = "batch results"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether a request has a response or a result."""
        return "custom_id" in entry and ("response" in entry or "result" in entry)

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give one output per result, with what was asked where the requests were given too."""
        for entry in file.entries:
            _refuse_others(entry, file.name)
        read = [read_result(entry, options.reasoning, found) for entry in file.entries]
        inputs = [found.inputs.get(str(entry["custom_id"]), ("", "")) for entry in file.entries]
        answered: dict[str, set[str]] = {}  # a failed request names no model, and those that answer a version
        for (model, _, _), (_, asked_of) in zip(read, inputs, strict=True):
            for name in ("", asked_of) if model else ():
                answered.setdefault(name, set()).add(model)
        for entry, (model, output, status), (context, asked_of) in zip(
            file.entries, read, inputs, strict=True
        ):
            names = answered.get(asked_of, set())
            system = options.system or model or (next(iter(names)) if len(names) == 1 else asked_of)
            yield OutputRow(str(entry["custom_id"]), system, output, context, status=status)


class BatchRequests(OutputLayout):
    """Requests of a batch: what was asked."""

    title = "batch requests"
    of_inputs = True

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether a request asks something."""
        asked = entry.get("body", entry.get("params"))
        return "custom_id" in entry and isinstance(asked, dict) and any(name in asked for name in ASKED)

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Keep what was asked; give no output."""
        for entry in file.entries:
            asked, item = entry.get("body") or entry["params"], str(entry["custom_id"])
            turns = shorten(_read_request(asked, file.name, found))
            model = str(asked.get("model", ""))
            before, asked_of = found.inputs.get(item, (turns, model))
            if before != turns:
                raise BadFile(
                    f"{file.name}: the request {item!r} is in another file too, with another input. Import "
                    "the results of each file of requests by themselves, then put the tables together."
                )
            found.inputs[item] = turns, model if model == asked_of else ""  # the results say which
        yield from ()


def _read_request(asked: Mapping[str, Any], name: str, found: Findings) -> list[Turn]:
    """Return what a request asks: messages, or one text; what the system is told comes first."""
    messages = next(asked[key] for key in ASKED if key in asked)
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    turns = read_turns(messages, name, found)
    if said := asked.get("system") or asked.get("instructions"):
        turns.insert(0, {"role": "system", "text": read_content(said, found)[0]})
    return turns


def read_result(
    entry: Mapping[str, Any], reasoning: bool = False, found: Findings | None = None
) -> tuple[str, str, str]:
    """Return the model, the text and the status of a result."""
    found = found or Findings()
    if "result" in entry:  # Anthropic
        result = entry["result"]
        if result.get("type") != "succeeded":
            kind = str(result.get("type", ""))
            return "", "", TIMEOUT if kind == "expired" else name_status(result.get("error", kind))
        message = result["message"]
        return str(message.get("model", "")), read_content(message.get("content"), found, reasoning)[0], ""
    body = _read_body(entry)
    if not isinstance(body, dict):
        return "", "", name_status(body)
    model = str(body.get("model", ""))
    if error := entry.get("error") or body.get("error"):
        expired = isinstance(error, dict) and error.get("code") == "batch_expired"
        return model, "", TIMEOUT if expired else name_status(error)
    if not _is_done(entry):
        return model, "", ERROR
    said = body.get("output")  # of responses; chats and completions have choices
    if isinstance(said, list):
        texts = (read_content(item.get("content"), found, reasoning)[0] for item in said)
        return model, "\n\n".join(text for text in texts if text), ""
    if not (choices := body.get("choices")):
        return model, "", ERROR
    message = choices[0].get("message") or {"content": choices[0].get("text")}
    text = read_content(message.get("content"), found, reasoning)[0]
    return model, text or str(message.get("refusal") or ""), ""


def _read_body(entry: Mapping[str, Any]) -> Any:
    return (entry.get("response") or {}).get("body") or {}


def _is_done(entry: Mapping[str, Any]) -> bool:
    return str((entry.get("response") or {}).get("status_code")) == "200"


def _refuse_others(entry: Mapping[str, Any], name: str) -> None:
    """Refuse results that went well and hold no text, such as embeddings."""
    body = _read_body(entry)
    if _is_done(entry) and isinstance(body, dict) and body and not {"choices", "output", "error"} & set(body):
        raise BadFile(
            f"{name}: the response to {entry['custom_id']!r} has neither choices nor output, so it holds no "
            "text. Results of chats, completions and responses can be read."
        )


LAYOUTS.register("batch-results")(BatchResults())
LAYOUTS.register("batch-requests")(BatchRequests())
