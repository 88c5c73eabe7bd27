"""A whole search of the Laplace likelihood in one call of compiled code.

Estimation, first metric and columns of the Hessian are kernels of their own; going back to Python between
them would cost a tenth of a small fit, and hold the interpreter's lock against fits in other threads.
"""

import numpy as np

from panelist.models.solvers.columns import LaneRoom, fill_columns
from panelist.models.solvers.estimate import DONE, FIRST_POINT, PHASE, SEARCH, Progress, estimate
from panelist.models.solvers.following import Directions
from panelist.models.solvers.kernel import kernel
from panelist.models.solvers.laplace import Ordinal, Workspace
from panelist.models.solvers.metric import set_component_metric, set_fixed_metric
from panelist.models.solvers.optimise import Search


@kernel
def search_ordinal(
    model: Ordinal,
    work: Workspace,
    directions: Directions,
    lanes: LaneRoom,
    search: Search,
    progress: Progress,
    weight: float,
) -> float:
    """Minimise N from ``search.trial``; return it at ``search.point``, gradient and Hessian filled.

    ``weight`` is about the information in a rating, for a first metric of τ. The Hessian has a nan where it
    could not be taken, and the search ends there.
    """
    if progress.numbers[PHASE] == FIRST_POINT:
        set_component_metric(
            model.pattern, model.tau_row, model.tau_column, search.trial, weight, search.metric
        )
    pausing = len(lanes.psi) > 0
    while True:
        value = estimate(model, work, directions, search, progress, pausing)
        if progress.numbers[PHASE] == SEARCH:
            set_fixed_metric(model, work, directions, search.metric)
            continue
        if progress.numbers[PHASE] == DONE or not np.isfinite(value):
            return value
        fill_columns(model, work, search.point, progress, directions, lanes)
        for number in progress.hessian.flat:
            if not np.isfinite(number):
                return value
