"""From a study to a plan: who sees what in which order. One file a design; one engine deals."""

from panelist.core.registry import import_siblings

import_siblings(__name__, list(__path__))
