"""Percent agreement: how often two raters give the same output the same rating."""

from panelist.agreement.coefficient import coefficient
from panelist.agreement.statistics.unit_sums import UnitSums


@coefficient(
    "percent_agreement",
    spoken="percent agreement",
    unnamed=True,
    corrected=False,
    levels=("nominal", "ordinal"),
    kind="agreement",
    statistics=UnitSums,
    remark=lambda sums: "not corrected for chance",
    lowest=0.0,
)
def percent_agreement(sums: UnitSums) -> float:
    """Percent agreement, as a share: of the pairs of ratings of an output, averaged over outputs.

    The same observed agreement as in Fleiss' kappa and Gwet's AC1. Gwet, K. L. (2014). Handbook of
    Inter-Rater Reliability (4th ed.), chapter 2.
    """
    return 1 - sums.mean_over_units(sums.disagreements(None))
