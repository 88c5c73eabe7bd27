"""Pearson's and Spearman's correlation of raters; with more than two, the mean over pairs."""

from panelist.agreement.coefficient import coefficient
from panelist.agreement.statistics.rater_pairs import PairTables


@coefficient(
    "pearson",
    spoken="Pearson's r",
    read_by=("rosenthal",),
    levels=("interval", "ratio"),
    kind="correlation",
    statistics=PairTables,
    needs="pairs",
    remark=lambda pairs: pairs.say_undefined("pearson"),
)
def pearson(pairs: PairTables) -> float:
    """Pearson's correlation: how nearly one rater's ratings are a straight line of another's."""
    return pairs.mean("pearson")


@coefficient(
    "spearman",
    spoken="Spearman's rho",
    read_by=("rosenthal",),
    levels=("ordinal", "interval", "ratio"),
    kind="correlation",
    statistics=PairTables,
    needs="pairs",
    remark=lambda pairs: pairs.say_undefined("spearman"),
)
def spearman(pairs: PairTables) -> float:
    """Spearman's rank correlation: Pearson's on ranks, ties at their mean rank."""
    return pairs.mean("spearman")
