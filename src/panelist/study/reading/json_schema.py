"""The JSON Schema of a study file, from which editors complete it and mark mistakes."""

import json
from typing import Any

from panelist.study.model import StudyFile

SCHEMA_NAME = "study.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def make_schema() -> dict[str, Any]:
    """Return the JSON Schema of study.yaml."""
    schema = StudyFile.model_json_schema()
    head = {
        "$schema": _DIALECT,
        "$id": "urn:panelist:study:1",
        "title": "Panelist study",
        "description": "A human evaluation of language systems, as panelist reads it from study.yaml.",
    }
    whole: dict[str, Any] = _let_numbers_be_text(head | {k: v for k, v in schema.items() if k not in head})
    whole["required"] = [key for key in whole["required"] if key != "criteria"]
    whole["anyOf"] = [{"required": ["criteria"]}, {"required": ["hit"]}]  # an old HIT replaces the criteria
    return whole


def write_schema() -> str:
    """Return the JSON Schema as text, ready to be written to a file."""
    return json.dumps(make_schema(), indent=2, ensure_ascii=False) + "\n"


def _let_numbers_be_text(part: Any) -> Any:
    """Return the schema with numbers allowed for text: a label that reads 5 is a label to panelist."""
    if isinstance(part, list):
        return [_let_numbers_be_text(one) for one in part]
    if not isinstance(part, dict):
        return part
    part = {key: _let_numbers_be_text(value) for key, value in part.items()}
    if part.get("type") == "string" and not {"const", "enum", "format"} & set(part):
        part["type"] = ["string", "number"]
    return part
