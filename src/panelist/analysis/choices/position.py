"""Whether the position on the page mattered: how often the first of two was preferred."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from panelist.analysis.choices.trials import DECIDED, ChoiceTrials


@dataclass(frozen=True)
class PositionShare:
    """How often the output shown first won, of ``n`` decided pairs, with its Clopper-Pearson interval.

    ``p`` is that of the exact binomial test of one half. It takes comparisons as independent.
    """

    share: float
    low: float
    high: float
    p: float
    n: int

    def sentence(self) -> str:
        """Return the share in words."""
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        return (
            f"The first of two was preferred in {100 * self.share:.1f} % of {self.n:,} decided pairs "
            f"({100 * self.low:.1f} to {100 * self.high:.1f}; {p} against one half), answers taken as "
            "independent."
        )


def measure_position(trials: ChoiceTrials, confidence: float = 0.95) -> PositionShare | None:
    """Return how often the first of two was preferred; None where the table cannot say.

    It cannot where positions are unknown, and where a system was always first or always second: then its
    strength and its position cannot be separated.
    """
    first = total = 0
    stood = np.zeros((2, len(trials.systems)), dtype=np.int64)
    for which, options in trials.by_size():
        if options.shape[1] != 2:
            continue
        options = options[trials.outcome[which] == DECIDED]
        position = trials.position[options]
        known = (np.sort(position, axis=1) == (1, 2)).all(axis=1)
        winner = trials.place[options].argmin(axis=1)
        first += int((position[np.arange(len(options)), winner] == 1)[known].sum())
        total += int(known.sum())
        for side in (0, 1):
            stood[side] += np.bincount(trials.system[options[known]][position[known] == side + 1],
                                       minlength=len(trials.systems))  # fmt: skip
    if not total or (stood == 0).any():
        return None
    from scipy.stats import binomtest

    found = binomtest(first, total)
    low, high = found.proportion_ci(confidence)
    return PositionShare(first / total, float(low), float(high), float(found.pvalue), total)
