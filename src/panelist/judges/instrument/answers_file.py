"""A judge's answers to exported prompts, read back into a judges table; every line is accounted for."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd

from panelist.collection.imports.files.nested_records import read_records
from panelist.collection.imports.files.text_tables import decode, read_bytes
from panelist.collection.imports.outputs.batches import read_result
from panelist.core.display.formats import Cell
from panelist.core.display.result import NamedValues, Part, Result, Table
from panelist.core.errors import BadFile
from panelist.core.prose import count, inflect, listing, quoted
from panelist.core.tables.readers import read_table
from panelist.judges.answers import FAILED, NO_ANSWER, NO_LINE, OFF_SCALE, REASONS, REFUSED, TWO, UNREADABLE
from panelist.judges.instrument.prompts import CANNOT, KEY_COLUMNS
from panelist.scales import AnyScale
from panelist.scales.base import BadAnswer, RatingScale
from panelist.scales.pairs import Pairs, PairScale

ANSWERED = "answered"
OUTCOMES = (ANSWERED, *REASONS)
ABOUT = ("model", "date", "settings")
ONE_ANSWER = ("id", "system", "system_b", "criterion")
"""What the lines of a key have in common that make one row: the turns of an output are rated one by one."""
_REFUSAL = re.compile(
    r"(i['’]?m |i am )?(very )?(sorry|unable)\b|i (can['’]?t|can ?not|won['’]?t|will not)\b|as an ai\b",
    re.IGNORECASE,
)
"""How models begin when they decline; only the count by reason depends on it."""
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


@dataclass(frozen=True, eq=False)
class ReadAnswers(Result):
    """The judges table of a file of answers: ``frame`` has one row per answer asked for; ``outcomes`` counts,
    by system, what became of them."""

    frame: pd.DataFrame = field(repr=False)
    judge: str
    n_lines: int
    n_requests: int
    outcomes: Mapping[tuple[str, str], int] = field(repr=False)
    broken: tuple[int, ...] = ()
    """The numbers of lines that hold no JSON: of whichever request they were, it has no line."""

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The judges tables by kind, scores first: a study of both has one of each."""
        if not {"system", "system_a"} <= set(self.frame):
            return {"pairs" if "system_a" in self.frame else "scores": self.frame}
        single = self.frame["system"].notna()
        parts = {"scores": self.frame[single], "pairs": self.frame[~single]}
        return {kind: part.dropna(axis="columns", how="all") for kind, part in parts.items()}

    def title(self) -> str:
        """Return the heading."""
        return f"Answers of {self.judge}"

    def parts(self) -> list[Part]:
        """Return the counts by system."""
        shown = [name for name in OUTCOMES if any(of == name for _, of in self.outcomes)]
        systems = list(dict.fromkeys(system for system, _ in self.outcomes))
        rows: list[tuple[Cell, ...]] = [
            (one, *(self.outcomes.get((one, name), 0) for name in shown)) for one in systems
        ]
        counts = [("lines", f"{self.n_lines:,}"), ("requests", f"{self.n_requests:,}")]
        if self.broken:
            n, numbers = len(self.broken), listing([f"{number:,}" for number in self.broken], 8)
            whose = inflect(
                n, "holds no JSON object: its request has", "hold no JSON object: their requests have"
            )
            counts.append(("not read", f"{inflect(n, 'line', 'lines')} {numbers} {whose} no line"))
        return [NamedValues(counts), Table("Answers asked for", ("system", *shown), rows, name="outcomes")]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "judge": self.judge,
            "n_lines": self.n_lines,
            "broken_lines": list(self.broken),
            "n_requests": self.n_requests,
            "n_rows": len(self.frame),
            "outcomes": [
                {"system": system, "outcome": outcome, "n": n}
                for (system, outcome), n in self.outcomes.items()
            ],
        }


