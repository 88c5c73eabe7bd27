"""The plan, place by place: which pages a rater gets, and what is on each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from panelist.design.plan import Plan

PLACES_KEPT = 4096
COLUMNS = ("occasion", "order", "phase", "check", "item", "system", "criterion", "position")


@dataclass(frozen=True, slots=True)
class PlanPage:
    """One page of a rater's plan."""

    order: int
    phase: str
    check: str
    outputs: tuple[tuple[str, str], ...]
    """Item and system of each output, in the order shown."""
    criteria: tuple[str, ...]
    due: tuple[str, ...] = ()
    """The checks that can be graded once this page is done."""


@dataclass(frozen=True)
class Sitting:
    """The pages of one rater at one occasion, in order."""

    pages: tuple[PlanPage, ...]
    originals: Mapping[str, int]
    """For each check that repeats a trial, the order of that trial."""
    practice: tuple[PlanPage, ...] = field(init=False)
    """The practice pages."""
    counted: tuple[PlanPage, ...] = field(init=False)
    """The pages that raters count: trials and checks, which look alike."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "practice", tuple(page for page in self.pages if page.phase == "practice"))
        object.__setattr__(self, "counted", tuple(page for page in self.pages if page.phase != "practice"))

    def page(self, order: int) -> PlanPage | None:
        """Return the page of this number, None where there is none."""
        if 1 <= order <= len(self.pages) and self.pages[order - 1].order == order:
            return self.pages[order - 1]
        return next((page for page in self.pages if page.order == order), None)  # a replacement's has gaps

    def check(self, name: str) -> PlanPage:
        """Return the page of a check."""
        return next(page for page in self.pages if page.check == name)

    def after(self, order: int) -> PlanPage | None:
        """Return the page that comes after this number."""
        return next(
            (page for page in self.pages[min(order, len(self.pages)) - 1 :] if page.order > order), None
        )

    def before(self, order: int) -> PlanPage | None:
        """Return the page that came before this number."""
        return next((page for page in reversed(self.pages) if page.order < order), None)

    def count_done(self, page: PlanPage) -> int:
        """Return how many pages raters count up to this one, itself included."""
        return page.order - len(self.practice) if self._whole else self.counted.index(page) + 1

    @property
    def _whole(self) -> bool:
        """Whether pages are numbered without gaps, practice first."""
        return bool(self.pages) and self.pages[-1].order == len(self.pages)


EMPTY = Sitting((), {})


class Agenda:
    """The pages of every place; those of one place are made when they are first asked for.

    ``comparative`` names the criteria that compare outputs: a check that asks one of them shows as many
    outputs as the trials do, although the plan has one row for it.
    """

    def __init__(self, plan: Plan, comparative: Collection[str] = ()) -> None:
        table = plan.table
        codes = table["rater"].cat.codes.to_numpy()
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        names = [plan.raters[code] for code in codes[begins].tolist()]
        ends = [*begins[1:].tolist(), len(codes)]
        self._spans = dict(zip(names, zip(begins.tolist(), ends, strict=True), strict=True))
        # Lists of texts and numbers, made once: taking rows out of a frame costs more than reading them.
        self._columns = [_list_values(table[name]) for name in COLUMNS]
        self._comparative = frozenset(comparative)
        self.places = tuple(names)
        self._read = lru_cache(PLACES_KEPT)(self._make)

    def sitting(self, place: str | None, occasion: int) -> Sitting:
        """Return the pages of a place at an occasion; empty where there are none."""
        return self._read(place).get(occasion, EMPTY) if place in self._spans else EMPTY

    def occasions(self, place: str | None) -> int:
        """Return how many sittings a place has."""
        return max(self._read(place), default=1) if place in self._spans else 1

    def _make(self, place: str) -> dict[int, Sitting]:
        """Return the sittings of a place, from the rows of the plan."""
        start, end = self._spans[place]
        drafts: dict[tuple[int, int], _PageDraft] = {}
        rows = zip(*(column[start:end] for column in self._columns), strict=True)
        for occasion, order, phase, check, item, system, criterion, position in rows:
            draft = drafts.get((occasion, order))
            if draft is None:
                draft = drafts[occasion, order] = _PageDraft(phase, check)
            draft.outputs[position] = (item, system)
            draft.criteria[criterion] = None
        sittings: dict[int, list[PlanPage]] = {}
        for (occasion, order), draft in sorted(drafts.items()):
            sittings.setdefault(occasion, []).append(draft.finish(order))
        return {occasion: self._tie(pages) for occasion, pages in sittings.items()}

    def _tie(self, pages: Sequence[PlanPage]) -> Sitting:
        """Return the sitting, in which each check knows the trial it repeats and when both are answered."""
        shown = max((len(page.outputs) for page in pages if page.phase == "trial"), default=1)
        originals: dict[str, int] = {}
        due: dict[int, list[str]] = {}
        tied = []
        for page in pages:
            if page.check:
                twin = next((other for other in pages if _repeats(page, other)), None)
                if twin is not None:
                    originals[page.check] = twin.order
                due.setdefault(max(page.order, twin.order if twin else 0), []).append(page.check)
            alone = page.phase == "check" and len(page.outputs) == 1
            compared = not self._comparative.isdisjoint(page.criteria)
            tied.append(replace(page, outputs=page.outputs * shown) if alone and compared else page)
        graded = (replace(page, due=tuple(due[page.order])) if page.order in due else page for page in tied)
        return Sitting(tuple(graded), originals)


@dataclass
class _PageDraft:
    """A page while its rows are read."""

    phase: str
    check: str
    outputs: dict[int, tuple[str, str]] = field(default_factory=dict)
    criteria: dict[str, None] = field(default_factory=dict)

    def finish(self, order: int) -> PlanPage:
        outputs = tuple(self.outputs[position] for position in sorted(self.outputs))
        return PlanPage(order, self.phase, self.check, outputs, tuple(self.criteria))


def _list_values(column: "pd.Series[Any]") -> list[Any]:
    """Return the values of a column of the plan; each text is one object, however often it occurs."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.tolist()
    names = column.cat.categories.tolist()
    return [names[code] for code in column.cat.codes.tolist()]


def _repeats(check: PlanPage, trial: PlanPage) -> bool:
    """Return whether a check shows again what a trial shows."""
    return (
        trial.phase == "trial"
        and set(check.outputs) <= set(trial.outputs)
        and set(check.criteria) <= set(trial.criteria)
    )
