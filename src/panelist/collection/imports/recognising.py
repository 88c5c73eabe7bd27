"""What an unknown file holds: every reading that its columns allow, each with the mapping that says it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from panelist.collection.imports.files.nested_records import Records, join_rows
from panelist.collection.imports.files.nesting import propose
from panelist.collection.imports.files.unfolding import unfold
from panelist.collection.imports.guessing.column_profiles import Column
from panelist.collection.imports.guessing.column_roles import FoundRole
from panelist.collection.imports.guessing.draft import Draft, write_lines
from panelist.collection.imports.guessing.headers import ask_header
from panelist.collection.imports.mapping import TableLayout, Unfolding
from panelist.collection.imports.shapes.base import SHAPES, Answers, Case, make_case
from panelist.collection.imports.source_sheet import FILE, ROW, SourceSheet
from panelist.core.errors import BadFile
from panelist.core.prose import list_words, listing
from panelist.core.tables.review import is_placeholder

KEPT = list_words("occasion group wave list check excluded text_type position seconds simulated")
"""Columns of a ratings table that are taken over where a file has them."""
TOTALS = frozenset(list_words("average avg mean median total totals sum overall std stdev sd count"))
"""What stands in place of a name in rows below a table that sum it up."""
MOST_READINGS = 6


@dataclass(frozen=True, eq=False)
class FileReading:
    """One way to read the files: the mapping as a draft, the sheet it was found on, and what it says."""

    shape: str
    draft: Draft
    sheet: SourceSheet
    label: str
    recognised: tuple[tuple[str, str], ...] = field(default=())

    def lines(self) -> str:
        """Return the lines of the mapping that distinguish this reading from others."""
        keys = ("layout", "unfold", "rater", "item", "system", "criteria", "comparisons", "rename")
        data = {key: self.draft.data[key] for key in keys if key in self.draft.data}
        return "\n".join(line for key, value in data.items() for line in write_lines(key, value))


class Ambiguous(BadFile):
    """Several readings are possible, and a person must choose."""

    def __init__(self, message: str, readings: Sequence[FileReading]) -> None:
        super().__init__(message)
        self.readings = tuple(readings)


def find_reading(
    files: Sequence[Records], paths: Sequence[Path], layout: TableLayout, number: int | None
) -> FileReading:
    """Return the one reading of files, or the one asked for; raise BadFile where there is none or several."""
    ask_header(files)
    readings = recognise(files, layout)
    if not readings:
        raise refuse_unknown(files)
    return choose(readings, number, _name_files(paths))


def draft_tables(
    files: Sequence[Records], paths: Sequence[Path], layout: TableLayout, number: int | None
) -> Draft:
    """Return the mapping to edit: of the reading asked for, else of the first, the others as comments."""
    ask_header(files)
    readings = recognise(files, layout)
    if not readings:
        return draft_unknown(files)
    if number is not None or len(readings) == 1:
        return choose(readings, number, _name_files(paths)).draft
    draft = readings[0].draft
    key = "comparisons" if "comparisons" in draft.data else "criteria"
    for place, other in enumerate(readings[1:], start=2):
        draft.remarks.setdefault(key, []).append(
            f"Or: {other.label or other.shape} (--draft --reading {place} writes that)."
        )
    draft.ask(key, f"the files can be read in {len(readings)} ways; this is the first: {readings[0].label}")
    return draft


def recognise(files: Sequence[Records], layout: TableLayout) -> list[FileReading]:
    """Return the readings of the files, the likeliest first; none where nothing is recognised."""
    made: list[FileReading] = []
    unfoldings = propose(join_rows(files))
    if unfoldings != [()] and SHAPES["pairs"].recognise(make_case(unfold(files, ()))):
        unfoldings = [()]  # the winner is beside the systems; what is nested are the conversations
    for steps in unfoldings:
        sheet = unfold(files, steps)
        case = make_case(sheet, [step.lists[0] for step in steps if step.lists])
        for name, one in sorted(SHAPES.items(), key=lambda pair: pair[1].rank):
            every = one.recognise(case)
            found = [answers for answers in every if _says_enough(answers)]
            if found and all(answers.raters and not answers.sure for answers in found):
                found = every  # only a guess about raters says anything: ask what else it could be
            if found:
                found = [other for answers in found for other in _ask_files(case, answers)]
                found = [other for answers in found for other in _ask_rater(case, answers)]
                made += [
                    _read(case, steps, name, answers, len(unfoldings), _write_layout(files, layout))
                    for answers in found
                ]
                break
    return made[:MOST_READINGS]


def _says_enough(answers: Answers) -> bool:
    """Return whether a reading knows more than numbers: who rated, or what, or by which system."""
    roles = answers.roles
    named = roles.item is not None and roles.item.how != "assumed"
    return bool(named or roles.rater or roles.system or answers.raters or answers.comparisons)


def choose(readings: Sequence[FileReading], number: int | None, names: str) -> FileReading:
    """Return the reading that was asked for, or the only one; raise where a person must choose."""
    if number is not None:
        if not 1 <= number <= len(readings):
            raise BadFile(f"There is no reading {number}: {names} can be read in {len(readings)} ways.")
        return readings[number - 1]
    if len(readings) == 1:
        return readings[0]
    raise Ambiguous(
        f"{describe_readings(readings, names)}\nChoose with --reading 1 (2, …), or {_say_mapping(names)}",
        readings,
    )


def describe_readings(readings: Sequence[FileReading], names: str) -> str:
    """Return the readings as a numbered list, each with the lines of the mapping that choose it."""
    lines = [f"{names} can be read in {len(readings)} ways, and only a person can decide which is right:"]
    for number, reading in enumerate(readings, start=1):
        lines.append(f"  {number}. {reading.label or reading.shape}")
        lines += [f"       {line}" for line in reading.lines().splitlines()[:14]]
    return "\n".join(lines)


def _say_mapping(names: str) -> str:
    return f"write the mapping to edit it: panelist import {names} --draft --reading 1"


def refuse_unknown(files: Sequence[Records]) -> BadFile:
    """Return the error for files in which nothing is recognised: what there is, and how to say it."""
    sheet = unfold(files, ())
    names = " ".join(one.name for one in files[:2])
    return BadFile(
        f"{names}: no column was recognised as somebody's ratings (numbers on a scale, or a few labels). Its "
        f"columns are {listing([repr(name) for name in sheet.columns], 12)}. Say which is what in a "
        f"mapping: panelist import {names} --draft writes one to fill in, and --mapping FILE uses it."
    )


def draft_unknown(files: Sequence[Records]) -> Draft:
    """Return the draft for files in which nothing is recognised: everything is still to be filled in."""
    sheet = unfold(files, ())
    draft = Draft({"source": "table"})
    listed = listing(sheet.columns, 12)
    for role in ("rater", "item", "system"):
        draft.ask(role, f"which column names the {role}? There are {listed}")
    draft.ask("criteria", "which columns hold the ratings? criteria: [{name: fluency, answer: COLUMN}]")
    return draft


def _ask_rater(case: Case, answers: Answers) -> list[Answers]:
    """Return the reading; where no column is known to name raters but one may, one for each case."""
    roles = answers.roles
    if not answers.unknown or case.unfolded or roles.item is None or roles.item.cell == ROW:
        return [answers]
    taken = {one["answer"] for one in answers.criteria if "answer" in one} | roles.used
    able = [
        one
        for one in case.columns
        if one.name not in taken and _may_be_raters(one, case) and not one.name.endswith(".place")
    ]
    if not able:
        return [answers]
    one = able[0]
    named = replace(roles.take("rater", FoundRole(one.name, "values", sure=False), one.name), label="")
    return [
        replace(answers, roles=named, unknown=False, sure=False, label=f"the raters are in {one.name}"),
        replace(answers, label=f"the raters are unknown: {one.name} says something else"),
    ]


def _ask_files(case: Case, answers: Answers) -> list[Answers]:
    """Return the reading; where nothing says raters, systems or criteria, those that the files may be."""
    if case.unfolded or case.sheet.frame[FILE].nunique() < 2:
        return [answers]
    made = list(_read_files(case, answers))
    return [*made, replace(answers, label="they are parts of one table")] if made else [answers]


def _read_files(case: Case, answers: Answers) -> Iterator[Answers]:
    names = list(dict.fromkeys(map(str, case.sheet.frame[FILE])))
    before, after = _find_frame(names)
    cell = {"column": FILE, "match": f"{re.escape(before)}(.+){re.escape(after)}"}
    bare = {name: name[len(before) : len(name) - len(after)] for name in names}
    what = "sheets" if all(name.endswith("]") for name in names) else "files"
    label = f"{listing(list(bare.values()), 3)}, the names of the {what}, are"
    roles = answers.roles
    lacking = ["rater"] if answers.unknown and not answers.raters else []
    if roles.system is None and not answers.comparisons and not answers.names_systems:
        lacking.append("system")
    for role in lacking:
        taken = replace(roles.take(role, FoundRole(cell, "values", sure=False)), label="")
        unknown = answers.unknown and role != "rater"
        yield replace(answers, roles=taken, unknown=unknown, sure=False, label=f"{label} {role}s")
    one = answers.criteria[0] if len(answers.criteria) == 1 else {}
    known = [role for role in (roles.rater, roles.item, roles.system) if role is not None]
    columns = [name for role in known for name in role.columns()]
    again = bool(columns) and case.sheet.frame.duplicated(columns).any()
    if one.get("name") == "rating" and again:
        named = [{"named_by": FILE, **{key: one[key] for key in one if key != "name"}}]
        renamed = {"criterion": bare}
        yield replace(answers, criteria=named, rename=renamed, sure=False, label=f"{label} criteria")


def _find_frame(names: Sequence[str]) -> tuple[str, str]:
    """Return what all names begin and end with, up to a character that is neither letter nor number.

    >>> _find_frame(["votes_anna.csv", "votes_anton.csv"])
    ('votes_', '.csv')
    """
    before = re.sub(r"[^\W_]*$", "", _begin_alike(names))
    rest = [name[len(before) :][::-1] for name in names]
    after = re.sub(r"[^\W_]*$", "", _begin_alike(rest))[::-1]
    return before, after


def _begin_alike(words: Sequence[str]) -> str:
    """Return what all words begin with."""
    same = takewhile(lambda signs: len(set(signs)) == 1, zip(*words, strict=False))
    return "".join(signs[0] for signs in same)


def _may_be_raters(column: Column, case: Case) -> bool:
    if column.is_text or column.is_time or column.is_constant or column.name in KEPT:
        return False
    if column.are_people:
        return True
    words = column.distinct
    return not column.is_numeric and 2 < len(words) <= 0.5 * len(case.sheet) and max(map(len, words)) <= 30


def _read(
    case: Case, steps: Sequence[Unfolding], shape: str, answers: Answers, ways: int, layout: dict[str, Any]
) -> FileReading:
    """Return the reading with its mapping: roles, answers, what is kept, what is left out."""
    roles = answers.roles
    draft = Draft({"source": "table"}, head="Recognised from the columns: ")
    told: list[tuple[str, str]] = [("recognised", shape)]
    if layout:
        draft.put("layout", layout)
    if steps:
        draft.put(
            "unfold",
            [({"keys": _say_keys(step)} if step.keys else {"lists": list(step.lists)}) for step in steps],
        )
    for role in ("rater", "item", "system"):
        found: FoundRole | None = getattr(roles, role)
        if found is not None and not (role == "rater" and answers.raters):
            draft.put(role, found.cell, f"The {role}: {_say_how(found)}.")
            told.append((role, f"{found.describe()} ({_say_how(found)})"))
        elif role == "rater":
            told.append(("rater", _say_raters(answers, draft)))
        elif role == "system" and not answers.comparisons and not answers.names_systems:
            draft.remarks.setdefault("system", []).append("No column was recognised as the system.")
            told.append(("system", "not found: systems cannot be compared"))
    told.append(("ratings" if answers.criteria else "choices", answers.says))
    if answers.criteria:
        draft.put("criteria", answers.criteria, f"The ratings: {answers.says}.")
    if answers.comparisons:
        draft.put("comparisons", answers.comparisons, f"The choices: {answers.says}.")
    _put_left_out(case, answers, draft)
    if answers.rename:
        draft.put("rename", answers.rename)
    if labels := next((one["values"] for one in answers.criteria if "values" in one), None):
        told.append(("labels", f"{listing([f'{word} = {number}' for word, number in labels.items()], 8)}"))
    named = roles.item is not None and (roles.system or answers.comparisons or answers.names_systems)
    sure = answers.sure and bool(named or answers.comparisons)
    sure = sure and all(one is None or one.sure for one in (roles.rater, roles.item, roles.system))
    told.append(("how sure", "sure: the names of the columns say it" if sure else "likely: check it"))
    keep = {name: name for name in KEPT if name in case.sheet.frame and name not in roles.used}
    if keep:
        draft.put("keep", keep)
    label = answers.label
    if ways > 1:
        label = f"unfolding {', '.join(' and '.join(step.keys or step.lists) for step in steps)}"
    return FileReading(shape, draft, case.sheet, label, tuple(told))


def _say_keys(step: Unfolding) -> str | list[str]:
    return step.keys[0] if len(step.keys) == 1 else list(step.keys)


def _write_layout(files: Sequence[Records], layout: TableLayout) -> dict[str, Any]:
    """Return what the mapping says about the layout: rows above the header, and names that were given."""
    said: dict[str, Any] = {}
    skips = {one.skip for one in files}
    if skips != {0} and len(skips) == 1:
        said["skip"] = str(skips.pop())
    if layout.header:
        said["header"] = list(layout.header)
    return said


def _name_files(paths: Sequence[Path]) -> str:
    return " ".join(map(str, paths[:2])) + (" …" if len(paths) > 2 else "")


def _say_how(found: FoundRole) -> str:
    if found.how == "assumed":
        return "no column names it: each row of the file counts as one"
    return {"name": "by its name", "values": "by its values"}[found.how] + (
        "" if found.sure else "; check it"
    )


def _say_raters(answers: Answers, draft: Draft) -> str:
    if answers.raters:
        draft.remarks.setdefault("rater", []).append(f"The raters are {answers.raters}.")
        return answers.raters
    if answers.unknown:
        draft.remarks.setdefault("rater", []).append(
            "Who rated what is not in the file, so the raters are unknown. Places in a list are not people."
        )
        return "unknown: the file does not say who rated what"
    return "not found"


def _put_left_out(case: Case, answers: Answers, draft: Draft) -> None:
    """Leave out placeholder raters, where others are people, and words among numbers."""
    roles = answers.roles
    columns = {one.name: one for one in case.columns}
    if roles.rater is not None and isinstance(roles.rater.cell, str) and not answers.raters:
        nobody = _find_rare(case, roles.rater.cell, is_placeholder)
        if nobody:
            draft.put("leave_out", {roles.rater.cell: nobody}, "Names that are not people.")
    for role in (roles.rater, roles.item, roles.system):
        if role is not None and isinstance(role.cell, str):
            totals = _find_rare(case, role.cell, lambda word: word.casefold().rstrip(":") in TOTALS)
            if totals:
                draft.put("leave_out", {role.cell: totals}, "Rows of totals.")
                break
    used = [columns[one["answer"]] for one in answers.criteria if one.get("answer") in columns]
    if any(one.is_numeric and one.words for one in used if "values" not in answers.criteria[0]):
        draft.put("stray", "leave out", "There are a few words where the other answers are numbers.")


def _find_rare(case: Case, column: str, is_odd: Callable[[str], bool]) -> list[str]:
    """Return the words of a column that are odd, where most of its cells are others."""
    cells = case.sheet.frame[column].astype(str).str.strip()
    odd = [word for word in cells.unique() if word and is_odd(word)]
    return odd if cells.isin(odd).mean() < 0.5 else []
