"""Tables with a pair in each row (``system_a``, ``system_b`` and who won), turned into a row an option."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from panelist.core.errors import BadRatings

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("system_a", "system_b")
ANSWERS = ("winner", "choice", "rating")  # the columns that may say who won, the first that is there
FIRST_WORDS, SECOND_WORDS = {"a", "1", "first", "left"}, {"b", "2", "second", "right"}
TIE_WORDS = {"tie", "similar", "same", "equal", "draw", "both", "neither", "no difference", "0"}


def is_pair_file(frame: pd.DataFrame) -> bool:
    """Return whether the table names both systems of a pair in each row."""
    return set(SIDES) <= set(frame.columns)


def list_options(frame: pd.DataFrame, criterion: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with two rows a pair (trial, system, position, choice, answer), and notes.

    Who won may be said by the system's name, by A and B, 1 and 2, first and second, left and right; a tie by
    tie, similar, same, equal, draw, both, neither, "no difference" or 0. Anything else is counted as no
    answer.
    """
    import pandas as pd

    column = next((name for name in ANSWERS if name in frame), None)
    if column is None:
        raise BadRatings(
            f"On {criterion!r} the table names the systems of each pair ({' and '.join(SIDES)}), but not "
            f"which was better. Give a column {' or '.join(ANSWERS)}."
        )
    said = frame[column].astype(object).where(frame[column].notna(), "").astype(str).str.strip()
    sides = [frame[name].astype(str).str.strip() for name in SIDES]
    words = said.str.casefold()
    won = [
        ((said == side) | (words.isin(short) & ~said.isin({*sides[0], *sides[1]}))).to_numpy()
        for side, short in zip(sides, (FIRST_WORDS, SECOND_WORDS), strict=True)
    ]
    tie = words.isin(TIE_WORDS).to_numpy() & ~won[0] & ~won[1]
    notes = _note_unread(words[~(won[0] | won[1] | tie)], len(frame))
    kept = [name for name in ("rater", "item", "occasion") if name in frame]
    parts = []
    for place, side in enumerate(sides):
        part = frame[kept].copy()
        part["trial"] = np.arange(len(frame))
        part["system"] = side.to_numpy()
        part["position"] = place + 1
        part["choice"] = np.where(won[place], "best", np.where(won[1 - place], "worst", ""))
        part["answer"] = np.where(tie, "tie", "")
        parts.append(part)
    same = int((sides[0] == sides[1]).sum())
    if same:
        notes.append(f"{same:,} of {len(frame):,} pairs show one system twice: they compare nothing.")
    return pd.concat(parts, ignore_index=True).sort_values("trial", kind="stable"), notes


def _note_unread(words: pd.Series, total: int) -> list[str]:
    """Return the note that counts the answers that name no system and no tie."""
    if words.empty:
        return []
    counted: Counter[Any] = Counter(words)
    listed = ", ".join(f"{word!r} {n}" if word else f"empty {n}" for word, n in counted.most_common(4))
    return [f"{len(words):,} of {total:,} answers name neither system nor a tie ({listed})."]
