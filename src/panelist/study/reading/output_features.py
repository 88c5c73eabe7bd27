"""What can be counted in the text of an output: words, characters, marks of form; or read from its row."""

import re

import numpy as np
import pandas as pd

from panelist.core.errors import BadStudy
from panelist.numerics.arrays import Floats
from panelist.study.outputs import Outputs

FEATURES = {
    "headings": re.compile(r"^#{1,6} \S", re.MULTILINE),
    "lists": re.compile(r"^\s*(?:[-*+•]|\d+[.)]) \S", re.MULTILINE),
    "tables": re.compile(r"^\s*\|?[ :]*-{3,}[ :]*\|", re.MULTILINE),
    "code": re.compile(r"^\s*(?:```|~~~)", re.MULTILINE),
    "formulas": re.compile(r"\$(?:[^\s$]|[^\s$][^$\n]*[^\s$])\$(?!\d)|\\\(|\\\[|\$\$"),
}
"""Marks of form as Markdown writes them; in plain text they are read as they stand."""
MEASURED = ("words", "characters", *FEATURES)
"""What is counted where the outputs file has no column of that name; of ``lists`` the entries."""


def list_judged_parts(outputs: Outputs, frame: pd.DataFrame) -> list[tuple[tuple[str, str], ...]]:
    """Return what is judged in the outputs of these rows: each part as it is written, and its words."""
    shape = outputs.format("output")
    return [
        shape.list_judged(outputs.cell(item, system), outputs.options)
        for item, system in zip(frame["item"], frame["system"], strict=True)
    ]


def measure_outputs(outputs: Outputs, name: str) -> Floats:
    """Return a column of numbers of the outputs, in the order of their rows, or what is counted in them."""
    frame = outputs.frame
    if name in frame:
        values = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
        if lost := int((~np.isfinite(values)).sum()):
            raise BadStudy(
                f"analysis.style: the outputs file has no number in {name!r} in {lost:,} of {len(frame):,} "
                "rows. Fill the gaps, or leave it out of analysis: style."
            )
        return values
    judged = list_judged_parts(outputs, frame)
    if name in FEATURES:
        pattern = FEATURES[name]
        counts = [sum(len(pattern.findall(text)) for text, _ in parts) for parts in judged]
    elif name == "words":
        counts = [sum(len(words.split()) for _, words in parts) for parts in judged]
    else:
        counts = [sum(len(words) for _, words in parts) for parts in judged]
    return np.array(counts, dtype=np.float64)
