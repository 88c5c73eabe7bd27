"""The plan: who sees what, in which order. One row is one rating to be given."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.display.result import NamedValues, Part, Result, Sentence, pick
from panelist.core.prose import count

COLUMNS = (
    "rater", "order", "phase", "item", "system", "criterion", "position", "occasion",
    "check", "list", "group",
)  # fmt: skip
NUMBERS = ("order", "position", "occasion")
WORDS = tuple(name for name in COLUMNS if name not in NUMBERS)
PHASES = ("practice", "check", "trial")
SYSTEMS = "systems"
"""The step of a plan's history that added systems."""


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """Who sees what, in which order.

    ``table`` has one row for each rating to be given: rater × page × output shown × criterion. ``order``
    numbers the pages of a rater within an occasion from 1, practice and checks included; criteria that are
    shown together share a page; ``position`` is the place of the output on its page. Rows are sorted by
    rater, occasion, order, position and criterion. Words are categories, numbers int32.
    """

    table: pd.DataFrame = field(repr=False)
    design: str
    seed: int
    study_hash: str
    places: tuple[str, ...]
    """The places that the design assigned, in order; raters who replaced others are in addition to these."""
    trials: int
    """How many cells each place was assigned."""
    notes: tuple[str, ...] = ()
    """What could not be met exactly, in numbers."""
    history: tuple[dict[str, Any], ...] = ()
    """What was done to the plan after it was made: grown, replaced, systems added."""
    sample: str = ""
    """The hash of sample.csv, where people rate a sample of the items."""

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """The raters who have pages, in the order of the table."""
        return tuple(str(name) for name in self.table["rater"].cat.categories.tolist())

    @cached_property
    def waves(self) -> dict[str, int]:
        """The wave of each rater, where systems were added later: 1 before the first were; else nothing."""
        starts = [int(step["places"][0]) for step in self.history if step["step"] == SYSTEMS]
        if not starts:
            return {}
        waves = {name: 1 + sum(at >= start for start in starts) for at, name in enumerate(self.places)}
        for step in self.history:
            if step["step"] == "replaced":
                waves[str(step["by"])] = waves[str(step["rater"])]
        return waves

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the table: names of columns, words in order of appearance, and codes."""
        digest = hashlib.sha256()
        for name in COLUMNS:
            column = self.table[name]
            digest.update(f"{name}\n".encode())
            if name in NUMBERS:
                codes = column.to_numpy()
            else:
                words = [str(word) for word in column.cat.categories.tolist()]
                digest.update(json.dumps(words).encode() + b"\n")
                codes = column.cat.codes.to_numpy()
            digest.update(np.ascontiguousarray(codes, dtype="<i4").data)
        return digest.hexdigest()

    def title(self) -> str:
        """Return the heading."""
        return f"Plan: {self.design}, {count(len(self.raters), 'rater')}"

    def parts(self) -> list[Part]:
        """Return the sizes and the notes."""
        pages = self.count_pages()
        rows = [
            ("raters", f"{len(self.raters):,}"),
            ("ratings", f"{int((self.table['phase'] == 'trial').sum()):,}"),
            ("pages per rater", _write_range(pages)),
            ("occasions", f"{int(self.table['occasion'].max()) if len(self) else 0}"),
            ("seed", str(self.seed)),
            ("hash", self.hash),
        ]
        return [NamedValues(rows), *(Sentence(note) for note in self.notes)]

    def count_pages(self) -> NDArray[np.int64]:
        """Return how many pages each rater has, over all occasions, practice and checks included."""
        rater = self.table["rater"].cat.codes.to_numpy()
        page = self.table["order"].to_numpy()
        again = self.table["occasion"].to_numpy()
        new = np.ones(len(self), dtype=bool)
        new[1:] = (np.diff(rater) != 0) | (np.diff(page) != 0) | (np.diff(again) != 0)
        return np.bincount(rater[new], minlength=len(self.raters))

    def to_dict(self) -> dict[str, Any]:
        """Return what plan.json holds."""
        return {
            **pick(self, "design seed study_hash"),
            "plan_hash": self.hash,
            "raters": len(self.raters),
            "rows": len(self),
            **pick(self, "places trials notes history"),
            **({"sample_hash": self.sample} if self.sample else {}),
        }


def make_table(numbers: Mapping[str, NDArray[Any]], words: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the table of a plan from arrays: numbers as they are, words as codes into ``words``.

    The words of a column come in the order in which they first appear, so that a table is the same however it
    was made.
    """
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        if name in NUMBERS:
            columns[name] = np.ascontiguousarray(numbers[name], dtype=np.int32)
            continue
        codes, seen = pd.factorize(np.asarray(numbers[name]))
        names = pd.Index([words[name][code] for code in seen], dtype="str")
        columns[name] = pd.Categorical.from_codes(codes, categories=names, validate=False)
    return pd.DataFrame(columns, copy=False)


def join_tables(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of several tables as one."""
    # As lists: going through the categories themselves takes ten times as long.
    listed = {name: [table[name].cat.categories.tolist() for table in tables] for name in WORDS}
    words = {name: list(dict.fromkeys(chain.from_iterable(listed[name]))) for name in WORDS}
    numbers: dict[str, NDArray[Any]] = {}
    for name in COLUMNS:
        if name in NUMBERS:
            numbers[name] = np.concatenate([table[name].to_numpy() for table in tables])
            continue
        number = {word: code for code, word in enumerate(words[name])}
        parts = []
        for table, own in zip(tables, listed[name], strict=True):
            renamed = np.array([number[word] for word in own], dtype=np.int32)
            parts.append(renamed[table[name].cat.codes.to_numpy()] if len(table) else renamed[:0])
        numbers[name] = np.concatenate(parts)
    return make_table(numbers, words)


def name_places(first: int, last: int, width: int = 3) -> tuple[str, ...]:
    """Return the names of places from one number to another.

    >>> name_places(9, 11)
    ('r009', 'r010', 'r011')
    """
    return tuple(f"r{number:0{width}d}" for number in range(first, last + 1))


def _write_range(values: NDArray[np.int64]) -> str:
    if not len(values):
        return "0"
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
