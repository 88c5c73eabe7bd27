"""Samples of lm-evaluation-harness: one line per document and filter, the model in the name of the folder."""

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
from panelist.core.errors import BadFile, UnknownName, did_you_mean
from panelist.core.prose import count, quoted

NO_FILTER = "none"


class HarnessSamples(OutputLayout):
    """A file samples_TASK_DATE.jsonl."""

    title = "samples of lm-evaluation-harness"

    def recognises(self, entry: Mapping[str, Any]) -> bool:
        """Return whether a document has answers."""
        return "doc_id" in entry and "resps" in entry

    def read(self, file: SourceFile, options: ReadOptions, found: Findings) -> Iterator[OutputRow]:
        """Give one output per document and repeat, by one filter."""
        chosen = _choose_filter(file, options.filter, found)
        if not options.system:
            found.notes.append(f"{file.name}: the system is the name of its folder, {file.parent!r}")
        for entry in file.entries:
            if str(entry.get("filter", NO_FILTER)) != chosen:
                continue
            answers = entry["resps"][0] if entry["resps"] else []
            if options.filter not in ("", NO_FILTER):
                answers = list(_list_filtered(entry["filtered_resps"]))
            if any(not isinstance(one, str) for one in answers):
                raise BadFile(
                    f"{file.name}: document {entry['doc_id']} has log probabilities in place of texts "
                    "(a multiple-choice task). People can rate only what a system wrote."
                )
            for repeat, answer in enumerate(answers or [""], start=1):
                yield OutputRow(
                    str(entry["doc_id"]),
                    options.system or file.parent,
                    answer,
                    _read_prompt(entry),
                    str(entry.get("target", "")),
                    "" if answers else MISSING,
                    repeat=repeat,
                    version=str(entry.get("doc_hash", "")),
                )


def _choose_filter(file: SourceFile, wanted: str, found: Findings) -> str:
    """Return the filter whose lines are read; every other line is the same answer, cut in another way."""
    filters = list(dict.fromkeys(str(entry.get("filter", NO_FILTER)) for entry in file.entries))
    if wanted and wanted not in filters:
        raise UnknownName(f"{file.name} has no filter {wanted!r}. {did_you_mean(wanted, filters)}")
    chosen = wanted or (NO_FILTER if NO_FILTER in filters else filters[0])
    if others := [name for name in filters if name != chosen]:
        left = sum(str(entry.get("filter", NO_FILTER)) != chosen for entry in file.entries)
        found.notes.append(
            f"{file.name}: {count(left, 'line')} of the {'filter' if len(others) == 1 else 'filters'} "
            f"{quoted(others)} left out; kept {chosen!r} (--filter NAME keeps another)"
        )
    return chosen


def _list_filtered(answers: Any) -> Iterator[str]:
    """Give what a filter made of the answers: one for each, or one of several, such as the most frequent."""
    for one in answers if isinstance(answers, list) else [answers]:
        if isinstance(one, list):
            yield from _list_filtered(one)
        else:
            yield str(one)


def _read_prompt(entry: Mapping[str, Any]) -> str:
    arguments = entry.get("arguments") or {}
    first = next(iter(arguments.values()), {}) if isinstance(arguments, dict) else arguments[0]
    asked = first.get("arg_0", "") if isinstance(first, dict) else first[0] if first else ""
    return str(asked)


LAYOUTS.register("lm-evaluation-harness")(HarnessSamples())
