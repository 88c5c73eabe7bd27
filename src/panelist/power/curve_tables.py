"""The tables of a power curve, narrow enough for a terminal of 80 columns.

What is the same in all cells is said once, above the tables. What differs is a column: model, design (items ×
ratings of each output) and effect; of several truths each has tables of its own.
"""

from collections.abc import Sequence
from typing import Any

from panelist.core.formats import TEXT, Format, decimals, interval
from panelist.core.result import Pairs, Part, Table
from panelist.power.cells import CellResult

RIGHT = Format(str, "right")
COLUMNS = ("model", "design", "effect")
WORDS = {"model": "analysis", "design": "design", "effect": "effect"}
INTERVAL = "95 % interval"


def make_tables(cells: Sequence[CellResult]) -> list[Part]:
    """Return what all cells share, then the tables: power, each pair where there are several, the fits."""
    truths = list(dict.fromkeys(one.preset for one in cells))
    columns = [name for name in COLUMNS if len({_identify(one)[name] for one in cells}) > 1]
    same = [(WORDS[name], _spell(name, cells[0])) for name in COLUMNS if name not in columns]
    same += [("truth", truths[0])] if len(truths) == 1 else []
    parts: list[Part] = [Pairs(same)] if same else []
    for truth in truths:
        here = [one for one in cells if one.preset == truth]
        parts += _make_truth(here, columns, f" ({truth})" if len(truths) > 1 else "")
    return parts


def _make_truth(cells: list[CellResult], columns: list[str], which: str) -> list[Part]:
    several = any(len(one.pairs) > 1 for one in cells)
    parts: list[Part] = [_make_powers(cells, columns, several, which)]
    if several:
        parts.append(_make_pairs(cells, columns, which))
    return [*parts, _make_fits(cells, columns, which)]


def _make_powers(cells: list[CellResult], columns: list[str], several: bool, which: str) -> Table:
    header = [*columns, "raters", "power", INTERVAL]
    header += ["any pair"] if several else ["type S", "type M"]
    rows = []
    for one in cells:
        row: list[Any] = [*_place(one, columns), one.raters, one.power, interval(one.low, one.high)]
        rows.append((*row, one.any) if several else (*row, one.type_s, one.type_m))
    numbers = [name for name in ("power", "any pair", "type S", "type M") if name in header]
    formats = _format(columns) | {INTERVAL: RIGHT} | dict.fromkeys(numbers, decimals(2))
    said = "; power is that of finding all pairs that differ" if several else ""
    return Table(f"Effects in threshold distances{said}{which}", tuple(header), rows, formats)


def _make_pairs(cells: list[CellResult], columns: list[str], which: str) -> Table:
    """Return the pairs; where every column is taken, without intervals, which the JSON has."""
    narrow = len(columns) < len(COLUMNS)
    header = (*columns, "pair", "power", *([INTERVAL] if narrow else []), "type S", "type M")
    rows: list[tuple[Any, ...]] = []
    for one in cells:
        for pair in one.pairs:
            known = [interval(pair.low, pair.high)] if narrow else []
            found = (pair.power, *known, pair.type_s, pair.type_m)
            rows.append((*_place(one, columns), f"{pair.a} – {pair.b}", *found))
    formats = _format(columns) | {"pair": TEXT} | ({INTERVAL: RIGHT} if narrow else {})
    formats |= dict.fromkeys(("power", "type S", "type M"), decimals(2))
    return Table(f"Each pair{which}", header, rows, formats)


def _make_fits(cells: list[CellResult], columns: list[str], which: str) -> Table:
    header = (*columns, "data sets", "failed", "singular", "smaller", "width")
    rows: list[tuple[Any, ...]] = [
        (*_place(one, columns), one.sims, one.failed, one.singular, one.smaller, one.width) for one in cells
    ]
    return Table(f"The fits{which}", header, rows, _format(columns) | {"width": decimals(2)})


def _identify(one: CellResult) -> dict[str, str]:
    """Return what tells a row of a table from the others."""
    return {
        "model": one.model,
        "design": f"{one.items} × {one.ratings_per_item:g}",
        "effect": f"{one.effect:g}",
    }


def _place(one: CellResult, columns: list[str]) -> list[str]:
    found = _identify(one)
    return [found[name] for name in columns]


def _format(columns: list[str]) -> dict[str, Format]:
    return {name: TEXT if name == "model" else RIGHT for name in columns}


def _spell(name: str, one: CellResult) -> str:
    """Return what all cells share, in words."""
    each = "rating" if one.ratings_per_item == 1 else "ratings"
    design = f"{one.items} items, {one.ratings_per_item:g} {each} of each output"
    return {"design": design, "effect": f"{one.effect:g} threshold distances"}.get(name, _identify(one)[name])
