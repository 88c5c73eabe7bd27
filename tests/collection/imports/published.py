"""One small study, written in the shapes in which people publish such studies."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

RATERS, ITEMS, SYSTEMS = ("Ada", "Bo", "Cy", "Di"), tuple(f"d-{n}" for n in range(6)), ("bart", "t5-base")
CRITERIA = ("fluency", "coherence")
Rating = dict[str, Any]


def rate(rater: str, item: str, system: str, criterion: str) -> int:
    """Return a rating from 1 to 5 that depends on everything."""
    place = RATERS.index(rater) + 2 * ITEMS.index(item) + 3 * SYSTEMS.index(system)
    return 1 + (place + 2 * CRITERIA.index(criterion) + ITEMS.index(item) ** 2) % 5


TIDY = pd.DataFrame(
    [
        {"rater": r, "item": i, "system": s, "criterion": c, "rating": rate(r, i, s, c)}
        for i in ITEMS
        for s in SYSTEMS
        for r in RATERS
        if (RATERS.index(r) + ITEMS.index(i)) % 2 == 0
        for c in CRITERIA
    ]
)
WIDE = TIDY.pivot_table(index=["rater", "item", "system"], columns="criterion", values="rating").reset_index()


def mean_ratings(frame: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Return the mean of each system and criterion."""
    numbers = frame.assign(rating=pd.to_numeric(frame["rating"]), criterion=frame["criterion"].str.casefold())
    means = numbers.groupby(["system", "criterion"], as_index=False)["rating"].mean()
    return {(str(row.system), str(row.criterion)): round(float(row.rating), 9) for row in means.itertuples()}


def outputs() -> Iterable[tuple[str, str, pd.DataFrame]]:
    """Give each output with its rows of ratings, a column for each criterion."""
    for (item, system), rows in WIDE.groupby(["item", "system"], sort=False):
        yield str(item), str(system), rows


def scores_of(row: Any) -> dict[str, int]:
    """Return the ratings of one row by criterion."""
    return {c: int(getattr(row, c)) for c in CRITERIA}


def write_json(path: Path, data: Any) -> Path:
    """Write JSON, or JSON lines where the name says so."""
    lines = "\n".join(json.dumps(one) for one in data) if path.suffix == ".jsonl" else json.dumps(data)
    path.write_text(lines, encoding="utf-8")
    return path


