"""Pages that other parts of the program add to the dashboard: this one does not know what they are."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.routing import Route


@dataclass(frozen=True)
class Extension:
    """Some pages under /dashboard, the files they need, and how the dashboard leads to them."""

    routes: tuple[Route, ...]
    """Guarded as all of the dashboard: ``researchers`` of dashboard_access.py lets nobody else in."""
    path: str
    """Where its first page is."""
    tab: str
    """What the navigation calls it."""
    static: Path | None = None
    """A folder of style sheets and scripts, served under ``path``/static."""


MakeExtension = Callable[[], Extension]
"""Makes an extension; a function of a module, so that other processes can be told of it."""