def read_answers(path: Path, key: Path, judge: str = "") -> ReadAnswers:
    """Return the answers in a file as a judges table, by the key of the prompts.

    Lines are ``{"id": …, "answer": …}`` or batch results whose ``custom_id`` is the id. ``judge`` names the
    judge; without it, the one ``model`` of the file does. Nothing is guessed, clipped or mapped: what the
    scale does not have is no answer, and is counted. So is a line that was cut off.
    """
    asked = _read_key(key)
    lines, broken = _read_lines(path)
    given = _collect(lines, set(asked["id"]), path.name, key)
    name = judge or _find_model(given, path.name)
    rows, outcomes = dict[tuple[str, ...], list[dict[str, Any]]](), Counter[tuple[str, str]]()
    scales: dict[str, Any] = {}
    several = set(
        asked.loc[
            asked["criterion"] != asked.groupby("id", observed=True)["criterion"].transform("first"), "id"
        ]
    )
    for cells in asked.itertuples(index=False, name=None):
        row = dict(zip(KEY_COLUMNS, cells, strict=True))
        line = given.get(row["id"])
        if row["scale"] not in scales:
            scales[row["scale"]] = _read_scale(row["scale"])
        value, outcome = (
            ("", NO_LINE)
            if line is None
            else _find_value(line, row, scales[row["scale"]], lone=row["id"] not in several)
        )
        for system in filter(None, (row["system"], row["system_b"])):
            outcomes[system, outcome] += 1
        why = "" if outcome == ANSWERED else outcome
        made = {**_write_row(name, row, value, line or {}, scales[row["scale"]]), NO_ANSWER: why}
        rows.setdefault(tuple(row[one] for one in ONE_ANSWER), []).append(made)
    frame = pd.DataFrame([_join_turns(parts) for parts in rows.values()])
    optional = (*ABOUT, "order", NO_ANSWER)
    empty = [name for name in optional if name in frame and frame[name].isin(["", None]).all()]
    n_lines = len(lines) + len(broken)
    whole = frame.drop(columns=empty)
    return ReadAnswers(whole, name, n_lines, asked["id"].nunique(), dict(outcomes), broken)


def _read_lines(path: Path) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
    """Return the lines of a file of answers, and the numbers of those that hold no JSON object."""
    content = read_bytes(path)
    try:
        return read_records(content, path.name).rows, ()
    except BadFile:
        if path.suffix.casefold() not in (".jsonl", ".ndjson"):
            raise
        rows, broken = list[dict[str, Any]](), list[int]()
        for number, line in enumerate(decode(content, path.name)[0].split("\n"), 1):
            try:
                one = json.loads(line) if line.strip() else {}
            except ValueError:
                one = None
            if not isinstance(one, dict):
                broken.append(number)
            elif one:
                rows.append(one)
        if not rows:
            raise
        return rows, tuple(broken)


