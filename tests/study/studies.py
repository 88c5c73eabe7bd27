"""Small studies as files, for tests."""

from pathlib import Path

from panelist.study.problems import Problem
from panelist.study.reading.load import find_problems

HERE = "  # here"
PLAIN = """\
title: A study
criteria:
  - name: fluency
    question: How fluent is it?
    scale: {type: likert, points: 5}
"""

WHOLE = (
    PLAIN
    + "information: {consent: [I take part freely.], contact: me@university.edu}\n"
    + "pay: {living_wage: 12, minutes_per_trial: 1}\n"
)


def write_outputs(folder: Path, n_items: int = 6, systems: str = "ab") -> Path:
    """Return the path of an outputs file with an output of every system for every item."""
    path = folder / "outputs.csv"
    rows = [f"i{item},{system},{item} by {system}" for item in range(1, n_items + 1) for system in systems]
    path.write_text("\n".join(["item,system,output", *rows, ""]), encoding="utf-8")
    return path


def write_study(folder: Path, text: str = PLAIN, n_items: int = 6, systems: str = "ab") -> Path:
    """Return the path of a study file with its outputs beside it."""
    write_outputs(folder, n_items, systems)
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def check(folder: Path, text: str, n_items: int = 6, systems: str = "ab") -> list[Problem]:
    """Return the problems of a study file."""
    return find_problems(write_study(folder, text, n_items, systems))


def marked_line(text: str) -> int:
    """Return the line that bears the mark."""
    return next(number for number, line in enumerate(text.splitlines(), start=1) if line.endswith(HERE))
