"""What a plan takes: pages and minutes for each rater, and what they cost, by the pay rule of the study."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from panelist.core.display.formats import TEXT, Cell, Format
from panelist.core.display.result import Part, Result, Sentence, Table, json_object
from panelist.core.prose import span
from panelist.design.assess.evenness import write_range
from panelist.design.assess.pilot_time import PilotTime
from panelist.design.assess.showings import number_pages, read_codes
from panelist.numerics.arrays import Longs
from panelist.study.sections.pay import Pay
from panelist.study.sections.wages import exact, explain_wage, find_pay, find_wage, round_up
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan

RIGHT = Format(lambda cell: str(cell), "right")


@dataclass(frozen=True)
class OccasionCost:
    """One occasion: its raters, and the least and most that one of them gets."""

    occasion: int
    n_raters: int
    pages: tuple[int, int]
    minutes: tuple[float, float] | None
    """None where the study does not say how long a page takes."""
    pay: tuple[Decimal, Decimal] | None
    """None where there is no wage, or no time."""
    total: Decimal | None
    """For all raters, before the panel's fee."""


@dataclass(frozen=True)
class Cost(Result):
    """Time and money of a plan, for each occasion and in all; ``notes`` say what is missing to know more."""

    occasions: tuple[OccasionCost, ...]
    currency: str
    wage: Decimal | None
    fee_percent: float
    fee: Decimal | None
    total: Decimal | None
    notes: tuple[str, ...]

    def title(self) -> str:
        """Return the heading."""
        return "Time and cost"

    def parts(self) -> list[Part]:
        """Return the table of occasions, the total, and the notes."""
        several = len(self.occasions) > 1
        header = [*(("occasion",) if several else ()), "raters", "pages each", "minutes each"]
        paid = self.total is not None
        if paid:
            header += [f"pay each ({self.currency})", f"for all ({self.currency})"]
        rows: list[tuple[Cell, ...]] = []
        for one in self.occasions:
            minutes = "not known" if one.minutes is None else span(*(f"{end:.1f}" for end in one.minutes))
            cells: list[Cell] = [*((str(one.occasion),) if several else ()), f"{one.n_raters:,}"]
            cells += [write_range(np.array(one.pages)), minutes]
            if paid and one.pay is not None and one.total is not None:
                cells += [span(*(f"{end:,}" for end in one.pay)), f"{one.total:,}"]
            rows.append(tuple(cells))
        formats = dict.fromkeys(header, RIGHT) | {header[0]: TEXT}
        parts: list[Part] = [Table("Practice and checks are counted", tuple(header), rows, formats)]
        if self.total is not None:
            fee = f", of which {self.fee:,} is the panel's fee ({self.fee_percent:g} %)" if self.fee else ""
            parts.append(Sentence(f"\nIn all {self.total:,} {self.currency}{fee}."))
        return [*parts, *(Sentence(note) for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Return times and amounts; amounts are texts, because JSON has no exact decimals."""
        occasions = [
            {
                "occasion": one.occasion,
                "n_raters": one.n_raters,
                "pages": list(one.pages),
                "minutes": None if one.minutes is None else list(one.minutes),
                "pay": None if one.pay is None else [str(end) for end in one.pay],
                "total": _text(one.total),
            }
            for one in self.occasions
        ]
        whole: dict[str, Any] = {"currency": self.currency, "wage": _text(self.wage), "occasions": occasions}
        whole |= {"fee_percent": self.fee_percent, "fee": _text(self.fee), "total": _text(self.total)}
        return json_object({**whole, "notes": self.notes})


def cost_plan(plan: "Plan", study: Study, pilot: PilotTime | None = None) -> Cost:
    """Return how much of each rater's time a plan takes, and what it costs.

    Minutes are ``minutes_before`` and ``minutes_per_trial`` for every page, practice and checks included, in
    each occasion; a ``pilot`` that measured the minutes takes precedence over the file. Pay is rounded up to
    the cent for each rater, and so is the panel's fee in all.
    """
    pay = study.file.pay
    if pilot is not None:
        pay = (pay or Pay()).model_copy(update={"minutes_per_trial": pilot.minutes})
    wage = find_wage(pay) if pay is not None and study.file.raters.paid == "money" else None
    occasions = tuple(
        _cost_occasion(occasion, pages, pay, wage) for occasion, pages in _count_pages(plan.table).items()
    )
    totals = [one.total for one in occasions]
    total, fee = None, None
    if pay is not None and totals and None not in totals:
        bare = sum((one for one in totals if one is not None), Decimal(0))
        fee = round_up(Fraction(bare) * exact(pay.fee_percent) / 100)
        total = bare + fee
    return Cost(
        occasions=occasions,
        currency=pay.currency if pay is not None else "",
        wage=wage or None,
        fee_percent=pay.fee_percent if pay is not None else 0.0,
        fee=fee,
        total=total,
        notes=(*((pilot.sentence(),) if pilot else ()), *_say_missing(study, timed=pilot is not None)),
    )


def _count_pages(table: pd.DataFrame) -> dict[int, Longs]:
    """Return how many pages each rater gets, for each occasion."""
    pages = table.iloc[number_pages(table)[1]]
    occasion = pages["occasion"].to_numpy(dtype=np.int64)
    rater = read_codes(pages["rater"])[0]
    counts = {number: np.bincount(rater[occasion == number]) for number in np.unique(occasion).tolist()}
    return {number: found[found > 0] for number, found in counts.items()}


def _cost_occasion(occasion: int, pages: Longs, pay: Pay | None, wage: Decimal | None) -> OccasionCost:
    least, most = int(pages.min()), int(pages.max())
    if pay is None or pay.minutes_per_trial is None:
        return OccasionCost(occasion, len(pages), (least, most), None, None, None)
    before, each = exact(pay.minutes_before), exact(pay.minutes_per_trial)
    counts = dict(zip(*(part.tolist() for part in np.unique(pages, return_counts=True)), strict=True))
    minutes = {number: before + number * each for number in counts}
    ends = (float(minutes[least]), float(minutes[most]))
    if not wage:
        return OccasionCost(occasion, len(pages), (least, most), ends, None, None)
    amounts = {number: find_pay(pay, minutes[number]) for number in counts}
    total = sum((amounts[number] * n for number, n in counts.items()), Decimal(0))
    return OccasionCost(occasion, len(pages), (least, most), ends, (amounts[least], amounts[most]), total)


def _say_missing(study: Study, timed: bool) -> list[str]:
    """Return how the wage is determined, and what to add to the study file to know time and cost."""
    pay, paid = study.file.pay, study.file.raters.paid
    notes = []
    if not timed and (pay is None or pay.minutes_per_trial is None):
        notes.append(
            "How long a page takes is not known. Add minutes_per_trial under pay: in the study file, or let "
            "a pilot measure it: panelist plan STUDY --pilot RATINGS."
        )
    if paid == "no":
        notes.append("Raters are not paid (raters: paid: no).")
    elif paid == "other":
        notes.append("Raters are paid in something other than money (raters: paid: other).")
    elif pay is None:
        notes.append(
            "What an hour is paid is not known. Add a pay: section with hourly, living_wage or minimum_wage."
        )
    else:
        notes.append(explain_wage(pay))
    return notes


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)