def _join_turns(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one row of the answers about the turns of an output: their mean, none where one is missing."""
    if len(parts) == 1:
        return parts[0]
    if gap := next((one for one in parts if one[NO_ANSWER]), None):
        return {**gap, "rating": ""}
    return {**parts[0], "rating": str(sum(float(one["rating"]) for one in parts) / len(parts))}


def _read_key(path: Path) -> pd.DataFrame:
    if not path.exists():
        raise BadFile(
            f"There is no file {path}, the key that panelist judges prompts wrote beside the prompts. "
            "Name it with --key FILE."
        )
    frame = read_table(path).frame
    if lacking := [name for name in KEY_COLUMNS if name not in frame]:
        raise BadFile(f"{path} is no key of prompts: it has no column {lacking[0]!r}.")
    return frame[list(KEY_COLUMNS)].astype(str).where(frame[list(KEY_COLUMNS)].notna(), "")


def _collect(lines: list[dict[str, Any]], known: set[str], name: str, key: Path) -> dict[str, dict[str, Any]]:
    """Return the lines by id: unknown ids and contradictions are refused."""
    found: dict[str, dict[str, Any]] = {}
    strange, clashing = [], []
    for line in lines:
        mark = str(line.get("id") if "id" in line and "custom_id" not in line else line.get("custom_id", ""))
        if mark not in known:
            strange.append(mark)
        elif mark in found and _text_of(found[mark]) != _text_of(line):
            clashing.append(mark)
        found.setdefault(mark, line)
    if strange:
        raise BadFile(
            f"{name}: {count(len(strange), 'line')} with an id that is not in {key}: {quoted(strange, 3)}. "
            "Are these answers to other prompts?"
        )
    if clashing:
        raise BadFile(
            f"{name}: {count(len(clashing), 'id')} answered twice, and differently: {quoted(clashing, 3)}. "
            "Keep one line for each; for several samples, export them with --samples."
        )
    return found


def _find_model(given: Mapping[str, dict[str, Any]], name: str) -> str:
    models = sorted({_read_model(line) for line in given.values()} - {""})
    if len(models) != 1:
        found = f"its lines name {quoted(models)}" if models else "its lines name no model"
        raise BadFile(f"{name} does not say which judge answered: {found}. Name it with --judge NAME.")
    return models[0]


def _read_model(line: Mapping[str, Any]) -> str:
    if "custom_id" in line:
        return read_result(line, reasoning=False)[0]
    return str(line.get("model") or "")


def _text_of(line: Mapping[str, Any]) -> Any:
    """Return the answer in a line, as it was written: text, or JSON."""
    if "custom_id" in line:
        return read_result(line, reasoning=False)[1]
    return line.get("answer")


def _read_scale(text: str) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(AnyScale).validate_json(text)


def _find_value(line: Mapping[str, Any], row: Mapping[str, Any], scale: Any, lone: bool) -> tuple[str, str]:
    """Return one answer of a line by its scale, and what became of it; ``lone``: there is one question."""
    if "custom_id" in line and read_result(line, reasoning=False)[2]:
        return "", FAILED
    answer = _parse(_text_of(line))
    if isinstance(answer, dict):
        if row["label"]:
            answer = answer.get(row["label"], {})
        answer = answer.get(row["criterion"]) if isinstance(answer, dict) else answer
    elif (row["label"] or not lone) and not _refuses(answer):
        # one value for several outputs or questions, or none
        return "", TWO if isinstance(answer, list) else UNREADABLE
    if isinstance(answer, list):
        return "", TWO
    if answer is None or isinstance(answer, dict | bool):
        return "", UNREADABLE
    if _refuses(answer):
        return "", REFUSED
    return _read_by(scale, str(answer).strip(), row)


def _refuses(answer: Any) -> bool:
    text = answer.strip() if isinstance(answer, str) else ""
    return text.casefold() == CANNOT or bool(_REFUSAL.match(text))


def _parse(answer: Any) -> Any:
    """Return an answer as JSON where it is JSON, alone or in a fence; otherwise as it is."""
    if not isinstance(answer, str):
        return answer
    fenced = _FENCE.findall(answer)
    text = fenced[0].strip() if len(fenced) == 1 else answer.strip()
    try:
        return json.loads(text, object_pairs_hook=_keep_both)
    except ValueError:
        return text


def _keep_both(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of a key that it has twice, with two values, both."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = [found[key], value] if key in found and found[key] != value else value
    return found


def _read_by(scale: Any, text: str, row: Mapping[str, Any]) -> tuple[str, str]:
    if isinstance(scale, Pairs):
        sides = {"a": row["system"], "b": row["system_b"]} | ({"tie": "tie"} if scale.ties else {})
        found = sides.get(text.casefold())
        return (found, ANSWERED) if found is not None else ("", UNREADABLE)
    if isinstance(scale, PairScale):
        try:
            return scale.write(scale.parse(text)), ANSWERED
        except BadAnswer:
            return "", UNREADABLE
    assert isinstance(scale, RatingScale)
    try:
        return str(scale.recognise(text)), ANSWERED
    except BadAnswer:
        try:
            float(text)
        except ValueError:
            several = len(set(re.findall(r"-?\d+(?:\.\d+)?", text))) > 1
            return "", TWO if several else UNREADABLE
        return "", OFF_SCALE


def _write_row(
    judge: str, row: Mapping[str, Any], value: str, line: Mapping[str, Any], scale: Any
) -> dict[str, Any]:
    settings = line.get("settings") or ""
    about = {
        "model": _read_model(line),
        "date": str(line.get("date") or ""),
        "settings": settings if isinstance(settings, str) else json.dumps(settings, sort_keys=True),
    }
    about |= {"sample": row["sample"], "instrument": row["instrument"][:16]}
    if not row["system_b"]:
        said = {"system": row["system"], "criterion": row["criterion"], "rating": value}
        place = row["label"].partition(" ")[0]  # "A turn 2": the output that is shown first
        said |= {"order": ascii_uppercase.index(place) + 1 if place in {*ascii_uppercase} else ""}
        return {"judge": judge, "item": row["item"], **said, **about}
    one, two = sorted((row["system"], row["system_b"]))
    said = {"system_a": one, "system_b": two, "criterion": row["criterion"], "choice": value}
    if isinstance(scale, PairScale) and scale.graded:
        said |= _write_grade(scale, value, (row["system"], row["system_b"]), one)
    return {"judge": judge, "item": row["item"], **said, "first": row["first"], **about}


def _write_grade(scale: PairScale, value: str, shown: tuple[str, str], first: str) -> dict[str, Any]:
    """Return who is better, and the grade of the system that is named first in the table."""
    if not value:
        return {"choice": "", "grade": ""}
    answer = scale.parse(value)
    grades = dict(zip(shown, answer.find_grades(), strict=True))
    better = next((name for name, grade in grades.items() if grade and grade > 0), "tie")
    return {"choice": better, "grade": grades[first]}
