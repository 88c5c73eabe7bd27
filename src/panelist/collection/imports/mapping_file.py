"""The mapping file: read with every problem at its line, checked against the existing columns."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from panelist.collection.imports.files.unfolding import PLACE
from panelist.collection.imports.guessing.patterns import PLACEHOLDER, find_slots
from panelist.collection.imports.mapping import Cell, Mapping, Taken
from panelist.collection.imports.source_sheet import FILE, ROW
from panelist.core.errors import BadFile, did_you_mean
from panelist.core.prose import count
from panelist.study.problems import Path as KeyPath
from panelist.study.problems import Problem, find_line, write_key
from panelist.study.reading.explain import explain_errors, explain_repeated
from panelist.study.yaml_lines import YamlText, read_yaml

"""Keys whose columns are about a whole row, where nothing can vary."""


def load_mapping(path: Path) -> tuple[Mapping, YamlText]:
    """Return the mapping in a file and its text with lines, or raise BadFile that lists all problems."""
    if not path.is_file():
        raise BadFile(f"There is no mapping file {path}. Draft one with: panelist import FILE… --draft")
    text = read_yaml(path)
    if not isinstance(text.data, dict):
        raise BadFile(f"{path} holds no keys such as rater: and criteria:. Draft one with --draft.")
    problems = explain_repeated(text, path.name)
    try:
        mapping = Mapping.model_validate(text.data)
    except ValidationError as error:
        problems += explain_errors(error, text, path.name, Mapping)
        raise _bad_mapping(problems) from None
    if problems:
        raise _bad_mapping(problems)
    return mapping, text


def check_columns(
    mapping: Mapping, columns: Sequence[str], files: Sequence[str], name: str, text: YamlText | None = None
) -> None:
    """Raise BadFile unless every column that the mapping names is there."""
    problems = [
        Problem(name, find_line(text.lines, path) if text else None, write_key(path), message)
        for path, _, message in find_missing(mapping, columns, files)
    ]
    if problems:
        raise _bad_mapping(problems)


def _bad_mapping(problems: Sequence[Problem]) -> BadFile:
    if len(problems) == 1:
        return BadFile(f"The mapping cannot be used: {problems[0]}")
    lines = "\n".join(f"  {problem}" for problem in problems)
    return BadFile(f"The mapping has {count(len(problems), 'problem')}:\n{lines}")


def find_missing(
    mapping: Mapping, columns: Sequence[str], files: Sequence[str]
) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield every column that a mapping names and no file has: its key, the column, and what to say."""
    where = files[0] if len(files) == 1 else f"the {len(files)} files"
    for path, column in list_columns(mapping):
        if column in columns or column in (FILE, ROW):
            continue
        if (found := PLACEHOLDER.search(column)) and path[0] in OF_SUBMISSIONS:
            yield (
                path,
                column,
                f"is about whole submissions, and {column!r} with {found[0]} about one answer of them. Name "
                "columns without braces, one by one.",
            )
            continue
        if PLACEHOLDER.search(column) and find_slots(column, columns):
            continue
        near = did_you_mean(column, columns)
        what = "no column is like" if PLACEHOLDER.search(column) else "no column is called"
        yield path, column, f"{what} {column!r} in {where}. {near}"


def find_unused(mapping: Mapping, columns: Sequence[str]) -> list[str]:
    """Return the columns that a mapping makes no use of; places in lists are not columns of a file."""
    named = [column for _, column in list_columns(mapping)]
    slots = [slot for pattern in named for slot in find_slots(pattern, columns)]
    used = {*named, *(name for slot in slots for name in (slot.column, *slot.options.values()))}
    return [name for name in columns if name not in used and not name.endswith(PLACE)]


def list_columns(mapping: Mapping) -> Iterator[tuple[KeyPath, str]]:
    """Yield every column that a mapping names, with the key that names it."""
    for key in ("submission", "status"):
        if (column := getattr(mapping, key)) is not None:
            yield (key,), column
    for key in ("rater", "item", "system"):
        yield from _cell((key,), getattr(mapping, key))
    for place, reason in enumerate(mapping.reasons):
        yield ("reasons", place), reason
    for key, column in mapping.times.model_dump(exclude_none=True).items():
        yield ("times", key), column
    for key in ("keep", "background"):
        for name, column in getattr(mapping, key).items():
            yield (key, name), column
    for column in mapping.leave_out:
        yield ("leave_out", column), column
    for place, criterion in enumerate(mapping.criteria):
        yield ("criteria", place, "answer"), criterion.answer
        if criterion.named_by is not None:
            yield ("criteria", place, "named_by"), criterion.named_by
        yield from _cell(("criteria", place, "item"), criterion.item)
        yield from _cell(("criteria", place, "system"), criterion.system)
    for place, comparison in enumerate(mapping.comparisons):
        for key in ("best", "worst"):
            if (column := getattr(comparison, key)) is not None:
                yield ("comparisons", place, key), column
        if comparison.named_by is not None:
            yield ("comparisons", place, "named_by"), comparison.named_by
        for word, column in comparison.shows.items():
            yield ("comparisons", place, "shows", word), column
        yield from _cell(("comparisons", place, "item"), comparison.item)


def _cell(path: KeyPath, cell: Cell | None) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(cell, Taken):
        yield (*path, "column"), cell.column
    elif isinstance(cell, tuple):
        yield from (((*path, place), column) for place, column in enumerate(cell))
    elif cell is not None:
        yield path, cell


def quote(text: str) -> str:
    """Return a text as YAML requires it: in quotation marks where it could be read as something else."""
    plain = re.fullmatch(r"[A-Za-z_][\w .()/-]*", text) and text.casefold() not in _WORDS
    if plain and not text.endswith(" "):
        return text
    return "'" + text.replace("'", "''") + "'"


# Keys about a submission as a whole, not about one of its answers.
OF_SUBMISSIONS = ("rater", "submission", "status", "reasons", "times", "background", "leave_out")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
