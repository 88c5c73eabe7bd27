"""Scales: how raters answer. One file per scale; the study file names it by its ``type``."""

from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from panelist.core.registry import import_siblings
from panelist.scales.base import SCALES, Scale

__all__ = ["SCALES", "AnyScale", "Scale"]

import_siblings(__name__, list(__path__))


class _RegisteredScale:
    """Reads a scale by its ``type``, looked up each time, so that one may be added later."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(_read_scale)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(_make_adapter(tuple(SCALES)).core_schema)


@lru_cache(maxsize=1)
def _make_adapter(names: tuple[str, ...]) -> TypeAdapter[Scale]:
    """Return what picks the scale by its ``type``, and names the known ones where it is unknown."""
    union: Any = reduce(or_, (SCALES[name] for name in names))
    return TypeAdapter(Annotated[union, Field(discriminator="type")])


def _read_scale(written: Any, info: ValidationInfo) -> Scale:
    return _make_adapter(tuple(SCALES)).validate_python(written, context=info.context)


if TYPE_CHECKING:
    AnyScale = Scale
else:
    AnyScale = Annotated[Scale, _RegisteredScale()]
