"""Potato's annotations: JSON lines, one ``user_state.json`` per rater, or a table.

Three layouts are read: JSON lines (one per rater and instance; ``label_annotations`` by schema in Potato 1,
``labels`` in exports of Potato 2), ``user_state.json`` (one rater, ``instance_id_to_label_to_value``; in
Potato 2 a list of pairs of label and value), and CSV or TSV with ``user_id`` and ``instance_id`` and one
column per schema (or ``schema:::label``, and ``schema.label`` in exports of Potato 2).

A schema's answer is a set of labels with values. A label marked true is the answer; ``scale_4`` of a Likert
schema is 4; the value itself is the answer where the label only names the field (slider, text box).
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from panelist.collection.imports.files.text_tables import decode, read_text_table
from panelist.collection.imports.source_sheet import SkippedData, SourceSheet, make_sheet, write_leaf
from panelist.core.errors import BadFile
from panelist.core.prose import listing

USER, INSTANCE, TEXT, SECONDS = "user_id", "instance_id", "displayed_text", "seconds"
_STATE, _BEHAVIOUR = "instance_id_to_label_to_value", "instance_id_to_behavioral_data"
_OLD_LABELS, _LABELS = "label_annotations", "labels"
_FIELDS = {"", "slider", "number", "text_box", "textbox", "text", "value", "rating", "free_response", "bws"}
_SCALE = re.compile(r"scale_(-?\d+)")
_SPENT = re.compile(r"(?:(\d+)d)?\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)")
_FALSE = {"", "false", "0", "none", "null"}
_TRUE = {"true", "on", "yes", "checked"}


def is_potato(header: tuple[str, ...]) -> bool:
    """Return whether these are the columns of a table of annotations."""
    return INSTANCE in header and bool({USER, "user"} & set(header))


def is_potato_json(data: Any) -> bool:
    """Return whether this is what Potato writes: annotations by label, or the state of a rater."""
    if isinstance(data, Mapping):
        return _STATE in data or _is_annotation(data)
    return bool(data) and isinstance(data, list) and all(map(_is_annotation, data[:50]))


def _is_annotation(one: Any) -> bool:
    return isinstance(one, Mapping) and (_OLD_LABELS in one or {USER, INSTANCE, _LABELS} <= set(one))


def read_potato(path: Path, content: bytes) -> SourceSheet:
    """Return the annotations of one file, one row per rater and instance, one column per schema."""
    if path.suffix.casefold() in (".csv", ".tsv"):
        return _read_table(path, content)
    text, notes = decode(content, path.name)
    records, spans = [], 0
    for record in _list_records(text, path):
        spans += bool(record.get("span_annotations", record.get("spans")))
        labels = record.get(_OLD_LABELS, record.get(_LABELS))
        if not isinstance(labels, Mapping):
            raise BadFile(
                f"{path.name} has an entry without label_annotations ({listing(map(str, record))}), so it "
                "holds no annotations of Potato that can be read as ratings."
            )
        row = {
            USER: write_leaf(record.get(USER, record.get("user", path.parent.name))),
            INSTANCE: write_leaf(record.get(INSTANCE, record.get("id"))),
            TEXT: write_leaf(record.get(TEXT)),
            SECONDS: _read_seconds(record.get("behavioral_data")),
        }
        row |= {schema: read_answer(schema, value) for schema, value in labels.items()}
        records.append(row)
    header = list(dict.fromkeys(name for row in records for name in row))
    left = [SkippedData("entries' spans of text", spans)] if spans else []
    rows = [[row.get(name, "") for name in header] for row in records]
    return make_sheet("potato", path.name, header, rows, notes, left)


def read_answer(schema: str, value: Any) -> str:
    """Return the answer to one schema; several labels are joined by ``|``.

    >>> read_answer("fluency", {"scale_4": "4"}), read_answer("mood", {"glad": True, "sad": False})
    ('4', 'glad')
    >>> read_answer("speed", {"slider": "34"}), read_answer("mood", {"labels": {"glad": "true"}})
    ('34', 'glad')
    """
    if isinstance(value, Mapping) and list(value) == ["labels"] and isinstance(value["labels"], Mapping):
        value = value["labels"]
    if not isinstance(value, Mapping):
        return write_leaf(value) if not isinstance(value, list) else "|".join(map(write_leaf, value))
    said = []
    for label, inner in value.items():
        text = write_leaf(inner)
        if label.casefold() in _FIELDS or label == schema:
            said.append(text)
        elif text != label and text.casefold() in _FALSE:
            continue
        elif (scale := _SCALE.fullmatch(label)) and text.casefold() not in _TRUE:
            said.append(text if text.lstrip("-").isdecimal() else scale[1])
        else:
            said.append(scale[1] if scale else label)
    return "|".join(one for one in said if one)


def _list_records(text: str, path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of JSON lines, of a JSON list, or of one rater's state."""
    try:
        whole = json.loads(text)
    except ValueError:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                try:
                    yield _entry(json.loads(line), path)
                except ValueError:
                    raise BadFile(f"{path.name}, line {number}, is not JSON ({line[:60]!r}).") from None
        return
    if isinstance(whole, Mapping) and _STATE in whole:
        behaviour = whole.get(_BEHAVIOUR) or {}
        for instance, labels in whole[_STATE].items():
            yield {
                USER: whole.get(USER),
                INSTANCE: instance,
                _LABELS: _by_schema(labels),
                "behavioral_data": behaviour.get(instance),
            }
        return
    for one in whole if isinstance(whole, list) else [whole]:
        yield _entry(one, path)


