"""What a study gives every rater besides trials: practice and checks, and the questions on each page."""

import numpy as np

from panelist.design.sheets.pages_of_rater import Extras, QuestionSet
from panelist.design.sheets.plan_rows import RowCodes
from panelist.design.sheets.spread_checks import PlannedCheck
from panelist.study.sections.checks import DegradedCheck, InstructedCheck, RepeatCheck
from panelist.study.study import Study


def name_specials(study: Study) -> tuple[list[str], list[str]]:
    """Return the names of the checks, and of all items: the study's, practice items, instructed checks."""
    names = [name for name, _ in _list_checks(study)]
    n_practice = len(study.file.practice.items) if study.file.practice else 0
    n_instructed = sum(isinstance(check, InstructedCheck) for _, check in _list_checks(study))
    specials = [f"practice-{number}" for number in range(1, n_practice + 1)]
    specials += [f"check-{number}" for number in range(1, n_instructed + 1)]
    return names, [*study.items, *specials]


def find_extras(study: Study, criteria: tuple[int, ...]) -> tuple[Extras, RowCodes]:
    """Return practice and checks for raters who judge these criteria, and the codes their pages refer to."""
    practice = study.file.practice.items if study.file.practice else ()
    sets = _Sets()
    kinds = _split_kinds(study, criteria)
    turns = tuple(QuestionSet(sets.number(own), alone) for own, alone in _list_turns(study, criteria, kinds))
    planned, n_instructed = [], 0
    for name, check in _list_checks(study):
        if isinstance(check, InstructedCheck):
            own = tuple(code for code in criteria if study.criteria[code].name in check.answers)
            asks = {turn.criteria: sets.number(_choose(sets.listed[turn.criteria], own)) for turn in turns}
            planned.append(PlannedCheck(name, len(practice) + n_instructed, None, asks))
            n_instructed += 1
        else:
            distance = check.distance if isinstance(check, RepeatCheck) else None
            planned.append(PlannedCheck(name, distance=distance))
    apart = study.file.design.rated == "alone" and all(kinds)
    practised = tuple(sets.number(kinds[not item.outputs] if apart else criteria) for item in practice)
    n_specials = len(practice) + n_instructed
    shown = [max(1, len(item.outputs)) for item in practice] + [1] * n_instructed
    codes = RowCodes(
        len(study.items) + np.arange(max(1, n_specials)),
        np.array(shown or [1], dtype=np.int64),
        sets.listed,
        len(study.systems),
    )
    return Extras(practised, tuple(planned), turns), codes


class _Sets:
    """The sets of criteria that pages ask, each listed once; a page refers to one by its number."""

    def __init__(self) -> None:
        self.listed: list[tuple[int, ...]] = []

    def number(self, criteria: tuple[int, ...]) -> int:
        if criteria not in self.listed:
            self.listed.append(criteria)
        return self.listed.index(criteria)


def _split_kinds(study: Study, criteria: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the criteria that compare outputs, and those that rate each of them."""
    comparing = tuple(code for code in criteria if study.criteria[code].scale.comparative)
    return comparing, tuple(code for code in criteria if code not in comparing)


def _list_turns(
    study: Study, criteria: tuple[int, ...], kinds: tuple[tuple[int, ...], ...]
) -> list[tuple[tuple[int, ...], bool]]:
    """Return the pages of a trial: the criteria of each, and whether it shows one output alone."""
    choice = study.file.design
    alone = choice.rated == "alone"
    if choice.criteria in ("in turn", "in blocks"):
        return [((code,), alone and code in kinds[1]) for code in criteria]
    if not alone:
        return [(criteria, False)]
    return [(kind, kind == kinds[1]) for kind in sorted(kinds) if kind]  # the first that is listed goes first


def _choose(asked: tuple[int, ...], own: tuple[int, ...]) -> tuple[int, ...]:
    """Return the questions of an instructed check among pages that ask these: those it has answers to.

    A check that has no answer to any of them still asks its own questions, one where pages ask one.
    """
    here = tuple(code for code in asked if code in own)
    return here or (own[:1] if len(asked) == 1 else own) or asked


def _list_checks(study: Study) -> list[tuple[str, InstructedCheck | RepeatCheck | DegradedCheck]]:
    """Return each check that a rater gets, with its name."""
    counts: dict[str, int] = {}
    listed = []
    for check in study.file.checks.items if study.file.checks else ():
        for _ in range(1 if isinstance(check, InstructedCheck) else check.count):
            counts[check.kind] = counts.get(check.kind, 0) + 1
            listed.append((f"{check.kind}-{counts[check.kind]}", check))
    return listed
