"""The questions of the datasheet, as questions.json lists them for each version of the form."""

import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal

from panelist.core.errors import UnknownName, did_you_mean
from panelist.reports.datasheet.languages import list_languages

Version = Literal["3.0", "2.x"]
VERSIONS: tuple[Version, ...] = ("3.0", "2.x")
NEWEST: Version = "3.0"
Kind = Literal["text", "whole", "one", "many"]
OTHER_TEXT = "other_text"
CRITERIA_KEY = "heds-criteria-criterion"


@dataclass(frozen=True)
class SheetOption:
    """One answer of a choice: the code is the end of its key, the label what the form shows."""

    code: str
    label: str
    needs_text: bool = False
    """Whether ticking it asks for an explanation."""
    alone: bool = False
    """Whether it excludes all others."""

    @property
    def number(self) -> str:
        """The number that the label begins with; it is what people mean, and may differ from the code."""
        return self.label.split(".", 1)[0]

    @property
    def words(self) -> str:
        """The label without its number and without the form's HTML."""
        return re.sub(r"</?u>", "", self.label.split(". ", 1)[1]).strip()


@dataclass(frozen=True)
class SheetQuestion:
    """One question of one version of the form."""

    version: Version
    number: str
    now: str
    """Its number in HEDS 3.0; its own where 3.0 has no such question."""
    key: str
    title: str
    """The question in our words."""
    kind: Kind
    options: tuple[SheetOption, ...] = ()

    @property
    def section(self) -> str:
        """The number of its section."""
        return self.number[0]

    @property
    def per_criterion(self) -> bool:
        """Whether it is answered for each criterion."""
        return self.section == "4"

    @property
    def is_choice(self) -> bool:
        """Whether options are ticked."""
        return bool(self.options)

    @cached_property
    def by_code(self) -> dict[str, SheetOption]:
        """The options under their codes."""
        return {option.code: option for option in self.options}


@cache
def list_questions(version: Version) -> tuple[SheetQuestion, ...]:
    """Return the questions of a version, in the order of its form."""
    data = _read_data()
    return tuple(_make_question(version, entry, data["titles"]) for entry in data["versions"][version])


@cache
def _by_number(version: Version) -> dict[str, SheetQuestion]:
    return {question.number: question for question in list_questions(version)}


def find_question(version: Version, number: str) -> SheetQuestion:
    """Return the question of a number, or raise UnknownName."""
    known = _by_number(version)
    if number not in known:
        raise UnknownName(f"HEDS {version} has no question {number!r}. {did_you_mean(number, known)}")
    return known[number]


def has_question(version: Version, number: str) -> bool:
    """Return whether a version asks the question."""
    return number in _by_number(version)


def list_sections() -> dict[str, str]:
    """Return the titles of the five sections, in our words, under their numbers."""
    return dict(_read_data()["sections"])


def read_version(word: str) -> Version:
    """Return the version that a word means: ``3.0`` or ``3``, and ``2.x``, ``2`` or ``2.0``."""
    plain = word.strip().casefold().removeprefix("heds").strip(" -v")
    for version in VERSIONS:
        if plain == version or plain in (version[0], f"{version[0]}.0"):
            return version
    raise UnknownName(f"There is no HEDS version {word!r} here. Known: 3.0 and 2.x (the web form of 2022).")


@cache
def _read_data() -> dict[str, Any]:
    text = (files("panelist.reports.datasheet") / "questions.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _make_question(version: Version, entry: dict[str, Any], titles: dict[str, str]) -> SheetQuestion:
    now = entry.get("now", entry["number"])
    listed = entry.get("options", [])
    options = (
        _list_language_options(version)
        if listed == "languages"
        else tuple(SheetOption(code, label, "text" in more, "alone" in more) for code, label, *more in listed)
    )
    return SheetQuestion(version, entry["number"], now, entry["key"], titles[now], entry["kind"], options)


def _list_language_options(version: Version) -> tuple[SheetOption, ...]:
    """Return the languages; 3.0 puts N/A first, so that its codes are one more than its labels' numbers."""
    shift = 1 if version == "3.0" else 0
    labels = list(list_languages().values())
    options = [
        SheetOption(str(number + shift), f"{number}. {label}") for number, label in enumerate(labels, start=1)
    ]
    other = len(labels) + 1
    options.append(SheetOption(str(other + shift), f"{other}. Other (please describe)", needs_text=True))
    last = other + 1
    if version == "3.0":
        return (SheetOption("1", f"{last}. N/A (please explain)", True, True), *options)
    return (*options, SheetOption(str(last), f"{last}. N/A (please describe)", True, True))
