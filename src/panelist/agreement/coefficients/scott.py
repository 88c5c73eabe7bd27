"""Scott's pi: two raters, chance from the shares of categories of both together."""

from panelist.agreement.coefficient import coefficient
from panelist.agreement.statistics.rater_pairs import PairTables


@coefficient(
    "scott_pi",
    spoken="Scott's pi",
    read_by=("landis_koch", "krippendorff"),
    levels=("nominal",),
    kind="agreement",
    statistics=PairTables,
    needs="pairs",
    two_raters=True,
    remark=lambda pairs: pairs.say_undefined("scott"),
)
def scott_pi(pairs: PairTables) -> float:
    """Scott's pi: agreement of two raters beyond what their pooled shares of categories give by chance.

    Scott, W. A. (1955). Reliability of content analysis. Public Opinion Quarterly 19, 321-325. For more than
    two raters its generalisation is Fleiss' kappa; this is the mean over pairs.
    """
    return pairs.mean("scott")
