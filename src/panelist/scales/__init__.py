"""Scales: how raters answer. One file a scale; the study file names it by its ``type``."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from panelist.core.registry import import_siblings
from panelist.scales.base import SCALES, Scale

__all__ = ["SCALES", "AnyScale", "Scale"]

import_siblings(__name__, list(__path__))

if TYPE_CHECKING:
    AnyScale = Scale
else:  # pydantic picks the scale by its ``type`` and names the known ones when there is none such
    AnyScale = Annotated[reduce(or_, (thing for _, thing in SCALES.items())), Field(discriminator="type")]