def write_frame(path: Path, rows: Any) -> Path:
    """Write a table as its name says."""
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def _annotations(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return [{"annotator": row.rater, **scores_of(row)} for row in rows.itertuples()]


def _summeval(folder: Path) -> Path:
    text = "A summary that is long enough to be one."
    return write_json(
        folder / "set.jsonl",
        [
            {"id": i, "decoded": text, "model_id": s, "rouge_l": 0.31, "references": ["One text.", "Two."]}
            | {"expert_annotations": _annotations(rows)}
            for i, s, rows in outputs()
        ],
    )


def _parquet(folder: Path) -> Path:
    rows = [{"doc": i, "method": s, "labels": _annotations(rows)} for i, s, rows in outputs()]
    return write_frame(folder / "set.parquet", rows)


def _dict_of_dicts(folder: Path) -> Path:
    deep = {
        f"{s}__{i}": {f"worker_{r.rater}{k}": scores_of(r) for k, r in enumerate(rows.itertuples())}
        for i, s, rows in outputs()
    }
    return write_json(folder / "set.json", deep)


def _inside_items(folder: Path) -> Path:
    data = [
        {
            "doc_id": i,
            "source": "A source text that is long enough to be taken for a text.",
            "outputs": [
                {
                    "system": s,
                    "text": "words",
                    "judgements": [
                        {"worker_id": r.rater, "scores": scores_of(r)}
                        for r in WIDE[(WIDE["item"] == i) & (WIDE["system"] == s)].itertuples()
                    ],
                }
                for s in SYSTEMS
            ],
        }
        for i in ITEMS
    ]
    return write_json(folder / "set.json", {"meta": {"version": 2}, "data": data})


def _keys_all_the_way(folder: Path) -> Path:
    data = {
        i: {
            s: {c: [int(v) for v in WIDE[(WIDE["item"] == i) & (WIDE["system"] == s)][c]] for c in CRITERIA}
            for s in SYSTEMS
        }
        for i in ITEMS
    }
    return write_json(folder / "set.json", data)


def _criteria_over_raters(folder: Path) -> Path:
    data = [
        {"doc_id": i, "model": s}
        | {"scores": {c: {f"rater_{RATERS.index(r.rater)}": scores_of(r)[c] for r in rows.itertuples()}
                      for c in CRITERIA}}
        for i, s, rows in outputs()
    ]  # fmt: skip
    return write_json(folder / "set.json", data)


def _lists_beside_lists(folder: Path) -> Path:
    data = [
        {"qid": i, "system_name": s, "annotators": list(rows["rater"])}
        | {c: [int(v) for v in rows[c]] for c in CRITERIA}
        for i, s, rows in outputs()
    ]
    return write_json(folder / "set.jsonl", data)


def _pattern(name: str, *, positions: bool) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        rows = []
        for i, s, part in outputs():
            row: dict[str, Any] = {"item": i, "system": s}
            for place, one in enumerate(part.itertuples(), start=1):
                number = place if positions else 1 + RATERS.index(one.rater)
                row |= {name.format(r=number, c=c): v for c, v in scores_of(one).items()}
            rows.append(row)
        return write_frame(folder / "set.csv", rows)

    return write


def _rater_columns(folder: Path) -> Path:
    table = TIDY.assign(rater="evaluator_" + TIDY["rater"].map(lambda r: str(1 + RATERS.index(r))))
    wide = table.pivot_table(
        index=["item", "system", "criterion"], columns="rater", values="rating"
    ).reset_index()
    return write_frame(
        folder / "set.tsv", wide.rename(columns={"item": "prompt_id", "criterion": "Dimension"})
    )


def _cells(join: Callable[[list[str]], str]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        rows = [
            {"ID": i, "Approach": s, **{c.title(): join([str(v) for v in part[c]]) for c in CRITERIA}}
            for i, s, part in outputs()
        ]
        return write_frame(folder / "set.csv", rows)

    return write


def _titled(folder: Path) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Human evaluation, March 2024"])
    sheet.append([])
    sheet.append(["Assessor", "Doc ID", "Model", *CRITERIA])
    for row in WIDE.itertuples():
        sheet.append([row.rater, row.item, row.system, *scores_of(row).values()])
    sheet.append([])
    sheet.append(["Note: five is best."])
    book.save(folder / "set.xlsx")
    return folder / "set.xlsx"


def _columns_of_a_frame(folder: Path) -> Path:
    WIDE.rename(columns={"rater": "Worker ID"}).to_json(folder / "set.json")
    return folder / "set.json"


def _systems_as_columns(folder: Path) -> Path:
    wide = TIDY.assign(name=TIDY["system"] + "_" + TIDY["criterion"])
    table = wide.pivot_table(index=["rater", "item"], columns="name", values="rating").reset_index()
    return write_frame(folder / "set.csv", table)


def _texts_for_items(folder: Path) -> Path:
    rows = WIDE.assign(
        source_text=[f"This is source text number {i}, and it is a rather long one." for i in WIDE["item"]],
        generated=[
            f"What {s} made of {i}, in a number of words."
            for i, s in zip(WIDE["item"], WIDE["system"], strict=True)
        ],
    )
    return write_frame(folder / "set.csv", rows.drop(columns="item").rename(columns={"rater": "login"}))


KNOWN: dict[str, Callable[[Path], Path]] = {
    "tidy": lambda folder: write_frame(folder / "set.csv", TIDY),
    "flat jsonl": lambda folder: write_json(
        folder / "set.jsonl",
        TIDY.rename(columns={"rater": "annotator", "item": "question_id", "criterion": "aspect"})
        .astype({"rating": str})
        .rename(columns={"rating": "score"})
        .to_dict("records"),
    ),
    "criteria as columns": lambda folder: write_frame(
        folder / "set.csv",
        WIDE.assign(response="The output's text, which is no rating.").rename(
            columns={"rater": "WorkerId", "item": "doc_id", "system": "model_name"}
        ),
    ),
    "nested jsonl": _summeval,
    "nested parquet": _parquet,
    "dict of dicts": _dict_of_dicts,
    "outputs inside items": _inside_items,
    "raters over criteria": _criteria_over_raters,
    "lists beside lists": _lists_beside_lists,
    "raters as columns": _rater_columns,
    "raters and criteria in names": _pattern("annotator{r}_{c}", positions=False),
    "criteria and raters in names": _pattern("{c}.rater {r}", positions=False),
    "titled workbook": _titled,
    "columns of a frame": _columns_of_a_frame,
    "columns as lists": lambda folder: write_json(folder / "set.json", WIDE.to_dict("list")),
    "systems and criteria in names": _systems_as_columns,
    "texts for items": _texts_for_items,
}
"""Shapes in which the file says who rated."""

UNKNOWN: dict[str, Callable[[Path], Path]] = {
    "lists in cells": _cells(lambda values: f"[{', '.join(values)}]"),
    "lists with semicolons": _cells(";".join),
    "lists as numpy prints them": _cells(lambda values: f"[{' '.join(values)}]"),
    "keys all the way": _keys_all_the_way,
    "numbered columns": _pattern("{c}_{r}", positions=True),
}
"""Shapes in which it does not."""


def count_wins(frame: pd.DataFrame) -> dict[str, list[int]]:
    """Return for each pair how often the first won, the second, and neither."""
    counts: dict[str, list[int]] = {}
    for _, trial in frame.groupby("trial", sort=False):
        pair, choice = "|".join(trial["system"]), list(trial["choice"])
        tied = set(trial["answer"]) == {"tie"}
        assert ("best" in choice) != tied
        place = choice.index("best") if not tied else 2
        counts.setdefault(pair, [0, 0, 0])[place] += 1
    return counts
