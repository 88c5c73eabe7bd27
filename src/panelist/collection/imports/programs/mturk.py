"""Mechanical Turk batch results: one row per assignment, ``Input.*`` as it was shown, ``Answer.*`` as given.

Columns may be in any order and some may be missing; only ``Answer.*`` is required. Answers of crowd
elements, which the service also wrote as JSON in one cell (``Answer.taskAnswers``), become separate columns.
"""

import json
from dataclasses import replace
from pathlib import Path

from panelist.collection.imports.files.text_tables import TextTable, read_text_table
from panelist.collection.imports.source_sheet import SourceSheet, flatten, make_sheet
from panelist.core.errors import BadFile
from panelist.core.prose import count, listing

COLUMNS = (
    *("HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments"),
    *("RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration"),
    *("NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus"),
    *("AcceptTime", "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback"),
    *("WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate"),
)
"""The columns before ``Input.*`` and ``Answer.*``, in the order in which the platform wrote them."""
LAST = ("Approve", "Reject")
TASK_ANSWERS = "Answer.taskAnswers"


def is_mturk(header: tuple[str, ...]) -> bool:
    """Return whether these are the columns of a batch-result file."""
    return any(name.startswith("Answer.") for name in header) and (
        any(name.startswith("Input.") for name in header) or bool(set(header) & {"HITId", "AssignmentId"})
    )


def read_mturk(path: Path, content: bytes) -> SourceSheet:
    """Return the assignments of one batch file."""
    table = read_text_table(content, path.name)
    if not any(name.startswith("Answer.") for name in table.header):
        raise BadFile(
            f"{table.name} has no column Answer.…, so it is not a batch-result file (its columns: "
            f"{listing(table.header)}). Say what it is with --from potato, label-studio, prolific or wide."
        )
    notes = [*table.notes, *_check_short(table)]
    sheet = make_sheet("mturk", table.name, table.header, table.rows, notes)
    return _expand_task_answers(sheet)


def _check_short(table: TextTable) -> list[str]:
    """Return the note on rows that end early; refuse where more than the last two columns are missing."""
    if not table.short:
        return []
    most = 0
    for number, length in table.short:
        gone = [name for name in table.header[-(len(table.header) - length) :] if name not in LAST]
        if gone and any(name.startswith(("Answer.", "Input.")) or name in COLUMNS for name in gone):
            raise BadFile(
                f"{table.name}, row {number}: the row ends after {length} of {len(table.header)} cells, so "
                f"{listing(gone)} is missing there. Correct the row, or remove it from the file."
            )
        most = max(most, len(table.header) - length)
    last = listing(table.header[-most:])
    return [f"{table.name}: {count(len(table.short), 'row')} without the last cells ({last}), taken as empty"]


def _expand_task_answers(sheet: SourceSheet) -> SourceSheet:
    if TASK_ANSWERS not in sheet.frame:
        return sheet
    expanded = []
    for at, cell in enumerate(sheet.frame[TASK_ANSWERS]):
        try:
            said = json.loads(cell) if cell.strip() else []
        except ValueError:
            raise BadFile(f"{sheet.place(at)}: {TASK_ANSWERS} is not JSON ({cell[:60]!r}).") from None
        merged: dict[str, str] = {}
        for one in said if isinstance(said, list) else [said]:
            merged |= {f"Answer.{name}": text for name, text in flatten(one)}
        expanded.append(merged)
    frame = sheet.frame.drop(columns=TASK_ANSWERS)
    for name in dict.fromkeys(name for one in expanded for name in one):
        if name not in frame:
            frame[name] = [one.get(name, "") for one in expanded]
    note = f"{sheet.files[0]}: answers in {TASK_ANSWERS} were written into separate columns"
    return replace(sheet, frame=frame, notes=(*sheet.notes, note))
