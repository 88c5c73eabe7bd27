"""Workspaces, kept for the next fit of the same shape.

A small fit takes half a megabyte of arrays. Given back to the system after each fit and taken from it again,
they cost more than the allocation: every page of them is cleared at its first touch.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from panelist.models.blocks.batch8 import fits_lanes
from panelist.models.blocks.pattern import Pattern

Workspace = TypeVar("Workspace")
_kept = threading.local()  # fits in threads do not share their workspaces


@contextmanager
def lend_workspace(make: Callable[[Any], Workspace], model: Any) -> Iterator[Workspace]:
    """Lend the workspace last used for a model of this shape, or a new one; only small ones are kept."""
    shape = _measure(model.pattern, model)
    held = _kept.__dict__.pop(make.__module__, (None, None))  # no other fit finds it while it is lent
    space = held[1] if held[0] == shape else make(model)
    yield space
    if fits_lanes(model.pattern):
        _kept.__dict__[make.__module__] = (shape, space)


def _measure(pattern: Pattern, model: Any) -> tuple[Any, ...]:
    """Return everything that determines the shapes of a workspace's arrays."""
    return (
        pattern.Z.shape,
        len(pattern.start),
        pattern.widths.tobytes(),
        pattern.q,
        len(pattern.columns),
        int(pattern.padded[-1]),
        pattern.widest,
        len(model.tau_row),
        int(model.tau_slot.max(initial=-1)),
        model.X.shape,
        *((*model.J.shape, model.S.shape, model.link > 4) if hasattr(model, "J") else ()),
    )
