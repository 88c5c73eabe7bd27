"""A whole search of a linear mixed model's deviance in one call of compiled code, as in search_ordinal."""

import numpy as np

from panelist.models.solvers.deviance import Linear, LinearWorkspace
from panelist.models.solvers.deviance_columns import LinearLanes, fill_deviance_columns
from panelist.models.solvers.estimate_linear import COLUMN, Progress, covariance_slopes, estimate_deviance
from panelist.models.solvers.kernel import kernel
from panelist.models.solvers.metric import set_component_metric
from panelist.models.solvers.optimise import Search


@kernel
def search_linear(
    model: Linear, work: LinearWorkspace, lanes: LinearLanes, search: Search, progress: Progress
) -> float:
    """Minimise −log L from ``search.trial``; return it, settled at ``search.point``, curvature filled.

    Where the metric of the search is nan, that of the design is taken.
    """
    if np.isnan(search.metric[0, 0]):
        set_component_metric(model.pattern, model.tau_row, model.tau_column, search.trial, 1.0, search.metric)
    pausing = len(lanes.theta) > 0
    value = np.inf
    for _ in range(2):  # once more where it paused for the columns of the curvature
        value = estimate_deviance(model, work, search, progress, pausing)
        if progress.numbers[2] != COLUMN:
            break
        fill_deviance_columns(model, search.point, progress, lanes)
    covariance_slopes(model, work, progress.slopes)
    return value
