"""Studies and plans written by hand, so that what is measured of them is known beforehand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from panelist.study.model import StudyFile
from panelist.study.outputs import Outputs
from panelist.study.study import Study

COLUMNS = (
    "rater", "order", "phase", "item", "system", "criterion", "position", "occasion", "check", "list", "group"
)  # fmt: skip
LIKERT = {"type": "likert", "points": 6}


def make_study(
    items: int = 4,
    systems: Sequence[str] = ("a", "b"),
    scales: Mapping[str, Mapping[str, Any]] | None = None,
    **file: Any,
) -> Study:
    """Return a study with items i1, i2 … and one criterion for each scale."""
    criteria = [
        {"name": name, "question": "How good?", "scale": dict(scale)}
        for name, scale in (scales or {"fluency": LIKERT}).items()
    ]
    rows = [
        (f"i{item + 1}", system, f"{system} on {item + 1}") for item in range(items) for system in systems
    ]
    frame = pd.DataFrame(rows, columns=["item", "system", "output"], dtype="str")
    return Study(StudyFile.model_validate({"title": "A study", "criteria": criteria, **file}), Outputs(frame))


def make_holes(there: Sequence[Sequence[bool]], status: str = "timeout", **file: Any) -> Study:
    """Return a study with items i1, i2 … and systems s0, s1 …, of whose outputs only some exist."""
    whole = make_study(len(there), [f"s{number}" for number in range(len(there[0]))], **file)
    kept = [exists for row in there for exists in row]
    frame = whole.outputs.frame
    gone = frame[[not exists for exists in kept]]
    lacking = tuple((item, system, status) for item, system in zip(gone["item"], gone["system"], strict=True))
    return Study(whole.file, Outputs(frame[kept].reset_index(drop=True), lacking=lacking))


@dataclass(frozen=True)
class HandPlan:
    """As much of a plan as is measured."""

    table: pd.DataFrame
    design: str = "by hand"
    waves: Mapping[str, int] = field(default_factory=dict)

    @property
    def raters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.table["rater"]))


def make_plan(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return the plan of these rows; what a row leaves out has its usual value."""
    usual = {
        "phase": "trial",
        "criterion": "fluency",
        "position": 1,
        "occasion": 1,
        "check": "",
        "list": "",
        "group": "",
    }
    frame = pd.DataFrame([{**usual, **row} for row in rows], columns=list(COLUMNS))
    for name in COLUMNS:
        numeric = name in ("order", "position", "occasion")
        frame[name] = frame[name].astype("int32" if numeric else "category")
    return HandPlan(frame)


def make_sequence(*pages: str, **same: Any) -> list[dict[str, Any]]:
    """Return the rows of one rater's pages, each written as ``i1 a`` or, for several outputs, ``i1 a b``."""
    rows = []
    for order, page in enumerate(pages, start=1):
        item, *systems = page.split()
        for position, system in enumerate(systems, start=1):
            rows.append(
                {
                    "rater": "r001",
                    "order": order,
                    "item": item,
                    "system": system,
                    "position": position,
                    **same,
                }
            )
    return rows
