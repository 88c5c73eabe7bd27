"""How every result shows itself: described once, as a title and parts, and drawn many ways.

A result class is a frozen dataclass with ``title()``, ``parts()`` and ``to_dict()``. It never rounds a
number itself: it puts the number into a table and names the format of the column, or calls one of the writers
in core/display/formats.py. Text, rich, HTML and LaTeX are drawn from the same parts and so never disagree.
"""

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from html import escape
from math import isfinite
from numbers import Integral, Real
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from panelist.core.display.formats import TEXT, Cell, Format, decimals
from panelist.core.display.latex import latex, latex_cell

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult

WIDTH = 100


@dataclass(frozen=True)
class Sentence:
    """One paragraph."""

    text: str


@dataclass(frozen=True)
class NamedValues:
    """Rows of a name and what it stands for."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header; ``formats`` says by header name how a column is written.

    A column without a format has its text on the left and its numbers on the right, with three decimals.
    ``names`` are columns named by the data, such as systems: no display changes their case.
    Columns may share a header, and then a format. ``name`` is how code finds the table among others.
    """

    caption: str
    header: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    formats: Mapping[str, Format] = field(default_factory=dict)
    note: str = ""
    names: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.formats) - set(self.header)):
            raise ValueError(
                f"Table {self.caption!r} has formats for columns it lacks: {', '.join(unknown)}."
            )
        if any(len(row) != len(self.header) for row in self.rows):
            raise ValueError(f"Table {self.caption!r} has a row that is not {len(self.header)} cells long.")

    @classmethod
    def from_frame(
        cls,
        caption: str,
        frame: "pd.DataFrame",
        formats: Mapping[str, Format] | None = None,
        note: str = "",
        name: str = "",
    ) -> "Table":
        """Return the table of a pandas frame's columns; its index is left out."""
        columns = [frame[name].astype(object).where(frame[name].notna(), None) for name in frame.columns]
        header = tuple(str(name) for name in frame.columns)
        return cls(caption, header, list(zip(*columns, strict=True)), formats or {}, note, name=name)

    def columns(self) -> list[Format]:
        """Return the format of each column."""
        return [self._format(name, position) for position, name in enumerate(self.header)]

    def written(self) -> list[list[str]]:
        """Return the cells as text."""
        formats = self.columns()
        return [[form.write(cell) for form, cell in zip(formats, row, strict=True)] for row in self.rows]

    def _format(self, name: str, position: int) -> Format:
        if name in self.formats:
            return self.formats[name]
        return TEXT if any(isinstance(row[position], str) for row in self.rows) else decimals(3)


Part: TypeAlias = Sentence | NamedValues | Table


