"""Registries for tests: what a test adds to them is gone after it."""

from collections.abc import Iterator
from contextlib import contextmanager

from panelist.agreement.coefficient import COEFFICIENTS
from panelist.core.registry import Registry
from panelist.formats import FORMATS
from panelist.scales.base import SCALES
from panelist.study.sections.design_choice import DESIGNS


@contextmanager
def keep_registries() -> Iterator[None]:
    """Give the registries as they are now back when the block ends."""
    known: list[Registry[object]] = [SCALES, DESIGNS, COEFFICIENTS, FORMATS]  # type: ignore[list-item]
    before = [(one, dict(one.items())) for one in known]
    try:
        yield
    finally:
        for one, things in before:
            one._filed.clear()
            one._filed.update(things)
