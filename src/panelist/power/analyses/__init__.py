"""One file per analysis; each registers itself in ANALYSES."""

from panelist.core.registry import import_siblings
from panelist.power.analyses.base import ANALYSES

import_siblings(__name__, __path__)

__all__ = ["ANALYSES"]
