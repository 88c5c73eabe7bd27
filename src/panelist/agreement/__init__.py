"""Reliability of ratings: one file a coefficient, intervals for any of them, and plain words."""

from panelist.core.registry import import_siblings

import_siblings(__name__, list(__path__))
