"""The outputs: what each system made of each item, as text, exactly as the file has it."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from panelist.core.errors import BadFile, BadRatings, BadStudy, did_you_mean, nearest
from panelist.core.prose import listing, quoted
from panelist.core.tables.cells import TEXT_TYPE, read_identifiers
from panelist.core.tables.readers import READERS, find_ending, read_table
from panelist.formats import FORMATS, Stimulus, StimulusFormat
from panelist.formats.base import write_canonical
from panelist.study.lacking import STATUS, find_unknown, note_lacking, part_absent
from panelist.study.output_media import OutputMedia, Pair, find_media_problems, name_more
from panelist.study.output_rows import (
    Rows,
    find_empty,
    find_long,
    find_misshaped,
    find_missing,
    find_nameless,
    find_repeated,
    find_spaces,
)
from panelist.study.problems import Problem
from panelist.study.sections.outputs_file import OutputsFile

PLAIN = OutputsFile()
CELLS_KEPT = 50_000
TEXT_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


def find_unreadable(path: Path) -> tuple[str, int | None] | None:
    """Return why an outputs file cannot be read, and the line: it is not there, empty or not UTF-8."""
    if path.is_dir():
        return f"{path} is a folder; name the file of outputs in it.", None
    if not path.exists():
        near = [other.name for other in path.parent.glob("*") if other.suffix.casefold() in READERS]
        hint = did_you_mean(path.name, near) if near else "It has the columns item, system, output."
        return f"there is no file {str(path)!r}. {hint}", None
    if path.suffix.casefold() not in TEXT_ENDINGS:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        return f"the file cannot be read: {error.strerror or error}.", None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "the file is UTF-16 text; save it as UTF-8.", None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", content[: error.start])) + 1
        byte = content[error.start : error.start + 1]
        return (
            f"the line is not UTF-8 text: it holds the byte {byte[0]:#04x}, which older Windows programs "
            f"write for {byte.decode('cp1252', 'replace')!r}. Save the file as UTF-8 (in Excel: CSV UTF-8).",
            line,
        )
    least = 2 if path.suffix.casefold() in (".csv", ".tsv") else 1
    if len(list(islice((line for line in content.splitlines()[:1000] if line.strip()), least))) < least:
        return "the file holds no outputs; below the header item,system,output stands a row for each.", None
    return None


REQUIRED = ("item", "system", "output")
OPTIONAL = ("context", "reference", "text_type", "image")
SYNONYMS = {
    "item_id": "item",
    "input_id": "item",
    "model": "system",
    "system_id": "system",
    "text": "output",
    "output_text": "output",
    "input": "context",
    "source": "context",
    "target": "reference",
}


@dataclass(frozen=True, eq=False)
class Outputs:
    """The outputs of a study: ``frame`` has the columns item, system and output, and those optional ones
    (context, reference, text_type, image) that the file has; every cell is text, an empty one is ``""``."""

    frame: pd.DataFrame = field(repr=False)
    options: OutputsFile = PLAIN
    """The format of each column, and what goes with it."""
    lacking: tuple[tuple[str, str, str], ...] = field(default=(), repr=False)
    """The outputs that do not exist, where the study plans without them: item, system, and the status that
    the file gives, empty for one that is not in the file."""
    folder: Path = Path()
    """The folder of the study."""

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The items, in the order of the file."""
        return tuple(self.frame["item"].unique().tolist())

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of the file."""
        return tuple(self.frame["system"].unique().tolist())

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of names and cells, in order; the format of the file makes no difference."""
        digest = hashlib.sha256()
        for name in self.frame.columns:
            cells = pa.array(self.frame[name], type=pa.large_string())
            if isinstance(cells, pa.ChunkedArray):
                cells = cells.combine_chunks()
            _, bounds, letters = cells.buffers()
            ends = np.frombuffer(bounds, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
            digest.update(f"{name}\n{len(cells)}\n".encode())
            digest.update(np.diff(ends).astype("<i8").tobytes())
            digest.update(letters[ends[0] : ends[-1]] if letters else b"")
        if self.lacking:
            digest.update(json.dumps(self.lacking).encode())
        for name in self.media.names:  # none in a study that declares none: it keeps its hash
            digest.update(f"{name}\n{self.media.hash(name)}\n".encode())
        return digest.hexdigest()

    @cached_property
    def media(self) -> OutputMedia:
        """The media files that outputs and what stands beside them name."""
        return OutputMedia(self.frame, self.options, self.folder)

    @cached_property
    def _find_cell(self) -> Callable[[str, str, Pair | None], Stimulus]:
        return lru_cache(CELLS_KEPT)(self.media.cell)  # it looks for files beside each

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        pairs = zip(self.frame["item"].tolist(), self.frame["system"].tolist(), strict=True)
        return {pair: place for place, pair in enumerate(pairs)}

    def text(self, item: str, system: str) -> str:
        """Return the output of a system for an item."""
        return self.field(item, system, "output")

    def field(self, item: str, system: str, name: str) -> str:
        """Return a cell of the row of an item and system; empty where the file has no such column."""
        place = self._places.get((item, system))
        if place is None:
            raise BadStudy(f"There is no output of system {system!r} for item {item!r}.")
        return str(self.frame[name].iloc[place]) if name in self.frame else ""

    def format(self, column: str) -> StimulusFormat:
        """Return the format of a column that raters see: output, context or reference."""
        return FORMATS[getattr(self.options.formats, column)]

    def cell(self, item: str, system: str, column: str = "output") -> Stimulus:
        """Return a cell that raters see, with what other columns of its row say about it."""
        return self.make_cell(column, self.field(item, system, column), (item, system))

    def make_cell(self, column: str, text: str, pair: Pair | None = None) -> Stimulus:
        """Return a text as a cell of a column, with what the row of its item and system says about it."""
        cell, language = self._find_cell(column, text, pair), self.options.code.column
        if column != "output":
            cell = replace(cell, judged=False)
        if pair is None or not language or pair not in self._places:
            return cell
        return replace(cell, language=self.field(*pair, language))

    def cells(self, column: str = "output") -> list[Stimulus]:
        """Return all cells of a column that raters see, in the order of the file."""
        pairs = zip(self.frame["item"].tolist(), self.frame["system"].tolist(), strict=True)
        texts = self.frame[column].tolist()
        return [self.make_cell(column, text, pair) for text, pair in zip(texts, pairs, strict=True)]

    @cached_property
    def in_parts(self) -> bool:
        """Whether parts of an output, such as the turns of a dialogue, are judged separately."""
        return any(self.parts(text) for text in self.frame["output"].head(1).tolist())

    def parts(self, text: str) -> int:
        """Return how many parts of an output are judged separately; 0 where it is judged as a whole."""
        return self.format("output").count_parts(Stimulus(text), self.options)

    def words(self, item: str, system: str) -> str:
        """Return the words of an output, whatever its format."""
        return self.format("output").read_words(self.cell(item, system), self.options)


def read_outputs(path: str | Path) -> Outputs:
    """Return the outputs in a file, or raise BadStudy that lists all its problems."""
    outputs, problems = examine_outputs(Path(path))
    grave = [problem for problem in problems if problem.grave]
    if outputs is None or grave:
        raise BadStudy("\n".join(map(str, grave)), grave)
    return outputs


def examine_outputs(
    path: Path,
    name: str = "",
    options: OutputsFile = PLAIN,
    folder: Path | None = None,
    strata: str = "",
    style: tuple[str, ...] = (),
) -> tuple[Outputs | None, list[Problem]]:
    """Return the outputs in a file, None where they cannot be read at all, and every problem of the file.

    ``name`` is what problems call the file; by default the last part of its path. ``options`` says which
    column has which format; ``folder`` is that of the study, if not that of the file; ``strata`` a column
    that a sample is drawn by, ``style`` columns that the analysis controls for, where the file has them.
    """
    name = name or path.name
    if unreadable := find_unreadable(path):
        message, line = unreadable
        return None, [Problem(name, line, "", message)]
    try:
        raw = read_table(path)
    except BadFile as error:
        return None, [Problem(name, None, "", str(error).replace(str(path), "the file"))]
    problems = [Problem(name, None, "", note, grave=False) for note in raw.notes]
    plans = options.missing == "plan"
    named, more = name_more(options)
    needed = tuple(dict.fromkeys((*REQUIRED, *(one for one in (options.code.column, strata) if one))))
    optional = (*OPTIONAL, *more, *named, *style, *((STATUS,) if plans else ()))
    header = list(map(str, raw.frame.columns))
    columns, found = _choose_columns(header, name, (*needed, *named), optional)
    problems += found
    if not set(REQUIRED) <= set(columns):
        return None, problems
    try:
        cells = {
            target: _read_text(raw.frame.iloc[:, place], _is_structured(target, options))
            for target, place in columns.items()
        }
    except (BadRatings, UnicodeDecodeError) as error:
        return None, [*problems, Problem(name, None, "", str(error))]
    frame = pd.DataFrame(cells)[
        list(dict.fromkeys(column for column in (*needed, *optional) if column in cells))
    ]
    rows = Rows(path, name, len(raw.frame.columns))
    for look in (find_nameless, find_repeated, *((find_unknown,) if plans else (find_missing, find_empty))):
        problems += look(frame, rows)
    problems += find_spaces(frame, rows)
    lacking: tuple[tuple[str, str, str], ...] = ()
    if plans:
        every = frame
        frame, lacking = part_absent(frame)
        problems += note_lacking(every, frame, lacking, name)
    problems += find_misshaped(frame, rows, options)
    problems += find_long(frame, rows, options)
    if find_ending(path) in (".xlsx", ".xlsm"):
        problems += rows.find_formulas(list(columns.values()))
    study = path.parent if folder is None else folder
    outputs = Outputs(frame.reset_index(drop=True), options, lacking, study)
    return outputs, [*problems, *find_media_problems(outputs.media, rows)]


def _choose_columns(
    header: list[str], name: str, needed: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[dict[str, int], list[Problem]]:
    """Return where each of our columns is, and what is to be said about the others."""
    plain = [column.strip().casefold() for column in header]
    chosen: dict[str, int] = {}
    problems = []
    for target in dict.fromkeys((*needed, *optional)):
        places = [place for place, column in enumerate(plain) if column == target.strip().casefold()]
        places = places or [place for place, column in enumerate(plain) if SYNONYMS.get(column) == target]
        if len(places) > 1:
            listed = listing(repr(header[place]) for place in places)
            problems.append(
                Problem(name, 1, target, f"several columns could be the {target}: {listed}. Keep one.")
            )
        if places:
            chosen[target] = places[0]
            if plain[places[0]] != target.strip().casefold():
                words = f"the column {header[places[0]]!r} is read as {target!r}."
                problems.append(Problem(name, 1, target, words, grave=False))
    rest = [column for place, column in enumerate(header) if place not in chosen.values()]
    for target in needed:
        if target not in chosen:
            near = nearest(target, rest)
            words = f"the file has no column {target!r}. " + (
                f"Is it {' or '.join(map(repr, near))}?"
                if near
                else f"Its columns are {quoted(header, 8)}; it needs {listing(needed)}."
            )
            problems.append(Problem(name, 1, target, words))
    if rest and set(REQUIRED) <= set(chosen):
        words = f"not used: {'column' if len(rest) == 1 else 'columns'} {quoted(rest, 8)}."
        problems.append(Problem(name, 1, "", words, grave=False))
    return chosen, problems


def _is_structured(column: str, options: OutputsFile) -> bool:
    name = getattr(options.formats, column, "")
    return bool(name) and FORMATS[name].structured


def _read_text(column: "pd.Series[str]", structured: bool = False) -> "pd.Series[str]":
    if structured:
        written = [write_canonical(cell) if isinstance(cell, str | list | dict) else None for cell in column]
        return pd.Series(written, dtype=TEXT_TYPE).fillna("")
    if not isinstance(column.dtype, pd.StringDtype):
        column = read_identifiers(column)
    return column.astype(TEXT_TYPE).fillna("")
