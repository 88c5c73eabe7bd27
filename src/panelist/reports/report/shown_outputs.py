"""Example outputs as the report shows them: rendered as raters saw them, needing no other file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from panelist.collection.pages.translations import load_words
from panelist.formats.plain import render_text
from panelist.formats.sanitise import name_regions
from panelist.formats.turns import list_turns

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis
    from panelist.analysis.output_examples import OutputExample
    from panelist.formats.base import Say
    from panelist.study.outputs import Outputs

LONGEST_SHOWN = 20_000
"""The characters up to which an output is shown; of longer ones the report gives the names."""
_SHEETS = {
    "stimuli": ('class="prose"', 'class="code-block"'),
    "turns": ('class="turns"',),
    "formulas": ("<math",),
}
_FONT = re.compile(r"@font-face \{[^}]*\}\n?")


@dataclass(frozen=True)
class ShownExample:
    """An example, ready for the template."""

    system: str
    item: str
    reasons: tuple[str, ...]
    context: Markup
    output: Markup


def show_examples(analysis: Analysis) -> tuple[ShownExample, ...]:
    """Return the examples of an analysis as HTML; none where it has none."""
    if analysis.study is None or not analysis.examples:
        return ()
    outputs, say = analysis.study.outputs, load_words("en").say
    return tuple(_show(example, outputs, say) for example in analysis.examples)


def read_sheets(examples: tuple[ShownExample, ...]) -> str:
    """Return the styles that the examples need; formulas use the fonts of the reader's system."""
    html = "".join(example.context + example.output for example in examples)
    needed = [name for name, marks in _SHEETS.items() if any(mark in html for mark in marks)]
    folder = files("panelist.web") / "static"
    sheets = [(folder / f"{name}.css").read_text(encoding="utf-8") for name in needed]
    return _FONT.sub("", "\n".join(sheets))


def _show(example: OutputExample, outputs: Outputs, say: Say) -> ShownExample:
    shown = {}
    for column in ("context", "output"):
        text = outputs.field(example.item, example.system, column)
        name = f"{example.system}, {example.item}" + (", context" if column == "context" else "")
        shown[column] = (
            name_regions(_show_cell(example, outputs, column, say), name) if text.strip() else Markup("")
        )
    if not shown["output"]:
        shown["output"] = Markup("<p><em>{}</em></p>").format(say("nothing"))
    reasons = tuple(reason.sentence(example.system) for reason in example.reasons)
    return ShownExample(example.system, example.item, reasons, shown["context"], shown["output"])


def _show_cell(example: OutputExample, outputs: Outputs, column: str, say: Say) -> Markup:
    """Return a cell as HTML; pictures, sound and film by the names of files and what is said in them.

    Those within a dialogue are named in the turn where they were shown.
    """
    cell, shape = outputs.cell(example.item, example.system, column), outputs.format(column)
    if len(cell.text) > LONGEST_SHOWN:
        return Markup("<p><em>{}</em></p>").format(
            f"{len(cell.text):,} characters, too long to be shown here."
        )
    names = shape.list_files(cell, outputs.options)
    if not names:
        return shape.show(cell, outputs.options, say)
    if shape.has_turns:
        turns = shape.split(cell, outputs.options, say)
        return list_turns(((turn, turn.said + _name_files(turn.files)) for turn in turns), say)
    words = shape.read_words(cell, outputs.options)
    return _name_files(names) + (render_text(words) if words.strip() else Markup(""))


def _name_files(names: tuple[str, ...]) -> Markup:
    listed = Markup("").join(Markup("<li><code>{}</code></li>").format(name) for name in names)
    return Markup("<ul>{}</ul>").format(listed) if names else Markup("")
