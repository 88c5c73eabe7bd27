"""The JSON Schema: it knows every key of a study file, and describes it."""

from typing import Any

import pytest

from panelist.scales.base import SCALES
from panelist.study.model import StudyFile
from panelist.study.reading.json_schema import make_schema, write_schema


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return make_schema()


def test_schema_names_itself_and_its_dialect(schema: dict[str, Any]) -> None:
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert schema["$id"] == "urn:panelist:study:1"
    assert schema["title"] == "Panelist study"


def test_schema_has_every_key_and_allows_no_other(schema: dict[str, Any]) -> None:
    assert set(schema["properties"]) == set(StudyFile.model_fields)
    assert schema["required"] == ["title"]
    assert schema["anyOf"] == [{"required": ["criteria"]}, {"required": ["hit"]}]
    assert schema["additionalProperties"] is False


def test_schema_offers_every_scale(schema: dict[str, Any]) -> None:
    choices = schema["$defs"]["Criterion"]["properties"]["scale"]["oneOf"]
    names = [choice["$ref"].rsplit("/", 1)[1] for choice in choices]
    offered = {schema["$defs"][name]["properties"]["type"]["const"] for name in names}
    assert offered == set(SCALES)


def test_schema_describes_keys_in_the_words_of_the_models(schema: dict[str, Any]) -> None:
    design = schema["$defs"]["DesignChoice"]["properties"]
    assert design["seed"]["description"] == "All random numbers follow from it."
    assert "williams" in design["type"]["enum"]


def test_every_reference_leads_somewhere(schema: dict[str, Any]) -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [one for value in part.values() for one in references(value)]
        return [one for value in part for one in references(value)] if isinstance(part, list) else []

    found = references(schema)
    assert len(found) > 20
    assert {reference.removeprefix("#/$defs/") for reference in found} <= set(schema["$defs"])


def test_a_number_may_stand_where_text_is_wanted(schema: dict[str, Any]) -> None:
    assert schema["properties"]["title"]["type"] == ["string", "number"]


def test_schema_is_the_same_every_time() -> None:
    assert write_schema() == write_schema()
    assert write_schema().endswith("}\n")
