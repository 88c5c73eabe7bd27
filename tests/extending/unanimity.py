"""Unanimity: how often all raters of an output say the same."""

from panelist.agreement.coefficient import coefficient
from panelist.agreement.statistics.unit_sums import UnitSums


@coefficient(
    "unanimity",
    spoken="unanimity",
    levels=("nominal", "ordinal"),
    kind="agreement",
    statistics=UnitSums,
    unnamed=True,
    corrected=False,
    remark=lambda sums: "not corrected for chance",
    lowest=0.0,
)
def unanimity(sums: UnitSums) -> float:
    """Unanimity: the share of outputs to which all raters gave the same rating."""
    return sums.mean_over_units((sums.disagreements(None) < 1e-9).astype(float))
