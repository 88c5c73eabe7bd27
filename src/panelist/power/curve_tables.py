"""The tables of a power curve: power, each pair where there are several, the fits."""

from collections.abc import Sequence
from typing import Any

from panelist.core.display.formats import TEXT, Format, decimals, interval
from panelist.core.display.result import NamedValues, Part, Table
from panelist.core.prose import inflect
from panelist.power.cells import CellResult

DISTANCES = "threshold distances"
RIGHT = Format(str, "right")
COLUMNS = ("model", "design", "effect")
WORDS = {"model": "analysis", "design": "design", "effect": "effect"}
INTERVAL = "95 % interval"


def make_tables(cells: Sequence[CellResult], claim: str | None = None, unit: str = DISTANCES) -> list[Part]:
    """Return what all cells share, then the tables: power, each pair where there are several, the fits."""
    truths = list(dict.fromkeys(one.preset for one in cells))
    columns = [name for name in COLUMNS if len({_identify(one)[name] for one in cells}) > 1]
    same = [(WORDS[name], _spell(name, cells[0], unit)) for name in COLUMNS if name not in columns]
    same += [("truth", truths[0])] if len(truths) == 1 else []
    parts: list[Part] = [NamedValues(same)] if same else []
    for truth in truths:
        here = [one for one in cells if one.preset == truth]
        parts += _make_truth(here, columns, f" ({truth})" if len(truths) > 1 else "", claim, unit)
    return parts


def _make_truth(
    cells: list[CellResult], columns: list[str], which: str, claim: str | None, unit: str
) -> list[Part]:
    several = any(len(one.pairs) > 1 for one in cells)
    parts: list[Part] = [_make_powers(cells, columns, which, claim, unit)]
    if several:
        parts.append(_make_pairs(cells, columns, which, claim))
    return [*parts, _make_fits(cells, columns, which)]


def _make_powers(
    cells: list[CellResult], columns: list[str], which: str, claim: str | None, unit: str
) -> Table:
    several = any(len(one.pairs) > 1 for one in cells)
    header = [*columns, "raters", "power", INTERVAL]
    header += ["any pair"] if several else [] if claim is not None else ["type S", "type M"]
    rows = []
    for one in cells:
        row: list[Any] = [*_place(one, columns), one.raters, one.power, interval(one.low, one.high)]
        rest = [one.any] if several else [] if claim is not None else [one.type_s, one.type_m]
        rows.append((*row, *rest))
    numbers = [name for name in ("power", "any pair", "type S", "type M") if name in header]
    formats = _format(columns) | {INTERVAL: RIGHT} | dict.fromkeys(numbers, decimals(2))
    found = "find all pairs that differ" if claim is None else f"show {claim} of all pairs"
    said = f"; power: the share of studies that {found}" if several else ""
    what = "Effects" if unit == DISTANCES else "True differences"
    return Table(f"{what} in {unit}{said}{which}", tuple(header), rows, formats)


def _make_pairs(cells: list[CellResult], columns: list[str], which: str, claim: str | None) -> Table:
    """Return the pairs; where every column is taken, without intervals, which the JSON has."""
    narrow, types = len(columns) < len(COLUMNS), () if claim is not None else ("type S", "type M")
    header = (*columns, "pair", "power", *([INTERVAL] if narrow else []), *types)
    rows: list[tuple[Any, ...]] = []
    for one in cells:
        for pair in one.pairs:
            known = [interval(pair.low, pair.high)] if narrow else []
            found = (pair.power, *known, *((pair.type_s, pair.type_m) if types else ()))
            rows.append((*_place(one, columns), f"{pair.a} – {pair.b}", *found))
    formats = _format(columns) | {"pair": TEXT} | ({INTERVAL: RIGHT} if narrow else {})
    formats |= dict.fromkeys(("power", *types), decimals(2))
    return Table(f"Each pair{which}", header, rows, formats)


def _make_fits(cells: list[CellResult], columns: list[str], which: str) -> Table:
    header = (*columns, "data sets", "failed", "singular", "smaller", "width")
    rows: list[tuple[Any, ...]] = [
        (*_place(one, columns), one.sims, one.failed, one.singular, one.smaller, one.width) for one in cells
    ]
    return Table(f"The fits{which}", header, rows, _format(columns) | {"width": decimals(2)})


def _identify(one: CellResult) -> dict[str, str]:
    """Return what distinguishes a row of a table from the others."""
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


def _spell(name: str, one: CellResult, unit: str) -> str:
    """Return what all cells share, in words."""
    each = f"{one.ratings_per_item:g} {inflect(one.ratings_per_item, 'rating')}"
    design = f"{one.items} items, {each} of each output"
    size = f"{one.effect:g} {'threshold distance' if unit == DISTANCES and one.effect == 1 else unit}"
    return {"design": design, "effect": size}.get(name, _identify(one)[name])
