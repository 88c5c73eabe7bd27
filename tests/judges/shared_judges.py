"""The tables and reference numbers of ../shared/data/judges; tests that use them are skipped without it."""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from panelist.core.tables.ratings import Ratings, read_ratings
from panelist.judges.match import JudgedRatings, match_criterion
from panelist.judges.table import JudgeScores, read_judges
from tests.shared_cases import SHARED

FOLDER = SHARED / "judges"
needs_shared = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/judges is not here")


@cache
def reference() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))
    return found


def keys(*blocks: str) -> list[str]:
    """Return the keys of a block, for parametrising; none where the folder is missing."""
    if not FOLDER.is_dir():
        return ["none"]
    found: Any = reference()
    for block in blocks:
        found = found[block]
    return list(found)


@cache
def table(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / f"{name}.csv")


@cache
def judges(name: str) -> JudgeScores:
    return read_judges(FOLDER / f"{name}.csv")


@cache
def synthetic(people: str = "syn_people") -> JudgedRatings:
    return match_criterion(read_ratings(FOLDER / f"{people}.csv"), judges("syn_judges"), "quality")


def hanna_ratings(criterion: str, labelled: bool = False) -> Ratings:
    """Return HANNA's ratings, whose places are no raters."""
    frame = table("hanna_people")
    frame = frame[frame["criterion"] == criterion]
    if labelled:
        frame = frame[frame["item"].isin(table("hanna_labelled_20")["item"])]
    return read_ratings(frame, columns={"rater": None})


@cache
def hanna(criterion: str, judge: str, labelled: bool = False) -> JudgedRatings:
    """Return HANNA with one judge or metric, scored as it is: nothing refused."""
    scores = judges("hanna_judges")
    scores = scores if judge in scores.judges else judges("hanna_metrics")
    whole = match_criterion(hanna_ratings(criterion, labelled), scores, criterion, scale="as-is")
    return whole.only([judge])


def pairs(name: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return people's pairs, judges' pairs and the words of each output; winners by their names."""
    frame = table(name)
    winner = np.where(
        frame["winner"] == "a",
        frame["system_a"],
        np.where(frame["winner"] == "b", frame["system_b"], frame["winner"]),
    )
    frame = frame.assign(winner=winner)
    person = frame["kind"] == "person"
    words = [
        frame[["item", f"system_{side}", f"words_{side}"]].set_axis(["item", "system", "words"], axis=1)
        for side in "ab"
    ]
    people = frame[person].drop(columns="kind")
    machine = frame[~person].rename(columns={"rater": "judge"}).drop(columns="kind")
    return people, machine, pd.concat(words).drop_duplicates()
