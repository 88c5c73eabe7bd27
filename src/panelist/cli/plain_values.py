"""Values of options that need no reading: text stays text.

Typer reads every value with pydantic, whose import takes a tenth of a short command. Here only those values
get there that have to be converted, or are wrong.
"""

import os
from pathlib import Path
from typing import Any

from typer.core import TyperCommand


class PlainValues:
    """Commands whose parameters take what needs no reading as it is."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            make_reader = getattr(parameter, "get_runtime_param", None)  # older versions have no pydantic
            if make_reader is not None and "get_runtime_param" not in vars(parameter):
                parameter.get_runtime_param = _Plain(make_reader).start
        return found


class PlainCommand(PlainValues, TyperCommand):
    """One command."""


class _Plain:
    """Stands in front of Typer's own reader, which is made when it is needed."""

    def __init__(self, make_reader: Any) -> None:
        self._make_reader = make_reader

    def start(self) -> "_Plain":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value as the command takes it."""
        described = param.type_descriptor
        kind, info = described.annotation, described.parameter_info
        several = param.multiple or param.nargs == -1
        if info.parser is None:
            if value is None:
                return () if several else None
            if kind is str and type(value) is str and not several:
                return value
            if kind is Path and type(value) is str and not several and _is_plain(value, info):
                return Path(value)
            if kind in (int, float) and type(value) is kind and info.min is info.max is None:
                return value
            if (
                kind == list[str]
                and isinstance(value, list | tuple)
                and {type(one) for one in value} == {str}
            ):
                return list(value)
        return self._make_reader().coerce(value, param=param, ctx=ctx)


def _is_plain(path: str, info: Any) -> bool:
    """Return whether Typer would have nothing to say about the path."""
    asked = (info.exists, info.resolve_path, info.writable, info.path_type, info.allow_dash)
    return not any(asked) and info.file_okay and info.dir_okay and os.access(path, os.R_OK)
