"""Outputs that do not exist: not in the file, or with a status that says so; a refusal or nothing exists."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from panelist.core.errors import did_you_mean
from panelist.core.prose import count, listing
from panelist.study.output_rows import Rows
from panelist.study.problems import Problem

STATUS = "status"
ABSENT = {
    "timeout": ("timeout", "timeouts"),
    "error": ("error", "errors"),
    "missing": ("marked as missing", "marked as missing"),
    "": ("not in the file", "not in the file"),
}
"""The states of outputs that do not exist, and what one and several of them are called."""
PRESENT = ("ok", "refusal", "empty", "truncated")
"""The states of outputs that exist; so does one without a status."""

Lacking = tuple[tuple[str, str, str], ...]


def find_unknown(frame: pd.DataFrame, rows: Rows) -> Iterator[Problem]:
    """Give the rows whose status is no word that we know."""
    if STATUS not in frame:
        return
    known = [*filter(None, ABSENT), *PRESENT]
    written = frame[STATUS].str.strip().str.casefold()
    for word in written[~written.isin(["", *known])].unique():
        places = np.flatnonzero((written == word).to_numpy())
        yield rows.problem(
            places,
            STATUS,
            f"{word!r} is no status of an output ({rows.name_places(places)}). {did_you_mean(word, known)} "
            f"With {listing(filter(None, ABSENT), last='or')} the output does not exist.",
        )


def part_absent(frame: pd.DataFrame) -> tuple[pd.DataFrame, Lacking]:
    """Return the rows of the outputs that exist, and every item and system without one, with its status."""
    state = frame[STATUS].str.strip().str.casefold().tolist() if STATUS in frame else [""] * len(frame)
    pairs = list(zip(frame["item"].tolist(), frame["system"].tolist(), strict=True))
    absent = np.array([word != "" and word in ABSENT for word in state], dtype=bool)
    states = dict(zip(pairs, state, strict=True))
    there = {pair for pair, gone in zip(pairs, absent.tolist(), strict=True) if not gone}
    items, systems = (dict.fromkeys(name for name in frame[column] if name) for column in ("item", "system"))
    lacking = tuple(
        (item, system, states.get((item, system), ""))
        for item in items
        for system in systems
        if (item, system) not in there
    )
    return frame[~absent], lacking


def note_lacking(every: pd.DataFrame, frame: pd.DataFrame, lacking: Lacking, name: str) -> Iterator[Problem]:
    """Give the systems without any output, and a note on how many outputs each system lacks."""
    for system in [one for one in every["system"].unique() if one and one not in set(frame["system"])]:
        yield Problem(name, None, "system", f"{system!r} has no output at all. Delete its rows, or add some.")
    if lacking:
        total = len({item for item in every["item"] if item}) * len({one for one in every["system"] if one})
        words = f"{len(lacking):,} of {total:,} outputs do not exist, and the plan does without them: "
        words += "; ".join(say_lacking(lacking, every["item"].nunique()))
        yield Problem(name, None, "system", f"{words}.", grave=False)


def say_lacking(lacking: Lacking, n_items: int, systems: Sequence[str] = ()) -> list[str]:
    """Return for each system how many items it lacks, and why, in words.

    >>> say_lacking((("1", "A", "timeout"), ("2", "A", ""), ("2", "B", "timeout")), 10)
    ['A lacks 2 of 10 items (1 timeout, 1 not in the file)', 'B lacks 1 of 10 items (1 timeout)']
    """
    own: dict[str, Counter[str]] = {name: Counter() for name in systems}
    for _, system, status in lacking:
        own.setdefault(system, Counter())[status] += 1
    return [
        f"{system} lacks {states.total():,} of {count(n_items, 'item')} ("
        + ", ".join(count(states[word], *nouns) for word, nouns in ABSENT.items() if states[word])
        + ")"
        for system, states in own.items()
        if states
    ]
