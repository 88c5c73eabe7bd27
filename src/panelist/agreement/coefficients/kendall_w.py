"""Kendall's W: how alike all raters order the outputs, with ties; and its tests."""

from dataclasses import dataclass

import numpy as np

from panelist.agreement.coefficient import Undefined, coefficient
from panelist.agreement.criterion_table import RatingTable
from panelist.agreement.statistics.moments import Moments, rank
from panelist.core.seeds import stream
from panelist.numerics.arrays import Floats


@coefficient(
    "kendall_w",
    spoken="Kendall's W",
    read_by=("rosenthal",),
    levels=("ordinal", "interval", "ratio"),
    kind="correlation",
    statistics=Moments,
    needs="complete",
    lowest=0.0,
)
def kendall_w(moments: Moments) -> float:
    """Kendall's coefficient of concordance W, corrected for ties; 0 for no common order, 1 for the same.

    Kendall, M. G. & Babington Smith, B. (1939). The problem of m rankings. Annals of Mathematical Statistics
    10, 275-287. It is (1 + (m - 1) r) / m with r the mean rank correlation of m raters.
    """
    variance, between, _ = moments.of_ranks
    if not variance > 1e-9:  # mid-ranks differ by halves or not at all
        raise Undefined("every rater gave all outputs the same rating, so there is no order to compare")
    k = moments.n_raters
    return (1 + (k - 1) * between / variance) / k


@dataclass(frozen=True)
class ConcordanceTest:
    """Test of no common order: W, by chi-square (large numbers of outputs) and by permutation."""

    w: float
    chi2: float
    df: int
    p: float
    p_permutation: float
    permutations: int

    def sentence(self) -> str:
        """Return both tests in words."""
        return (
            f"chi-square {self.chi2:.1f} on {self.df} degrees of freedom, p {_say_p(self.p)}; "
            f"by {self.permutations:,} permutations p {_say_p(self.p_permutation)}"
        )


def check_concordance(table: RatingTable, permutations: int | None = None, seed: int = 0) -> ConcordanceTest:
    """Return W with its test: chi-square on m (n - 1) W, and each rater's ratings shuffled at random.

    Without a number of ``permutations`` it is 2,000, or fewer in a large table, but at least 200.
    """
    from scipy.special import chdtrc

    moments = Moments.prepare(table, "ordinal").weigh()
    w, reason = kendall_w.evaluate(moments)
    if reason:
        return ConcordanceTest(w, np.nan, 0, np.nan, np.nan, 0)
    n, k = len(moments.ratings), moments.n_raters
    chi2 = k * (n - 1) * w
    if permutations is None:
        permutations = int(np.clip(2e7 / (n * k), 200, 2000))
    ranks = _ranks(moments)
    rng = stream(seed, "kendall_w", "permutation")
    reached = 0
    observed = float((ranks.sum(axis=1) ** 2).sum())
    for _ in range(permutations):
        total = ranks[:, 0].copy()  # one rater may stay: only the orders relative to each other count
        for r in range(1, k):
            total += rng.permutation(ranks[:, r])
        reached += float(total @ total) >= observed * (1 - 1e-12)
    share = (reached + 1) / (permutations + 1)
    return ConcordanceTest(w, chi2, n - 1, float(chdtrc(n - 1, chi2)), share, permutations)


def _say_p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _ranks(moments: Moments) -> Floats:
    ranks = rank(moments.ratings, moments.order, moments.units)
    return np.asarray(ranks - ranks.mean(axis=0))
