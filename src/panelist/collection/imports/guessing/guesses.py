"""Guesses from columns: which holds systems, items, answers, and which say something about the rater."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

SYSTEM_WORDS = re.compile(r"(^|[._ -])(system|model|method|approach|condition|sys|setting)s?", re.IGNORECASE)
ITEM_WORDS = (
    *("item", "id", "code", "doc", "document", "index", "idx", "key", "input", "prompt", "source"),
    *("context", "sentence", "text", "title"),
)
PERSON_WORDS = re.compile(
    r"(^|[._ -])(english|native|age|gender|sex|country|nationality|language|education|occupation|speaker)",
    re.IGNORECASE,
)
REMARK_WORDS = re.compile(
    r"(feedback|comment|remark|suggestion|opinion|email|useragent|clicks|time)", re.IGNORECASE
)
BEST = re.compile(r"(^|[._ -])(best|better|prefer(red|ence)?|winner|choice|chosen)([._ -]|$)", re.IGNORECASE)
WORST = re.compile(r"(^|[._ -])(worst|worse|least)([._ -]|$)", re.IGNORECASE)
SIDES = (("1", "2"), ("a", "b"), ("A", "B"), ("left", "right"), ("0", "1"), ("x", "y"))
WORDS_OF_SIDES = ("A", "B", "C", "D", "E", "F", "G", "H")
MOST_CATEGORIES = 12
TRUTHS = {"true", "false", ""}


@dataclass(frozen=True)
class GuessedQuestion:
    """A question found in the columns: its pattern, its short name, the answers given."""

    column: str
    name: str
    answers: tuple[str, ...]
    members: tuple[str, ...] = field(default=())


def find_questions(frame: pd.DataFrame, prefix: str) -> list[GuessedQuestion]:
    """Return the questions among the columns with a prefix: one column each, one per option, or numbered."""
    columns = [name for name in frame.columns if name.startswith(prefix)]
    taken: set[str] = set()
    found = []
    for stem, members in _group(columns, r"(.*)\.([^.]+)").items():
        if len(members) > 1 and all(_is_truth(frame[name]) for name in members):
            options = tuple(name.rsplit(".", 1)[1] for name in members)
            found.append(
                GuessedQuestion(f"{stem}.{{option}}", stem.removeprefix(prefix), options, tuple(members))
            )
            taken |= set(members)
    for name in columns:
        if name not in taken:
            short = name.removeprefix(prefix).removesuffix(".label")
            found.append(GuessedQuestion(name, short, list_answers(frame[name]), (name,)))
    return found


def number_questions(questions: Sequence[GuessedQuestion], numbered: Sequence[str]) -> list[GuessedQuestion]:
    """Return the questions with those that only differ in a number as one, ``q{n}``.

    ``numbered`` are columns of the input: only numbers that they have too are taken for numbers of outputs.
    """
    known = {number for name in numbered for number in re.findall(r"(\d+)(?:\D*)$", name)}
    groups: dict[str, list[GuessedQuestion]] = {}
    for question in questions:
        found = re.fullmatch(r"(.*?)(\d+)((?:\.label|\.\{option\})?)", question.column)
        pattern = f"{found[1]}{{n}}{found[3]}" if found and found[2] in known else question.column
        groups.setdefault(pattern, []).append(question)
    merged = []
    for pattern, members in groups.items():
        if len(members) == 1:
            merged += members
            continue
        answers = tuple(dict.fromkeys(word for one in members for word in one.answers))
        name = re.sub(r"[\d._ -]+$", "", members[0].name) or members[0].name
        merged.append(
            GuessedQuestion(pattern, name, answers, tuple(m for one in members for m in one.members))
        )
    return merged


def is_scale(question: GuessedQuestion) -> bool:
    """Return whether the answers are like those of a scale: numbers, or few words."""
    said = question.answers
    if not said:
        return False
    numbers = sum(bool(re.fullmatch(r"-?\d+([.,]\d+)?", word)) for word in said)
    return numbers >= 0.9 * len(said) or (
        len(said) <= MOST_CATEGORIES and max(len(word) for word in said) <= 60 and "{" not in said[0]
    )


def find_system(columns: Sequence[str]) -> list[str]:
    """Return the columns that are named like systems, one or one per side."""
    return [name for name in columns if SYSTEM_WORDS.search(name)]


def pair_sides(columns: Sequence[str]) -> list[str]:
    """Return the columns of systems shown side by side, in order, if their names differ in a side only."""
    groups: dict[str, dict[str, str]] = {}
    for name in columns:
        for end in sorted({side for pair in SIDES for side in pair}, key=len, reverse=True):
            if name.endswith(end):
                groups.setdefault(name[: -len(end)], {})[end] = name
                break
        else:
            if found := re.fullmatch(r"(.*?)(\d+)", name):
                groups.setdefault(found[1], {})[found[2]] = name
    for members in groups.values():
        if len(members) >= 2:
            return [members[end] for end in sorted(members, key=lambda end: (len(end), end))]
    return []


def find_item(
    frame: pd.DataFrame, columns: Sequence[str], skip: Sequence[str], numbered: bool = False
) -> str | None:
    """Return the column that is most like an item: by name first, never one that is the same everywhere.

    Where answers are numbered, numbered columns count together and come as one, ``doc{n}``.
    """
    groups: dict[str, list[str]] = {}
    for name in columns:
        if name not in skip:
            groups.setdefault(re.sub(r"\d+$", "{n}", name) if numbered else name, []).append(name)
    able = [name for name, members in groups.items() if len({v for m in members for v in frame[m]}) > 1]
    able.sort(key=lambda name: "{n}" not in name)
    for word in ITEM_WORDS:
        for name in able:
            parts = re.split(r"[._ -]|(?<=[a-z])(?=[A-Z])|(?<=\D)(?=\d)", name)
            if word in [part.casefold() for part in parts]:
                return name
    return able[0] if able else None


def find_part(cells: pd.Series) -> str | None:
    """Return the expression that takes the item out of a code such as ``256#1#0``, where there seems to be
    one.

    The first part of a code is taken for the item if every code has as many parts, the first has fewer
    values than the codes, and the others are short.
    """
    values = sorted({str(cell) for cell in cells if cell})
    for mark in "#|_-:":
        parts = [value.split(mark) for value in values]
        sizes = {len(one) for one in parts}
        if len(sizes) != 1 or sizes == {1}:
            continue
        heads = {one[0] for one in parts}
        tails = {part for one in parts for part in one[1:]}
        if 1 < len(heads) < len(values) and len(tails) <= 20 and max(map(len, tails)) <= 20:
            return f"([^{mark}]+)[{mark}].*"
    return None


def list_answers(column: pd.Series) -> tuple[str, ...]:
    """Return the different answers, empty ones left out, as they come."""
    return tuple(dict.fromkeys(str(cell).strip() for cell in column if str(cell).strip()))


def _group(columns: Sequence[str], pattern: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in columns:
        if found := re.fullmatch(pattern, name):
            groups.setdefault(found[1], []).append(name)
    return groups


def _is_truth(column: pd.Series) -> bool:
    return {str(cell).strip().casefold() for cell in column} <= TRUTHS
