"""A whole search of the Laplace likelihood in one call of compiled code.

Estimation, first metric and columns of the Hessian are kernels of their own; going back to Python between
them would cost a tenth of a small fit, and hold the interpreter's lock against fits in other threads.
"""

import numpy as np

from panelist.models.solvers.columns import LaneRoom, fill_columns
from panelist.models.solvers.estimate import DONE, PHASE, SEARCH, Progress, estimate
from panelist.models.solvers.kernel import kernel
from panelist.models.solvers.laplace import Ordinal, Workspace
from panelist.models.solvers.metric import set_fixed_metric
from panelist.models.solvers.optimise import Search


@kernel
def search_ordinal(
    model: Ordinal, work: Workspace, lanes: LaneRoom, search: Search, progress: Progress
) -> float:
    """Minimise N from ``search.trial``; return it at ``search.point``, gradient and Hessian filled.

    The metric of the search must hold that of τ already; that of (α, β) is found at the first point. The
    Hessian has a nan where it could not be taken, and the search ends there.
    """
    pausing = len(lanes.psi) > 0
    while True:
        value = estimate(model, work, search, progress, pausing)
        if progress.numbers[PHASE] == SEARCH:
            set_fixed_metric(model, work, search.metric)
            continue
        if progress.numbers[PHASE] == DONE or not np.isfinite(value):
            return value
        fill_columns(model, search.point, work.kept, progress, lanes)
        for number in progress.hessian.flat:
            if not np.isfinite(number):
                return value
