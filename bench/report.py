"""What a section of the benchmark hands back, and how it gets into docs/benchmarks.md."""

import os
import platform
import re
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.clock import n_cores
from bench.simulate import SIZES, Size
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, json_ready

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
WIDTH = 150
SAME = 1e-3  # log-likelihoods that differ by more are not of the same fit


@dataclass(frozen=True)
class Options:
    """What was asked for."""

    full: bool = False  # also what takes minutes in R
    use_r: bool = True
    sizes: tuple[Size, ...] = SIZES
    seeds: tuple[int, ...] = (1, 2, 3)


class Section(Result):
    """A frozen dataclass of measurements that shows itself."""

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements as names and values."""
        return dict(json_ready(asdict(self)))  # type: ignore[call-overload]


def say(text: str) -> None:
    """Tell on stderr what is going on; the tables alone go to stdout."""
    print(text, file=sys.stderr, flush=True)


def show(result: Result) -> None:
    """Print the tables, on lines wide enough for them."""
    from rich.console import Console

    Console(width=WIDTH, highlight=False, soft_wrap=False).print(result, "")


def word(met: bool) -> str:
    """Return the verdict on a target."""
    return "met" if met else "not met"


def describe_machine() -> str:
    """Return the machine and the versions in one sentence."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("panelist", "numpy", "scipy", "numba", "pandas")
    )
    cores = n_cores()
    return (
        f"{_processor()}, {cores} core{'s' * (cores > 1)}{_memory()}, {platform.system()}; "
        f"Python {platform.python_version()}, {packages}."
    )


def write_page(sections: dict[str, Result], path: Path = PAGE) -> None:
    """Put each section's tables between its markers in the page; the rest of it stays."""
    text = path.read_text(encoding="utf-8")
    for name, section in sections.items():
        text = put_between(text, name, f"Machine: {describe_machine()}\n\n{draw_markdown(section)}")
    path.write_text(text, encoding="utf-8")


def put_between(text: str, name: str, body: str) -> str:
    """Return the text with ``body`` between the markers of ``name``.

    >>> put_between("<!-- bench: a -->\\nold\\n<!-- end -->\\n", "a", "new")
    '<!-- bench: a -->\\nnew\\n<!-- end -->\\n'
    """
    marker = f"<!-- bench: {name} -->"
    block = re.compile(rf"({re.escape(marker)}\n).*?(<!-- end -->)", re.DOTALL)
    if not block.search(text):
        raise ValueError(f"The page has no {marker} … <!-- end -->: put them where {name} belongs.")
    return block.sub(lambda found: f"{found[1]}{body}\n{found[2]}", text, count=1)


def draw_markdown(result: Result) -> str:
    """Return the parts of a result in Markdown; the page has headings of its own."""
    return "\n\n".join(_draw(part) for part in result.parts())


def _draw(part: Part) -> str:
    if isinstance(part, Sentence):
        return part.text
    if isinstance(part, NamedValues):
        return "\n".join(f"- {name}: {text}" for name, text in part.rows)
    return _draw_table(part)


def _draw_table(table: Table) -> str:
    sides = ["---:" if form.align == "right" else ":---" for form in table.columns()]
    lines = [table.header, sides, *table.written()]
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n\n".join([f"**{table.caption}**", "\n".join(rows), *([table.note] if table.note else [])])


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists() and (found := re.search(r"model name\s*:\s*(.+)", info.read_text(encoding="utf-8"))):
        return found[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return ""
    return f", {size / 2**30:.0f} GB"