class Result(ABC):
    """Mixin for frozen dataclasses; ``repr`` stays exact, the rest is for people."""

    @abstractmethod
    def title(self) -> str:
        """Return the heading."""

    @abstractmethod
    def parts(self) -> list[Part]:
        """Return what comes under the heading, in order."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-ready names and values; ``json_ready`` makes them so."""

    def to_json(self) -> str:
        """Return the result as one JSON object; what is not finite is null."""
        return json.dumps(json_ready(self.to_dict()), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(
            file=io.StringIO(), width=WIDTH, color_system=None, force_terminal=False, force_jupyter=False
        )
        with console.capture() as capture:
            console.print(self)
        return "\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip()

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        return Group(Text(_visible(self.title()), style="bold"), *(_rich(part) for part in self.parts()))

    def _repr_html_(self) -> str:
        parts = "\n".join(_html(part) for part in self.parts())
        return f'<section class="panelist">\n<h3>{escape(self.title())}</h3>\n{parts}\n</section>'

    def to_latex(self) -> str:
        """Return the result as LaTeX; the preamble must have ``\\usepackage{booktabs}``."""
        return "\n\n".join(
            [rf"\paragraph{{{latex(self.title())}}}", *(_latex(part) for part in self.parts())]
        )


def pick(one: object, names: str) -> dict[str, Any]:
    """Return attributes of an object by their names, which are written in one text."""
    return {name: getattr(one, name) for name in names.split()}


def json_object(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return names and values as plain JSON, as ``json_ready`` makes them."""
    return {str(name): json_ready(value) for name, value in values.items()}


def json_ready(value: Any) -> Any:
    """Return the value as plain JSON: numpy, pandas and tuples converted, what is not finite as None.

    >>> json_ready({"n": np.int64(3), "p": float("nan"), "levels": ("a", "b"), 7: np.array([1.5, np.inf])})
    {'n': 3, 'p': None, 'levels': ['a', 'b'], '7': [1.5, None]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if isfinite(value) else None
    if isinstance(value, Mapping):
        return json_object(value)
    if isinstance(value, Result):
        return json_ready(value.to_dict())
    if isinstance(value, np.ndarray | np.bool_):
        return json_ready(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [json_ready(item) for item in (sorted(value) if isinstance(value, Set) else value)]
    return _json_ready_rare(value)


def _json_ready_rare(value: Any) -> Any:
    """Return what json_ready makes of pandas tables, paths and dates."""
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return json_ready(value.to_dict(orient="records"))
    if isinstance(value, pd.Series | pd.Index):
        return json_ready(value.tolist())
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, PathLike):
        return fspath(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON; convert it in to_dict().")


# A terminal executes control characters; these come from other people's files, so they are shown instead.
_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
_PICTURES |= {127: "␡", **dict.fromkeys(range(128, 160), "�")}


def _visible(text: str) -> str:
    """Return the text with its control characters made harmless."""
    return text.translate(_PICTURES)


def _rich(part: Part) -> "RenderableType":
    from rich.table import Table as RichTable
    from rich.text import Text

    if isinstance(part, Sentence):
        return Text(_visible(part.text))
    if isinstance(part, NamedValues):
        grid = RichTable(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=all(len(name) <= WIDTH // 3 for name, _ in part.rows), overflow="fold")
        grid.add_column(overflow="fold")
        for name, text in part.rows:
            grid.add_row(Text("  " + _visible(name)), Text(_visible(text)))
        return grid
    return _RichTable(part)


@dataclass(frozen=True)
class _RichTable:
    """A table drawn by rich; one that is too wide continues below, and names its rows again there.

    Only text may be broken over lines: half a number is a wrong number.
    """

    table: Table

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        formats, written = self.table.columns(), self.table.written()
        yield Text("\n" + _visible(self.table.caption))
        for positions in self._panels(written, options.max_width):
            panel = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=True)
            for position in positions:
                name, align = self.table.header[position], formats[position].align
                panel.add_column(
                    Text(_visible(name)), justify=align, no_wrap=align == "right", overflow="fold"
                )
            for row in written:
                panel.add_row(*(Text(_visible(row[position])) for position in positions))
            yield panel
        if self.table.note:
            yield Text(_visible(self.table.note))

    def _panels(self, written: list[list[str]], width: int) -> list[list[int]]:
        """Return the columns that fit side by side, panel by panel."""
        from rich.cells import cell_len

        wants = []
        for position, form in enumerate(self.table.columns()):
            widest = max(
                cell_len(_visible(text))
                for text in (self.table.header[position], *(row[position] for row in written))
            )
            wants.append(3 + (widest if form.align == "right" else min(widest, 20)))
        keys = list(range(self._key_columns(written)))
        if sum(wants[i] for i in keys) > width / 2:
            keys = keys[:1]
        panels: list[list[int]] = [[]]
        for position, want in enumerate(wants):
            if (
                panels[-1]
                and sum(wants[i] for i in panels[-1]) + want > width
                and len(panels[-1]) > len(keys)
            ):
                panels.append(list(keys))
            panels[-1].append(position)
        return panels

    @staticmethod
    def _key_columns(written: list[list[str]]) -> int:
        """Return how many columns from the left it takes to tell the rows apart; 1 where none suffices."""
        for count in range(1, len(written[0]) if written else 1):
            if len({tuple(row[:count]) for row in written}) == len(written):
                return count
        return 1


def _html(part: Part) -> str:
    if isinstance(part, Sentence):
        return f"<p>{escape(part.text)}</p>"
    if isinstance(part, NamedValues):
        rows = [
            f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in part.rows
        ]
        return "\n".join(["<table>", "<tbody>", *rows, "</tbody>", "</table>"])
    sides = [f' class="{form.align}"' for form in part.columns()]
    heads = (
        f'<th scope="col"{side}>{escape(name)}</th>' if name else "<td></td>"  # an empty corner is no header
        for side, name in zip(sides, part.header, strict=True)
    )
    lines = ["<table>", f"<caption>{escape(part.caption)}</caption>"]
    lines += ["<thead>", f"<tr>{''.join(heads)}</tr>", "</thead>", "<tbody>"]
    for row in part.written():
        cells = (f"<td{side}>{escape(text)}</td>" for side, text in zip(sides, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>"]
    if part.note:
        lines.append(f'<p class="note">{escape(part.note)}</p>')
    return "\n".join(lines)


def _latex(part: Part) -> str:
    if isinstance(part, Sentence):
        return latex(part.text)
    if isinstance(part, NamedValues):
        rows = [rf"{latex(name)} & {latex(text)} \\" for name, text in part.rows]
        return "\n".join([r"\begin{tabular}{lp{0.7\linewidth}}", *rows, r"\end{tabular}"])
    formats = part.columns()
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{latex(part.caption)}}}"]
    lines += [rf"\begin{{tabular}}{{{''.join(form.align[0] for form in formats)}}}", r"\toprule"]
    lines += [" & ".join(map(latex, part.header)) + r" \\", r"\midrule"]
    for row in part.written():
        cells = (latex_cell(text, form.align) for form, text in zip(formats, row, strict=True))
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if part.note:
        lines.append(rf"\par\smallskip {latex(part.note)}")
    return "\n".join([*lines, r"\end{table}"])
