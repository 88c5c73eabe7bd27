"""Truths that several tests simulate from."""

import numpy as np

from bench.judges_coverage import CUTS, MEANS, spreads
from panelist.power.truth.base import Truth
from panelist.power.truth.cuts import FixedCuts
from panelist.power.truth.spread import Spread

GENERAL = Truth.preset("general")


def make_bench_truth() -> Truth:
    """Return the world of the coverage tables: three systems, one spread for all."""
    rater, rater_system, item, item_system = spreads()

    def spread(common: float, own: float) -> Spread:
        matrix = common**2 * np.ones((3, 3)) + own**2 * np.eye(3)
        return Spread(0.0, 0.0, 0.0, tuple(tuple(map(float, row)) for row in matrix))

    cuts = FixedCuts(tuple(map(float, CUTS)))
    return Truth("bench", spread(rater, rater_system), spread(item, item_system), cuts, effects=MEANS)
