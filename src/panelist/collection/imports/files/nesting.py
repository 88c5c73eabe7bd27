"""What to unfold in nested entries: lists of annotations, lists of answers, objects whose keys are names."""

from collections.abc import Iterator, Sequence
from typing import Any

from panelist.collection.imports.files.nested_records import FILE
from panelist.collection.imports.files.unfolding import (
    SAMPLE,
    Row,
    UnfoldedRows,
    flatten,
    flatten_rows,
    is_number,
    open_path,
    read_list,
    read_object,
    unfold_keys,
    unfold_lists,
)
from panelist.collection.imports.mapping import Unfolding
from panelist.collection.imports.vocabulary import (
    MEASURES,
    NO_RATING,
    is_criterion,
    last_part,
    names_raters,
    split_name,
)

LONGEST_LIST, LONGEST_LABEL = 60, 30


def propose(rows: Sequence[Row]) -> list[tuple[Unfolding, ...]]:
    """Return the ways in which entries could be unfolded: one, or several to choose from."""
    return [tuple(steps) for steps in _propose(list(rows[:SAMPLE]), (), 0)]


def _propose(rows: list[Row], done: tuple[Unfolding, ...], depth: int) -> list[tuple[Unfolding, ...]]:
    if depth > 6:
        return [done]
    steps = _find_steps(rows, done[-1] if done else None)
    if not steps:
        return [done]
    found = []
    for step in steps:
        made = UnfoldedRows(rows, list(range(len(rows))))
        made = unfold_keys(made, step.keys) if step.keys else unfold_lists(made, step.lists)
        found += _propose(made.rows[: 4 * SAMPLE], (*done, step), depth + 1)
    return found


def _find_steps(rows: Sequence[Row], last: Unfolding | None) -> list[Unfolding]:
    """Return what to unfold next: each of several is another reading. Only unfolded parts are followed."""
    inside = (last.keys or last.lists)[0] if last is not None else ""

    def goes_on(path: str) -> bool:
        return not inside or path == inside or path.startswith(f"{inside}.")

    if maps := [path for path in _list_maps(rows) if goes_on(path)]:
        return [Unfolding(keys=(maps[0], *_list_maps_beside(rows, maps)))]
    columns: dict[str, list[list[Any]]] = {}
    cells: dict[str, int] = {}
    for row in flatten_rows(rows):
        for name, cell in row.items():
            if cell is None or cell == "":
                continue
            cells[name] = cells.get(name, 0) + 1
            if (found := read_list(cell)) is not None:
                columns.setdefault(name, []).append(found)
    lists = {
        name: found
        for name, found in columns.items()
        if len(found) >= 0.9 * cells[name] and any(found) and goes_on(name)
    }
    objects = [name for name, found in lists.items() if _holds_objects(found) and _holds_answers(found)]
    answers = [name for name, found in lists.items() if _is_answer_list(name, found)]
    if objects and not answers:
        return [Unfolding(lists=(name,)) for name in objects]
    if answers:
        return [Unfolding(lists=(*answers, *_list_beside(lists, answers)))]
    return []


def _list_maps_beside(rows: Sequence[Row], maps: Sequence[str]) -> list[str]:
    """Return the objects beside the first that have its keys: one of raters for each criterion."""

    def list_keys(path: str) -> list[set[str]]:
        return [set(read_object(open_path(row, path).get(path)) or {}) for row in rows]

    parent, first = maps[0].rpartition(".")[0], list_keys(maps[0])
    return [
        path
        for path in maps[1:]
        if path.rpartition(".")[0] == parent
        and sum(one == other for one, other in zip(first, list_keys(path), strict=True)) >= 0.5 * len(rows)
    ]


def _list_beside(lists: dict[str, list[list[Any]]], answers: Sequence[str]) -> list[str]:
    """Return the lists beside those of answers that always have the same length: perhaps who gave each.

    Lists of raters are often one level above: annotators, and ratings.fluency.
    """
    lengths = [len(one) for one in lists[answers[0]]]
    parent = answers[0].rpartition(".")[0]
    return [
        name
        for name, found in lists.items()
        if name not in answers
        and (name.rpartition(".")[0] == parent or names_raters(name))
        and [len(one) for one in found] == lengths
        and not any(isinstance(entry, dict | list) for one in found for entry in one)
    ]


