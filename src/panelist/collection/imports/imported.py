"""What an import gives: the ratings, what raters said about themselves, and what was left out."""

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from panelist.collection.export.tables_of_study import write_export
from panelist.collection.imports.guessing.draft import Draft
from panelist.collection.imports.mapping import Mapping
from panelist.collection.imports.source_sheet import SkippedData
from panelist.core.display.result import NamedValues, Part, Result, Table, json_object
from panelist.core.errors import BadFile
from panelist.core.prose import count
from panelist.core.tables.readers import find_ending


@dataclass(frozen=True, eq=False)
class Imported(Result):
    """The ratings table of another platform's files.

    ``frame`` has one row per rating or option shown; ``background`` one row per rater, or None. ``salt`` is
    what the pseudonyms were made with, None where the ids were kept.
    """

    frame: pd.DataFrame = field(repr=False)
    mapping: Mapping = field(repr=False)
    files: tuple[str, ...]
    n_submissions: int
    background: pd.DataFrame | None = field(default=None, repr=False)
    left_out: tuple[SkippedData, ...] = ()
    notes: tuple[str, ...] = ()
    salt: str | None = field(default=None, repr=False)
    recognised: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """What a table was recognised as, where no mapping was given: what, and why."""
    draft: Draft | None = field(default=None, repr=False)
    """The mapping that was found, None where one was given."""

    def title(self) -> str:
        """Return the heading."""
        n = len(self.files)
        return f"Imported from {self.files[0] if n == 1 else f'{n} files'} ({self.mapping.source})"

    def parts(self) -> list[Part]:
        """Return the counts, the criteria, what was left out, and the notes."""
        rows = [("rows used" if self.mapping.source == "table" else "submissions", f"{self.n_submissions:,}")]
        if self.background is not None:
            about = [name for name in self.background.columns if name != "rater"]
            rows.append(("background", f"{count(len(self.background), 'rater')}: {', '.join(about)}"))
        if not len(self.frame):
            return [NamedValues([*rows, *self._remarks()])]
        rows.append(("rows", f"{len(self.frame):,}"))
        rows += [(f"{name}s", f"{n:,}" if n else "unknown") for name, n in self._counts().items()]
        parts: list[Part] = [NamedValues(rows), self._table()]
        if self.recognised:
            parts.insert(0, NamedValues(list(self.recognised)))
        return [*parts, NamedValues(self._remarks())] if self._remarks() else parts

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, what was left out, and the notes."""
        return json_object(
            {
                "source": self.mapping.source,
                "files": self.files,
                "n_submissions": self.n_submissions,
                "n_rows": len(self.frame),
                **{f"n_{name}s": n for name, n in self._counts().items()},
                "criteria": [
                    dict(zip(("criterion", "kind", "n", "raters", "items", "excluded"), row, strict=True))
                    for row in self._criteria()
                ],
                "recognised": dict(self.recognised),
                "mapping": self.mapping.model_dump(mode="json", exclude_defaults=True),
                "n_background": None if self.background is None else len(self.background),
                "left_out": [{"what": one.what, "n": one.n, "names": one.names} for one in self.left_out],
                "notes": self.notes,
            }
        )

    def _counts(self) -> dict[str, int]:
        return {
            name: self.frame.loc[self.frame[name] != "", name].nunique()
            for name in ("rater", "item", "system")
            if name in self.frame
        }

    def _criteria(self) -> list[tuple[str, str, int, int, int, int]]:
        rows = []
        if "criterion" not in self.frame:
            return []
        for name, part in self.frame.groupby("criterion", sort=False, observed=True):
            compared = "choice" in part and ("rating" not in part or part["rating"].isna().all())
            n = part["trial"].nunique() if compared else len(part)
            aside = part["excluded"].ne("") if "excluded" in part else pd.Series(False, index=part.index)
            aside_n = part.loc[aside, "trial"].nunique() if compared else int(aside.sum())
            items = part["item"].nunique() if "item" in part else 0
            rows.append(
                (
                    str(name),
                    "choices" if compared else "ratings",
                    n,
                    part.loc[part["rater"] != "", "rater"].nunique(),
                    items,
                    aside_n,
                )
            )
        return rows

    def _table(self) -> Table:
        return Table(
            "Criteria",
            ("criterion", "kind", "answers", "raters", "items", "excluded"),
            [
                (name, kind, n, raters or "unknown", *rest)
                for name, kind, n, raters, *rest in self._criteria()
            ],
        )

    def _remarks(self) -> list[tuple[str, str]]:
        left = [("left out", str(one)) for one in self.left_out]
        return [*left, *(("note", note) for note in self.notes)]


def write_imported(found: Imported, path: Path, background: Path | None = None) -> list[Path]:
    """Write the ratings and, in a separate file, the background; afterwards all files exist, or none."""
    wanted = [(found.frame, path)] if len(found.frame) else []
    if found.background is not None:
        apart = background or path.with_name(f"{path.stem}-background{path.suffix}")
        wanted.append((found.background, apart if wanted else (background or path)))
    for _, target in wanted:
        find_ending(target)
        if not target.parent.is_dir():
            raise BadFile(
                f"{target} cannot be written: the folder {target.parent} does not exist. Make it first."
            )
    made: list[tuple[Path, Path]] = []
    try:
        for frame, target in wanted:
            handle, name = tempfile.mkstemp(prefix=".import-", suffix=target.suffix, dir=target.parent)
            os.close(handle)
            made.append((Path(name), target))
            write_export(frame, Path(name))
            Path(name).chmod(0o666 & ~_umask())
        for temporary, target in made:
            temporary.replace(target)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        for temporary, _ in made:
            temporary.unlink(missing_ok=True)
    return [target for _, target in wanted]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
