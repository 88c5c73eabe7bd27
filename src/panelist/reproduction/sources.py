"""What was given about a study: raw ratings, choices, a study with its ratings, a scores table or a printed
one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from panelist.analysis.choices.choice_criteria import are_choices
from panelist.analysis.choices.trials import holds_choices
from panelist.collection.study_files import StudyFiles
from panelist.core.errors import BadReproduction, did_you_mean
from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.core.tables.readers import read_table
from panelist.reproduction.files.printed import read_printed
from panelist.study.file_names import is_study
from panelist.study.reading.load import load_study
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.study.sections.criteria import Criterion

Kind = Literal["ratings", "choices", "scores", "printed table"]

WHOLE = "rating"  # the criterion of a table that names none
SINGLE = {"rater", "item", "trial"}  # columns that only single answers have
WORDS = {
    "ratings": "raw ratings",
    "choices": "choices between outputs",
    "scores": "a table of scores",
    "printed table": "a printed table (one row per system, one column per criterion)",
}


@dataclass(frozen=True, eq=False)
class Given:
    """One study on one criterion: raw ``rows`` (ratings or choices), or else ``scores`` by system.

    ``criterion`` is its name in the study file, where there is one; ``low`` and ``high`` are the ends of the
    scale where they are declared.
    """

    name: str
    rows: Ratings | None = field(default=None, repr=False)
    choices: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)
    criterion: Criterion | None = None
    low: float | None = None
    high: float | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, sorted."""
        if self.rows is None:
            return tuple(sorted(self.scores))
        if self.choices and {"system_a", "system_b"} <= set(self.rows.frame.columns):
            sides = (
                self.rows.frame[name].dropna().astype(str).str.strip() for name in ("system_a", "system_b")
            )
            return tuple(sorted({name for side in sides for name in side}))
        return self.rows.systems

    def rename(self, name: str, systems: Mapping[str, str]) -> Given:
        """Return the same under another name, its systems renamed."""
        scores = {systems.get(old, old): score for old, score in self.scores.items()}
        if self.rows is None or not systems:
            return replace(self, name=name, scores=scores)
        frame = self.rows.frame.copy()
        for column in ("system", "system_a", "system_b", "winner"):
            if column in frame:
                frame[column] = frame[column].map(lambda cell: systems.get(str(cell).strip(), cell))
        return replace(self, name=name, scores=scores, rows=replace(self.rows, frame=frame))


@dataclass(frozen=True, eq=False)
class Source:
    """One study: what to call it, what was given about it, and its data criterion by criterion."""

    label: str
    origin: str
    kind: Kind
    given: tuple[Given, ...]
    study: Study | None = None
    notes: tuple[str, ...] = ()

    @property
    def raw(self) -> bool:
        """Whether there are single answers, not only scores."""
        return self.kind in ("ratings", "choices")

    def sentence(self) -> str:
        """Return what was given, in words."""
        of = f" of the study {self.study.title!r}" if self.study is not None else ""
        return f"{self.label}: {WORDS[self.kind]}{of}, from {self.origin}"


@dataclass(frozen=True)
class UnpackedStudy:
    """A study from an archive: the folder where it is for a while, and the name of the archive."""

    folder: Path
    name: str


def read_source(
    source: Any, label: str, columns: Mapping[str, str] | None = None, where: Mapping[str, Any] | None = None
) -> Source:
    """Return what a path, a frame, a Ratings, a Study or a mapping (criterion → system → score) gives."""
    if isinstance(source, Mapping):
        return _read_mapping(source, label)
    if isinstance(source, Study):
        return _read_study(source, label, columns, where)
    if isinstance(source, UnpackedStudy):
        return replace(_read_study(load_study(source.folder), label, columns, where), origin=source.name)
    if isinstance(source, str | PathLike):
        path = Path(source)
        if is_study(path):
            return _read_study(load_study(path), label, columns, where)
    table = read_ratings(source, columns)
    if not where:
        return _read_table(table, label)
    if _holds_answers(table):
        return _read_table(table.where(**where), label)
    return _choose_scores(_read_table(table, label), where)


