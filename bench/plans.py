"""How fast plans are made: a thousand raters, five thousand outputs or items, ten systems; 200,000 tuples."""

from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from bench.clock import time_call
from bench.report import Options, Section, say, word
from panelist.core.display.formats import TEXT, decimals
from panelist.core.display.result import Part, Table
from panelist.design.make import plan_study
from panelist.design.plan import Plan
from panelist.design.plan_files import read_plan, write_plan
from panelist.design.tuples.balanced import Shape, make_tuples
from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs
from panelist.study.study import Study

PLAN_SECONDS, TUPLE_SECONDS = 5.0, 10.0


@dataclass(frozen=True)
class Row:
    """One thing that was timed: how many rows or tuples it made, its best and its middle time."""

    name: str
    size: int
    best: float
    median: float
    target: float | None

    @property
    def verdict(self) -> str:
        """Whether the middle time is within the target."""
        return "–" if self.target is None else word(self.median <= self.target)


@dataclass(frozen=True)
class Plans(Section):
    """The times of plans and tuples."""

    rows: tuple[Row, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Plans"

    def parts(self) -> list[Part]:
        """Return the table."""
        header = ("what", "rows or tuples", "best, s", "median, s", "target, s", "verdict")
        rows = [(row.name, row.size, row.best, row.median, row.target, row.verdict) for row in self.rows]
        formats = {name: decimals(2) for name in header[2:4]}
        formats |= {"rows or tuples": decimals(0), "target, s": decimals(0), "verdict": TEXT}
        return [Table("Making plans", header, rows, formats)]


def measure(options: Options) -> Plans:
    """Return the times; ``options`` has nothing that applies here."""
    rows = []
    full = make_study(500, 10, {"type": "full"})
    lists = make_study(5000, 10, {"type": "lists", "trials_per_rater": 500})
    pairs = make_study(500, 10, {"type": "pairs", "trials_per_rater": 100})
    for name, study in (
        ("full: 1,000 raters × 5,000 outputs of 10 systems", full),
        ("lists: 1,000 raters × 500 of 5,000 items, 10 systems", lists),
        ("pairs: 1,000 raters × 100 of 22,500 pairs", pairs),
    ):
        say(f"  {name} …")
        rows.append(_time(name, lambda study=study: plan_study(study, raters=1000), PLAN_SECONDS))  # type: ignore[misc]
    for systems, per_item in ((10, 5), (8, 2), (20, 500)):
        shape = Shape(systems, 4, per_item)
        name = f"tuples: 4 of {systems} systems, {per_item} an item"
        say(f"  {name} …")
        n_items = 200_000 // per_item
        rows.append(_time(name, lambda shape=shape, n=n_items: make_tuples(n, shape, 1), TUPLE_SECONDS))  # type: ignore[misc]
    plan = plan_study(full, raters=1000)
    with TemporaryDirectory() as folder:
        rows.append(_time("writing that full plan", lambda: write_plan(plan, folder) or plan, None))  # type: ignore[func-returns-value]
        rows.append(_time("reading it", lambda: read_plan(folder), None))
    return Plans(tuple(rows))


def make_study(items: int, systems: int, design: dict[str, Any]) -> Study:
    """Return a study of so many items and systems, with one criterion."""
    criterion = {"name": "fluency", "question": "How fluent?", "scale": {"type": "likert"}}
    file = StudyFile.model_validate({"title": "Benchmark", "criteria": [criterion], "design": design})
    names = [(f"item-{i}", f"system-{j}") for i in range(items) for j in range(systems)]
    frame = pd.DataFrame(names, columns=["item", "system"], dtype="str").assign(output="text")
    return Study(file, Outputs(frame))


def _time(name: str, call: Callable[[], Any], target: float | None) -> Row:
    """Return the times of a call and the number of rows or tuples it gave."""
    timing, made = time_call(call, at_least=3, at_most=5)
    size = len(made) if isinstance(made, Plan) else made.shape[0] * made.shape[1]
    return Row(name, size, timing.best, timing.median, target)
