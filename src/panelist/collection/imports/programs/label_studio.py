"""Label Studio's JSON export: tasks with annotations, as full JSON or as JSON-MIN.

Each annotation becomes a row: ``task``, ``annotation``, ``completed_by``, ``seconds`` (lead_time),
``data.*`` of the task, and a column for each control of the labelling page (``from_name``): the choice, the
stars, the number or the side (``left``, ``right``) that was picked. Regions (boxes, spans) are not ratings;
they are counted and left out.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from panelist.collection.imports.files.text_tables import decode
from panelist.collection.imports.source_sheet import SkippedData, SourceSheet, flatten, make_sheet, write_leaf
from panelist.core.errors import BadFile

VALUES = {  # type of a control → where its value holds the answer
    "choices": "choices",
    "rating": "rating",
    "pairwise": "selected",
    "number": "number",
    "textarea": "text",
    "taxonomy": "taxonomy",
    "datetime": "datetime",
}


def is_label_studio(data: Any) -> bool:
    """Return whether this is a list of annotated tasks."""
    if not (isinstance(data, list) and data and isinstance(data[0], Mapping)):
        return False
    return bool({"annotations", "completions"} & set(data[0])) or "annotator" in data[0]


def is_export(data: Any) -> bool:
    """Return whether this can only be an export: other files have annotations and annotators, too."""
    if not is_label_studio(data):
        return False
    first = next(
        (one for task in data for one in task.get("annotations", task.get("completions")) or []), None
    )
    if isinstance(first, Mapping):
        return bool({"result", "completed_by"} & set(first))
    return {"annotator", "annotation_id"} <= set(data[0]) or "data" in data[0]


def read_label_studio(path: Path, content: bytes) -> SourceSheet:
    """Return the annotations of an export, one per row."""
    text, notes = decode(content, path.name)
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadFile(f"{path.name} is not JSON: {error}. Export the project as JSON or JSON-MIN.") from None
    if not is_label_studio(data):
        raise BadFile(
            f"{path.name} is not an export of Label Studio: that is a list of tasks with annotations. Export "
            "the project as JSON or JSON-MIN."
        )
    regions: Counter[str] = Counter()
    empty = 0
    rows: list[dict[str, str]] = []
    for task in data:
        if "annotations" not in task and "completions" not in task:
            rows.append(_read_minimal(task))
            continue
        annotations = task.get("annotations", task.get("completions")) or []
        empty += not annotations
        rows += [_read_annotation(task, one, regions) for one in annotations]
    if not rows:
        raise BadFile(f"{path.name} has {len(data)} tasks and no annotation: there is nothing to import.")
    left = [SkippedData(f"regions of the type {kind}", n) for kind, n in sorted(regions.items())]
    left += [SkippedData("tasks without an annotation", empty)] if empty else []
    header = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[row.get(name, "") for name in header] for row in rows]
    return make_sheet("label-studio", path.name, header, cells, notes, left)


def _read_annotation(
    task: Mapping[str, Any], annotation: Mapping[str, Any], regions: Counter[str]
) -> dict[str, str]:
    row = {
        "task": write_leaf(task.get("id")),
        "annotation": write_leaf(annotation.get("id")),
        "completed_by": _name_person(annotation.get("completed_by")),
        "was_cancelled": write_leaf(bool(annotation.get("was_cancelled"))),
        "ground_truth": write_leaf(bool(annotation.get("ground_truth"))),
        "created_at": write_leaf(annotation.get("created_at")),
        "seconds": write_leaf(annotation.get("lead_time")),
    }
    row |= {f"data.{name}": text for name, text in flatten(task.get("data") or {})}
    for result in annotation.get("result") or []:
        kind = str(result.get("type", ""))
        value = result.get("value") or {}
        if kind not in VALUES or "from_name" not in result:
            regions[kind or "unknown"] += 1
            continue
        said = value.get(VALUES[kind])
        row[f"result.{result['from_name']}"] = (
            "|".join(map(write_leaf, said)) if isinstance(said, list) else write_leaf(said)
        )
    return row


def _read_minimal(task: Mapping[str, Any]) -> dict[str, str]:
    """Return the row of an entry of JSON-MIN, whose controls are beside the data."""
    known = {"id": "task", "annotation_id": "annotation", "annotator": "completed_by"}
    known |= {"lead_time": "seconds", "created_at": "created_at", "updated_at": "updated_at"}
    row = {}
    for key, value in task.items():
        if key in known:
            row[known[key]] = _name_person(value) if key == "annotator" else write_leaf(value)
        elif isinstance(value, Mapping) and "choices" in value:
            row[f"result.{key}"] = "|".join(map(write_leaf, value["choices"]))
        else:
            row |= {f"data.{name}": text for name, text in flatten(value, key)}
    return row


def _name_person(person: Any) -> str:
    """Return who completed an annotation: a number, or the e-mail address or number of an object."""
    if isinstance(person, Mapping):
        return write_leaf(person.get("email") or person.get("id"))
    return write_leaf(person)
