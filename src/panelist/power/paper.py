"""The simulation study of Howcroft & Rieser (2021), all of it: 120 cells, four models.

Howcroft, D. M. & Rieser, V. (2021). What happens if you treat ordinal ratings as interval data? EMNLP.
https://aclanthology.org/2021.emnlp-main.703
"""

from collections.abc import Callable
from pathlib import Path

from panelist.power.curve import PowerCurve, simulate_power
from panelist.power.grid import Progress
from panelist.power.presets import PRESETS

ITEMS = (50, 100, 500)
RATINGS = (3, 10)
EFFECTS = (0.25, 0.5, 0.75, 1.0)
SIMS = 100
MODELS = ("clmm", "lmm", "clm", "lm")
MAIN = ("low", "general", "high")


def simulate_paper(
    sims: int = SIMS,
    seed: int = 1,
    *,
    as_released: bool = False,
    engine: str = "local",
    workers: int | None = None,
    journal: Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> PowerCurve:
    """Return the power in the paper's cells: 5 presets × 3 numbers of items × 2 of ratings × 4 effects.

    The analyses are the paper's: the largest model in every data set, and z for the ordinal ones.
    """
    return simulate_power(
        items=ITEMS,
        ratings_per_item=RATINGS,
        effects=EFFECTS,
        preset=tuple(PRESETS),
        sims=sims,
        models=MODELS,
        seed=seed,
        as_released=as_released,
        df="z",
        as_compared=False,
        engine=engine,
        workers=workers,
        journal=journal,
        on_progress=on_progress,
    )
