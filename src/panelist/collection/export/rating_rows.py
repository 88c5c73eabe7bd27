"""From stored answers to rows of ratings: the answer that counts for each field, read by its scale."""

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from panelist.collection.store.records import rank_answer
from panelist.core.errors import PanelistError
from panelist.core.prose import count
from panelist.scales.base import ComparativeAnswer, ComparativeScale, RatingScale
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan

FIELD = re.compile(r"c\d+(p\d+)?(s\d+)?")
TURN = re.compile(r"s(\d+)(?:-why)?$")
REASON = "-why"
"""The ending of the name of a field that holds the reason for an answer."""
PAGE = ["visit", "occasion", "order"]


def read_answers(
    answers: pd.DataFrame, people: pd.DataFrame, study: Study, plan: "Plan"
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a row for each rating and each option compared, in the order of the visits, and notes."""
    latest = keep_latest(answers).rename(columns={"page": "order", "check_name": "check"})
    latest = latest.merge(people[["id", "place", "group"]], left_on="visit", right_on="id", how="left")
    fields = latest["name"].str.fullmatch(FIELD).astype(bool)
    reasons = latest["name"].str.endswith(REASON) & ~fields
    notes: Counter[str] = Counter()
    rows = latest[fields].copy()
    rows["reason"] = _find_reasons(rows, latest[reasons])
    rows["list"] = _find_lists(rows, plan)
    rows["wave"] = rows["place"].map(plan.waves).astype("Int64")
    rows["turn"] = find_turns(rows["name"])
    for name in ("choice", "answer", "text"):
        rows[name] = ""
    rows["rating"] = np.nan
    rows["grade"] = pd.array([pd.NA] * len(rows), dtype="Int64")
    parts = []
    known = {criterion.name: criterion for criterion in study.criteria}
    for word, part in rows.groupby("criterion", sort=False, observed=True):
        name = str(word)
        criterion = known.get(name)
        scale = criterion.scale if criterion is not None else None
        if isinstance(scale, ComparativeScale):
            parts.append(_read_comparisons(part, scale, plan, notes))
        elif isinstance(scale, RatingScale):
            parts.append(_read_ratings(part, scale, notes))
        else:
            notes[f"the study has no criterion {name!r} any more"] += len(part)
            parts.append(part.assign(answer=part["value"]))
    said = []
    if other := int((~fields & ~reasons).sum()):
        said.append(
            f"{count(other, 'answer in another field is', 'answers in other fields are')} no rating; "
            "--what answers has all"
        )
    if back := int((rows["value"] == "").sum()):
        said.append(f"{count(back, 'answer was taken back and is', 'answers were taken back and are')} empty")
    said += [
        f"{count(n, 'answer')} could not be read ({why}); column answer has what was given"
        for why, n in notes.items()
    ]
    return _arrange(pd.concat(parts) if parts else rows, study), tuple(said)


def keep_latest(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answer that counts for each field."""
    field = ["visit", "occasion", "page", "name"]
    ordered = answers.assign(rank=rank_answer(answers["revision"], answers["late"])).sort_values(
        [*field, "rank"], kind="stable", ignore_index=True
    )
    latest = ordered.drop_duplicates(field, keep="last").drop(columns=["rank", "id", "key"])
    return latest.assign(changes=np.maximum(latest["changes"], latest["revision"]))


def find_turns(names: "pd.Series[str]") -> "pd.Series[Any]":
    """Return the turn of a dialogue that each field is about; missing where it is about all of an output."""
    return names.str.extract(TURN, expand=False).astype("Int64")


def _find_reasons(rows: pd.DataFrame, reasons: pd.DataFrame) -> list[str]:
    given = {
        (visit, occasion, order, name.removesuffix(REASON)): value
        for visit, occasion, order, name, value in zip(
            *(reasons[column] for column in (*PAGE, "name", "value")), strict=True
        )
    }
    return [given.get(key, "") for key in zip(*(rows[column] for column in (*PAGE, "name")), strict=True)]


def _find_lists(rows: pd.DataFrame, plan: "Plan") -> list[str]:
    pages = plan.table.drop_duplicates(["rater", "occasion", "order"])
    lists = {
        (str(rater), int(occasion), int(order)): str(name)
        for rater, occasion, order, name in zip(
            *(pages[column] for column in ("rater", "occasion", "order", "list")), strict=True
        )
    }
    return [
        lists.get((place, occasion, order), "")
        for place, occasion, order in zip(rows["place"], rows["occasion"], rows["order"], strict=True)
    ]


def _read_ratings(part: pd.DataFrame, scale: RatingScale, notes: "Counter[str]") -> pd.DataFrame:
    values: dict[str, Any] = {}
    for text in part["value"].unique():
        try:
            values[text] = scale.parse(text) if text else None  # empty: taken back
        except PanelistError as error:
            notes[str(error)] += int((part["value"] == text).sum())
    read = part["value"].map(values)
    lost = ~part["value"].isin(list(values))
    part = part.assign(answer=part["value"].where(lost, ""))
    if scale.measurement == "text":
        return part.assign(text=read.fillna(""))
    return part.assign(rating=pd.to_numeric(read).astype("float64"))


def _read_comparisons(
    part: pd.DataFrame, scale: ComparativeScale, plan: "Plan", notes: "Counter[str]"
) -> pd.DataFrame:
    """Return a row for each output shown, with what the answer said about it; the plan knows which it was."""
    wanted = ["rater", "occasion", "order", "criterion", "item", "system", "position"]
    options = plan.table.loc[plan.table["criterion"] == part["criterion"].iloc[0], wanted]
    options = options.astype({"rater": object, "criterion": object, "item": object, "system": object})
    key = ["place", "occasion", "order", "criterion"]
    shown = part.drop(columns=["system", "position"]).merge(
        options.rename(columns={"rater": "place", "item": "item_shown"}), on=key, how="left"
    )
    missing = shown["position"].isna()
    shown["system"] = shown["system"].where(~missing, "")
    shown["item"] = shown["item_shown"].where(~missing, shown["item"])
    shown["position"] = shown["position"].fillna(1).astype("int64")
    sizes = shown.groupby(["visit", *key[1:]], observed=True)["position"].transform("max")
    told: dict[tuple[str, int], ComparativeAnswer] = {}
    for text, size in dict.fromkeys(zip(shown["value"], sizes, strict=True)):
        if not text or size < scale.least_shown:  # taken back; or a check that compares nothing
            told[text, size] = ComparativeAnswer(("",) * int(size), text)
            continue
        try:
            told[text, size] = scale.parse(text, int(size))
        except PanelistError as error:
            told[text, size] = ComparativeAnswer(("",) * int(size), text)
            notes[str(error)] += int((part["value"] == text).sum())
    found = [told[pair] for pair in zip(shown["value"], sizes, strict=True)]
    choice = [one.choices[place - 1] for one, place in zip(found, shown["position"], strict=True)]
    shown = shown.drop(columns="item_shown").assign(answer=[one.answer for one in found])
    if scale.graded:
        grades = [one.find_grades()[place - 1] for one, place in zip(found, shown["position"], strict=True)]
        shown["grade"] = pd.array(grades, dtype="Int64")
    if scale.told == "ranking":
        return shown.assign(rating=pd.to_numeric(pd.Series(choice, index=shown.index)))
    return shown.assign(choice=choice)


def _arrange(rows: pd.DataFrame, study: Study) -> pd.DataFrame:
    rank = {criterion.name: place for place, criterion in enumerate(study.criteria)}
    rows = rows.assign(rank=rows["criterion"].map(rank).fillna(len(rank)))
    rows = rows.sort_values(["visit", "occasion", "order", "position", "turn", "rank"], kind="stable")
    practice = (rows["phase"] == "practice") & (rows["check"] == "")
    rows["check"] = rows["check"].where(~practice, "practice")  # analyses set checks aside, and this too
    return rows.drop(columns=["rank", "id"]).reset_index(drop=True)
