"""The fair-pay rule: what an hour of a rater's time is paid, and what a task of given minutes is paid.

It is the rule that labs of the ReproHum project use to repeat human evaluations, published with one of the
repeats ("ReproHum Fair Pay",
https://github.com/mo-arvan/paraphrase-generation-reproduction/blob/main/notebooks/reprohum_fairpay.ipynb):

    minimum    = the higher of the minimum wage where the study is run and that where its raters live
    multiplier = the original study's wage / the minimum wage of its time and place (1 where unknown)
    wage       = the highest of minimum × multiplier, minimum and living wage, rounded up to the cent
    per task   = wage × minutes / 60, rounded up to the cent

The two wages of the original share one currency and the others share another; nothing is converted. To these
the study file adds a preferred hourly rate, which can raise the wage and never lower it.
Everything is computed in exact fractions of the decimals in the file: a float would round 0.1 wrongly.
"""

from decimal import Decimal
from fractions import Fraction
from math import ceil

from panelist.study.sections.pay import Pay


def find_wage(pay: Pay) -> Decimal:
    """Return the wage for an hour, in the currency of ``pay``; 0 where the study file gives no wage at all.

    >>> find_wage(Pay(minimum_wage=Decimal("11.44"), living_wage=Decimal("12.60")))
    Decimal('12.60')
    """
    return round_up(max(_find_floors(pay).values()))


def find_pay(pay: Pay, minutes: float | Fraction) -> Decimal:
    """Return the pay for a task of ``minutes`` minutes.

    >>> find_pay(Pay(living_wage=Decimal("12.60")), 8)
    Decimal('1.68')
    """
    return round_up(Fraction(find_wage(pay)) * exact(minutes) / 60)


def explain_wage(pay: Pay) -> str:
    """Return the sentence that says what the wage is, and which part of the rule decides it.

    >>> explain_wage(Pay(hourly=Decimal(10), living_wage=Decimal("12.60")))
    '12.60 GBP an hour: the living wage, above the preferred hourly rate (10.00 GBP).'
    """
    wage = find_wage(pay)
    if not wage:
        return (
            "No wage is known. Add hourly, living_wage or minimum_wage under pay: in the study file; "
            "the highest of them is paid."
        )
    floors = _find_floors(pay)
    # Of equal floors the first is named, and the preferred rate before all others.
    decides = next(name for name, amount in floors.items() if amount == max(floors.values()))
    said = f"{_write(wage, pay)} an hour: {decides}"
    wished = round_up(Fraction(pay.hourly or 0))
    return (
        f"{said}, above the preferred hourly rate ({_write(wished, pay)})."
        if 0 < wished < wage
        else said + "."
    )


def find_multiplier(pay: Pay) -> Fraction:
    """Return how far above its minimum wage the original study paid; 1 where that is not known."""
    if pay.original_wage is None or not pay.original_minimum_wage:
        return Fraction(1)
    return Fraction(pay.original_wage) / Fraction(pay.original_minimum_wage)


def round_up(amount: Fraction) -> Decimal:
    """Return the amount rounded up to the cent.

    >>> round_up(Fraction(2, 3)), round_up(Fraction("1.68"))
    (Decimal('0.67'), Decimal('1.68'))
    """
    return Decimal(ceil(amount * 100)).scaleb(-2)


def exact(number: float | Fraction) -> Fraction:
    """Return the number as it was written: 0.1 is a tenth, not the nearest double to it."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _find_floors(pay: Pay) -> dict[str, Fraction]:
    """Return everything that the wage may not fall below, under its name."""
    minimum = max(Fraction(pay.minimum_wage), Fraction(pay.raters_minimum_wage))
    where = (
        "where the study is run" if pay.minimum_wage >= pay.raters_minimum_wage else "where the raters live"
    )
    return {
        "the preferred hourly rate": Fraction(pay.hourly or 0),
        "the living wage": Fraction(pay.living_wage),
        f"the minimum wage {where}": minimum,
        "the minimum wage, raised as the original study raised its own": minimum * find_multiplier(pay),
    }


def _write(amount: Decimal, pay: Pay) -> str:
    return f"{amount} {pay.currency}"
