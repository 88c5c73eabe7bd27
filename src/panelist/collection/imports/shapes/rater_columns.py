"""One column for each rater: annotator1 … annotator6, on one criterion or that of another column."""

import re

from panelist.collection.imports.guessing.column_profiles import Column
from panelist.collection.imports.guessing.patterns import find_slots
from panelist.collection.imports.shapes.base import Answers, Case, name_answer, shape
from panelist.collection.imports.vocabulary import ANSWER_NAMES, RATERS, split_name
from panelist.core.prose import listing

_NUMBERED = re.compile(r"(.*?)([ _.-]*)(\d+)")


def find_raters(case: Case) -> tuple[str, list[Column], bool] | None:
    """Return the pattern of columns of raters, the columns, and whether the numbers may be people.

    ``annotator1`` may be a person; ``score1`` is a place.
    """
    groups: dict[str, list[Column]] = {}
    for column in case.columns:
        found = _NUMBERED.fullmatch(column.name)
        if (
            found
            and not found[2].startswith(".")
            and (column.is_scale or column.is_labels or column.is_constant)
        ):
            groups.setdefault(f"{found[1]}{found[2]}", []).append(column)
    found_here: list[tuple[str, list[Column], bool]] = []
    for stem, members in groups.items():
        parts = split_name(stem)
        people = bool(parts) and parts[-1] in RATERS
        places = bool(parts) and parts[-1] in ANSWER_NAMES
        if len(members) < 2 or not (people or places):
            continue
        pattern = stem + ("{rater}" if people else "{n}")
        if {slot.column for slot in find_slots(pattern, case.sheet.columns)} != {one.name for one in members}:
            continue
        found_here.append((pattern, members, people))
    # Several such sets, fluency_rater1 … and coherence_rater1 …, vary in two parts of their names.
    return found_here[0] if len(found_here) == 1 else None


@shape("one column for each rater", rank=3)
def recognise(case: Case) -> list[Answers]:
    """Return the reading with a pattern of columns."""
    found = find_raters(case)
    if found is None:
        return []
    pattern, members, people = found
    made = []
    names = [one.name for one in members]
    for roles in case.roles(several=True, skip=names):
        entry = {**name_answer(members[0]), "answer": pattern}
        says = f"{names[0]} to {names[-1]}"
        if roles.criterion is not None:
            entry = {"named_by": roles.criterion.cell, **entry}
            says += f", on the criterion in {roles.criterion.cell}"
        else:
            entry = {"name": "rating", **entry}
        if not people and roles.rater is not None:
            label = f"{listing(names, 3)} are several ratings by the rater in {roles.rater.cell}"
            made.append(Answers(roles, criteria=[entry], says=says, sure=False, label=label))
            continue
        made.append(
            Answers(
                roles,
                criteria=[entry],
                says=says,
                raters=f"the names of the columns {names[0]} to {names[-1]}" if people else "",
                unknown=not people,
                label=roles.label,
            )
        )
    return made