def _holds_answers(table: Ratings) -> bool:
    """Return whether a table has single answers, of which rows can be chosen, rather than scores."""
    return holds_choices(table.frame) or bool(SINGLE & set(table.frame.columns))


def _choose_scores(source: Source, where: Mapping[str, Any]) -> Source:
    """Return scores without the criteria and systems that are not asked for.

    Other conditions select single ratings: scores stay as they are, and a note says so.
    """
    wanted = {
        name: {str(one) for one in (value if isinstance(value, list | tuple | set) else [value])}
        for name, value in where.items()
    }
    criteria, systems = (wanted.pop(name, None) for name in ("criterion", "system"))
    known = [one.name for one in source.given]
    if criteria is not None and not criteria & set(known):
        word = sorted(criteria)[0]
        raise BadReproduction(f"{source.origin} has no criterion {word!r}. {did_you_mean(word, known)}")
    given = [one for one in source.given if criteria is None or one.name in criteria]
    if systems is not None:
        named = list(dict.fromkeys(name for one in given for name in one.scores))
        if not systems & set(named):
            word = sorted(systems)[0]
            raise BadReproduction(
                f"No row of {source.origin} has system {word!r}. {did_you_mean(word, named)}"
            )
        given = [
            replace(one, scores={name: score for name, score in one.scores.items() if name in systems})
            for one in given
        ]
    rest = [f"{name} {' or '.join(sorted(values))}" for name, values in wanted.items()]
    note = f"holds scores, not ratings: as printed, whatever has {' and '.join(rest)}" if rest else ""
    return replace(source, given=tuple(given), notes=(*source.notes, *([note] if note else [])))


def share_columns(given: Sequence[Any], columns: Mapping[str, str] | None) -> list[dict[str, str] | None]:
    """Return for each source the part of a mapping whose columns it has; raise where no source has one."""
    if not columns:
        return [None] * len(given)
    present = [_list_columns(one) for one in given]
    shared = [
        {target: name for target, name in columns.items() if here is None or name in here} for here in present
    ]
    for target, name in columns.items():
        if not any(target in part for part in shared):
            known = [other for here in present if here is not None for other in here]
            raise BadReproduction(
                f"No table has a column {name!r}, which should be the {target}. {did_you_mean(name, known)}"
            )
    return [part or None for part in shared]


def _list_columns(source: Any) -> list[str] | None:
    """Return the names of the columns; None where they are not known before reading."""
    if isinstance(source, str | PathLike):
        path = Path(source)
        if not is_study(path):
            return [str(name) for name in read_table(path).frame.columns]
        return None
    if isinstance(source, Mapping):
        return []
    names = getattr(source, "columns", None)
    return None if names is None else [str(name) for name in names]


def _read_table(table: Ratings, label: str) -> Source:
    frame = table.frame
    single = SINGLE & set(frame.columns)
    if holds_choices(frame):
        return Source(label, table.source, "choices", _split(table, None), None, table.notes)
    if "rating" in frame and "system" in frame and single:
        return Source(label, table.source, "ratings", _split(table, None), None, table.notes)
    if "rating" in frame and "system" in frame:
        return _read_scores(table, label)
    if single and "system" in frame:
        table.require("rating")
    scores, notes = read_printed(table)
    return Source(label, table.source, "printed table", _from_scores(scores), None, (*table.notes, *notes))


