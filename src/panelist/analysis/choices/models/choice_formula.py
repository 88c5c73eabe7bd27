"""Formulas of choices: what else differs between outputs, and what varies over raters and items.

    preference ~ system + style(words) + position + (1 | rater:system) + (system | item) + (position | rater)

Every column enters as the difference of the outputs shown together, so what is the same for all of them, such
as a rater's level, cancels.
"""

import re
from dataclasses import dataclass

from panelist.core.errors import BadFormula
from panelist.models.choices.pairs import POSITION
from panelist.models.formulas.formula import RandomTerm, parse_formula
from panelist.models.formulas.terms import read_terms

GROUPS = ("rater", "item")
LEVEL = "level"  # (1 | rater): of pairs whose first output always stood first, how much a rater favours it
EXAMPLE = "preference ~ system + style(words) + (1 | rater:system) + (1 | item:system)"
_STYLE = re.compile(r"\bstyle\(((?:[^()]|\([^()]*\))*)\)")
_LOG = re.compile(r"log\(.+\)")


@dataclass(frozen=True)
class ChoiceTerms:
    """What a formula asks for: style, whether position has an effect, and what varies over which group.

    What varies is ``preferences``, (1 | rater:system), ``contrasts``, (system | rater), ``position``, or a
    ``level``.
    """

    style: tuple[str, ...]
    position: bool
    groups: tuple[tuple[str, str], ...]


def read_choice_formula(text: str) -> ChoiceTerms:
    """Return what a formula of choices asks for; BadFormula for what such a model cannot have.

    >>> read_choice_formula("choice ~ system + style(words) + (system | rater)").groups
    (('rater', 'contrasts'),)
    """
    parsed = parse_formula(_STYLE.sub(lambda found: found.group(1).strip(), text))
    style, names = [], []
    for term in read_terms(parsed.fixed).terms:
        words = ":".join(piece.text for piece in term)
        names.append(words)
        if len(term) > 1:
            raise _refuse(text, f"{words} is an interaction: compare within its values with --by")
        if words in GROUPS:
            raise _refuse(text, f"{words} is the same on both sides of a comparison, and cancels")
        if "(" in words and not _LOG.fullmatch(words):
            raise _refuse(text, f"{words} cannot be read: log(…) is the one function of a column here")
        if words not in ("system", POSITION):
            style.append(words.replace("`", ""))
    if "system" not in names:
        raise _refuse(text, "it does not have system, whose strengths are compared")
    groups = tuple(_read_random(text, term) for term in parsed.random)
    if not groups:
        raise _refuse(
            text, "nothing in it varies over raters or items; --model bradley-terry needs no formula"
        )
    for group in GROUPS:
        if {(group, "preferences"), (group, "contrasts")} <= set(groups):
            raise _refuse(text, f"(system | {group}) holds (1 | {group}:system): leave one of them out")
    return ChoiceTerms(tuple(style), POSITION in names, groups)


def _read_random(text: str, term: RandomTerm) -> tuple[str, str]:
    """Return the group of a random term, and what varies over it."""
    group = next((name for name in GROUPS if name in term.grouping), "")
    if term.split:
        raise _refuse(
            text, "|| makes the answer depend on which system comes first: write (1 | rater:system), or |"
        )
    if group and term.columns == "1" and set(term.grouping) == {group, "system"}:
        return group, "preferences"
    if term.grouping == (group,):
        for columns, what in (("system", "contrasts"), (POSITION, "position")):
            if term.columns in (f"1 + {columns}", f"0 + {columns}"):
                return group, what
        if term.columns == "1":
            return group, LEVEL
    raise _refuse(
        text,
        f"{term.text} is none of (1 | rater:system), (system | rater), (position | rater), or these of item",
    )


def say_level(group: str) -> str:
    """Return why (1 | rater) has no meaning where the first output did not always stand first."""
    return (
        f"(1 | {group}) is the same on both sides of a comparison, and cancels. That {group}s prefer "
        f"different systems is (1 | {group}:system); how much each favours what stands first is "
        f"(position | {group})"
    )


def _refuse(text: str, why: str) -> BadFormula:
    return BadFormula(f"The formula {text!r} cannot be fitted to choices: {why}. A right one: {EXAMPLE}")
