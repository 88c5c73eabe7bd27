"""The files of a study: where its plan, ratings, power analysis and store are. One rule for all callers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panelist.core.errors import BadFile, BadPlan
from panelist.study.file_names import DATABASE_FILE, POWER_FILE, RATINGS_FILE
from panelist.study.preregistration import Registration, read_registrations
from panelist.study.study import Study

if TYPE_CHECKING:  # a table in a folder is read without importing what only plans and databases need
    import pandas as pd

    from panelist.collection.store.reading import Snapshot
    from panelist.collection.store.store import Store
    from panelist.design.plan import Plan

CELL_KEYS = {"model", "items", "ratings_per_item", "raters", "effect", "sims", "power", "low", "high"}
"""What a power analysis must say about each design."""


@dataclass(frozen=True, eq=False)
class FoundRatings:
    """The ratings of a study: the table that was collected, or the file that they are in."""

    table: "pd.DataFrame | Path" = field(repr=False)
    place: str
    """Where they are: a file, or the address of a database."""
    notes: tuple[str, ...] = ()
    """What is worth knowing about a table that was collected."""
    snapshot: "Snapshot | None" = field(default=None, repr=False)
    """All that was collected, where Panelist's own pages collected it,"""
    plan: "Plan | None" = field(default=None, repr=False)
    """and the plan that it was collected by."""

    @property
    def collected(self) -> bool:
        """Whether they come from Panelist's own pages."""
        return self.snapshot is not None

    @property
    def empty(self) -> bool:
        """Whether there is a database, and no rating in it yet, or only practice and checks."""
        if isinstance(self.table, Path):
            return False
        return self.table.empty or ("check" in self.table and bool((self.table["check"] != "").all()))

    @property
    def name(self) -> str:
        """What to call them."""
        return self.place if "://" in self.place else Path(self.place).name


@dataclass(frozen=True, eq=False)
class StudyFiles:
    """A study, and everything that belongs to it, in its folder unless another place is given."""

    study: Study
    ratings_file: Path | None = None
    """A table of ratings to use instead of what was collected or is in the folder."""
    database: str | None = None
    """The database, if it is not study.db in the folder: a file or a URL."""
    power_file: Path | None = None
    """A power analysis, if it is not power.json in the folder."""
    on_note: Callable[[str], None] | None = field(default=None, repr=False)
    """Called with what is worth knowing about collected ratings, whenever they are read."""

    def beside(self, name: str) -> Path | None:
        """Return the file of this name in the folder, None where there is none."""
        path = self.study.folder / name
        return path if self.study.path is not None and path.is_file() else None

    def find_plan(self, *, stale: bool = False) -> "Plan | None":
        """Return the plan in the folder, None where there is none.

        A plan that no longer matches the study raises BadPlan; with ``stale`` it comes back as it is.
        """
        from panelist.design.update import find_plan

        return find_plan(self.study, stale=stale)

    def plan(self) -> "Plan":
        """Return the plan in the folder, or raise BadPlan."""
        plan = self.find_plan()
        if plan is None:
            raise BadPlan(f"There is no plan in {self.study.folder}. Make it first: panelist plan STUDY.")
        return plan

    @property
    def is_collected(self) -> bool:
        """Whether there is a database to look into."""
        return self.database is not None or self.beside(DATABASE_FILE) is not None

    def store(self) -> "Store":
        """Return the open store of what was collected, or raise BadStore where there is none."""
        from panelist.collection.store.store import open_store

        return open_store(self.database, self.study, create=False)

    def find_ratings(self, *, ids: bool = False) -> FoundRatings | None:
        """Return the ratings: the file named, else what was collected, else ratings.csv in the folder.

        A table takes precedence over a database in the folder that has no ratings yet. ``ids`` adds
        the outside ids of raters. None where there are no ratings.
        """
        if self.ratings_file is not None:
            return FoundRatings(self.ratings_file, str(self.ratings_file))
        beside = self.beside(RATINGS_FILE)
        if self.is_collected:
            found = self._read_collected(ids)
            if not found.empty or beside is None or self.database is not None:
                return found
        return None if beside is None else FoundRatings(beside, str(beside))

    def ask_ratings(self) -> FoundRatings:
        """Return the ratings, or raise with how to get some."""
        found = self.find_ratings()
        if found is None or found.empty:
            why = f"there is neither {DATABASE_FILE} nor {RATINGS_FILE} in {self.study.folder}"
            why = why if found is None else f"{found.place} holds none"
            raise BadFile(
                f"The study {self.study.title!r} has no ratings yet: {why}. Collect some (panelist serve), "
                "simulate some (panelist simulate), or name the file that holds them."
            )
        return found

    def find_power(self) -> Mapping[str, Any] | None:
        """Return the power analysis, as ``panelist power`` or ``size`` wrote it; None where there is none."""
        path = self.find_power_file()
        return None if path is None else read_power(path)

    def find_power_file(self) -> Path | None:
        """Return the file of the power analysis: the one that was named, else power.json in the folder."""
        return self.power_file or self.beside(POWER_FILE)

    def registrations(self) -> tuple[Registration, ...]:
        """Return what was preregistered, the oldest declaration first."""
        return () if self.study.path is None else read_registrations(self.study.folder)

    def _read_collected(self, ids: bool) -> FoundRatings:
        from panelist.collection.export.tables_of_study import export_ratings

        with self.store() as store:
            snapshot, plan, place = store.snapshot(), store.plan(), store.database.name
        exported = export_ratings(snapshot, self.study, plan, ids=ids)
        if self.on_note is not None:
            for note in exported.notes:
                self.on_note(note)
        return FoundRatings(exported.frame, place, tuple(exported.notes), snapshot, plan)


def read_power(path: Path) -> dict[str, Any]:
    """Return a power analysis from a JSON file, or say what is wrong with it.

    A sample size, as ``panelist size --json`` writes it, gets ``cells`` as well: the design that it found.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(
            f"{path} cannot be read: {error.strerror or error}. Write one with: panelist power … --json > "
            f"{POWER_FILE}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not a power analysis: it cannot be read as JSON ({error}).") from None
    if isinstance(found, dict):
        best, seen = found.get("best"), found.get("confirmed")
        if isinstance(best, dict) and isinstance(seen, dict):
            whole = found | best | seen
            found["cells"] = [{name: whole[name] for name in CELL_KEYS & whole.keys()}]
        cells = found.get("cells")
        if isinstance(cells, list) and cells and all(map(_is_cell, cells)):
            return found
    raise BadFile(
        f"{path} is not a power analysis: it has neither cells nor best, each with "
        f"{', '.join(sorted(CELL_KEYS))}. Write one with panelist power … --json, or panelist size … --json."
    )


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, dict) and cell.keys() >= CELL_KEYS
