"""Problems of a study: each says where it is, what was found, what is allowed and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
"""The way to a value of a study file: ``("criteria", 0, "scale", "points")``."""


@dataclass(frozen=True)
class Problem:
    """One thing to correct; or, where it is not ``grave``, to know about."""

    file: str
    line: int | None
    key: str
    message: str
    grave: bool = True

    def __str__(self) -> str:
        """Return the line that ``panelist check`` prints."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place} {self.key}: {self.message}" if self.key else f"{place}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as JSON-ready names and values."""
        return {"file": self.file, "line": self.line, "key": self.key, "message": self.message}


def write_key(path: Path) -> str:
    """Return a path as people write it.

    >>> write_key(("criteria", 1, "scale", "points"))
    'criteria[1].scale.points'
    """
    words = ""
    for step in path:
        words += f"[{step}]" if isinstance(step, int) else f".{step}"
    return words.removeprefix(".")


def find_line(lines: Mapping[Path, int], path: Path) -> int | None:
    """Return the line of a value, or of the nearest part around it that is in the file."""
    for length in range(len(path), -1, -1):
        if (line := lines.get(path[:length])) is not None:
            return line
    return None


def show_value(value: object, most: int = 60) -> str:
    """Return a value as an error quotes it: short, on one line, in the words of the study file.

    >>> show_value("yes"), show_value(True), show_value({"a": 1}), show_value(None)
    ("'yes'", 'true', 'a set of keys (a)', 'nothing')
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return f"a set of keys ({', '.join(map(str, value))[:most]})" if value else "an empty set of keys"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= most else text[: most - 1] + "…" + "'" * isinstance(value, str)
