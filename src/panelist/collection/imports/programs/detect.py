"""Which program wrote a file, and the files of one study read into one sheet."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from panelist.collection.imports.files.grids import read_grid
from panelist.collection.imports.files.nested_records import (
    PARQUET,
    POINTER,
    Records,
    holds_json,
    parse_json,
    read_tables,
)
from panelist.collection.imports.files.text_tables import decode, read_bytes, read_text_table
from panelist.collection.imports.mapping import SOURCES, TableLayout
from panelist.collection.imports.programs.label_studio import is_export, read_label_studio
from panelist.collection.imports.programs.mturk import is_mturk, read_mturk
from panelist.collection.imports.programs.potato import is_potato, is_potato_json, read_potato
from panelist.collection.imports.programs.prolific import is_prolific, read_prolific
from panelist.collection.imports.source_sheet import SourceSheet, join_sheets, make_sheet
from panelist.core.errors import BadFile, UnknownName, did_you_mean
from panelist.core.prose import count
from panelist.core.tables.readers import COMPRESSED

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


READERS: dict[str, Callable[[Path, bytes], SourceSheet]] = {
    "mturk": read_mturk,
    "potato": read_potato,
    "label-studio": read_label_studio,
    "prolific": read_prolific,
    "wide": read_wide,
}


@dataclass(frozen=True)
class Read:
    """What the files hold: submissions or tables, and separately what a panel knows about people."""

    sheet: SourceSheet | None
    people: SourceSheet | None
    tables: tuple[Records, ...] = ()


def read_sources(
    files: Sequence[Path],
    source: str | None = None,
    layout: TableLayout = TableLayout(),  # noqa: B008  it is frozen
) -> Read:
    """Return the submissions of all files together, which must be of one kind, and the people if any."""
    if not files:
        raise BadFile("No file is named. Name the files to import.")
    if source is not None and source not in SOURCES:
        raise UnknownName(f"No source is called {source!r}. {did_you_mean(source, SOURCES)}")
    contents = {path: read_bytes(path) for path in files}
    _refuse_twice(files, contents)
    kinds = {path: _find_kind(path, contents[path], source, layout) for path in files}
    sheets = [READERS[kind](path, contents[path]) for path, kind in kinds.items() if kind in READERS]
    tables = tuple(
        one
        for path, kind in kinds.items()
        if kind == "table"
        for one in read_tables(contents[path], path.name, layout)
    )
    people = [sheet for sheet in sheets if sheet.source == "prolific"]
    submissions = [sheet for sheet in sheets if sheet.source != "prolific"]
    if len({kind for kind in kinds.values() if kind != "prolific"}) > 1:
        listed = ", ".join(f"{path.name} ({kind})" for path, kind in kinds.items() if kind != "prolific")
        raise BadFile(f"The files come from different programs: {listed}. Import each kind separately.")
    return Read(
        join_sheets(submissions) if submissions else None, join_sheets(people) if people else None, tables
    )


def _refuse_twice(files: Sequence[Path], contents: dict[Path, bytes]) -> None:
    seen: dict[str, Path] = {}
    if len(contents) < len(files):
        again = next(path for place, path in enumerate(files) if path in files[:place])
        raise BadFile(f"{again} is named twice. Nothing was imported; name each file once.")
    for path, content in contents.items():
        first = seen.setdefault(hashlib.sha256(content).hexdigest(), path)
        if first is not path:
            raise BadFile(f"{first} and {path} are the same file. Nothing was imported; leave one out.")


def _find_kind(path: Path, content: bytes, source: str | None, layout: TableLayout) -> str:
    """Return what wrote a file: as the file says, else as the user says, else any table."""
    if source == "table" or content.startswith((PARQUET, POINTER, *COMPRESSED)):
        return "table"
    if holds_json(content, path.name):
        if source in ("potato", "label-studio"):
            return source
        data = parse_json(decode(content, path.name)[0], path.name)
        return "label-studio" if is_export(data) else "potato" if is_potato_json(data) else "table"
    if layout.header:
        return "table"
    if source is not None and source != "prolific":
        return source if not _is_people(content, path.name) else "prolific"
    grid = read_grid(content, path.name)
    if is_prolific(grid.header) or source == "prolific":
        return "prolific"
    if is_mturk(grid.header):
        return "mturk"
    if is_potato(grid.header):
        return "potato"
    return "wide" if is_survey(grid.rows) else "table"


def _is_people(content: bytes, name: str) -> bool:
    try:
        return is_prolific(read_grid(content, name).header)
    except BadFile:  # its own reader says what is wrong, in its own words
        return False
