"""Many systems at a glance: letters shared by systems that cannot be told apart, and a matrix of all pairs.

Letters by the insert-and-absorb algorithm (Piepho 2004, doi:10.1198/1061860043515): two systems share a
letter exactly where their difference was not shown.
"""

from collections.abc import Sequence
from string import ascii_lowercase

from panelist.core.display.formats import MISSING, TEXT, Cell, Format, number, p_value
from panelist.core.display.result import Table

MANY = 10  # systems from which on pairs are shown as letters and a matrix
WIDEST = 16  # systems whose matrix still fits a terminal


def find_letters(order: Sequence[str], different: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the letters of each system, from the first of ``order`` on; ``different`` are pairs that differ.

    >>> find_letters(["a", "b", "c"], [("a", "c")])
    {'a': 'a', 'b': 'ab', 'c': 'b'}
    """
    place = {name: at for at, name in enumerate(order)}
    columns: list[frozenset[str]] = [frozenset(order)]
    for first, second in different:
        changed: list[frozenset[str]] = []
        for column in columns:
            changed += [column - {first}, column - {second}] if {first, second} <= column else [column]
        columns = _absorb(changed)
    columns.sort(key=lambda column: sorted(place[name] for name in column))
    names = [_letter(at) for at in range(len(columns))]
    return {
        name: "".join(letter for letter, column in zip(names, columns, strict=True) if name in column)
        for name in order
    }


def make_matrix(
    title: str,
    order: Sequence[str],
    cells: dict[tuple[str, str], tuple[float, float]],
    alpha: float,
    unit: str,
) -> Table:
    """Return all pairs: above the diagonal the difference, row minus column, below it the adjusted p.

    ``cells`` has for each pair (a, b), in one order or the other, its difference a − b and p.
    """
    both = {**{(b, a): (-d, p) for (a, b), (d, p) in cells.items()}, **cells}
    rows: list[tuple[Cell, ...]] = []
    for at, name in enumerate(order):
        row: list[Cell] = [f"{at + 1} {name}"]
        for other_at, other in enumerate(order):
            difference, p = both.get((name, other), (float("nan"), float("nan")))
            if at == other_at:
                row.append("")
            elif at < other_at:
                row.append(f"{number(difference, 2)}{'*' if p < alpha else ''}")
            else:
                row.append(_short_p(p))
        rows.append(tuple(row))
    header = ("system", *(str(at + 1) for at in range(len(order))))
    right = Format(TEXT.write, "right")
    formats = {"system": TEXT, **dict.fromkeys(header[1:], right)}
    note = (
        f"Above the diagonal: row minus column, in {unit}, * where p < {alpha:g}; below it: adjusted p. "
        f"{MISSING} where a pair could not be tested."
    )
    return Table(title, header, rows, formats, note=note, name="pairs")


def _short_p(p: float) -> str:
    text = p_value(p)
    return "<.001" if p < 0.001 else text.removeprefix("0") if p < 1 else text


def _absorb(columns: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return the columns without those that are contained in another."""
    kept: list[frozenset[str]] = []
    for column in sorted(set(columns), key=lambda one: -len(one)):
        if not any(column <= other for other in kept):
            kept.append(column)
    return kept


def _letter(place: int) -> str:
    """Return a, b, …, z, A, …, Z, then with a number."""
    letters = ascii_lowercase + ascii_lowercase.upper()
    turn, at = divmod(place, len(letters))
    return letters[at] + (str(turn + 1) if turn else "")
