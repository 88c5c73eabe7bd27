"""A file put in its place in one step."""

import os
import tempfile
from pathlib import Path

from panelist.core.errors import BadFile


def replace_file(target: Path, content: bytes | str) -> None:
    """Put content into a file in one step: whoever reads it sees the old or the new, never half of one."""
    place = target.resolve()  # a link stays a link
    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False) as file:
            name = file.name
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_read_umask()
        Path(name).chmod(mode)
        Path(name).replace(place)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise BadFile(f"{target} cannot be written: {error.strerror or error}.") from error


def _read_umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
