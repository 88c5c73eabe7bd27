"""Real pay: what raters earn in an hour, by the time that they really took, and which bonus they are due."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import median

from panelist.study.sections.wages import find_wage, round_up
from panelist.study.study import Study

LONGEST_GAP = 900.0  # seconds without any sign of life after which a rater was away, not at work
BONUSES_KEPT = 2**16  # each look at the dashboard asks for all of them, twice; most have not changed
SIGNS = {"GBP": "£", "EUR": "€", "USD": "$"}


@dataclass(frozen=True)
class PaySoFar:
    """Hourly pay of the raters who finished; the lists are empty where the study gives no wage or no time."""

    currency: str
    hourly: tuple[float, ...]
    """One for each rater who finished and counts, sorted."""
    median: float | None
    promised: Decimal | None
    """What the study says an hour is paid."""
    floor: Decimal | None
    """The least that an hour may be paid: the highest of living and minimum wages, else what is promised."""
    below: int
    """How many earned less than the floor."""
    bonus: Decimal
    """What would bring them all to it."""
    missing: str = ""
    """What the study file lacks for this to be known."""

    @property
    def sign(self) -> str:
        """The currency before an amount."""
        return SIGNS.get(self.currency, f"{self.currency} ")


def measure_time(moments: Iterable[float]) -> float:
    """Return the seconds at work between signs of life; a gap of over 15 minutes was a pause.

    >>> measure_time([0.0, 60.0, 4000.0, 4030.0])
    90.0
    """
    ordered = sorted(moments)
    gaps = (later - earlier for earlier, later in pairwise(ordered))
    return sum(gap for gap in gaps if gap <= LONGEST_GAP)


def find_hourly(pay: Decimal | None, seconds: float) -> float | None:
    """Return what an hour was paid; None where pay or time are not known.

    >>> find_hourly(Decimal("3.60"), 1080)
    12.0
    """
    return None if pay is None or seconds <= 0 else float(pay) * 3600.0 / seconds


def find_floor(study: Study) -> Decimal | None:
    """Return the least that an hour may be paid: the floors of the pay rule, else what is promised."""
    pay = study.file.pay
    if pay is None or study.file.raters.paid != "money":
        return None
    return find_wage(pay.model_copy(update={"hourly": None})) or find_wage(pay) or None


def measure_pay(study: Study, finished: Sequence[tuple[Decimal | None, float]]) -> PaySoFar:
    """Return the hourly pay of those who finished, each with what was paid and the seconds it took."""
    pay, floor = study.file.pay, find_floor(study)
    known = [(paid, seconds) for paid, seconds in finished if paid is not None and seconds > 0]
    hourly = sorted(float(paid) * 3600.0 / seconds for paid, seconds in known)
    lacks = [find_bonus(paid, seconds, floor) for paid, seconds in known] if floor else []
    return PaySoFar(
        currency=pay.currency if pay is not None else "",
        hourly=tuple(hourly),
        median=median(hourly) if hourly else None,
        promised=(find_wage(pay) or None) if pay is not None and floor else None,
        floor=floor,
        below=sum(lack > 0 for lack in lacks),
        bonus=sum(lacks, Decimal(0)),
        missing=_say_missing(study),
    )


@lru_cache(maxsize=BONUSES_KEPT)
def find_bonus(paid: Decimal, seconds: float, floor: Decimal) -> Decimal:
    """Return what is missing for the time of a task to be paid at the floor, rounded up to the cent.

    >>> find_bonus(Decimal("3.60"), 1260, Decimal("12.60"))
    Decimal('0.81')
    """
    return max(Decimal(0), round_up(Fraction(floor) * Fraction(seconds) / 3600 - Fraction(paid)))


def _say_missing(study: Study) -> str:
    pay = study.file.pay
    if study.file.raters.paid != "money":
        return "Raters of this study are not paid in money."
    if pay is None or not find_wage(pay):
        return "The study file gives no wage. Add hourly, living_wage or minimum_wage under pay:."
    if pay.minutes_per_trial is None:
        return "The study file does not say how long a page takes. Add minutes_per_trial under pay:."
    return ""
