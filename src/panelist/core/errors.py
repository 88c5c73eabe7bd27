"""The error tree. Every message says what was wrong, what was found, what is allowed and what to do.

PanelistError            the user can fix it; the command line prints it and exits with 2
├── BadFile              a file that is missing, empty or not what its name says
├── BadRatings           a ratings table with a column or a value that cannot be used
├── BadFormula           a formula that cannot be read, or names what the data do not have
├── BadModel             a model that these data, or these options, do not support
├── BadStudy             a study file, or its outputs, with problems; lists them all
├── BadDesign            a design that these numbers of raters, items and systems do not allow
├── BadPlan              a plan that does not belong to its study, or was changed by hand
├── BadReproduction      studies that cannot be compared: nothing in common, scales that differ
└── UnknownName          a name that no registry has; suggests similar ones
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path

MORE = "More: "  # before the place with causes and cures


class PanelistError(Exception):
    """Something the user can fix; the message says how, and a note on it where causes and cures are."""

    def __init__(self, *words: object) -> None:
        super().__init__(*words)
        self.add_note(MORE + find_causes(find_anchor(type(self))))


def find_anchor(kind: type[PanelistError]) -> str:
    """Return the heading of an error on the page of errors.

    >>> find_anchor(PanelistError), find_anchor(BadRatings)
    ('panelist-error', 'bad-ratings')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()


@cache
def find_causes(heading: str) -> str:
    """Return where causes and cures are: a heading of the page of errors, installed or in the repository."""
    installed = Path(__file__).parents[1] / "errors.md"
    page = installed if installed.is_file() else Path(__file__).parents[3] / "docs" / "errors.md"
    return f"{page}#{heading}"


class BadFile(PanelistError):
    """A file is missing, empty or not what its name says."""


class BadRatings(PanelistError):
    """A column or a value of the ratings table cannot be used."""


class BadFormula(PanelistError):
    """The formula cannot be read, or names what the data do not have."""


class BadModel(PanelistError):
    """These data, or these options, do not support the model."""


class BadStudy(PanelistError):
    """The study has problems; the message has one line for each, ``problems`` holds them."""

    def __init__(self, message: str, problems: Iterable[object] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class BadDesign(PanelistError):
    """These numbers of raters, items, systems and ratings are not possible together."""


class BadPlan(PanelistError):
    """The plan cannot be read, does not belong to this study, or was changed by hand."""


class BadReproduction(PanelistError):
    """Studies cannot be compared as they are: nothing in common, or scales that differ."""


class UnknownName(PanelistError):
    """No registered thing has this name."""


IMPORT = (
    "Where criteria, raters or outputs have a column each, or entries are nested, panelist import FILE makes "
    "the ratings table."
)
"""The end of an error message about a table that is not one row per rating."""


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are similar to a word, the nearest first; at most three.

    >>> nearest("systme", ["system", "rating", "rater"]), nearest("x", ["system", "item"])
    (['system'], [])
    """
    return get_close_matches(word, sorted(set(known)), n=3, cutoff=0.6)


def suggest(names: Iterable[str]) -> str:
    """Return the question that offers these names, with a space before it; nothing where there are none.

    >>> suggest(["system", "item"]), suggest([])
    (" Did you mean 'system' or 'item'?", '')
    """
    listed = " or ".join(map(repr, names))
    return f" Did you mean {listed}?" if listed else ""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return the sentence that ends an error about an unknown word.

    >>> did_you_mean("systme", ["system", "rating", "rater"])
    "Did you mean 'system'?"
    >>> did_you_mean("x", ["system", "item"])
    "Known: 'item', 'system'."
    >>> did_you_mean(5, ["system", "item"])  # from Python, anything may come
    "Known: 'item', 'system'."
    """
    names = sorted(set(known))
    if near := nearest(str(word), names):
        return suggest(near).lstrip()
    shown = ", ".join(repr(name) for name in names[:12]) + (", …" if len(names) > 12 else "")
    return f"Known: {shown}." if names else "There are none."


def list_shortly(names: Iterable[object], word: str = "", most: int = 8) -> str:
    """Return names in a row; where there are more than ``most``, those like a word first, and how many more.

    >>> list_shortly(["item", "rater", "score", "system"], "scor", most=2)
    "'score', 'item' and 2 more"
    """
    every = [str(name) for name in names]
    if len(every) <= most:
        return ", ".join(map(repr, every))
    near = get_close_matches(word, every, n=most, cutoff=0.6) if word else []
    ordered = [*near, *(name for name in every if name not in near)]
    return f"{', '.join(map(repr, ordered[:most]))} and {len(ordered) - most:,} more"
