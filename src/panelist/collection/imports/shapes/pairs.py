"""Pairs: both systems in each row, and which was better, by one rater or by a column for each."""

import re
from collections.abc import Sequence
from typing import Any

from panelist.collection.imports.guessing.column_profiles import Column
from panelist.collection.imports.shapes.base import Answers, Case, shape
from panelist.collection.imports.shapes.rater_columns import find_raters
from panelist.collection.imports.vocabulary import SYSTEM_NAMES, last_part, split_name, squeeze
from panelist.core.tables.pair_answers import Side, drop_zeros, find_side, find_strength

SIDES = (("a", "b"), ("1", "2"), ("0", "1"), ("left", "right"), ("first", "second"), ("x", "y"))
ANSWERS = (
    *("winner", "preferred", "preference", "choice", "chosen", "vote", "better", "best", "label", "verdict"),
    *("judgment", "judgement", "answer", "response", "rating", "score", "result", "selected", "annotation"),
)
NUMBERS = {  # what numbers may mean: which is the first, which the second, which a tie
    ("1", "2"): (("1", "2", ""),),
    ("0", "1", "2"): (("1", "2", "0"),),
    ("0", "1"): (("0", "1", ""), ("1", "0", "")),
    ("-1", "0", "1"): (("1", "-1", "0"), ("-1", "1", "0")),
    ("1", "2", "3"): (("1", "2", "3"), ("1", "3", "2")),
    ("-1", "1"): (("1", "-1", ""), ("-1", "1", "")),
    ("0", "0.5", "1"): (("1", "0", "0.5"), ("0", "1", "0.5")),
}
MOST_GRADES = 7


@shape("pairs", rank=1)
def recognise(case: Case) -> list[Answers]:
    """Return the readings of a table that names both systems of each pair and who won."""
    sides = find_sides(case.columns)
    if sides is None:
        return []
    raters = find_raters(case)
    if raters is not None:
        pattern, members, people = raters
        said = [word for one in members for word in one.distinct]
        return _read(case, sides, pattern, said, [one.name for one in members], people=people)
    column = _find_answer(case, sides)
    if column is None:
        return []
    return _read(case, sides, column.name, column.distinct, [column.name], people=None)


def find_sides(columns: Sequence[Column]) -> tuple[str, str] | None:
    """Return the columns of the two systems: names that differ in a side, with values that repeat."""
    able = {
        one.name.casefold(): one
        for one in columns
        if not one.is_text and not one.is_time and not one.is_numeric
    }
    for first in able.values():
        parts = split_name(first.name)
        for one, other in SIDES:
            if one not in parts:
                continue
            system = set(parts) & {*SYSTEM_NAMES, "assistant", "name"} or squeeze(first.name) in (
                "left",
                "right",
            )
            pattern = rf"(?<![a-z]){one}(?![a-z])" if one.isalpha() else one
            name = re.sub(pattern, other, first.name.casefold(), count=1)
            second = able.get(name)
            if second is None or second is first or (not system and one not in ("left", "first")):
                continue
            repeat = all(2 * len(side.distinct) <= max(len(side.said), 4) for side in (first, second))
            if repeat or set(first.distinct) & set(second.distinct):
                return first.name, second.name
    return None


def _find_answer(case: Case, sides: tuple[str, str]) -> Column | None:
    names = {word.casefold() for one in case.columns if one.name in sides for word in one.distinct}
    able = [
        one
        for one in case.columns
        if one.name not in sides
        and (
            all(find_side(word) or word.casefold() in names or _is_small(word) for word in one.distinct)
            or find_grades(one.distinct)
        )
    ]
    for word in ANSWERS:
        for one in able:
            if squeeze(last_part(one.name)) == word or word in split_name(last_part(one.name)):
                return one
    return None


def _is_small(word: str) -> bool:
    return drop_zeros(word) in {number for numbers in NUMBERS for number in numbers}


def find_grades(said: Sequence[str]) -> list[str]:
    """Return the points of a scale from one system to the other, 1 to 5 or -2 to 2; none where it is not such
    a scale.

    >>> find_grades(["4", "1", "5"]), find_grades(["-1", "2", "0"]), find_grades(["1", "40"])
    (['1', '2', '3', '4', '5'], ['-2', '-1', '0', '1', '2'], [])
    """
    try:
        numbers = {int(drop_zeros(word)) for word in said}
    except ValueError:
        return []
    reach = max(map(abs, numbers), default=0)
    if not 0 < reach <= MOST_GRADES:
        return []
    if min(numbers) < 0:
        return [str(number) for number in range(-reach, reach + 1)] if 2 * reach < MOST_GRADES else []
    return [str(number) for number in range(1, reach + 1)] if min(numbers) > 0 and reach > 3 else []


