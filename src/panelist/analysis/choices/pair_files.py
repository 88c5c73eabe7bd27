"""Tables with a pair in each row: both systems, and who won or by how much.

People publish such tables under many names. The sides are ``system_a`` and ``system_b``, ``model_a`` and
``model_b``, ``left`` and ``right`` and so on; the answer names a system, a side (A, model_a, left, first, 1)
or a tie. Anything else is refused with its value, column and row: a word that is misread, or
counted as no answer, makes a wrong comparison.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from panelist.core.errors import BadRatings
from panelist.core.prose import count
from panelist.core.tables.pair_answers import FIRST, SCALES, SECOND, find_grades, find_side, says_both_bad
from panelist.numerics.arrays import Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

SIDES = (
    ("system_a", "system_b"),
    ("model_a", "model_b"),
    ("system_1", "system_2"),
    ("system1", "system2"),
    ("model_1", "model_2"),
    ("model1", "model2"),
    ("left", "right"),
    ("first", "second"),
)
SHOWN = ("left", "first")  # the sides that say where an output was, not only what it is called
ANSWERS = ("winner", "preferred", "preference", "choice", "vote", "rating")  # the first that exists
LONG = 20_000  # outputs shown × systems, from which a mixed model takes seconds
ORDER = "first"  # the column that says which side was shown first


def is_pair_file(frame: pd.DataFrame) -> bool:
    """Return whether the table names both systems of a pair in each row."""
    return find_sides(frame) is not None


def find_sides(frame: pd.DataFrame) -> tuple[str, str] | None:
    """Return the columns of the two systems; words such as left need an answer and names that repeat."""
    plain = {str(name).strip().casefold().replace(" ", "_"): str(name) for name in frame.columns}
    for first, second in SIDES:
        if first not in plain or second not in plain:
            continue
        found = plain[first], plain[second]
        if first not in SHOWN or (_find_answer(frame) and _repeat(frame, found)):
            return found
    return None


def take_long(frame: pd.DataFrame) -> bool:
    """Return whether these are choices among so many systems that a mixed model of them takes seconds."""
    sides = find_sides(frame)
    if sides is None and not {"trial", "system"} <= set(frame.columns):
        return False
    shown = frame[list(sides or ("system",))].to_numpy(dtype=object).ravel()
    return len(shown) * len(set(shown.tolist())) >= LONG


class PairRows(NamedTuple):
    """The pairs of a table, one row each.

    ``system`` (n, 2) counts in ``systems``, -1 where a name is missing; ``answer`` is 0 or 1 for the side
    that won, 2 for a tie and -1 for none. ``position`` (n, 2) is the place on the page, 0 where unknown.
    ``grade`` is above 0 where the first side is better, nan without an answer, on a scale of ``points``; a
    table without grades has 0 points.
    """

    systems: tuple[str, ...]
    system: Longs
    answer: Longs
    position: Longs
    grade: Floats
    points: int
    notes: list[str]


def read_pairs(frame: pd.DataFrame, criterion: str) -> PairRows:
    """Return the pairs of a table; words are read once each, however many rows have them.

    The position is that on the page where the table says it: by columns called left and right, or first and
    second, or by a column ``first`` that names the side shown first. Otherwise it is 0, unknown.
    """
    columns = find_sides(frame)
    assert columns is not None, "only pair files have pairs in their rows"
    column = _find_answer(frame)
    if column is None and (flags := _find_flags(frame, columns)) is not None:
        column, frame = "winner", frame.assign(winner=_join_flags(frame, columns, flags))
    if column is None:
        raise BadRatings(
            f"On {criterion!r} the table names the systems of each pair ({' and '.join(columns)}), but not "
            f"which was better. Give a column {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}."
        )
    sides = [_read_words(frame[name]) for name in columns]
    systems = tuple(sorted({word for side in sides for word in side.words if word}))
    known = {name: at for at, name in enumerate(systems)} | {"": -1}
    system = np.stack([side.map(known) for side in sides], axis=1)
    _check_named(frame, column, columns, system)
    answer, grade, points, notes = _read_answers(frame, column, sides)
    if silent := int((answer < 0).sum()):
        have = "has" if silent == 1 else "have"
        notes.append(f"{silent:,} of {len(frame):,} pairs {have} no answer in {column}.")
    if same := int((system[:, 0] == system[:, 1]).sum()):
        told = "shows one system twice: it compares" if same == 1 else "show one system twice: they compare"
        notes.append(f"{same:,} of {len(frame):,} pairs {told} nothing.")
    first = _read_order(frame, columns, sides)[:, None]
    position = np.where(first < 0, 0, np.where(first == np.arange(2), 1, 2))
    return PairRows(systems, system, answer, position, grade, points, notes)


def _check_named(frame: pd.DataFrame, column: str, columns: tuple[str, str], system: Longs) -> None:
    """Raise BadRatings where a row has an answer, but not both systems."""
    said = _read_words(frame[column])
    answered = said.map({word: find_side(word) != "silent" for word in said.words})
    empty = (system < 0) & answered[:, None]
    if not empty.any():
        return
    row, side = (int(place) for place in np.argwhere(empty)[0])
    more = int(empty.any(axis=1).sum()) - 1
    raise BadRatings(
        f"In {_name_row(frame, row)}, {columns[side]} is empty, though {column} says {said.take(row)!r}."
        + (f" {count(more, 'more row lacks', 'more rows lack')} a system as well." if more else "")
        + f" A pair has a name in {columns[0]} and in {columns[1]}."
    )


class _Words(NamedTuple):
    """A column as its distinct words, and which of them each row has."""

    words: list[str]
    code: Longs

    def map(self, values: Mapping[str, Any]) -> Any:
        """Return for each row what its word stands for."""
        return np.array([values[word] for word in self.words])[self.code]

    def take(self, row: int) -> str:
        """Return the word of a row."""
        return self.words[int(self.code[row])]


def _read_words(column: pd.Series) -> _Words:
    """Return cells as text without outer spaces; whole numbers without decimals, missing cells empty."""
    import pandas as pd

    code, distinct = pd.factorize(column, use_na_sentinel=True)
    words = [re.sub(r"^(-?\d+)\.0+$", r"\1", str(one).strip()) for one in distinct]
    if (code < 0).any():
        code = np.where(code < 0, len(words), code)
        words.append("")
    return _Words(words, code.astype(np.int64))


def _read_answers(
    frame: pd.DataFrame, column: str, sides: list[_Words]
) -> tuple[Longs, Floats, int, list[str]]:
    """Return who won, the grades, the number of points, and notes; names precede words for sides."""
    said = _read_words(frame[column])
    folded = {word: word.casefold() for side in (*sides, said) for word in side.words}
    names = {folded[word] for side in sides for word in side.words if word}
    number = {name: at for at, name in enumerate(sorted(names))}
    of_word = {word: number.get(folded[word], -1) if word else -1 for word in folded}
    own = said.map(of_word)
    hit = [(own == side.map(of_word)) & (own >= 0) for side in sides]
    plain = [word for word in said.words if of_word[word] < 0]
    side_of = {word: find_side(word) for word in said.words}
    scales = (3, *SCALES) if column.casefold() == "rating" else SCALES
    grades = find_grades(plain, scales) if len(plain) == len(said.words) else None
    notes = []
    if grades is not None:
        graded, points = grades
        grade = said.map({word: float(graded.get(word, np.nan)) for word in said.words})
        answer = np.where(np.isnan(grade), -1, np.where(grade > 0, 0, np.where(grade < 0, 1, 2)))
        notes += _explain_points(column, graded, points)
        return answer.astype(np.int64), grade, points, notes
    code = {"first": 0, "second": 1, "tie": 2, "silent": -1, None: -2}
    answer = said.map({word: -2 if of_word[word] >= 0 else code[side_of[word]] for word in said.words})
    answer = np.where(hit[0], 0, np.where(hit[1], 1, answer)).astype(np.int64)
    if (answer == -2).any():
        _check_middle(column, {word for word in plain if side_of[word] != "silent"})
        unread = np.flatnonzero(answer == -2)
        _refuse(frame, column, said, sides, int(unread[0]), len(unread), names)
    _check_numbers(column, {word for word in plain if side_of[word] != "silent"})
    other = {0: "second", 1: "first"}
    turned = [word for word in said.words if of_word[word] >= 0 and side_of[word] in ("first", "second")]
    for word in turned:
        rows = np.flatnonzero(said.code == said.words.index(word))
        if not any(other[int(one)] == side_of[word] for one in np.unique(answer[rows])):
            turned = [one for one in turned if one != word]
    if turned:
        letters = " and ".join(map(repr, sorted(turned)[:2]))
        notes.append(f"{letters} in {column} are read as names of systems, not as sides.")
    bad = int(said.map({word: says_both_bad(word) for word in said.words}).sum())
    if bad:
        notes.append(
            f"{count(bad, 'tie says', 'ties say')} that both are bad: a tie for the order, whatever it says "
            "of quality."
        )
    return answer, np.full(len(answer), np.nan), 0, notes


def _explain_points(column: str, graded: Mapping[str, int], points: int) -> list[str]:
    """Return how numbers from 1 on are read; grades about 0 and words speak for themselves."""
    if not all(word.isdigit() and int(word) > 0 for word in graded):
        return []
    better = "better" if points == 3 else "much better"
    return [
        f"{column} is read as 1, the second is {better}, to {points}, the first is {better}. If it is "
        "the other way round, exchange the columns of the two systems."
    ]


def _check_numbers(column: str, words: set[str]) -> None:
    """Raise where 0 and 1 are all there is: they may mean tie and first, or first and second."""
    if words == {"0", "1"}:
        raise BadRatings(
            f"The column {column} holds 0 and 1 only, which may mean the first and the second system, or a "
            "tie and the first. Write 1 and 2 for the two and 0 for a tie, or A, B and tie, or the names of "
            "the systems."
        )


def _check_middle(column: str, words: set[str]) -> None:
    """Raise where whole numbers from 1 on are all there is, and do not say which of them is a tie."""
    if not words or not all(word.isdigit() and int(word) > 0 for word in words):
        return
    raise BadRatings(
        f"The column {column} holds whole numbers from 1 to {max(map(int, words))}, which does not say "
        "whether one of them is a tie, and which. Write grades about 0 (-2 to 2: above 0 where the first "
        "is better, 0 for a tie), or A, B and tie, or the names of the systems."
    )


def _refuse(
    frame: pd.DataFrame, column: str, said: _Words, sides: list[_Words], at: int, n: int, names: set[str]
) -> None:
    """Raise with the first answer that cannot be read, where it is and what is allowed."""
    shown = f"{sides[0].take(at)!r} and {sides[1].take(at)!r}"
    word = said.take(at)
    what = (
        f"names a system that is not one of the pair ({shown})"
        if word.casefold() in names
        else f"names neither of the systems {shown}, nor a side, nor a tie"
    )
    place = _name_row(frame, at)
    more = f" {n - 1:,} more answers cannot be read either." if n > 1 else ""
    raise BadRatings(
        f"In column {column}, {place}, {word!r} {what}.{more} An answer is the name of a system; A or B, "
        "also model_a, left, first or 1 and so on; a tie, also same, similar, both, neither or 0; or empty. "
        "Grades are numbers about 0 (-2 to 2, above 0 where the first is better), 1 to 5 or 1 to 7 (the "
        "highest where the first is much better), or words such as 'A is much better'."
    )


def _name_row(frame: pd.DataFrame, at: int) -> str:
    row = frame.index[at]
    return f"row {int(row) + 1}" if isinstance(row, int | np.integer) else f"row {row}"


def _read_order(frame: pd.DataFrame, columns: tuple[str, str], sides: list[_Words]) -> Longs:
    """Return which side was shown first in each row, 0 or 1, and -1 where the table does not say."""
    if columns[0].strip().casefold() in SHOWN:
        return np.zeros(len(frame), dtype=np.int64)
    unknown = np.full(len(frame), -1, dtype=np.int64)
    if ORDER not in frame:
        return unknown
    said = _read_words(frame[ORDER])
    every = sorted({word.casefold() for side in (*sides, said) for word in side.words})
    number = {name: at for at, name in enumerate(every)}
    of_word = {word: number[word.casefold()] for side in (*sides, said) for word in side.words}
    named = said.map(of_word)
    for place, pattern in enumerate((FIRST, SECOND)):
        words = said.map(
            {w: bool(pattern.fullmatch(re.sub(r"[_\-]+", " ", w.casefold()))) for w in said.words}
        )
        other = sides[1 - place].map(of_word)
        unknown[(named == sides[place].map(of_word)) | (words & (named != other))] = place
    return unknown


def _find_answer(frame: pd.DataFrame) -> str | None:
    plain = {str(name).strip().casefold(): str(name) for name in frame.columns}
    return next((plain[name] for name in ANSWERS if name in plain), None)


def _find_flags(frame: pd.DataFrame, columns: tuple[str, str]) -> list[str] | None:
    """Return the columns that are 1 where a side won, or neither did: winner_model_a, …, winner_tie."""
    plain = {str(name).strip().casefold(): str(name) for name in frame.columns}
    wanted = [f"winner_{side.strip().casefold()}" for side in columns]
    if not all(name in plain for name in wanted):
        return None
    return [plain[name] for name in (*wanted, "winner_tie") if name in plain]


def _join_flags(frame: pd.DataFrame, columns: tuple[str, str], flags: list[str]) -> list[str]:
    """Return the system that won each row, or tie, by which of the flags is 1; empty where none is."""
    value = {"1": 1, "true": 1, "0": 0, "false": 0, "": 0}
    said = [_read_words(frame[name]) for name in flags]
    raised = np.stack([one.map({w: value.get(w.casefold(), 9) for w in one.words}) for one in said], axis=1)
    total = raised.sum(axis=1)
    if (total > 1).any():
        row = int(np.flatnonzero(total > 1)[0])
        told = ", ".join(f"{name} {one.take(row)!r}" for name, one in zip(flags, said, strict=True))
        raise BadRatings(
            f"In {_name_row(frame, row)}, {told}: one of these columns is 1, and the others are 0."
        )
    sides = [_read_words(frame[name]) for name in columns]
    first, second = (side.map({word: word or "?" for word in side.words}) for side in sides)
    found: list[str] = np.select([total == 0, *(raised.T[:2] == 1)], ["", first, second], "tie").tolist()
    return found


def _repeat(frame: pd.DataFrame, columns: tuple[str, str]) -> bool:
    """Return whether names repeat, as those of systems do and texts do not."""
    return all(2 * frame[name].nunique() <= max(len(frame), 4) for name in columns)
