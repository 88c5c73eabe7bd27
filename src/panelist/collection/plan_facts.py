"""What a plan wants of each place, counted once: pages, ratings, cells, minutes and pay."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from panelist.collection.reading_pace import count_words
from panelist.study.study import Study
from panelist.study.wages import exact, find_pay, find_wage

if TYPE_CHECKING:
    import pandas as pd

    from panelist.design.plan import Plan


@dataclass(frozen=True)
class PlaceFacts:
    """What one place holds."""

    list: str
    group: str
    pages: int
    """Pages to rate in all sittings, checks included and practice not."""
    practice: frozenset[tuple[int, int]]
    """The practice pages, as (occasion, order)."""
    pay: Decimal | None
    """What the place is paid in all; None where the study says no wage or no time."""
    cells: NDArray[np.int64] = field(repr=False)
    """The cells that it fills: outputs by criterion, numbered over the plan, first sitting only."""
    words: Mapping[tuple[int, int], int] = field(default_factory=dict, repr=False)
    """How many words its pages have to read, as (occasion, order); practice is left out."""


@dataclass(frozen=True)
class PlanFacts:
    """What the whole plan wants."""

    places: Mapping[str, PlaceFacts] = field(repr=False)
    ratings: int
    """Ratings wanted: answers to trials, one for each output or for each comparison."""
    wanted: NDArray[np.int64] = field(repr=False)
    """How many ratings each cell gets when every place is filled; by its number."""


def count_plan(plan: "Plan", study: Study) -> PlanFacts:
    """Return what a plan wants of its places."""
    table = plan.table
    trial = (table["phase"] == "trial").to_numpy()
    compared = {criterion.name for criterion in study.criteria if criterion.scale.comparative}
    several = table["criterion"].isin(compared).to_numpy() & (table["position"] > 1).to_numpy()
    first = trial & (table["occasion"] == 1).to_numpy()
    cells = _number_cells(table)
    paid: dict[tuple[int, ...], Decimal | None] = {}
    columns = [table[name].tolist() for name in ("occasion", "order", "phase")]
    lists, groups = table["list"].tolist(), table["group"].tolist()
    words = _count_row_words(table, study)
    places = {}
    for place, start, end in _find_spans(table):
        rows = zip(*(column[start:end] for column in columns), strict=True)
        phases = {(occasion, order): phase for occasion, order, phase in rows}
        practice = frozenset(page for page, phase in phases.items() if phase == "practice")
        sizes = tuple(sorted(Counter(occasion for occasion, _ in phases).values()))
        if sizes not in paid:
            paid[sizes] = _find_pay(study, sizes)
        places[place] = PlaceFacts(
            list=str(lists[start]),
            group=str(groups[start]),
            pages=len(phases) - len(practice),
            practice=practice,
            pay=paid[sizes],
            cells=cells[start:end][first[start:end]],
            words=_sum_words(columns[0][start:end], columns[1][start:end], words[start:end], practice),
        )
    wanted = np.bincount(cells[first], minlength=int(cells.max(initial=-1)) + 1)
    return PlanFacts(places, int((trial & ~several).sum()), wanted)


def count_cells(facts: PlanFacts, filled: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each cell of the plan is filled by these places, and how often it shall be."""
    parts = [facts.places[place].cells for place in filled if place in facts.places]
    rows = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    got = np.bincount(rows, minlength=len(facts.wanted))
    there = facts.wanted > 0  # the others are cells of checks and practice only
    return got[there], facts.wanted[there]


def _number_cells(table: "pd.DataFrame") -> NDArray[np.int64]:
    """Return the number of each row's output and criterion."""
    codes = [table[name].cat.codes.to_numpy(np.int64) for name in ("item", "system", "criterion")]
    sizes = [len(table[name].cat.categories) for name in ("item", "system", "criterion")]
    whole = (codes[0] * sizes[1] + codes[1]) * sizes[2] + codes[2]
    return np.asarray(np.unique(whole, return_inverse=True)[1], dtype=np.int64)


def _count_row_words(table: "pd.DataFrame", study: Study) -> NDArray[np.int32]:
    """Return the words of the output in each row; none where another row of the page has the same output."""
    frame = study.outputs.frame
    codes = [table[name].cat.codes.to_numpy() for name in ("item", "system")]
    places = [
        {str(word): code for code, word in enumerate(table[name].cat.categories)}
        for name in ("item", "system")
    ]
    counted = np.zeros((len(places[0]), max(1, len(places[1]))), dtype=np.int32)
    if "output" in frame.columns:
        cells = zip(frame["item"].tolist(), frame["system"].tolist(), frame["output"].tolist(), strict=True)
        for item, system, text in cells:
            row, column = places[0].get(str(item)), places[1].get(str(system))
            if row is not None and column is not None:
                counted[row, column] = count_words(str(text))
    where = np.stack([table["rater"].cat.codes, *(table[name] for name in ("occasion", "order", "position"))])
    again = np.zeros(len(table), dtype=bool)
    again[1:] = (np.diff(where, axis=1) == 0).all(axis=0)  # the criteria of one output stand together
    words: NDArray[np.int32] = np.where(again, 0, counted[codes[0], codes[1]])
    return words


def _sum_words(
    occasions: Sequence[int],
    orders: Sequence[int],
    words: NDArray[np.int32],
    practice: Container[tuple[int, int]],
) -> dict[tuple[int, int], int]:
    pages: dict[tuple[int, int], int] = {}
    for occasion, order, count in zip(occasions, orders, words.tolist(), strict=True):
        if (occasion, order) not in practice:
            pages[occasion, order] = pages.get((occasion, order), 0) + count
    return pages


def _find_spans(table: "pd.DataFrame") -> list[tuple[str, int, int]]:
    codes = table["rater"].cat.codes.to_numpy()
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    words = table["rater"].cat.categories.tolist()
    names = [str(words[code]) for code in codes[begins].tolist()]
    return list(zip(names, begins.tolist(), [*begins[1:].tolist(), len(codes)], strict=True))


def _find_pay(study: Study, pages: Sequence[int]) -> Decimal | None:
    """Return what so many pages in each sitting are paid, practice and checks included, as planned."""
    pay = study.file.pay
    if (
        pay is None
        or pay.minutes_per_trial is None
        or study.file.raters.paid != "money"
        or not find_wage(pay)
    ):
        return None
    before, each = exact(pay.minutes_before), exact(pay.minutes_per_trial)
    minutes: list[Fraction] = [before + number * each for number in pages]
    return sum((find_pay(pay, one) for one in minutes), Decimal(0))
