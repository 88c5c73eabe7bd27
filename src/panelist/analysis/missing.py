"""What replaces a part of a result that could not be computed: the reason."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from panelist.core.errors import PanelistError

T = TypeVar("T")


@dataclass(frozen=True)
class Missing:
    """No result, and why; ``reason`` is a whole sentence."""

    reason: str

    def to_dict(self) -> dict[str, str]:
        """Return the reason under the name ``missing``."""
        return {"missing": self.reason}


def attempt(make: Callable[[], T]) -> T | Missing:
    """Return what ``make`` makes, or why these data do not allow it.

    Only errors due to the data are caught; bugs are raised.

    >>> attempt(lambda: 3)
    3
    """
    try:
        return make()
    except PanelistError as error:
        return Missing(str(error))
    except np.linalg.LinAlgError as error:
        return Missing(f"The equations of this part have no unique solution for these ratings ({error}).")
    except MemoryError:
        return Missing("This machine has not enough memory for this part.")
