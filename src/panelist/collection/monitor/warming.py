"""Compiling what the dashboard's agreement needs before a researcher waits for it.

On a machine where it never ran, that takes a quarter of a minute. It is done in a separate process, at low
priority, so that raters' pages do not share theirs with the compiler; this process then only
loads the result.
"""

import logging
import sys
import threading
from typing import Any

import pandas as pd

from panelist.collection.monitor.agreement_so_far import (
    LEAST_OTHERS,
    LEAST_SHARED,
    AgreementSoFar,
    measure_so_far,
)
from panelist.collection.monitor.given_ratings import GivenRatings

KERNEL = "panelist.agreement.statistics.pair_kernel"
LEVELS = ("ordinal", "interval", "ratio", "nominal")

log = logging.getLogger("panelist.web")


class Warming:
    """Makes the agreement ready, in a thread that nobody waits for; ``over`` once there is no more to do."""

    def __init__(self) -> None:
        self.over = is_loaded()
        if not self.over:
            threading.Thread(target=self._run, name="warming", daemon=True).start()

    def _run(self) -> None:
        try:
            if not is_kept():
                compile_apart()
            measure_sample()
        except Exception:  # then the first agreement takes longer; nothing else is lost
            log.exception("What the agreement needs could not be compiled beforehand.")
        finally:
            self.over = True


def is_loaded() -> bool:
    """Return whether this process has measured agreement before, so that nothing is left to compile."""
    return KERNEL in sys.modules and bool(getattr(find_kernel(), "overloads", None))


def is_kept() -> bool:
    """Return whether the compiled form is on disk, so that it need only be loaded."""
    from panelist.numerics.kernel import is_compiled

    return is_compiled(find_kernel())


def find_kernel() -> Any:
    """Return what is compiled; importing it takes a second, during which nobody else should wait."""
    from panelist.agreement.statistics.pair_kernel import measure_pairs

    return measure_pairs


def compile_apart() -> None:
    """Compile in another process, which leaves the result on disk, if there is a folder for it."""
    from panelist.numerics import compile_ahead as compiling
    from panelist.numerics.kernel import can_be_kept

    if can_be_kept(find_kernel()):
        compiling.compile_apart([compiling.PARTS["agreement"]], nice=compiling.LAST_IN_LINE)


def measure_sample() -> AgreementSoFar:
    """Return the agreement of some made-up ratings at every level: measuring it compiles what is needed."""
    from panelist.agreement.coefficient_intervals import ENOUGH_RATERS

    raters, items = range(max(LEAST_OTHERS + 1, ENOUGH_RATERS)), range(LEAST_SHARED)
    rows = [(rater, str(item), float(1 + (item + rater * item) % 3)) for rater in raters for item in items]
    judged = pd.DataFrame(rows, columns=["rater", "item", "rating"])
    return measure_so_far([GivenRatings(measurement, measurement, judged, judged) for measurement in LEVELS])
