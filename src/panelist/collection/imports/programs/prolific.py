"""Prolific's demographics export: who the raters are, never joined into the ratings but kept beside them."""

from pathlib import Path

from panelist.collection.imports.files.text_tables import read_text_table
from panelist.collection.imports.source_sheet import SkippedData, SourceSheet, make_sheet
from panelist.core.errors import BadFile
from panelist.core.prose import listing

PERSON, SUBMISSION = "Participant id", "Submission id"
UNSAID = {"DATA_EXPIRED", "CONSENT_REVOKED"}
ABOUT_WORK = {
    *(SUBMISSION, "Status", "Custom study tncs accepted at", "Started at", "Completed at", "Reviewed at"),
    *("Archived at", "Time taken", "Completion code", "Total approvals"),
}
"""Columns about the submission, not about the person."""


def is_prolific(header: tuple[str, ...]) -> bool:
    """Return whether these are the columns of a demographics export."""
    return {PERSON.casefold(), SUBMISSION.casefold()} <= {name.casefold() for name in header}


def read_prolific(path: Path, content: bytes) -> SourceSheet:
    """Return the export, what Prolific no longer says as empty cells."""
    table = read_text_table(content, path.name)
    if not is_prolific(table.header):
        raise BadFile(
            f"{path.name} is not a demographics export of Prolific: it has no columns {SUBMISSION!r} and "
            f"{PERSON!r} (its columns: {listing(table.header)})."
        )
    proper = {name.casefold(): name for name in (PERSON, SUBMISSION)}
    header = [proper.get(name.casefold(), name) for name in table.header]
    unsaid = sum(cell in UNSAID for row in table.rows for cell in row)
    rows = [["" if cell in UNSAID else cell for cell in row] for row in table.rows]
    left = [SkippedData("answers that Prolific no longer gives (data expired, consent revoked)", unsaid)]
    return make_sheet("prolific", path.name, header, rows, table.notes, left if unsaid else ())
