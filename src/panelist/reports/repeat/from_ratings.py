"""A study file from an original's ratings: what they show about criteria, scales, systems and raters."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from panelist.analysis.cleaning.everything import read_everything
from panelist.core.errors import BadRatings
from panelist.core.prose import count

Row = tuple[str, str]
"""An item and a system."""
TO_FILL_IN = "(to fill in: "
LINE = {"type": "vas", "low": f"{TO_FILL_IN}low end)", "high": f"{TO_FILL_IN}high end)"}
"""A line whose ends are not known yet."""


def write_outputs(rows: list[Row], path: Path) -> None:
    """Write an outputs file with a row for each output, its text to be filled in."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("item", "system", "output"))
        writer.writerows((item, system, f"{TO_FILL_IN}{item} by {system})") for item, system in rows)


WIDEST = 11  # points of a numbered scale
ASK = "(to fill in: the question that raters read)"


def read_ratings_study(
    path: Path, columns: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], list[Row], list[str]]:
    """Return the study file that a table of ratings implies, its outputs, and what was guessed."""
    everything = read_everything(path, columns)
    frame = everything.ratings.frame[everything.check == ""]
    missing = [name for name in ("item", "system") if name not in frame]
    if missing:
        raise BadRatings(
            f"{path} has no column {' and no column '.join(missing)}, so its outputs cannot be listed. Say "
            "which columns they are: --columns item=COL,system=COL"
        )
    names = everything.ratings.criteria or ("quality",)
    notes: list[str] = []
    criteria = []
    for name in names:
        rows = frame[frame["criterion"] == name] if "criterion" in frame else frame
        scale, note = guess_scale(rows)
        criteria.append({"name": str(name), "question": ASK, "scale": scale})
        notes.append(f"{name}: {note}")
    cells = frame[["item", "system"]].dropna().drop_duplicates()
    items, systems = (list(dict.fromkeys(map(str, cells[name]))) for name in ("item", "system"))
    outputs = [(item, system) for item in items for system in systems]
    if len(cells) < len(outputs):
        notes.append(
            f"{len(outputs) - len(cells):,} of {len(outputs):,} outputs have no ratings; a study has an "
            "output of every system for every item, so they are in outputs.csv too."
        )
    file: dict[str, Any] = {"title": f"A repeat of {path.stem}", "outputs": "outputs.csv"}
    file |= {"criteria": criteria, "design": _guess_design(frame, criteria)}
    if "rater" in frame:
        file["raters"] = {"count": int(frame["rater"].nunique())}
    notes.append(
        f"{count(len(outputs), 'output is', 'outputs are')} named in outputs.csv; fill in the texts."
    )
    return file, outputs, notes


def guess_scale(rows: pd.DataFrame) -> tuple[dict[str, Any], str]:
    """Return the scale that answers imply, and what was seen; its ends may never have been used."""
    if "choice" in rows and "rating" not in rows:
        shown = int(rows.groupby("trial", observed=True).size().max()) if "trial" in rows else 2
        worst = rows["choice"].astype(str).eq("worst").any()
        if shown > 2 and worst:
            return {"type": "best-worst"}, f"best-worst choices among {shown}"
        if shown == 2 and "grade" in rows and (grades := rows["grade"].dropna().abs().astype(int)).any():
            points = 2 * int(grades.max()) + bool((grades == 0).any())
            return {"type": "preference", "points": points}, f"pairs with grades, read as {points} points"
        return {"type": "pairs" if shown == 2 else "choose-one"}, f"choices among {shown}"
    values = rows["rating"].dropna() if "rating" in rows else pd.Series(dtype=float)
    numbers = pd.to_numeric(values, errors="coerce")
    if values.empty or numbers.isna().any():
        labels = [str(one) for one in pd.unique(values.astype(str))]
        if 2 <= len(labels) <= WIDEST and len(set(map(str.casefold, labels))) == len(labels):
            return {"type": "verbal", "points": labels}, f"the words {', '.join(labels)}; put them in order"
        return {"type": "text"}, "no numbers"
    low, high = float(numbers.min()), float(numbers.max())
    whole = bool(np.all(numbers == numbers.round()))
    seen = f"ratings from {low:g} to {high:g}"
    if whole and (low, high) == (0, 1):
        return {"type": "binary"}, f"{seen}, read as yes and no"
    if whole and low >= 0 and high <= WIDEST - 1 + (low > 0):
        start = 0 if low == 0 else 1
        points = max(int(high) - start + 1, 2)
        return {"type": "likert", "points": points, "start": start}, f"{seen}, read as {points} points"
    return LINE, f"{seen}, read as a line"


def _guess_design(frame: pd.DataFrame, criteria: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the design that the counts imply."""
    kinds = {one["scale"]["type"] for one in criteria}
    if kinds <= {"pairs", "preference"}:
        return {"type": "pairs"}
    if kinds <= {"best-worst"}:
        return {"type": "best-worst"}
    if kinds & {"pairs", "preference", "best-worst", "choose-one"}:
        return {"type": "pages"}
    if "rater" not in frame:
        return {"type": "lists"}
    one = frame[frame["criterion"] == frame["criterion"].iloc[0]] if "criterion" in frame else frame
    items, systems = one["item"].nunique(), one["system"].nunique()
    mine = int(one.groupby("rater", observed=True).size().median())
    if mine >= items * systems:
        return {"type": "full"}
    again = one.groupby(["rater", "item"], observed=True).size().max()
    return {"type": "lists", "trials_per_rater": max(mine, 1)} | (
        {"items_may_return": True} if again > 1 else {}
    )
