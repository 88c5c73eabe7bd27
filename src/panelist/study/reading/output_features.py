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


def unescape(text: str) -> str:
    """Return a text with the line ends that JSON writes as letters, so that dialogues are read as well."""
    return text.replace("\\n", "\n") if text.startswith("[") else text


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
    if name in FEATURES:
        pattern = FEATURES[name]
        return np.array([len(pattern.findall(text)) for text in map(unescape, frame["output"])], dtype=float)
    texts = [outputs.words(item, system) for item, system in zip(frame["item"], frame["system"], strict=True)]
    return np.array([len(text) if name == "characters" else len(text.split()) for text in texts], dtype=float)
