"""Inner kernels for tests to call: each in a compiled function of its own."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Return the inner kernel in a form that Python can call."""

    @njit
    def call(*args: Any) -> Any:
        return function(*args)

    return call  # type: ignore[no-any-return]
