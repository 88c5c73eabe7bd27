"""Correlations of raters: Pearson, Spearman, Kendall, Goodman and Kruskal; of many, the mean over pairs."""

from panelist.agreement.coefficient import Decorator, Level, coefficient
from panelist.agreement.statistics.rater_pairs import PairTables


def _correlation(
    name: str, spoken: str, column: str, levels: tuple[Level, ...] = ("ordinal", "interval", "ratio")
) -> Decorator:
    """Return the decorator of a correlation of two raters; ``column`` is where the pairs have it."""
    return coefficient(
        name, spoken=spoken, read_by=("rosenthal",), levels=levels, kind="correlation", statistics=PairTables,
        needs="pairs", remark=lambda pairs: pairs.say_undefined(column),
    )  # fmt: skip


@_correlation("pearson", "Pearson's r", "pearson", ("interval", "ratio"))
def pearson(pairs: PairTables) -> float:
    """Pearson's correlation: how nearly one rater's ratings are a straight line of another's."""
    return pairs.mean("pearson")


@_correlation("spearman", "Spearman's rho", "spearman")
def spearman(pairs: PairTables) -> float:
    """Spearman's rank correlation: Pearson's on ranks, ties at their mean rank."""
    return pairs.mean("spearman")


@_correlation("kendall_tau_b", "Kendall's tau-b", "tau")
def kendall_tau_b(pairs: PairTables) -> float:
    """Kendall's tau-b: concordant less discordant pairs of outputs, corrected for ties.

    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.
    """
    return pairs.mean("tau")


@_correlation("goodman_kruskal_gamma", "Goodman and Kruskal's gamma", "gamma")
def goodman_kruskal_gamma(pairs: PairTables) -> float:
    """Goodman and Kruskal's gamma: of the pairs of outputs without a tie, concordant less discordant.

    Goodman, L. A. & Kruskal, W. H. (1954). Measures of association for cross classifications. Journal of the
    American Statistical Association 49, 732-764.
    """
    return pairs.mean("gamma")
