"""Batch-result files as the platform wrote them, made for the tests."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from panelist.collection.imports.programs.mturk import COLUMNS, LAST

Row = Mapping[str, str]


def make_row(number: int, inputs: Row, answers: Row, **about: str) -> dict[str, str]:
    """Return one assignment; ``about`` overrides what the platform says of it."""
    row = {
        "HITId": f"HIT{inputs.get('id', number)}",
        "Title": "Rate a text",
        "Reward": "$0.34",
        "MaxAssignments": "3",
        "AssignmentId": f"ASSIGN{number:04d}",
        "WorkerId": f"AWORKER{number % 3}",
        "AssignmentStatus": "Approved",
        "AcceptTime": "Mon Jan 09 07:28:24 PST 2023",
        "SubmitTime": "Mon Jan 09 07:30:00 PST 2023",
        "WorkTimeInSeconds": "96",
    }
    row |= {f"Input.{name}": value for name, value in inputs.items()}
    return row | {f"Answer.{name}": value for name, value in answers.items()} | about


def write_batch(path: Path, rows: Sequence[Row], columns: Sequence[str] | None = None) -> Path:
    """Write the rows in the platform's order of columns: inputs as they come, answers sorted as text."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    inputs = [name for name in names if name.startswith("Input.")]
    answers = sorted(name for name in names if name.startswith("Answer."))
    header = list(columns or [*COLUMNS, *inputs, *answers, *LAST])
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[row.get(name, "") for name in header] for row in rows])
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def make_likert(n_items: int = 4, n_workers: int = 3) -> list[dict[str, str]]:
    """Return assignments in which two systems' outputs were rated 1 to 5 by the same workers."""
    rows: list[dict[str, str]] = []
    for item in range(n_items):
        for place, system in enumerate(("alto", "bass")):
            for worker in range(n_workers):
                rows.append(
                    make_row(
                        len(rows),
                        {"doc": f"d{item}", "system": system, "text": "Ärger, “so”"},
                        {"fluency": str(1 + (item + worker + place) % 5), "comment": "fine"},
                        WorkerId=f"AWORKER{worker}",
                        HITId=f"HIT{item}{system}",
                    )
                )
    return rows
