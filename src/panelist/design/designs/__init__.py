"""Designs, one file each; a new file registers itself."""

from panelist.core.registry import import_siblings

import_siblings(__name__, list(__path__))
