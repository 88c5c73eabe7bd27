"""What to know about imported answers before they are analysed: words, ranks, means."""

import pandas as pd

from panelist.collection.imports.files.grids import NUMBER
from panelist.collection.imports.mapping import Mapping
from panelist.collection.imports.vocabulary import split_name
from panelist.core.prose import count, inflect, listing

CODES = (-1, -9, -99, -999, 99, 999)
RANKS = frozenset(("rank", "ranks", "ranking", "ranked"))


def note_answers(frame: pd.DataFrame, mapping: Mapping) -> list[str]:
    """Return a note for each criterion whose ratings are not what an analysis takes them for."""
    if "rating" not in frame:
        return []
    notes = []
    for name, cells in (
        frame["rating"].dropna().astype(str).groupby(frame["criterion"], sort=False, observed=True)
    ):
        words = list(dict.fromkeys(word for word in cells if not NUMBER.match(word)))
        if words and cells.isin(words).mean() > 0.5:
            notes.append(
                f"the ratings of {name} are words ({listing([repr(word) for word in words], 4)}): number "
                "them in the mapping before they are analysed, values: {WORD: 1, …}"
            )
        elif words:
            n = int(cells.isin(words).sum())
            notes.append(
                f"{count(n, 'rating')} of {name} {inflect(n, 'is a word', 'are words')} among numbers "
                f"({listing([repr(word) for word in words], 4)}): in the mapping, stray: leave out sets them "
                "aside, and values: {WORD: 1, …} numbers them"
            )
        elif (mean := _find_mean(cells)) and frame["rater"].eq("").all():
            notes.append(
                f"the ratings of {name} look like means ({mean}), each of which now counts as one rating: "
                "how many people it is made of is not in the file, so intervals say little"
            )
        code, n = _find_code(cells)
        if n:
            notes.append(
                f"{count(n, 'rating')} of {name} {inflect(n, 'is', 'are')} {code}, far from the others: "
                "where that stands for no answer, empty those cells"
            )
    if ranked := [one.answer for one in mapping.criteria if RANKS & set(split_name(one.answer))]:
        notes.append(
            f"{listing(ranked, 3)} may be ranks, of which 1 is the best, but here a higher rating is better: "
            "make a ranking of them (docs/comparisons.md), or turn them round"
        )
    return notes


def _find_code(cells: "pd.Series[str]") -> tuple[int, int]:
    """Return a number that often stands for no answer and is far from all others, 99 or -1, and how often."""
    numbers = pd.to_numeric(cells, errors="coerce")
    for code in CODES:
        n, others = int((numbers == code).sum()), numbers[numbers != code].dropna()
        low, high = (0, code / 4) if code > 0 else (1 if code == -1 else 0, float("inf"))
        if n and len(others) and low <= others.min() and others.max() <= high:
            return code, n
    return 0, 0


def _find_mean(cells: "pd.Series[str]") -> str:
    """Return a number that only division gives, on a short scale: 2.333; empty where there is none."""
    numbers = pd.to_numeric(cells, errors="coerce").dropna()
    if numbers.empty or numbers.abs().max() > 10:
        return ""
    parts = numbers[(numbers * 12 % 1).abs().round(3).isin([0.0, 1.0]) & (numbers * 2 % 1 != 0)]
    return f"{parts.iloc[0]:.4g}" if len(parts) else ""
