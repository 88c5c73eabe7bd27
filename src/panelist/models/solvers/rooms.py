"""Room to work in, kept for the next fit of the same shape.

A small fit takes half a megabyte of arrays. Given back to the system after each fit and taken from it again,
they cost more than the allocation: every page of them is cleared at its first touch.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from panelist.models.solvers.blocks import Pattern
from panelist.models.solvers.lanes import fits_lanes

Room = TypeVar("Room")
_kept = threading.local()  # fits in threads do not share their rooms


@contextmanager
def lend_room(make: Callable[[Any], Room], model: Any) -> Iterator[Room]:
    """Lend the room that was used last for a model of this shape, or a new one; only small ones are kept."""
    shape = _measure(model.pattern, model)
    held = _kept.__dict__.pop(make.__module__, (None, None))  # nobody else finds it while it is lent
    room = held[1] if held[0] == shape else make(model)
    yield room
    if fits_lanes(model.pattern):
        _kept.__dict__[make.__module__] = (shape, room)


def _measure(pattern: Pattern, model: Any) -> tuple[Any, ...]:
    """Return all that the arrays of a room are measured by."""
    return (
        pattern.Z.shape,
        len(pattern.start),
        pattern.widths.tobytes(),
        pattern.q,
        len(pattern.columns),
        int(pattern.padded[-1]),
        pattern.widest,
        len(model.tau_row),
        model.X.shape,
        *(model.J.shape if hasattr(model, "J") else ()),
    )
