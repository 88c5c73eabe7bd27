"""What a plan asks of each place, counted once: pages, ratings, cells, minutes and pay."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from panelist.collection.pages.reading_pace import count_words
from panelist.design.assess.showings import number_pages
from panelist.design.simulate import spread_turns
from panelist.study.sections.wages import exact, find_pay, find_wage
from panelist.study.study import Study

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
    """What the place is paid in all; None where the study states no wage or no time."""
    cells: NDArray[np.int64] = field(repr=False)
    """The cells that it fills: outputs by criterion, numbered over the plan, first sitting only."""
    words: Mapping[tuple[int, int], int] = field(default_factory=dict, repr=False)
    """How many words its pages have to read, as (occasion, order); practice is left out."""


@dataclass(frozen=True)
class PlanFacts:
    """What the whole plan asks for."""

    places: Mapping[str, PlaceFacts] = field(repr=False)
    ratings: int
    """Ratings asked for: answers to trials, one for each output or for each comparison."""
    wanted: NDArray[np.int64] = field(repr=False)
    """How many ratings each cell gets when every place is filled; by its number."""


def count_plan(plan: "Plan", study: Study) -> PlanFacts:
    """Return what a plan asks of its places."""
    table = plan.table
    trial = (table["phase"] == "trial").to_numpy()
    compared = {criterion.name for criterion in study.criteria if criterion.scale.comparative}
    several = table["criterion"].isin(compared).to_numpy() & (table["position"] > 1).to_numpy()
    first = trial & (table["occasion"] == 1).to_numpy()
    cells = _number_cells(table)
    paid: dict[tuple[int, ...], Decimal | None] = {}
    spans = _find_spans(table)
    begins = [start for _, start, _ in spans]
    pages = _list_pages(table, _count_row_words(table, study))
    starts, ends = (
        np.searchsorted(pages.first, rows).tolist() for rows in (begins, [*begins[1:], len(table)])
    )
    lists, groups = (table[name].iloc[begins].tolist() for name in ("list", "group"))
    places = {}
    for number, (place, start, end) in enumerate(spans):
        own = slice(starts[number], ends[number])
        numbers = pages.numbers[own]
        practice = frozenset(compress(numbers, pages.practice[own]))
        words = dict(zip(numbers, pages.words[own], strict=True))
        for page in practice:
            del words[page]
        sizes = tuple(sorted(Counter([occasion for occasion, _ in numbers]).values()))
        if sizes not in paid:
            paid[sizes] = _find_pay(study, sizes)
        places[place] = PlaceFacts(
            list=str(lists[number]),
            group=str(groups[number]),
            pages=len(words),
            practice=practice,
            pay=paid[sizes],
            cells=cells[start:end][first[start:end]],
            words=words,
        )
    wanted = np.bincount(cells[first], minlength=int(cells.max(initial=-1)) + 1)
    asked = trial & ~several
    if study.outputs.in_parts:
        asked = asked[spread_turns(table, number_pages(table)[0], study)[0]]
    return PlanFacts(places, int(asked.sum()), wanted)


def count_cells(facts: PlanFacts, filled: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each cell of the plan is filled by these places, and how often it should be."""
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
        outputs = study.outputs
        cells = zip(frame["item"].tolist(), frame["system"].tolist(), outputs.cells(), strict=True)
        for item, system, cell in cells:
            row, column = places[0].get(str(item)), places[1].get(str(system))
            if row is not None and column is not None:
                counted[row, column] = count_words(outputs.format("output").read_words(cell, outputs.options))
    where = np.stack([table["rater"].cat.codes, *(table[name] for name in ("occasion", "order", "position"))])
    again = np.zeros(len(table), dtype=bool)
    again[1:] = (np.diff(where, axis=1) == 0).all(axis=0)  # the criteria of one output are adjacent
    words: NDArray[np.int32] = np.where(again, 0, counted[codes[0], codes[1]])
    return words


class _Pages(NamedTuple):
    """The pages of a whole plan, in the order of its rows."""

    first: NDArray[np.int64]
    """The row where each begins."""
    numbers: list[tuple[int, int]]
    """Occasion and order."""
    practice: list[bool]
    words: list[int]


def _list_pages(table: "pd.DataFrame", words: NDArray[np.int32]) -> _Pages:
    """Return the pages of all places; the rows of a page are adjacent."""
    where = [table[name].to_numpy() for name in ("occasion", "order")]
    new = np.zeros(len(table), dtype=bool)
    for column in (table["rater"].cat.codes.to_numpy(), *where):
        new |= np.diff(column, prepend=-1) != 0
    first = np.flatnonzero(new)
    sums = np.add.reduceat(words, first) if len(first) else words
    return _Pages(
        first,
        list(zip(*(column[first].tolist() for column in where), strict=True)),
        (table["phase"] == "practice").to_numpy()[first].tolist(),
        sums.tolist(),
    )


def _find_spans(table: "pd.DataFrame") -> list[tuple[str, int, int]]:
    codes = table["rater"].cat.codes.to_numpy()
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    words = table["rater"].cat.categories.tolist()
    names = [str(words[code]) for code in codes[begins].tolist()]
    return list(zip(names, begins.tolist(), [*begins[1:].tolist(), len(codes)], strict=True))


def _find_pay(study: Study, pages: Sequence[int]) -> Decimal | None:
    """Return the pay for these pages of each sitting, practice and checks included, as planned."""
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
