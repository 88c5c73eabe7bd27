"""The deviation table as a file: Markdown, LaTeX, CSV or JSON, by the end of its name."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from panelist.core.display.markdown import draw_markdown
from panelist.core.files import check_target, replace_file
from panelist.core.tables.spreadsheets import disarm
from panelist.reproduction.deviations.deviation_table import Deviations


def _draw_csv(found: Deviations) -> str:
    rows = [(row.parameter, row.original, row.repeat, row.reason) for row in found.rows]
    frame, _ = disarm(pd.DataFrame(rows, columns=["parameter", "original", "repeat", "reason"]))
    return frame.to_csv(index=False, lineterminator="\n")


WRITERS: dict[str, Callable[[Deviations], str]] = {
    ".md": draw_markdown,
    ".tex": lambda found: found.to_latex() + "\n",
    ".csv": _draw_csv,
    ".json": lambda found: json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n",
}


def find_writer(path: Path) -> Callable[[Deviations], str]:
    """Return what draws a file of this name, or say which endings there are."""
    check_target(path, "deviation table", WRITERS)
    return WRITERS[path.suffix.casefold()]


def write_deviations(found: Deviations, path: Path) -> None:
    """Write the table into a file whose ending determines the format; all of it or nothing."""
    replace_file(path, find_writer(path)(found))
