"""Examples for the help of every command, which examples.txt has as a person would type them."""

from pathlib import Path

EXAMPLES: dict[str, list[str]] = {}
for _line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
    _command, _, _example = _line.partition(": ")
    EXAMPLES.setdefault(_command, []).append(_example)


def write_epilog(command: str) -> str:
    """Return the end of a command's help; nothing where there is no example."""
    examples = EXAMPLES.get(command, [])
    heading = "Example:" if len(examples) == 1 else "Examples:"
    return "\n".join(["\b", heading, *(f"  {line}" for line in examples)]) if examples else ""
