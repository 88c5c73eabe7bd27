"""Threshold spacing: how far apart the points of a scale lie on the latent scale, and whether evenly."""

from dataclasses import asdict, dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc

from panelist.core.display.formats import decimals, number, say_p
from panelist.core.display.result import Part, Result, Sentence, Table
from panelist.core.errors import BadModel

if TYPE_CHECKING:
    from panelist.models.results.fitted import Fit


@dataclass(frozen=True)
class Threshold:
    """One threshold, and the gap to the one before it (nan for the first)."""

    name: str
    estimate: float
    se: float
    gap: float
    gap_se: float


@dataclass(frozen=True)
class Spacing(Result):
    """The thresholds, and Wald's test that all gaps between them are equal (nan with one gap)."""

    criterion: str
    thresholds: tuple[Threshold, ...]
    chisq: float
    df: int
    p: float
    prior: str = ""  # how sentences name the prior of the fit, where it has one

    def sentence(self) -> str:
        """Return the finding in words."""
        gaps = [one.gap for one in self.thresholds[1:]]
        if len(gaps) < 2:
            return "With fewer than three thresholds there are no distances to compare."
        ratio = max(gaps) / min(gaps) if min(gaps) > 0 else nan
        shown = f"the widest distance between thresholds is {number(ratio, 1)} times the narrowest"
        if not isfinite(self.p):
            return f"On {self.criterion}, {shown}."
        even = "equal distances are not tenable" if self.p < 0.05 else "equal distances cannot be ruled out"
        test = f"Wald χ²({self.df}) = {self.chisq:.1f}, {say_p(self.p)}"
        return f"On {self.criterion}, {shown}; {even} ({test})."

    def title(self) -> str:
        """Return the heading."""
        return f"Threshold spacing of {self.criterion}"

    def table(self) -> Table:
        """Return one row per threshold."""
        rows = [(one.name, one.estimate, one.se, one.gap, one.gap_se) for one in self.thresholds]
        header = ("threshold", "estimate", "SE", "distance", "SE")
        return Table(
            f"Thresholds of {self.criterion}",
            header,
            rows,
            dict.fromkeys(header[1:], decimals(2)),
            note="distance: to the threshold before" + (f"; {self.prior}" if self.prior else ""),
        )

    def parts(self) -> list[Part]:
        """Return the sentence and the table."""
        return [Sentence(self.sentence()), self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return thresholds and test."""
        return asdict(self) | {"sentence": self.sentence()}


def measure_spacing(fit: "Fit", criterion: str) -> Spacing:
    """Return thresholds and gaps of an ordinal fit, with the test that the gaps are equal."""
    if not fit.ordinal:
        raise BadModel("A linear model has no thresholds.")
    t = fit.threshold_values
    V = fit.cov_params[: len(t), : len(t)]
    D = np.diff(np.eye(len(t)), axis=0)
    gaps, gap_se = D @ t, np.sqrt(np.maximum(np.diag(D @ V @ D.T), 0.0))
    se = np.sqrt(np.maximum(np.diag(V), 0.0))
    rows = [
        Threshold(
            name,
            float(t[k]),
            float(se[k]),
            float(gaps[k - 1]) if k else nan,
            float(gap_se[k - 1]) if k else nan,
        )
        for k, name in enumerate(fit.param_names[: len(t)])
    ]
    chisq, df, p = nan, max(len(gaps) - 1, 0), nan
    if df:
        C = np.diff(np.eye(len(gaps)), axis=0) @ D
        middle = C @ V @ C.T
        if np.isfinite(middle).all() and np.linalg.matrix_rank(middle) == df:
            chisq = float((C @ t) @ np.linalg.solve(middle, C @ t))
            p = float(chdtrc(df, chisq))
    return Spacing(criterion, tuple(rows), chisq, df, p, fit.prior_phrase)
