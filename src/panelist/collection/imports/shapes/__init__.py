"""Shapes in which people publish ratings, one file each: where the answers are."""

from panelist.core.registry import import_siblings

import_siblings(__name__, list(__path__))
