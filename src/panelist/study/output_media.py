"""The media that cells of the outputs file name, and what ``panelist check`` says of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from panelist.core.prose import count
from panelist.formats import FORMATS, Stimulus, StimulusFormat
from panelist.formats.media_facts import Facts, measure_media
from panelist.study.media import examine_files, find_captions, find_media, hash_file, read_transcript
from panelist.study.output_rows import Rows
from panelist.study.problems import Problem
from panelist.study.sections.outputs_file import OutputsFile

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class OutputMedia:
    """The pictures, sounds and films of the outputs. ``study`` is the folder of the study."""

    frame: pd.DataFrame = field(repr=False)
    options: OutputsFile
    study: Path

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return self.study / self.options.media

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns whose cells may name files."""
        naming = [
            column
            for column, name in self.options.formats
            if type(FORMATS[name]).list_files is not StimulusFormat.list_files
        ]
        return tuple(column for column in naming if column in self.frame)

    @cached_property
    def _rows(self) -> dict[Pair, dict[str, str]]:
        names = list(self.frame.columns) if self.columns else []
        cells = zip(*(self.frame[name].tolist() for name in names), strict=True)
        rows = [dict(zip(names, row, strict=True)) for row in cells]
        return {(row["item"], row["system"]): row for row in rows}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files of all cells, captions included, by name."""
        return tuple(sorted({name for pair in self._rows for name in self.list_pair(pair)}))

    def list_pair(self, pair: Pair) -> tuple[str, ...]:
        """Return the files of an output and of what stands beside it."""
        row = self._rows.get(pair, {})
        return tuple(
            name
            for column in self.columns
            for name in self.list_files(self.cell(column, row.get(column, ""), pair), column)
        )

    def list_files(self, cell: Stimulus, column: str = "output") -> tuple[str, ...]:
        """Return the files that a cell of a column names."""
        return self.format(column).list_files(cell, self.options) if cell.text.strip() else ()

    def format(self, column: str) -> StimulusFormat:
        """Return the format of a column."""
        return FORMATS[getattr(self.options.formats, column)]

    def kinds(self, column: str) -> frozenset[str]:
        """Return what cells of a column name files of; nothing where they are text."""
        return self.format(column).kinds

    def cell(self, column: str, text: str, pair: Pair | None = None) -> Stimulus:
        """Return a cell of a column, with what its row and the files beside its own say about it."""
        if not self.format(column).kinds:
            return Stimulus(text)
        row = self._rows.get(pair, {}) if pair is not None and column == "output" else {}
        captions = find_captions(self.folder, text.strip())
        said = row.get(self.options.transcripts.casefold(), "").strip()
        return Stimulus(
            text,
            alt=row.get("alt", ""),
            transcript=said or read_transcript(self.folder, captions),
            captions=captions,
        )

    def find(self, name: str) -> Path | None:
        """Return the file of a name; None where there is none, or it lies outside the folder."""
        return find_media(self.folder, name)

    def hash(self, name: str) -> str:
        """Return the SHA-256 of a file; empty where it is not there."""
        path = self.find(name)
        return hash_file(path) if path is not None else ""

    def list_facts(self, pair: Pair) -> list[Facts]:
        """Return what can be measured in each picture, sound or film of an output, and its size in kB."""
        text = self._rows.get(pair, {}).get("output", "")
        cell = Stimulus(text) if text.strip() else None  # without captions, which are no part of it
        named = self.format("output").list_files(cell, self.options) if cell is not None else ()
        contents = [path.read_bytes() for path in map(self.find, named) if path is not None]
        return [{"kB": len(content) / 1000} | measure_media(content) for content in contents]

    def measure(self, pair: Pair) -> int:
        """Return how many bytes an output and what stands beside it load."""
        paths = (self.find(name) for name in set(self.list_pair(pair)))
        return sum(path.stat().st_size for path in paths if path is not None)


def name_more(options: OutputsFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that formats need, and those that they read where they are there.

    In other studies they are not read: those keep their hash.
    """
    kinds = {kind for _, name in options.formats for kind in FORMATS[name].kinds}
    transcripts = (options.transcripts.casefold(),) if options.transcripts and kinds else ()
    return transcripts, ("alt",) if "picture" in kinds else ()


def find_media_problems(media: OutputMedia, rows: Rows) -> Iterator[Problem]:
    """Give what is wrong with the files that cells name, and what is lacking beside them."""
    if not media.columns:
        return
    named: dict[str, str] = {}
    lacking: dict[bool, set[str]] = {True: set(), False: set()}
    for place, (pair, row) in enumerate(media._rows.items()):
        for column in media.columns:
            text, shown = row.get(column, ""), media.format(column)
            if not text.strip() or shown.find_problem(Stimulus(text), media.options):
                continue
            cell = media.cell(column, text, pair)
            for name in media.list_files(cell, column):
                named.setdefault(name, rows.name_places(np.array([place])))
            if shown.kinds and not shown.read_words(cell, media.options).strip():
                lacking["picture" in shown.kinds].add(text)
    for words, grave in examine_files(media.folder, named):
        yield Problem(rows.name, None, "output", words, grave)
    if n := len(lacking[False]):
        words = (
            f"{count(n, 'sound or film has', 'sounds or films have')} no transcript: raters who do not hear "
            "cannot judge them. Name a column under outputs.transcripts, or put captions (.vtt) beside them."
        )
        yield Problem(rows.name, None, "transcripts", words, grave=False)
    if n := len(lacking[True]):
        words = f"{count(n, 'picture has', 'pictures have')} no words: a column alt says what each shows."
        yield Problem(rows.name, None, "alt", words, grave=False)
