"""Column names in which something varies: ``Answer.fluency_{n}``, ``Q{item}_{criterion}_{system}``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

PLACEHOLDER = re.compile(r"\{(n|item|system|criterion|option|rater)\}")


@dataclass(frozen=True)
class Slot:
    """One place of an answer in a row: its column, or its columns by option, and what the name says."""

    column: str
    given: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)

    def fill(self, column: str) -> str:
        """Return another column's name with what varies filled in as here."""
        return PLACEHOLDER.sub(lambda found: self.given.get(found[1], found[0]), column)


def find_slots(pattern: str, columns: Sequence[str]) -> list[Slot]:
    """Return the places at which a pattern finds columns, in the order of the file; numbers in numeric order.

    A column whose name is the pattern itself is the only one.

    >>> [slot.given for slot in find_slots("q{n}_{criterion}", ["q1_a", "q10_a", "q2_a", "x"])]
    [{'n': '1', 'criterion': 'a'}, {'n': '2', 'criterion': 'a'}, {'n': '10', 'criterion': 'a'}]
    """
    if pattern in columns:
        return [Slot(pattern)]
    names = PLACEHOLDER.findall(pattern)
    if not names:
        return []
    matcher = _compile(pattern)
    slots: dict[tuple[tuple[str, str], ...], Slot] = {}
    for column in columns:
        found = matcher.fullmatch(column)
        if not found:
            continue
        given = found.groupdict()
        option = given.pop("option", None)
        key = tuple(given.items())
        slot = slots.setdefault(key, Slot(column, given))
        if option is not None:
            slot.options[option] = column
    return sorted(slots.values(), key=lambda slot: _order(slot.given.get("n", "")))


def _compile(pattern: str) -> re.Pattern[str]:
    """Return the expression that a pattern stands for: an {n} is a number, the rest as short as possible."""
    parts, seen, end = [], set[str](), 0
    for found in PLACEHOLDER.finditer(pattern):
        name = found[1]
        parts.append(re.escape(pattern[end : found.start()]))
        kind = r"\d+" if name == "n" else r".+" if name == "option" else r".+?"
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{kind})")
        seen.add(name)
        end = found.end()
    parts.append(re.escape(pattern[end:]))
    return re.compile("".join(parts))


def _order(number: str) -> int:
    # Batch files sort columns as text: 0, 1, 10, 11, 2.
    return int(number) if number.isdecimal() else 0
