"""Formats: what a cell of the outputs file holds and how raters see it. One file per format; the study file
names it under ``outputs.formats``."""

from panelist.core.registry import import_siblings
from panelist.formats.base import FORMATS, FormatOptions, Stimulus, StimulusFormat

__all__ = ["FORMATS", "FormatOptions", "Stimulus", "StimulusFormat"]

import_siblings(__name__, list(__path__))