def _name_grades(
    sides: tuple[str, str], column: str, grades: Sequence[str]
) -> list[tuple[dict[str, Any], str]]:
    """Return the two ways to read grades: towards which system they rise."""
    half = len(grades) // 2
    low, middle, high = grades[:half], grades[half : len(grades) - half], grades[len(grades) - half :]
    steps = [*range(half, 0, -1), *([0] * len(middle)), *range(-1, -half - 1, -1)]
    made = []
    for first, second in ((low, high), (high, low)):
        ordered = (*grades,) if first is low else (*reversed(grades),)
        entry: dict[str, Any] = {"shows": {"A": sides[0], "B": sides[1]}, "best": column}
        entry["grades"] = dict(zip(ordered, steps, strict=True))
        label = f"{', '.join(first)} in {column} mean {sides[0]}, {', '.join(second)} mean {sides[1]}"
        made.append((entry, f"{label}, {middle[0]} a tie" if middle else label))
    return made


def _grade_words(found: dict[str, Side | None]) -> dict[str, int]:
    """Return the grade of each answer in words, where they say how much better; else none."""
    decided = {word: find_strength(word) for word, side in found.items() if side in ("first", "second")}
    levels = sorted(set(decided.values()))
    if len(levels) < 2:
        return {}
    ties = {word: 0 for word, side in found.items() if side == "tie"}
    signs = {word: 1 if found[word] == "first" else -1 for word in decided}
    return {word: signs[word] * (levels.index(level) + 1) for word, level in decided.items()} | ties


def _read(
    case: Case,
    sides: tuple[str, str],
    column: str,
    said: Sequence[str],
    members: Sequence[str],
    *,
    people: bool | None,
) -> list[Answers]:
    """Return a reading for each thing that the answers could mean."""
    names = {word.casefold() for one in case.columns if one.name in sides for word in one.distinct}
    made = []
    for roles in case.roles(several=people is not None, skip=[*sides, *members]):
        entries = list(_name_answers(sides, column, said, names))
        for entry, label in entries:
            if roles.criterion is not None:
                entry = {"name": "preference", "named_by": roles.criterion.cell, **entry}
            else:
                entry = {"name": "preference", **entry}
            made.append(
                Answers(
                    roles,
                    comparisons=[entry],
                    label=label or roles.label,
                    says=f"{members[0]}{f' to {members[-1]}' if len(members) > 1 else ''}: which of "
                    f"{sides[0]} and {sides[1]} is better",
                    sure=len(entries) == 1,
                    raters=f"the names of the columns {members[0]} to {members[-1]}" if people else "",
                    unknown=people is False or (people is None and roles.rater is None),
                )
            )
    return made


def _name_answers(
    sides: tuple[str, str], column: str, said: Sequence[str], names: set[str]
) -> list[tuple[dict[str, Any], str]]:
    said = list(dict.fromkeys(map(drop_zeros, said)))
    words = [word for word in said if word.casefold() not in names]
    numbers = tuple(sorted(words, key=float)) if all(_is_small(word) for word in words) and words else ()
    if numbers in NUMBERS or (numbers and len(numbers) == 1):
        meanings = NUMBERS.get(numbers, (("1", "2", "0"),))
        made = []
        for first, second, tie in meanings:
            entry: dict[str, Any] = {"shows": {first: sides[0], second: sides[1]}, "best": column}
            if tie:
                entry["ties"] = [tie]
            label = f"{first} in {column} means {sides[0]}, {second} means {sides[1]}"
            made.append((entry, label + (f", {tie} a tie" if tie else "") if len(meanings) > 1 else ""))
        return made
    if grades := find_grades(words):
        return _name_grades(sides, column, grades)
    found = {word: find_side(word) for word in words}
    if any(side is None for side in found.values()):
        return []
    if len(words) == len(said) and (graded := _grade_words(found)):
        return [({"shows": {"A": sides[0], "B": sides[1]}, "best": column, "grades": graded}, "")]
    entry = {"shows": {}, "best": column}
    for side, place, usual in (("first", 0, "A"), ("second", 1, "B")):
        mine = [word for word, one in found.items() if one == side]
        key = mine[0] if len(mine) == 1 else usual
        entry["shows"][key] = sides[place]
        if len(mine) > 1:
            entry.setdefault("words", {}).update({word: key for word in mine if word != key})
    if len(words) < len(said):
        entry["named"] = True
    if ties := [word for word, side in found.items() if side == "tie"]:
        entry["ties"] = ties
    return [(entry, "")]