def _by_schema(labels: Any) -> Any:
    """Return labels by schema, where they are pairs of a label with its schema and the value.

    >>> _by_schema([[{"schema": "fluency", "name": "4"}, "4"]])
    {'fluency': {'4': '4'}}
    """
    if not isinstance(labels, list):
        return labels
    found: dict[str, dict[str, Any]] = {}
    for pair in labels:
        match pair:
            case [{"schema": schema, "name": name}, value]:
                found.setdefault(str(schema), {})[str(name)] = value
            case _:
                return labels
    return found


def _entry(one: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(one, Mapping):
        raise BadFile(f"{path.name} holds {json.dumps(one)[:60]} where an object with annotations should be.")
    return one


def _read_table(path: Path, content: bytes) -> SourceSheet:
    table = read_text_table(content, path.name)
    if not is_potato(table.header):
        raise BadFile(
            f"{path.name} has no columns {USER} and {INSTANCE}, as a table of Potato has (its columns: "
            f"{listing(table.header)}). Read it with --from wide."
        )
    schemas: dict[str, dict[str, int]] = {}
    header, places = [], []
    for at, name in enumerate(table.header):
        schema, label = _split_column(name)
        if label.startswith("_"):  # fluency._spans: regions, and other records about the page
            continue
        if label:
            schemas.setdefault(schema, {})[label] = at
        else:
            header.append(USER if name == "user" else name)
            places.append(at)
    rows = [
        [
            *(row[at] for at in places),
            *(
                read_answer(schema, {label: row[at] for label, at in labels.items() if row[at]})
                for schema, labels in schemas.items()
            ),
        ]
        for row in table.rows
    ]
    return make_sheet("potato", path.name, [*header, *schemas], rows, table.notes)


def _split_column(name: str) -> tuple[str, str]:
    """Return the schema and the label that a column is about; no label where it is neither.

    >>> _split_column("mood:::glad"), _split_column("mood.glad"), _split_column("user_id")
    (('mood', 'glad'), ('mood', 'glad'), ('user_id', ''))
    """
    schema, mark, label = name.partition(":::")
    if not mark:
        schema, _, label = name.partition(".")
    return (schema, label) if schema and label else (name, "")


def _read_seconds(behaviour: Any) -> str:
    """Return the seconds that a rater spent on an instance, where they were recorded."""
    if not isinstance(behaviour, Mapping):
        return ""
    if "time_spent" in behaviour:
        return write_leaf(behaviour["time_spent"])
    if behaviour.get("total_time_ms"):
        return write_leaf(behaviour["total_time_ms"] / 1000)
    found = _SPENT.search(str(behaviour.get("time_string", "")))
    if not found:
        return ""
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return str(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
