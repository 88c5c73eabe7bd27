"""Tables with a pair in each row (both systems and who won), turned into one row per option.

People publish such tables under many names. The sides are ``system_a`` and ``system_b``, ``model_a`` and
``model_b``, ``left`` and ``right`` and so on; the answer names a system, a side (A, model_a, left, first, 1)
or a tie. Anything else is refused with its value, column and row: a word that is misread, or
counted as no answer, makes a wrong comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import BadRatings
from panelist.core.tables.pair_answers import FIRST, SECOND, SILENT, TIE

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


def list_options(frame: pd.DataFrame, criterion: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with two rows per pair (trial, system, position, choice, answer), and notes.

    The position is that on the page where the table says it: by columns called left and right, or first and
    second, or by a column ``first`` that names the side shown first. Otherwise it is 0, unknown.
    """
    import pandas as pd

    columns = find_sides(frame)
    assert columns is not None, "only pair files are turned into options"
    column = _find_answer(frame)
    if column is None:
        raise BadRatings(
            f"On {criterion!r} the table names the systems of each pair ({' and '.join(columns)}), but not "
            f"which was better. Give a column {', '.join(ANSWERS[:-1])} or {ANSWERS[-1]}."
        )
    sides = [_text(frame[name]) for name in columns]
    won, notes = _read_answers(frame, column, sides)
    silent = ~(won[0] | won[1] | won[2])
    if silent.any():
        notes.append(f"{int(silent.sum()):,} of {len(frame):,} pairs have no answer in {column}.")
    first = _read_order(frame, columns, sides)
    kept = [name for name in ("rater", "item", "occasion") if name in frame]
    parts = []
    for place, side in enumerate(sides):
        part = frame[kept].copy()
        part["trial"] = np.arange(len(frame))
        part["system"] = side.where(side != "", None).to_numpy()
        part["position"] = np.where(first < 0, 0, np.where(first == place, 1, 2))
        part["choice"] = np.where(won[place], "best", np.where(won[1 - place], "worst", ""))
        part["answer"] = np.where(won[2], "tie", "")
        parts.append(part)
    same = int((sides[0] == sides[1]).sum())
    if same:
        notes.append(f"{same:,} of {len(frame):,} pairs show one system twice: they compare nothing.")
    return pd.concat(parts, ignore_index=True).sort_values("trial", kind="stable"), notes


def _read_answers(frame: pd.DataFrame, column: str, sides: list[Any]) -> tuple[list[Any], list[str]]:
    """Return where the first won, where the second, and where they tied; names precede words for sides."""
    said = _text(frame[column])
    plain = said.str.casefold().str.replace(r"[_\-]+", " ", regex=True).str.replace(r"\s+", " ", regex=True)
    names = {name.casefold() for side in sides for name in side.unique() if name}
    named = said.str.casefold().isin(names)
    own = [said.str.casefold() == side.str.casefold() for side in sides]
    words = [plain.str.fullmatch(pattern.pattern) & ~named for pattern in (FIRST, SECOND, TIE)]
    won = [(own[0] | words[0]).to_numpy(), (own[1] | words[1]).to_numpy(), words[2].to_numpy()]
    silent = (plain.isin(SILENT) & ~named).to_numpy()
    read = won[0] | won[1] | won[2] | silent
    if not read.all():
        _refuse(frame, column, said, sides, int(np.flatnonzero(~read)[0]), int((~read).sum()), names)
    _check_numbers(column, set(plain[~named.to_numpy() & ~silent]))
    sides_too = [plain.str.fullmatch(pattern.pattern) for pattern in (FIRST, SECOND)]
    otherwise = named & ((sides_too[0] & ~own[0]) | (sides_too[1] & ~own[1]))
    if not otherwise.any():
        return won, []
    letters = " and ".join(map(repr, sorted(set(said[otherwise]))[:2]))
    return won, [f"{letters} in {column} are read as names of systems, not as sides."]


def _check_numbers(column: str, words: set[str]) -> None:
    """Raise where 0 and 1 are all there is: they may mean tie and first, or first and second."""
    if words == {"0", "1"}:
        raise BadRatings(
            f"The column {column} holds 0 and 1 only, which may mean the first and the second system, or a "
            "tie and the first. Write 1 and 2 for the two and 0 for a tie, or A, B and tie, or the names of "
            "the systems."
        )


def _refuse(
    frame: pd.DataFrame, column: str, said: Any, sides: list[Any], at: int, n: int, names: set[str]
) -> None:
    """Raise with the first answer that cannot be read, where it is and what is allowed."""
    shown = f"{sides[0].iloc[at]!r} and {sides[1].iloc[at]!r}"
    word = str(said.iloc[at])
    what = (
        f"names a system that is not one of the pair ({shown})"
        if word.casefold() in names
        else f"names neither of the systems {shown}, nor a side, nor a tie"
    )
    row = frame.index[at]
    place = f"row {int(row) + 1}" if isinstance(row, int | np.integer) else f"row {row}"
    more = f" {n - 1:,} more answers cannot be read either." if n > 1 else ""
    raise BadRatings(
        f"In column {column}, {place}, {word!r} {what}.{more} An answer is the name of a system; A or B, "
        "also model_a, left, first or 1 and so on; a tie, also same, similar, both, neither or 0; or empty."
    )


def _read_order(frame: pd.DataFrame, columns: tuple[str, str], sides: list[Any]) -> Any:
    """Return which side was shown first in each row, 0 or 1, and -1 where the table does not say."""
    if columns[0].strip().casefold() in SHOWN:
        return np.zeros(len(frame), dtype=np.int64)
    unknown = np.full(len(frame), -1, dtype=np.int64)
    if ORDER not in frame:
        return unknown
    said = _text(frame[ORDER]).str.casefold()
    for place, (side, pattern) in enumerate(zip(sides, (FIRST, SECOND), strict=True)):
        plain = said.str.replace(r"[_\-]+", " ", regex=True)
        other = sides[1 - place].str.casefold()
        hit = (said == side.str.casefold()) | (plain.str.fullmatch(pattern.pattern) & (said != other))
        unknown[hit.to_numpy()] = place
    return unknown


def _find_answer(frame: pd.DataFrame) -> str | None:
    plain = {str(name).strip().casefold(): str(name) for name in frame.columns}
    return next((plain[name] for name in ANSWERS if name in plain), None)


def _repeat(frame: pd.DataFrame, columns: tuple[str, str]) -> bool:
    """Return whether names repeat, as those of systems do and texts do not."""
    return all(2 * frame[name].nunique() <= max(len(frame), 4) for name in columns)


def _text(column: pd.Series) -> Any:
    """Return cells as text without outer spaces; whole numbers without decimals, missing cells empty."""
    text = column.astype(object).where(column.notna(), "").astype(str).str.strip()
    return text.str.replace(r"^(\d+)\.0+$", r"\1", regex=True)