def _read_scores(table: Ratings, label: str) -> Source:
    """Return a table ``criterion, system, score``."""
    frame, notes = table.frame, list(table.notes)
    if not pd.api.types.is_numeric_dtype(frame["rating"]):
        words = [str(cell) for cell in frame["rating"].dropna() if not _is_number(cell)]
        raise BadReproduction(
            f"The scores in {table.source} are not all numbers (found {', '.join(map(repr, words[:3]))}). A "
            "scores table has the columns criterion, system, score."
        )
    held = frame[frame["rating"].notna().to_numpy() & frame["system"].notna().to_numpy()]
    if held.empty:
        raise BadReproduction(f"{table.source} has no score in its column score.")
    name = held["criterion"].astype(str) if "criterion" in held else pd.Series(WHOLE, index=held.index)
    scores: dict[str, dict[str, float]] = {}
    for criterion, system, score in zip(name, held["system"].astype(str), held["rating"], strict=True):
        if system in scores.setdefault(str(criterion), {}):
            raise BadReproduction(
                f"{table.source} has two scores of {system!r} on {criterion!r}. A scores table has one row "
                "for each criterion and system; raw ratings need the columns rater and item as well."
            )
        scores[str(criterion)][system] = float(score)
    return Source(label, table.source, "scores", _from_scores(scores), None, tuple(notes))


def _read_mapping(source: Mapping[str, Any], label: str) -> Source:
    """Return scores given in Python: by system, or by criterion and system."""
    nested = all(isinstance(value, Mapping) for value in source.values())
    if not source or not (nested or all(_is_number(value) for value in source.values())):
        raise BadReproduction(
            "Scores in Python are {criterion: {system: score}}, or {system: score} for one criterion."
        )
    whole = source if nested else {WHOLE: source}
    scores = {str(c): {str(s): float(x) for s, x in row.items()} for c, row in whole.items()}
    return Source(label, "scores given in Python", "scores", _from_scores(scores))


def _read_study(
    study: Study, label: str, columns: Mapping[str, str] | None, where: Mapping[str, Any] | None
) -> Source:
    """Return a study with the ratings in its folder, its own exclusions applied."""
    from panelist.analysis.cleaning.clean import clean_ratings
    from panelist.analysis.cleaning.everything import read_everything

    found = StudyFiles(study).ask_ratings()
    everything = read_everything(found.table, columns)
    everything = replace(everything, ratings=replace(everything.ratings, source=found.place))
    cleaned = clean_ratings(everything, study)
    table = cleaned.kept.where(**where) if where else cleaned.kept
    notes = [*found.notes, *table.notes]
    if cleaned.exclusions.n_excluded or cleaned.exclusions.n_checks:
        notes.append(cleaned.exclusions.sentence())
    given = _split(table, study)
    kind: Kind = "choices" if given and all(one.choices for one in given) else "ratings"
    return Source(label, found.place, kind, given, study, tuple(notes))


def _split(table: Ratings, study: Study | None) -> tuple[Given, ...]:
    """Return the rows of each criterion, those of the study in its order."""
    planned = {one.name: one for one in study.criteria} if study else {}
    names = table.criteria
    if not names:
        only = next(iter(planned)) if len(planned) == 1 else WHOLE
        return (_give(only, table, planned.get(only)),)
    order = [*(name for name in planned if name in names), *(name for name in names if name not in planned)]
    column = table.frame["criterion"]
    found = []
    for name in order:
        kept = (column == name).to_numpy(dtype=bool, na_value=False)
        rows = replace(table, frame=table.frame[kept].reset_index(drop=True), notes=())
        found.append(_give(name, rows, planned.get(name)))
    return tuple(found)


def _give(name: str, rows: Ratings, criterion: Criterion | None) -> Given:
    choices = are_choices(rows.frame, criterion) if criterion else holds_choices(rows.frame)
    low = high = None
    if criterion is not None and not choices:
        low, high = criterion.scale.lowest, criterion.scale.highest
    return Given(name, rows, choices, {}, criterion, low, high)


def _from_scores(scores: Mapping[str, Mapping[str, float]]) -> tuple[Given, ...]:
    return tuple(Given(name, scores=dict(row)) for name, row in scores.items())


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
