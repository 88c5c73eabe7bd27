"""The pay section of a study file."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field, PositiveFloat

from panelist.core.schema import StudyPart

Money = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=6)]


class Pay(StudyPart):
    """What raters are paid. The wage itself follows from the fair-pay rule; see wages.py."""

    currency: str = "GBP"
    hourly: Money | None = None
    """The preferred hourly rate; what is paid is never less than the minimum and living wage below."""
    minutes_per_trial: PositiveFloat | None = None
    """Minutes for one page of ratings, guessed or measured in a pilot."""
    minutes_before: float = Field(default=3.0, ge=0)
    """Minutes for the information sheet and the instructions; practice pages count as pages."""
    minimum_wage: Money = Decimal(0)
    """The minimum wage where the study is run, per hour."""
    raters_minimum_wage: Money = Decimal(0)
    """The minimum wage where the raters live; 0 for crowd work."""
    living_wage: Money = Decimal(0)
    """A living wage, per hour, in the same currency: a floor."""
    original_wage: Money | None = None
    """In a repeat: the original's hourly wage, in its own currency,"""
    original_minimum_wage: Money | None = None
    """and the minimum wage of its time and place, in that same currency."""
    fee_percent: float = Field(default=0.0, ge=0, le=200)
    """What the panel adds, in per cent."""
