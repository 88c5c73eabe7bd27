"""What an import of outputs gives: the table, what it was recognised as, and what was left out."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from panelist.core.display.formats import decimals
from panelist.core.display.result import NamedValues, Part, Result, Sentence, Table, json_ready
from panelist.core.errors import BadFile
from panelist.core.prose import count
from panelist.core.tables.readers import find_ending
from panelist.core.tables.writers import write_table


@dataclass(frozen=True, eq=False)
class ImportedOutputs(Result):
    """The outputs table of other programs' files; dialogues are lists of turns."""

    frame: pd.DataFrame = field(repr=False)
    recognised: tuple[tuple[str, str], ...]
    """Each file, and what it was recognised as."""
    notes: tuple[str, ...] = ()
    pictures: dict[str, bytes] = field(default_factory=dict, repr=False)
    """Pictures that messages show, by the file name under which the table names them."""

    def title(self) -> str:
        """Return the heading."""
        n = len(self.recognised)
        return f"Outputs from {self.recognised[0][0] if n == 1 else f'{n} files'}"

    def parts(self) -> list[Part]:
        """Return what was recognised, the systems, what is missing, and what study.yaml needs."""
        rows = [*self.recognised, ("outputs", f"{len(self.frame):,}")]
        rows.append(("items", f"{self.frame['item'].nunique():,}"))
        parts: list[Part] = [NamedValues(rows), self._table()]
        if missing := self._count_missing():
            parts.append(NamedValues([("missing", missing)]))
        if self.notes:
            parts.append(NamedValues([("note", note) for note in self.notes]))
        said = ", ".join(f"{name}: {word}" for name, word in self.formats().items())
        keys = [f"formats: {{{said}}}"] * bool(said) + ["missing: plan"] * bool(missing or self._n_failed())
        if keys:
            parts.append(Sentence(f"In study.yaml: outputs: {{file: …, {', '.join(keys)}}}"))
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the systems and the notes."""
        return dict(
            json_ready(
                {
                    "files": [{"file": name, "layout": layout} for name, layout in self.recognised],
                    "n_outputs": len(self.frame),
                    "n_items": self.frame["item"].nunique(),
                    "systems": [
                        dict(zip(("system", "outputs", "without", "empty", "words"), row, strict=True))
                        for row in self._systems()
                    ],
                    "formats": self.formats(),
                    "pictures": sorted(self.pictures),
                    "notes": self.notes,
                }
            )
        )

    def formats(self) -> dict[str, str]:
        """Return the formats that the study file must name: dialogues are not plain text."""
        return {
            name: "turns"
            for name in ("output", "context")
            if name in self.frame and any(isinstance(cell, list) for cell in self.frame[name])
        }

    def _systems(self) -> list[tuple[str, int, int, int, float]]:
        rows = []
        failed = self.frame["status"].ne("") if "status" in self.frame else self.frame["item"].isna()
        words = self.frame["output"].map(_count_words)
        for system, part in self.frame.groupby("system", sort=False, observed=True):
            lost = failed[part.index]
            there = words[part.index][~lost]
            typical = float(there.median()) if len(there) else float("nan")
            rows.append((str(system), len(part), int(lost.sum()), int((there == 0).sum()), typical))
        return rows

    def _n_failed(self) -> int:
        return int(self.frame["status"].ne("").sum()) if "status" in self.frame else 0

    def _table(self) -> Table:
        header = ("system", "outputs", "without output", "empty", "median words")
        return Table("Systems", header, self._systems(), {"median words": decimals(0)})

    def _count_missing(self) -> str:
        """Return how many cells have no row at all: those with a status are in the table of systems."""
        cells = self.frame["item"].nunique() * self.frame["system"].nunique()
        lacking = cells - len(self.frame)
        return f"{count(lacking, 'output')} of {cells:,} (items × systems)" if lacking else ""


def _count_words(cell: str | list[dict[str, Any]]) -> int:
    if isinstance(cell, list):
        return sum(len(turn["text"].split()) for turn in cell if turn["role"] == "assistant")
    return len(cell.split())


def _write_cell(cell: object) -> object:
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell


def write_outputs_table(found: ImportedOutputs, path: Path) -> list[Path]:
    """Write the table and, into the folder media beside it, the pictures; return the files written."""
    frame = found.frame
    if find_ending(path) not in (".jsonl", ".ndjson", ".json"):
        frame = frame.map(_write_cell)
    write_table(frame, path)
    written = [path]
    for name, content in found.pictures.items():
        place = path.parent / name
        try:
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
        except OSError as error:
            raise BadFile(f"{place} cannot be written: {error.strerror or error}.") from None
        written.append(place)
    return written