def _holds_objects(found: Sequence[list[Any]]) -> bool:
    entries = [entry for one in found for entry in one]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return False
    return not all({"role", "content"} <= set(entry) or {"from", "value"} <= set(entry) for entry in entries)


def _holds_answers(found: Sequence[list[Any]]) -> bool:
    """Return whether somewhere in the objects of a list there are numbers or labels that could be answers."""
    names: dict[str, list[Any]] = {}
    for one in found[:200]:
        for entry in one:
            for name, value in flatten(entry):
                names.setdefault(name, []).append(value)
    for name, values in names.items():
        inner = [value for value in values if isinstance(value, list)]
        if inner and (_is_answer_list(name, inner) or (_holds_objects(inner) and _holds_answers(inner))):
            return True
        plain = [value for value in values if not isinstance(value, list | dict) and value is not None]
        if _may_be_answers(name, plain):
            return True
    return False


def _may_be_answers(name: str, values: Sequence[Any]) -> bool:
    if not values or (set(split_name(last_part(name))) & NO_RATING and not is_criterion(name)):
        return False
    if MEASURES.search(name):
        return False
    if all(is_number(value) or isinstance(value, bool) for value in values):
        return True
    words = {str(value).strip() for value in values}
    return len(words) <= 12 and len(values) > len(words) and max(map(len, words)) <= LONGEST_LABEL


def _is_answer_list(name: str, found: Sequence[list[Any]]) -> bool:
    """Return whether lists hold answers: numbers, or labels that repeat; not vectors or texts."""
    entries = [entry for one in found for entry in one]
    if not entries or any(isinstance(entry, dict | list) for entry in entries):
        return False
    if max(map(len, found)) > LONGEST_LIST or not _may_be_answers(
        name, [e for e in entries if e is not None]
    ):
        return False
    return max(map(len, found)) > 1 and (
        all(is_number(entry) or entry is None for entry in entries) or _same_words(found)
    )


def _same_words(found: Sequence[list[Any]]) -> bool:
    """Return whether the places of lists share their words, as answers of several raters do."""
    places: dict[int, set[str]] = {}
    for one in found:
        for place, entry in enumerate(one):
            places.setdefault(place, set()).add(str(entry))
    return len(places) > 1 and bool(set.intersection(*places.values()))


def _list_maps(rows: Sequence[Row], before: str = "") -> Iterator[str]:
    """Yield the paths of objects whose keys are names of things (raters, outputs), not of fields."""
    columns: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        for name, value in row.items():
            if (inner := read_object(value)) is not None:
                columns.setdefault(name, []).append(inner)
    for name, found in columns.items():
        path = f"{before}{name}"
        if is_map(found, top=path == FILE):
            yield path
        else:
            yield from _list_maps(found, f"{path}.")


def is_map(found: Sequence[dict[str, Any]], *, top: bool = False) -> bool:
    """Return whether the keys of objects are data: they vary, or all lead to the same fields.

    >>> is_map([{"A1": {"flu": 1}, "A2": {"flu": 3}}]), is_map([{"name": "x", "scores": {"flu": 1}}])
    (True, False)
    """
    entries = [value for one in found for value in one.values()]
    if not entries:
        return False
    keys = [set(one) for one in found if one]
    inner = [set(value) for value in entries if isinstance(value, dict)]
    lists = [value for value in entries if isinstance(value, list)]
    if len(inner) == len(entries) and max(map(len, keys)) > 1:
        union = set.union(*inner)
        shared = sum(map(len, inner)) / (len(inner) * max(len(union), 1))
        varies = len(set.union(*keys)) > 1.5 * max(map(len, keys))
        named = sum(is_criterion(key) for key in set.union(*keys)) > 0.5 * len(set.union(*keys))
        return shared > 0.8 or varies or (top and len(entries) > 5) or (named and shared > 0.3)
    if lists and len(lists) == len(entries) and (top or len(found) > 1):
        return (
            len(entries) > 1 and all(isinstance(e, dict) for one in lists for e in one) and len(keys[0]) > 1
        )
    if len(keys) > 2 and all(is_number(value) or value is None for value in entries):
        return len(set.union(*keys)) > 1.5 * max(map(len, keys))
    return False
