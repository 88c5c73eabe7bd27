"""Batch files of OpenAI and Anthropic: results by custom_id in any order, and the requests they answer."""

from collections.abc import Iterator, Mapping
from typing import Any

from panelist.collection.imports.outputs.base import (
    LAYOUTS,
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


class BatchResults(OutputLayout):
    """Results of a batch."""

    title = "batch results"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether a request has a response or a result."""
        return "custom_id" in entry and ("response" in entry or "result" in entry)

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give one output per result, with what was asked where the requests were given too."""
        read = [read_result(entry, options.reasoning) for entry in file.entries]
        models = {model for model, _, _ in read if model}
        alone = next(iter(models)) if len(models) == 1 else ""  # of a failed request no model is known
        for entry, (model, output, status) in zip(file.entries, read, strict=True):
            item = str(entry["custom_id"])
            context, asked_of = found.inputs.get(item, ("", ""))
            yield OutputRow(
                item, options.system or model or asked_of or alone, output, context, status=status
            )


class BatchRequests(OutputLayout):
    """Requests of a batch: what was asked."""

    title = "batch requests"
    of_inputs = True

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether a request holds messages."""
        asked = entry.get("body", entry.get("params"))
        return "custom_id" in entry and isinstance(asked, dict) and "messages" in asked

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Keep what was asked; give no output."""
        for entry in file.entries:
            asked = entry.get("body") or entry["params"]
            turns = read_turns(asked["messages"], file.name)
            if said := asked.get("system"):
                turns.insert(0, {"role": "system", "text": read_content(said)[0]})
            found.inputs[str(entry["custom_id"])] = shorten(turns), str(asked.get("model", ""))
        yield from ()


def read_result(entry: Mapping[str, Any], reasoning: bool) -> tuple[str, str, str]:
    """Return the model, the text and the status of a result."""
    if "result" in entry:  # Anthropic
        result = entry["result"]
        if result.get("type") != "succeeded":
            kind = str(result.get("type", ""))
            return "", "", "timeout" if kind == "expired" else name_status(result.get("error", kind))
        message = result["message"]
        return str(message.get("model", "")), read_content(message.get("content"), reasoning)[0], ""
    response = entry.get("response") or {}
    body = response.get("body") or {}
    model = str(body.get("model", ""))
    if entry.get("error") or int(response.get("status_code") or 0) != 200 or not body.get("choices"):
        error = entry.get("error") or body.get("error") or {}
        return model, "", "timeout" if error.get("code") == "batch_expired" else name_status(error)
    message = body["choices"][0].get("message") or {}
    text = read_content(message.get("content"), reasoning)[0] or str(message.get("refusal") or "")
    return model, text, ""


LAYOUTS.register("batch-results")(BatchResults())
LAYOUTS.register("batch-requests")(BatchRequests())
