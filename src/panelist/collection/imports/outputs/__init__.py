"""Outputs of systems from the files in which they were made: one file per layout."""

from panelist.collection.imports.outputs.base import LAYOUTS
from panelist.core.registry import import_siblings

__all__ = ["LAYOUTS"]

import_siblings(__name__, list(__path__))
