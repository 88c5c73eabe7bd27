"""Outputs whose texts are still to be had: a row for each, that says what is missing."""

import csv
from pathlib import Path

Row = tuple[str, str]
"""An item and a system."""
TO_FILL_IN = "(to fill in: "
LINE = {"type": "vas", "low": f"{TO_FILL_IN}low end)", "high": f"{TO_FILL_IN}high end)"}
"""A scale that is a line, whose ends nobody knows yet."""


def write_outputs(rows: list[Row], path: Path) -> None:
    """Write an outputs file with a row for each output, its text to be filled in."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("item", "system", "output"))
        writer.writerows((item, system, f"{TO_FILL_IN}{item} by {system})") for item, system in rows)
