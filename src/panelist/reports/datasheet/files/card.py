"""A card: the JSON file that the official forms export and load, with everything that is in it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from panelist.core.errors import BadFile
from panelist.reports.datasheet.heds_questions import (
    CRITERIA_KEY,
    OTHER_TEXT,
    VERSIONS,
    SheetQuestion,
    Version,
    list_questions,
)


@dataclass(frozen=True)
class SheetLayout:
    """Indent, escapes, separators, line ends and what is at the two ends of the file."""

    indent: str | None = "    "
    ascii: bool = False
    colon: str = ": "
    comma: str = ","
    newline: str = "\n"
    end: str = ""
    mark: bool = False
    """Whether the file begins with a byte order mark."""

    def write(self, data: Any) -> bytes:
        """Return the data as the bytes of a file."""
        text = json.dumps(
            data, indent=self.indent, ensure_ascii=self.ascii, separators=(self.comma, self.colon)
        )
        text = (text + self.end).replace("\n", self.newline)
        return ("\ufeff" if self.mark else "").encode() + text.encode("utf-8", "surrogatepass")


def find_layout(content: bytes, data: Any) -> SheetLayout | None:
    """Return the layout under which the data give exactly this content, None where there is none."""
    mark = content.startswith("\ufeff".encode())
    text = content.decode("utf-8-sig", "surrogatepass")
    newline = "\r\n" if "\r\n" in text else "\n"
    ends = re.search(r"\s*\Z", text)
    end = ends.group().replace("\r\n", "\n") if ends else ""
    first = re.match(r"[{[]\r?\n([ \t]+)", text)
    indent = first.group(1) if first else None
    # Without an indent a space may follow the comma; with one, only the line end does.
    commas = (",",) if indent is not None else (", ", ",")
    for escaped, comma, colon in product((False, True), commas, (": ", ":")):
        layout = SheetLayout(indent, escaped, colon, comma, newline, end, mark)
        if layout.write(data) == content:
            return layout
    return None


Entries: TypeAlias = dict[str, Any]
PREFIX = "heds-"
MOST_UNKNOWN = 0.5  # from this share of unknown keys on, a file is of another version


@dataclass(frozen=True, eq=False)
class Card:
    """A file of the forms: its entries in their order, and how it was laid out."""

    entries: Entries
    layout: SheetLayout
    exact: bool = True
    """Whether the layout reproduces the file byte for byte; if not, it gives the same JSON."""


def parse_card(content: bytes, name: str) -> Card:
    """Return the card in a file's content, or raise BadFile that says what it is instead."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadFile(f"{name} is not UTF-8 text, as a HEDS file must be; save it as UTF-8.") from None
    try:
        data = json.loads(text, object_pairs_hook=_refuse_repeated)
    except json.JSONDecodeError as error:
        raise BadFile(
            f"{name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}. A HEDS file is "
            "what the form exports, datacard-….json."
        ) from None
    except _Repeated as error:
        raise BadFile(
            f"{name} holds the key {error.key!r} twice; only one of the two can be meant."
        ) from None
    except RecursionError:
        raise BadFile(f"{name} is nested too deeply for a HEDS file.") from None
    if not isinstance(data, dict) or not any(key.startswith(PREFIX) for key in data):
        raise BadFile(
            f"{name} is not a HEDS file: it should be a JSON object with keys that begin with {PREFIX!r}."
        )
    for key, entry in data.items():
        if key.startswith(PREFIX):
            _check_entry(key, entry, name)
    layout = find_layout(content, data)
    return Card(data, layout or SheetLayout(), exact=layout is not None)


def find_version(entries: Mapping[str, Any], name: str) -> Version:
    """Return the version of a card, which no key names: 3.0 numbers its entries, and has different keys."""
    mine = [key for key in entries if key.startswith(PREFIX)]
    keys = {version: set(list_keys(version)) for version in VERSIONS}
    unknown = [key for key in mine if not any(key in known for known in keys.values())]
    if len(unknown) > MOST_UNKNOWN * len(mine):
        shown = ", ".join(repr(key) for key in unknown[:3])
        raise BadFile(
            f"{name} is of an unknown version of HEDS: {len(unknown)} of its {len(mine)} keys are neither of "
            f"3.0 nor of 2.x ({shown}, …)."
        )
    numbered = any("number" in entries[key] for key in mine)
    only_new = any(key in keys["3.0"] - keys["2.x"] for key in mine)
    only_old = any(key in keys["2.x"] - keys["3.0"] for key in mine)
    return "3.0" if numbered or (only_new and not only_old) else "2.x"


def list_keys(version: Version) -> list[str]:
    """Return every key that a card of a version may hold, in the order of its form."""
    keys = [CRITERIA_KEY]
    for question in list_questions(version):
        keys += keys_of(question)
    return keys


def keys_of(question: SheetQuestion) -> list[str]:
    """Return the keys of a question: its own, or those of its options and its explanation."""
    if not question.is_choice:
        return [question.key]
    return [*(f"{question.key}-{option.code}" for option in question.options), f"{question.key}-{OTHER_TEXT}"]


class _Repeated(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise _Repeated(key)
        made[key] = value
    return made


def _check_entry(key: str, entry: Any, name: str) -> None:
    """Raise BadFile unless the entry is one of the kinds that the forms write."""
    data = entry.get("data", {}) if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(data, dict):
        raise BadFile(f"{name}: {key!r} should hold an object with data, as the form writes it.")
    if key == CRITERIA_KEY:
        control = entry.get("control", {})
        if not isinstance(control, dict) or not all(isinstance(one, bool) for one in control.values()):
            raise BadFile(f"{name}: {key!r} should hold, under control, true or false for each criterion.")
        return
    for slot, value in data.items():
        if not isinstance(value, str | bool):
            raise BadFile(
                f"{name}: {key!r} should hold a text, or true or false; found {json.dumps(value)[:40]} for "
                f"{slot or 'the only slot'!r}."
            )
