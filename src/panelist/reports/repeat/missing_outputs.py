"""Outputs whose texts are still missing: one row for each, which says so."""

import csv
from pathlib import Path

Row = tuple[str, str]
"""An item and a system."""
TO_FILL_IN = "(to fill in: "
LINE = {"type": "vas", "low": f"{TO_FILL_IN}low end)", "high": f"{TO_FILL_IN}high end)"}
"""A line whose ends are not known yet."""


def write_outputs(rows: list[Row], path: Path) -> None:
    """Write an outputs file with a row for each output, its text to be filled in."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("item", "system", "output"))
        writer.writerows((item, system, f"{TO_FILL_IN}{item} by {system})") for item, system in rows)
