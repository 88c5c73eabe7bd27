"""How a simulation is run: how many data sets, from which seed, where, and how its progress is reported."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from panelist.core.errors import PanelistError
from panelist.core.numbers import check_count
from panelist.core.progress import OnProgress

if TYPE_CHECKING:
    from panelist.power.engines.base import Engine

SIMS = 200
MOST_SIMS = 5000  # where a precision says when it is enough


@dataclass(frozen=True)
class Run:
    """What a simulation of power, of a size or of repeats is given, besides what it simulates.

    ``precision`` is the half-width of the interval of the power at which a cell stops. ``sims`` None is 200
    data sets, or with a precision at most 5,000. ``engine`` is the name of an engine (local, dask, an
    address) or an open one. A run that was killed continues from its ``journal``.
    """

    sims: int | None = None
    precision: float | None = None
    seed: int = 1
    engine: "str | Engine" = "local"
    workers: int | None = None
    journal: str | Path | None = None
    on_progress: OnProgress | None = None

    def __post_init__(self) -> None:
        check_count("simulated data sets", self.n_sets)
        if self.precision is not None and not 0 < self.precision < 0.5:
            raise PanelistError(
                f"The precision is the half-width of an interval, between 0 and 0.5. Got {self.precision:g}; "
                "0.02 is usual."
            )

    @property
    def n_sets(self) -> int:
        """How many data sets a cell gets, at most."""
        if self.sims is not None:
            return self.sims
        return SIMS if self.precision is None else MOST_SIMS
