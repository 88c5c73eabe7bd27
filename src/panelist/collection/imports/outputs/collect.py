"""Outputs of several files made one table: layouts recognised, repeats, copies and unequal inputs counted."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from panelist.collection.imports.files.eval_archives import is_archive, read_archive
from panelist.collection.imports.files.nested_records import FILE, read_records
from panelist.collection.imports.files.text_tables import read_bytes
from panelist.collection.imports.outputs.base import (
    LAYOUTS,
    MISSING,
    Findings,
    OutputLayout,
    OutputRow,
    ReadOptions,
    SourceFile,
)
from panelist.collection.imports.outputs.imported_outputs import ImportedOutputs
from panelist.core.errors import BadFile, UnknownName, did_you_mean
from panelist.core.prose import count, listing, quoted

OTHERWISE = "table"

NOTHING_SAID = ReadOptions()
KNOWN_COLUMNS = ("item", "system", "output", "context", "reference", "status")


def import_outputs(
    files: Sequence[Path], options: ReadOptions = NOTHING_SAID, source: str = "", repeats: str = "first"
) -> ImportedOutputs:
    """Return the outputs in files of other programs, one row per output.

    ``source`` is the layout where the files do not say it; ``repeats`` keeps the ``first`` output of a
    system for an item, or ``all`` of them, as items of their own.
    """
    if not files:
        raise BadFile("No file is named. Name the files that hold the outputs.")
    for name in options.columns:
        if name not in KNOWN_COLUMNS:
            raise UnknownName(f"Outputs have no column {name!r}. {did_you_mean(name, KNOWN_COLUMNS)}")
    if repeats not in ("first", "all"):
        raise UnknownName(f"--repeats is first or all; found {repeats!r}.")
    found = Findings()
    read = [_read_file(Path(path), source) for path in files]
    read = _tell_apart(read)
    read.sort(key=lambda one: not one[1].of_inputs)  # what was asked comes first; otherwise as named
    rows: list[OutputRow] = []
    for file, layout in read:
        got = list(layout.read(file, options, found))
        rows += _name_systems(got, file, len(files), found)
    if not rows:
        raise BadFile(f"No outputs were found in {listing(Path(path).name for path in files)}.")
    rows = _settle_repeats(rows, repeats, found)
    _note_contents(rows, found)
    rows = _drop_copies(rows, found)
    _compare_inputs(rows, found)
    recognised = tuple((file.name, layout.title) for file, layout in read)
    return ImportedOutputs(_make_frame(rows), recognised, tuple(found.notes), found.pictures)


def _read_file(path: Path, source: str) -> tuple[SourceFile, OutputLayout]:
    content = read_bytes(path)
    if is_archive(content, path.name):
        entries: list[dict[str, Any]] = [read_archive(content, path.name)]
    else:
        entries = read_records(content, path.name).rows
        if len(entries) == 1 and list(entries[0]) == [FILE]:
            entries = [entries[0][FILE]]
    file = SourceFile(path.name, path.stem, path.resolve().parent.name, entries)
    if source:
        return file, LAYOUTS[source]
    fitting = [
        layout
        for name, layout in LAYOUTS.items()
        if name != OTHERWISE and all(layout.recognises(entry) for entry in entries)
    ]
    if len(fitting) > 1:
        raise BadFile(
            f"{path.name} could be {listing((one.title for one in fitting), last='or')}. Say which with "
            f"--from: {listing(LAYOUTS, None, 'or')}."
        )
    return file, fitting[0] if fitting else LAYOUTS[OTHERWISE]


def _tell_apart(read: list[tuple[SourceFile, OutputLayout]]) -> list[tuple[SourceFile, OutputLayout]]:
    """Return files of equal names with those of their folders, where these differ."""
    names = Counter(file.name for file, _ in read)
    return [
        (replace(file, name=f"{file.parent}/{file.name}") if names[file.name] > 1 else file, layout)
        for file, layout in read
    ]


def _name_systems(rows: list[OutputRow], file: SourceFile, n_files: int, found: Findings) -> list[OutputRow]:
    """Return the rows with a system each: that of the row, else, with several files, the name of the file."""
    nameless = sum(not row.system for row in rows)
    if nameless and n_files == 1:
        raise BadFile(
            f"{file.name}: {count(nameless, 'output')} of {len(rows):,} without a system. Name it with "
            "--system NAME, or the column that holds it with --columns system=NAME."
        )
    if nameless:
        found.notes.append(
            f"{file.name} does not name a system; its {count(nameless, 'output')} are those of "
            f"{file.stem!r}, the name of the file"
        )
    return [replace(row, system=row.system or file.stem) for row in rows]


def _settle_repeats(rows: list[OutputRow], keep: str, found: Findings) -> list[OutputRow]:
    again = sum(row.repeat > 1 for row in rows)
    if not again:
        return rows
    if keep == "first":
        found.notes.append(
            f"{count(again, 'repeat')} of the same system for the same item left out; --repeats all keeps "
            "them, as items of their own"
        )
        return [row for row in rows if row.repeat == 1]
    found.notes.append(f"{count(again, 'repeat')} kept, as items of their own: 'ITEM/2'")
    return [replace(row, item=f"{row.item}/{row.repeat}") if row.repeat > 1 else row for row in rows]


def _note_contents(rows: Sequence[OutputRow], found: Findings) -> None:
    """Note what is no answer in words: nothing at all, reasoning, parts of messages of other kinds."""
    if missing := sum(row.status == MISSING and not row.output for row in rows):
        found.notes.append(
            f"{count(missing, 'entry', 'entries')} without an answer: in the table with the status "
            f"{MISSING!r}, as outputs that do not exist"
        )
    if thinking := sum(str(row.output).lstrip().startswith("<think>") for row in rows):
        found.notes.append(
            f"{count(thinking, 'output')} with <think> at the start: reasoning within the text, which raters "
            "would see. It is kept as it is; take it out of the file if it is no part of the answer"
        )
    if found.left_out:
        kinds = listing(f"{number:,} {kind}" for kind, number in found.left_out.most_common())
        found.notes.append(f"parts of messages that are neither text nor picture left out: {kinds}")


def _drop_copies(rows: list[OutputRow], found: Findings) -> list[OutputRow]:
    """Return each output once; two different ones of a system for an item are refused."""
    kept: dict[tuple[str, str], OutputRow] = {}
    clashes: dict[tuple[str, str], None] = {}
    copies = 0
    for row in rows:
        first = kept.setdefault((row.item, row.system), row)
        if first is not row:
            copies += 1
            if (first.output, first.status) != (row.output, row.status):
                clashes[row.item, row.system] = None
    if clashes:
        named = listing(f"item {item!r}, system {system!r}" for item, system in clashes)
        raise BadFile(
            f"{count(len(clashes), 'output is', 'outputs are')} there twice with different texts: {named}. "
            "Keep one of each; if they come from different runs, name the systems apart with --system."
        )
    if copies:
        found.notes.append(f"{count(copies, 'copy', 'copies')} of outputs that were there already, left out")
    return list(kept.values())


def _compare_inputs(rows: list[OutputRow], found: Findings) -> None:
    """Note the items for which systems were not asked the same."""
    asked: dict[str, set[str]] = {}
    for row in rows:
        known = row.version or (json.dumps(row.context, sort_keys=True) if row.context else "")
        if known:
            asked.setdefault(row.item, set()).add(known)
    unequal = [item for item, said in asked.items() if len(said) > 1]
    if unequal:
        found.notes.append(
            f"{count(len(unequal), 'item')} of {len(asked):,} with unequal inputs for different systems: "
            f"{quoted(unequal)}. Were they asked the same?"
        )


def _make_frame(rows: Sequence[OutputRow]) -> pd.DataFrame:
    """Return the table; a column in which some cells are dialogues has dialogues in all of its cells."""
    columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in KNOWN_COLUMNS}
    for name, role in (("output", "assistant"), ("context", "user")):
        if any(isinstance(cell, list) for cell in columns[name]):
            columns[name] = list(_lengthen(columns[name], role))
    for name in ("context", "reference", "status"):
        if not any(columns[name]):
            del columns[name]
    return pd.DataFrame(columns, dtype=object)


def _lengthen(cells: Sequence[Any], role: str) -> Iterator[Any]:
    for cell in cells:
        yield cell if isinstance(cell, list) else [{"role": role, "text": cell}] if cell else ""
