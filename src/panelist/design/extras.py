"""What a study gives every rater besides trials: practice and checks, and the questions on each page."""

import numpy as np

from panelist.design.pages_of_rater import Extras
from panelist.design.rows import Codes
from panelist.design.spread_checks import PlannedCheck
from panelist.study.checks import DegradedCheck, InstructedCheck, RepeatCheck
from panelist.study.study import Study


def name_specials(study: Study) -> tuple[list[str], list[str]]:
    """Return the names of the checks, and of all items: the study's, practice items, instructed checks."""
    names = [name for name, _ in _list_checks(study)]
    n_practice = len(study.file.practice.items) if study.file.practice else 0
    n_instructed = sum(isinstance(check, InstructedCheck) for _, check in _list_checks(study))
    specials = [f"practice-{number}" for number in range(1, n_practice + 1)]
    specials += [f"check-{number}" for number in range(1, n_instructed + 1)]
    return names, [*study.items, *specials]


def find_extras(study: Study, criteria: tuple[int, ...]) -> tuple[Extras, Codes]:
    """Return practice and checks for raters who judge these criteria, and the codes their pages refer to."""
    practice = study.file.practice.items if study.file.practice else ()
    questions: list[tuple[int, ...]] = [criteria, *((code,) for code in criteria)]
    single = {code: number + 1 for number, code in enumerate(criteria)}
    every = 0 if len(criteria) > 1 else 1
    planned, n_instructed = [], 0
    for name, check in _list_checks(study):
        if isinstance(check, InstructedCheck):
            own = tuple(code for code in criteria if study.criteria[code].name in check.answers)
            questions.append(own or criteria)
            singles = tuple(single[code] for code in own)
            special = len(practice) + n_instructed
            planned.append(PlannedCheck(name, special, None, len(questions) - 1, singles))
            n_instructed += 1
        else:
            distance = check.distance if isinstance(check, RepeatCheck) else None
            planned.append(PlannedCheck(name, distance=distance))
    n_specials = len(practice) + n_instructed
    shown = [max(1, len(item.outputs)) for item in practice] + [1] * n_instructed
    codes = Codes(
        len(study.items) + np.arange(max(1, n_specials)),
        np.array(shown or [1], dtype=np.int64),
        questions,
        len(study.systems),
    )
    return Extras(len(practice), tuple(planned), every, single), codes


def _list_checks(study: Study) -> list[tuple[str, InstructedCheck | RepeatCheck | DegradedCheck]]:
    """Return each check that a rater gets, with its name."""
    counts: dict[str, int] = {}
    listed = []
    for check in study.file.checks.items if study.file.checks else ():
        for _ in range(1 if isinstance(check, InstructedCheck) else check.count):
            counts[check.kind] = counts.get(check.kind, 0) + 1
            listed.append((f"{check.kind}-{counts[check.kind]}", check))
    return listed
