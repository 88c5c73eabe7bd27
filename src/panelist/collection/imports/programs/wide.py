"""Wide tables: one row per rater, one column per question, as survey programs export them.

Qualtrics writes three header rows: the names, the wordings, and ``{"ImportId": …}``; the last two are not
data.
"""

from collections.abc import Sequence
from pathlib import Path

from panelist.collection.imports.files.text_tables import read_text_table
from panelist.collection.imports.source_sheet import SourceSheet, make_sheet
from panelist.core.errors import BadFile
from panelist.core.prose import count

_IMPORT_ID = '{"ImportId"'


def is_survey(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the rows below the header begin as Qualtrics' do."""
    return any(cell.startswith(_IMPORT_ID) for row in rows[:2] for cell in row)


def read_wide(path: Path, content: bytes) -> SourceSheet:
    """Return the rows of a wide table, without further header rows."""
    table = read_text_table(content, path.name)
    if table.short:
        number, length = table.short[0]
        raise BadFile(
            f"{path.name}, row {number}: the row ends after {length} of {len(table.header)} cells "
            f"({count(len(table.short), 'such row')}). Correct it, or remove it from the file."
        )
    rows, notes = list(table.rows), list(table.notes)
    heads = [place for place, row in enumerate(rows[:2]) if any(cell.startswith(_IMPORT_ID) for cell in row)]
    if heads:
        rows = rows[heads[0] + 1 :]
        notes.append(f"{path.name}: {count(heads[0] + 2, 'header row')}, as Qualtrics writes them")
    if not rows:
        raise BadFile(f"{path.name} has header rows but no answers: there is nothing to import.")
    return make_sheet("wide", path.name, table.header, rows, notes)
