"""``panelist schema``: the JSON Schema of a study file."""

from pathlib import Path
from typing import Annotated

from panelist.cli.options import option
from panelist.cli.terminal import say, tell


def schema(
    out: Annotated[
        Path | None, option("FILE", "Write it to this file instead of printing it.", "--output", "-o")
    ] = None,
) -> None:
    """Print the JSON Schema of study.yaml, for editors."""
    from panelist.study.reading.json_schema import write_schema

    if out is None:
        say(write_schema().rstrip("\n"))
        return
    from panelist.core.errors import BadFile

    try:
        out.write_text(write_schema(), encoding="utf-8")
    except OSError as error:
        raise BadFile(f"The schema cannot be written to {out}: {error.strerror or error}.") from error
    tell(f"Written to {out}. Its first line in study.yaml: # yaml-language-server: $schema={out.name}")
