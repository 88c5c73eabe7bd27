"""One rating in each row: a column with the rating, often one with the criterion."""

from panelist.collection.imports.guessing.column_profiles import Column
from panelist.collection.imports.guessing.column_roles import Roles
from panelist.collection.imports.shapes.base import Answers, Case, name_answer, shape
from panelist.collection.imports.vocabulary import ANSWER_NAMES, last_part, squeeze
from panelist.core.tables.columns import find_role

ORDER = ("rating", "score", "value", "grade", "judgment", "judgement", "stars", "label", "response", "answer")


@shape("one rating in each row", rank=2)
def recognise(case: Case) -> list[Answers]:
    """Return the reading with one answer's column, where one is named so or is the only candidate."""
    made = []
    for roles in case.roles():
        answer = _find_answer(case, roles)
        if answer is None:
            continue
        entry = name_answer(answer)
        if roles.criterion is not None:
            entry = {"named_by": roles.criterion.cell, **entry}
            says = f"{answer.name}, on the criterion in {roles.criterion.cell}"
        else:
            entry = {"name": "rating", **entry}
            says = answer.name
        made.append(
            Answers(
                roles,
                criteria=[entry],
                says=says,
                sure=_is_named(answer),
                unknown=roles.rater is None,
                label=roles.label,
            )
        )
    return made


def _find_answer(case: Case, roles: Roles) -> Column | None:
    able = case.answers(roles)
    named = [one for one in able if _is_named(one)]
    named.sort(
        key=lambda one: (
            ORDER.index(squeeze(last_part(one.name))) if squeeze(last_part(one.name)) in ORDER else 99
        )
    )
    numeric = [one for one in named if one.is_numeric]
    if roles.criterion is not None:
        best = numeric or named or (able if len(able) == 1 else [])
        return best[0] if best else None
    if len(able) == 1 and named:
        return named[0]
    return None


def _is_named(column: Column) -> bool:
    """Return whether a column is named like ratings."""
    last = last_part(column.name)
    return squeeze(last) in ANSWER_NAMES or find_role(last) == "rating"
