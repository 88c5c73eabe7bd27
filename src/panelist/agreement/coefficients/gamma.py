"""Goodman and Kruskal's gamma: how alike two raters order the outputs that neither ties."""

from panelist.agreement.coefficient import coefficient
from panelist.agreement.statistics.rater_pairs import PairTables


@coefficient(
    "goodman_kruskal_gamma",
    spoken="Goodman and Kruskal's gamma",
    read_by=("rosenthal",),
    levels=("ordinal", "interval", "ratio"),
    kind="correlation",
    statistics=PairTables,
    needs="pairs",
    remark=lambda pairs: pairs.say_undefined("gamma"),
)
def goodman_kruskal_gamma(pairs: PairTables) -> float:
    """Goodman and Kruskal's gamma: of the pairs of outputs without a tie, concordant less discordant.

    Goodman, L. A. & Kruskal, W. H. (1954). Measures of association for cross classifications. Journal of the
    American Statistical Association 49, 732-764.
    """
    return pairs.mean("gamma")
